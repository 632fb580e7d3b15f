"""Bodies that are streamed from disk, and what becomes of a request while it is being sent."""

import contextlib
import os
import socket
import threading
import time
import tracemalloc
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import vcr
from tests.transports.certificates import NAME
from tests.upstream import CLOSE, Upstream, answer

from habilis.errors import EngineFailed, Forbidden, UpstreamProtocol, UpstreamTimeout
from habilis.messages import FileSlice, Request, Streamed
from habilis.transports.http import HttpTransport

BIG = 20_000_000
REFUSAL = answer(413, body=b"too big")


@pytest.fixture
def on_disk(tmp_path):
    """Put bytes, or a number of zeros, on disk; returns the run that a body names."""

    def put(content, *, name="a.bin", offset=0, size=None):
        path = tmp_path / name
        if isinstance(content, int):
            path.touch()
            os.truncate(path, content)
        else:
            path.write_bytes(content)
        whole = path.stat().st_size - offset
        return FileSlice(path=str(path), offset=offset, size=whole if size is None else size)

    return put


def streamed(*pieces):
    return Streamed(pieces=pieces)


@contextlib.contextmanager
def early(play, *, tls=None):
    """Serve one connection: `play` gets the socket once the head of a request came, and its body is still coming."""
    over = threading.Event()

    def run():
        sock, _ = server.accept()
        if tls:
            sock = tls.wrap_socket(sock, server_side=True)
        with sock, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += sock.recv(1)
            play(sock, over)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=run)
        thread.start()
        yield server.getsockname()[1]
        over.set()
        thread.join(10)


def putting(port, body, *, host="127.0.0.1", scheme="http", **fields):
    place = f"{host}:{port}"
    defaults = {"where": "step 'put'", "method": "PUT", "is_read": False, "timeout_s": 5.0}
    return Request(url=f"{scheme}://{place}/", body=body, private_hosts=frozenset({place}), **{**defaults, **fields})


def take_all(sock):
    """Take the whole of a big body, and keep none of it."""
    got = 0
    buffer = bytearray(1 << 20)
    while got < BIG:
        got += sock.recv_into(buffer)
    return got


def taking_all(sock, _over):
    sock.sendall(answer(body=b"%d" % take_all(sock)))


def test_text_and_files_leave_in_their_order_with_one_length(transport, publishing, on_disk):
    body = streamed(b"head", on_disk(b"0123456789", offset=2, size=5), b"", on_disk(b"x" * 200_000, name="b"), b"tail")
    with Upstream(answer()) as upstream:
        transport.send(publishing(upstream, body=body))

    seen = upstream.requests[0]
    assert seen.body == b"head23456" + b"x" * 200_000 + b"tail"
    assert seen.names.count("content-length") == 1
    assert seen.headers["content-length"] == str(body.size) == "200013"
    assert "transfer-encoding" not in seen.names


def test_an_empty_file_is_a_body_of_no_bytes(transport, publishing, on_disk):
    with Upstream(answer()) as upstream:
        transport.send(publishing(upstream, body=streamed(on_disk(b""))))

    assert upstream.requests[0].headers["content-length"] == "0"


def test_a_server_that_insists_on_a_length_gets_it(transport, on_disk):
    class Strict(BaseHTTPRequestHandler):
        def do_PUT(self):
            length = self.headers["Content-Length"]
            is_good = length and not self.headers["Transfer-Encoding"]
            self.send_response(201 if is_good else 411)
            body = b"%d" % len(self.rfile.read(int(length))) if is_good else b""
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Strict) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        got = transport.send(putting(server.server_port, streamed(on_disk(3 << 20))))
        thread.join()

    assert (got.status, got.body) == (201, b"3145728")


def test_a_big_file_is_never_whole_in_memory(transport, on_disk):
    body = streamed(on_disk(BIG))
    with early(taking_all) as port:
        tracemalloc.start()
        got = transport.send(putting(port, body))
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert got.body == b"%d" % BIG
    assert peak_bytes < 4 << 20


def test_a_cassette_answers_a_streamed_body_too(transport, on_disk, tmp_path):
    cassette = tmp_path / "one.yaml"
    cassette.write_text("""\
version: 1
interactions:
- request: {method: PUT, uri: https://api.example.com/v1, body: abc, headers: {}}
  response: {status: {code: 201, message: Created}, headers: {}, body: {string: ok}}
""")
    request = Request(where="t", method="PUT", url="https://api.example.com/v1", body=streamed(b"a", on_disk(b"bc")))

    with vcr.use_cassette(str(cassette), record_mode="none", match_on=["method", "uri", "body"]):
        got = transport.send(request)

    assert (got.status, got.body, got.elapsed_s) == (201, b"ok", 0.0)


def test_a_file_that_is_gone_or_too_short_sends_nothing_at_all(transport, publishing, on_disk):
    gone = FileSlice(path="/nowhere/secret folder/a.png", size=5)
    short = on_disk(b"0123", size=5)
    beyond = on_disk(b"0123", offset=3, size=2, name="b.bin")
    with Upstream() as canary:
        said = []
        for piece in (gone, short, beyond):
            with pytest.raises(EngineFailed) as caught:
                transport.send(publishing(canary, body=streamed(b"head", piece)))
            said.append((caught.value.message, caught.value.outcome, caught.value.where))

    assert said == [
        ("the file 'a.png' is gone or shorter than it was when the call was made", "not_sent", "tool 'publish'"),
        ("the file 'a.bin' is gone or shorter than it was when the call was made", "not_sent", "tool 'publish'"),
        ("the file 'b.bin' is gone or shorter than it was when the call was made", "not_sent", "tool 'publish'"),
    ]
    assert canary.connections == 0


@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_a_file_that_shrinks_while_it_is_sent_may_have_been_taken(transport, publishing, on_disk, is_read, outcome):
    piece = on_disk(BIG)
    with Upstream(answer()) as upstream, pytest.raises(EngineFailed) as caught:
        transport.send(
            publishing(upstream, body=streamed(piece), is_read=is_read),
            before_first_byte=lambda: os.truncate(piece.path, 100),
        )

    assert caught.value.message == "the file 'a.bin' became shorter while it was sent"
    assert (caught.value.outcome, caught.value.where) == (outcome, "tool 'publish'")
    assert ("look what became of it" in caught.value.hint) == (not is_read)


def test_a_second_file_that_vanishes_while_the_first_is_sent_is_named(transport, publishing, on_disk):
    first, second = on_disk(BIG), on_disk(b"x", name="b.bin")
    with Upstream(answer()) as upstream, pytest.raises(EngineFailed) as caught:
        transport.send(publishing(upstream, body=streamed(first, second)), before_first_byte=Path(second.path).unlink)

    assert (caught.value.message, caught.value.outcome) == ("the file 'b.bin' cannot be read", "unknown")
    assert caught.value.__context__ is None


def test_nothing_of_a_big_body_leaves_when_the_intent_cannot_be_written(transport, publishing, on_disk):
    def refuse():
        raise Forbidden("no")

    with Upstream(answer()) as upstream, pytest.raises(Forbidden):
        transport.send(publishing(upstream, body=streamed(on_disk(BIG))), before_first_byte=refuse)

    assert upstream.requests == []


def test_the_intent_is_written_once_before_the_first_byte_of_a_big_body(transport, on_disk):
    written = []
    with early(taking_all) as port:
        transport.send(putting(port, streamed(on_disk(BIG))), before_first_byte=lambda: written.append(1))

    assert written == [1]


def test_a_read_with_a_body_is_asked_again_from_its_start(transport, asking, on_disk):
    body = streamed(b"query ", on_disk(b"x" * 100_000))
    with Upstream(answer(body=b"1"), (CLOSE,), answer(body=b"2")) as upstream:
        got = [transport.send(asking(upstream, method="POST", body=body)).body for _ in range(2)]

    assert got == [b"1", b"2"]
    assert [seen.body for seen in upstream.requests] == [b"query " + b"x" * 100_000] * 3
    assert [seen.connection for seen in upstream.requests] == [1, 1, 2]


def refusing_and_closing(sock, _over):
    sock.sendall(REFUSAL)  # closing with the rest unread resets the connection


def refusing_and_holding(sock, over):
    sock.sendall(REFUSAL)  # and takes nothing more, without closing
    over.wait(10)


def refusing_after_some(sock, over):
    for _ in range(20):
        sock.recv(100_000)
    refusing_and_holding(sock, over)


def refusing_after_a_hint(sock, over):
    sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    sock.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    refusing_and_holding(sock, over)


def refusing_bit_by_bit(sock, over):
    for byte in REFUSAL:
        sock.sendall(bytes([byte]))
        time.sleep(0.002)
    over.wait(10)


REFUSING = [
    refusing_and_closing,
    refusing_and_holding,
    refusing_after_some,
    refusing_after_a_hint,
    refusing_bit_by_bit,
]


@pytest.mark.parametrize("play", REFUSING)
@pytest.mark.parametrize("in_memory", [True, False])
def test_a_refusal_while_the_body_still_leaves_is_the_answer(transport, on_disk, play, in_memory):
    body = bytes(BIG) if in_memory else streamed(on_disk(BIG))
    started = time.monotonic()
    with early(play) as port:
        got = transport.send(putting(port, body))

    assert (got.status, got.body) == (413, b"too big")
    assert time.monotonic() - started < 3


def test_a_connection_on_which_a_body_was_refused_is_closed_even_for_reads(transport, on_disk):
    closed = []

    def play(sock, _over):
        sock.sendall(REFUSAL)
        sock.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            while sock.recv(1 << 20):
                pass
        closed.append(True)

    with early(play) as port:
        got = transport.send(putting(port, streamed(on_disk(BIG)), is_read=True))

    assert got.status == 413
    assert closed == [True]


@pytest.mark.part("openssl")
@pytest.mark.parametrize("play", [refusing_and_holding, refusing_after_some, refusing_bit_by_bit])
def test_a_refusal_under_encryption_is_the_answer_too(certificates, naming, on_disk, play):
    transport = HttpTransport(ca_file=certificates.authority, resolver=naming(service_test=["127.0.0.1"]))
    with early(play, tls=certificates.serving("good")) as port:
        got = transport.send(putting(port, streamed(on_disk(BIG)), host=NAME, scheme="https"))
    transport.close()

    assert (got.status, got.body) == (413, b"too big")


@pytest.mark.part("openssl")
def test_a_slow_taker_under_encryption_gets_every_byte(certificates, naming, on_disk, publishing):
    content = bytes(range(256)) * 40_000

    def slowly(sock, _over):
        got = b""
        while len(got) < len(content):
            got += sock.recv(1_000_000)
            time.sleep(0.001)
        sock.sendall(answer(body=b"same" if got == content else b"other"))

    transport = HttpTransport(ca_file=certificates.authority, resolver=naming(service_test=["127.0.0.1"]))
    with early(slowly, tls=certificates.serving("good")) as port:
        got = transport.send(putting(port, streamed(on_disk(content)), host=NAME, scheme="https"))
    transport.close()

    assert got.body == b"same"


@pytest.mark.parametrize("said", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n" * 3])
def test_a_hint_while_the_body_leaves_is_no_answer(transport, on_disk, said):
    def play(sock, over):
        sock.sendall(said)
        taking_all(sock, over)

    with early(play) as port:
        got = transport.send(putting(port, streamed(on_disk(BIG))))

    assert (got.status, got.body) == (200, b"%d" % BIG)


def test_a_service_that_accepts_early_still_gets_every_byte(transport, on_disk):
    taken = []

    def play(sock, _over):
        sock.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\no")
        taken.append(take_all(sock))
        sock.sendall(b"k")

    with early(play) as port:
        got = transport.send(putting(port, streamed(on_disk(BIG))))

    assert (got.status, got.body) == (202, b"ok")
    assert taken == [BIG]


def test_a_service_that_talks_without_end_while_it_takes_does_not_fill_the_memory(transport, on_disk):
    def play(sock, over):
        sock.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while not over.is_set():
                sock.sendall(b"HTTP/1.1 100 Continue\r\nX-Fill: " + b"x" * 60_000 + b"\r\n\r\n")
        sock.settimeout(5)
        taking_all(sock, over)

    with early(play) as port:
        tracemalloc.start()
        got = transport.send(putting(port, streamed(on_disk(BIG))))
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert got.body == b"%d" % BIG
    assert peak_bytes < 4 << 20


@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_a_service_that_hangs_up_while_it_takes_may_have_taken_it(transport, on_disk, is_read, outcome):
    def play(sock, _over):
        sock.recv(500_000)

    with early(play) as port, pytest.raises(UpstreamProtocol) as caught:
        transport.send(putting(port, streamed(on_disk(BIG)), is_read=is_read))

    assert caught.value.outcome == outcome
    assert caught.value.__context__ is None


def test_a_service_that_takes_all_and_never_answers_may_have_done_it(transport, on_disk):
    def play(sock, over):
        take_all(sock)
        over.wait(10)

    started = time.monotonic()
    with early(play) as port, pytest.raises(UpstreamTimeout) as caught:
        transport.send(putting(port, streamed(on_disk(BIG)), timeout_s=1.0))

    assert (caught.value.outcome, caught.value.retryable) == ("unknown", False)
    assert time.monotonic() - started < 3


def test_a_service_that_stops_taking_is_given_up_in_time(transport, on_disk):
    started = time.monotonic()
    with early(lambda _sock, over: over.wait(10)) as port, pytest.raises(UpstreamTimeout) as caught:
        transport.send(putting(port, streamed(on_disk(BIG)), timeout_s=0.5))

    assert caught.value.outcome == "unknown"
    assert time.monotonic() - started < 3


def test_the_time_that_an_answer_took_counts_from_the_first_byte(transport, publishing):
    with Upstream((0.2, answer())) as upstream:
        got = transport.send(publishing(upstream), before_first_byte=lambda: time.sleep(0.3))

    assert 0.19 < got.elapsed_s < 0.3
