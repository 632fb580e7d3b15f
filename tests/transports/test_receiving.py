"""Answers that are files: written to disk as they come, or not at all."""

import gzip
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest
import vcr
from tests.upstream import CLOSE, Upstream, answer

from habilis.errors import (
    DiskFull,
    EngineFailed,
    HabilisError,
    ResponseTooLarge,
    UpstreamProtocol,
    UpstreamTimeout,
)
from habilis.messages import Request
from habilis.transports.http import HttpTransport

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1000
MB = 1024 * 1024


def typed(body, kind, *, status=200, **headers):
    named = [("Content-Type", kind)] if kind else []
    return answer(status, body=body, headers=(*named, *((name.replace("_", "-"), v) for name, v in headers.items())))


@pytest.fixture
def fetching(asking, tmp_path):
    """Make a request that expects a file."""

    def fetch(upstream, target="/", **fields):
        return asking(upstream, target, **{"download_to": str(tmp_path), **fields})

    return fetch


def failure(transport, request):
    with pytest.raises(HabilisError) as caught:
        transport.send(request)
    return caught.value


def test_a_file_is_written_to_the_folder_and_only_its_start_is_in_memory(transport, fetching, tmp_path):
    with Upstream(typed(PNG, "image/png")) as upstream:
        got = transport.send(fetching(upstream))

    (path,) = tmp_path.iterdir()
    assert got.file == str(path)
    assert path.read_bytes() == PNG
    assert (got.size, got.body) == (len(PNG), PNG[:4096])
    assert path.stat().st_mode & 0o777 == 0o600


def test_each_file_has_a_name_of_its_own(transport, fetching, tmp_path):
    with Upstream(typed(b"1", "image/png"), typed(b"2", "image/png")) as upstream:
        files = [transport.send(fetching(upstream)).file for _ in range(2)]

    assert [Path(file).read_bytes() for file in files] == [b"1", b"2"]
    assert sorted(files) == sorted(str(path) for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "kind",
    [
        "image/jpeg; charset=binary",
        "image/svg+xml",
        "application/octet-stream",
        "application/pdf",
        "APPLICATION/ZIP",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "video/mp4",
        "audio/mpeg",
        "multipart/form-data; boundary=x",
    ],
)
def test_what_is_no_text_is_a_file(transport, fetching, kind):
    with Upstream(typed(b"{}", kind)) as upstream:
        got = transport.send(fetching(upstream))

    assert Path(got.file).read_bytes() == b"{}"


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.api+json",
        "application/problem+json",
        "application/x-ndjson",
        "application/jsonl",
        "application/xml",
        "application/rss+xml",
        "text/xml",
        "text/csv",
        "text/html; charset=utf-8",
        "text/plain",
        "text/event-stream",
        "application/x-www-form-urlencoded",
        "application/javascript",
    ],
)
def test_what_is_text_stays_in_memory(transport, fetching, tmp_path, kind):
    with Upstream(typed(b"\0\xff", kind)) as upstream:
        got = transport.send(fetching(upstream))

    assert (got.body, got.file, got.size) == (b"\0\xff", "", 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "is_file"),
    [
        (b'{"url": "https://x.test/"}', False),
        (b"<html>", False),
        ("Grüße 🙂\n\t".encode(), False),
        ("é".encode()[:1], False),
        (b"\xff\xd8\xff\xe0JFIF", True),
        (PNG, True),
        (b"PK\x03\x04", True),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", True),
        (b"", False),
    ],
)
def test_where_no_type_is_said_the_bytes_tell(transport, fetching, tmp_path, body, is_file):
    with Upstream(typed(body, "")) as upstream:
        got = transport.send(fetching(upstream))

    assert bool(got.file) == bool(list(tmp_path.iterdir())) == is_file
    assert (got.body, got.size) == (body[:4096], len(body))


def test_an_empty_answer_is_no_file(transport, fetching, tmp_path):
    no_content = b"HTTP/1.1 204 No Content\r\n\r\n"
    with Upstream(typed(b"", "image/png"), no_content, b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n") as upstream:
        got = [transport.send(fetching(upstream, method=method)) for method in ("GET", "GET", "HEAD")]

    assert [(one.file, one.body, one.size) for one in got] == [("", b"", 0)] * 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [400, 404, 500])
def test_the_body_of_an_error_is_no_file(transport, fetching, tmp_path, status):
    with Upstream(typed(PNG, "image/png", status=status)) as upstream:
        got = transport.send(fetching(upstream))

    assert (got.status, got.body, got.file) == (status, PNG, "")
    assert list(tmp_path.iterdir()) == []


def test_where_no_file_is_expected_every_answer_is_in_memory(transport, asking):
    with Upstream(typed(PNG, "image/png")) as upstream:
        got = transport.send(asking(upstream))

    assert (got.body, got.file, got.size) == (PNG, "", len(PNG))


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_packed_file_is_unpacked_on_its_way_to_disk(transport, fetching, encoding, pack):
    with Upstream(typed(pack(PNG), "image/png", Content_Encoding=encoding)) as upstream:
        got = transport.send(fetching(upstream))

    assert Path(got.file).read_bytes() == PNG
    assert got.size == len(PNG)


def test_a_file_from_a_real_server_is_the_same_byte_for_byte(transport, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "site" / "a b.png").write_bytes(PNG)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site")) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        place = f"127.0.0.1:{server.server_port}"
        got = transport.send(
            Request(
                where="t",
                method="GET",
                url=f"http://{place}/a%20b.png",
                private_hosts=frozenset({place}),
                download_to=str(tmp_path / "files"),
            )
        )
        thread.join()

    assert Path(got.file).read_bytes() == PNG
    assert got.headers["content-type"] == "image/png"


def test_a_file_as_large_as_allowed_is_taken_and_one_byte_more_is_not(transport, fetching, tmp_path):
    exact, chunked = typed(bytes(1000), "image/png"), b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    with Upstream(exact, exact, (chunked + bytes(1001), CLOSE)) as upstream:
        got = transport.send(fetching(upstream, largest_file_bytes=1000))
        said = [failure(transport, fetching(upstream, largest_file_bytes=limit)) for limit in (999, 1000)]

    assert got.size == 1000
    assert [type(error) for error in said] == [ResponseTooLarge] * 2
    assert said[1].message == "127.0.0.1 answered with more than 1000 bytes"
    assert [str(path) for path in tmp_path.iterdir()] == [got.file]


def test_a_file_that_says_it_is_too_large_is_not_read(transport, fetching, tmp_path):
    huge = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 53477376\r\n\r\nabc"
    started = time.monotonic()
    with Upstream((huge, 10.0)) as upstream:
        error = failure(transport, fetching(upstream))

    assert isinstance(error, ResponseTooLarge)
    assert error.message == "127.0.0.1 answered with more than 52428800 bytes"
    assert time.monotonic() - started < 3
    assert list(tmp_path.iterdir()) == []


def test_text_is_held_to_the_limit_of_memory_although_files_may_be_larger(transport, fetching):
    with Upstream(typed(bytes(2000), "text/csv"), typed(b"x" * 2000, "")) as upstream:
        said = [failure(transport, fetching(upstream, largest_bytes=1000)) for _ in range(2)]

    assert [error.message for error in said] == ["127.0.0.1 answered with more than 1000 bytes"] * 2


def test_a_bomb_of_a_file_stops_at_the_limit_and_leaves_nothing(transport, fetching, tmp_path):
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(bytes(MB)) for _ in range(200)) + packer.flush()
    twice = gzip.compress(bomb)
    with Upstream(
        typed(bomb, "image/png", Content_Encoding="gzip"), typed(twice, "image/png", Content_Encoding="gzip, gzip")
    ) as upstream:
        tracemalloc.start()
        started = time.monotonic()
        said = [failure(transport, fetching(upstream)) for _ in range(2)]
        took_s = time.monotonic() - started
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert [type(error) for error in said] == [ResponseTooLarge] * 2
    assert took_s < 4
    assert peak_bytes < 8 * MB
    assert list(tmp_path.iterdir()) == []


def test_a_big_file_is_never_whole_in_memory(transport, fetching):
    size = 40 * MB
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n" % size
    with Upstream((head, *[bytes(MB)] * 40)) as upstream:
        tracemalloc.start()
        got = transport.send(fetching(upstream))
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert got.size == Path(got.file).stat().st_size == size
    assert peak_bytes < 6 * MB


BROKEN = {
    "a file that breaks off": (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 999999\r\n\r\n" + PNG,),
    "chunks that break off": (
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n5\r\nc",
    ),
    "a packed file that breaks off": (typed(gzip.compress(PNG)[:-4], "image/png", Content_Encoding="gzip"),),
    "a file that is not packed as it says": (typed(PNG, "image/png", Content_Encoding="gzip"),),
    "an encoding nobody asked for": (typed(PNG, "image/png", Content_Encoding="br"),),
}


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_half_a_file_is_no_file(transport, fetching, tmp_path, script, is_read, outcome):
    with Upstream((*script, CLOSE)) as upstream:
        error = failure(transport, fetching(upstream, method="POST", is_read=is_read))

    assert isinstance(error, UpstreamProtocol)
    assert error.outcome == outcome
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_trickles_is_given_up_in_time_and_leaves_nothing(transport, fetching, tmp_path):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Upstream((head, *[b"1\r\nx\r\n", 0.05] * 200)) as upstream:
        started = time.monotonic()
        error = failure(transport, fetching(upstream, timeout_s=0.4))

    assert isinstance(error, UpstreamTimeout)
    assert time.monotonic() - started < 2.5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_a_folder_that_cannot_be_written_to_is_our_own_fault(transport, fetching, tmp_path, is_read, outcome):
    gone = str(tmp_path / "s3cret" / "gone")
    with Upstream(typed(PNG, "image/png")) as upstream:
        error = failure(transport, fetching(upstream, method="POST", download_to=gone, is_read=is_read))

    assert type(error) is EngineFailed
    assert error.message == "the file that 127.0.0.1 answered with cannot be written"
    assert (error.outcome, error.where, error.retryable) == (outcome, "tool 'get'", False)
    assert "s3cret" not in f"{error} {error.__cause__} {error.__context__}"


FULL = """
import resource, signal, sys
from habilis.errors import HabilisError
from habilis.messages import Request
from habilis.transports.http import HttpTransport
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
place, folder = sys.argv[1:]
try:
    HttpTransport().send(Request(
        where="t", method="GET", url=f"http://{place}/", private_hosts=frozenset({place}), download_to=folder
    ))
except HabilisError as error:
    print(type(error).__name__, error.message)
"""


def test_a_disk_that_takes_no_more_leaves_nothing_behind(tmp_path):
    with Upstream(typed(PNG, "image/png")) as upstream:
        command = [sys.executable, "-c", FULL, upstream.place, tmp_path]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert said == "EngineFailed the file that 127.0.0.1 answered with cannot be written\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_called_so(transport, fetching, tmp_path, monkeypatch):
    # The file of the download is one on which there is never room.
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: _full(tmp_path))
    with Upstream(typed(PNG, "image/png")) as upstream:
        error = failure(transport, fetching(upstream))

    assert isinstance(error, DiskFull)
    assert (error.outcome, error.retryable, error.hint) == ("not_sent", True, "make room on the disk")


def _full(folder):
    path = folder / "full"
    path.touch()
    return os.open("/dev/full", os.O_WRONLY), str(path)


def test_a_connection_that_brought_a_file_is_kept_for_the_next_read(transport, fetching):
    with Upstream(typed(PNG, "image/png")) as upstream:
        for _ in range(2):
            transport.send(fetching(upstream))

    assert upstream.connections == 1


def test_a_file_that_a_cassette_plays_is_written_too(tmp_path):
    cassette = tmp_path / "one.yaml"
    cassette.write_text("""\
version: 1
interactions:
- request: {method: GET, uri: https://api.example.com/a.png, body: "", headers: {}}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [image/png]}
    body: {string: !!binary iVBORw0KGgo=}
""")
    request = Request(where="t", method="GET", url="https://api.example.com/a.png", download_to=str(tmp_path))

    with vcr.use_cassette(str(cassette), record_mode="none"):
        got = HttpTransport().send(request)

    assert Path(got.file).read_bytes() == PNG[:8]
