"""Everything that goes wrong: the right error, the right outcome, and nothing secret in it."""

import gzip
import logging
import socket
import threading
import time
import tracemalloc
import zlib

import pytest
from tests.upstream import CLOSE, Upstream, answer

from habilis.errors import (
    HabilisError,
    RedirectRefused,
    ResponseTooLarge,
    UpstreamProtocol,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.messages import Request
from habilis.transports.http import HttpTransport

METADATA = "http://169.254.169.254/latest/meta-data/?key=s3cret"


@pytest.fixture
def nobody_listens():
    """A port on this machine that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def publishing_to(place, body, *, timeout_s=5.0):
    return Request(
        where="t",
        method="POST",
        url=f"http://{place}/",
        body=body,
        is_read=False,
        private_hosts=frozenset({place}),
        timeout_s=timeout_s,
    )


def failure(transport, request):
    with pytest.raises(HabilisError) as caught:
        transport.send(request)
    return caught.value


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308, 399])
def test_a_redirect_is_an_error_that_names_status_and_host_alone(transport, asking, status):
    with Upstream(answer(status, headers=(("Location", METADATA),))) as upstream:
        error = failure(transport, asking(upstream, basic_auth=("u", "p")))

    assert isinstance(error, RedirectRefused)
    assert error.message == f"127.0.0.1 answered {status}, a redirect to 169.254.169.254"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_an_action_that_is_redirected_may_have_happened(transport, publishing, is_read, outcome):
    with Upstream(answer(307, headers=(("Location", METADATA),))) as upstream:
        error = failure(transport, publishing(upstream, is_read=is_read))

    assert (error.code, error.outcome, error.retryable) == ("redirect_refused", outcome, False)
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("/login?key=s3cret", "the same host"),
        ("https://EVIL.test./x", "evil.test"),
        ("//evil.test/x", "another address"),
        ("https://user:s3cret@evil.test/", "another address"),
        ("", "another address"),
    ],
)
def test_a_redirect_says_no_more_than_a_host(transport, asking, location, named):
    with Upstream(answer(302, headers=(("Location", location),))) as upstream:
        error = failure(transport, asking(upstream))

    assert error.message.endswith(f"a redirect to {named}")


@pytest.fixture(scope="module")
def bomb():
    """204 KB that unpack to 200 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(packer.compress(bytes(1024 * 1024)) for _ in range(200)) + packer.flush()


@pytest.mark.parametrize("layers", ["gzip", "gzip, gzip"])
def test_a_bomb_is_cut_before_it_fills_the_memory(transport, asking, bomb, layers):
    body = bomb if layers == "gzip" else gzip.compress(bomb)
    with Upstream(answer(body=body, headers=(("Content-Encoding", layers),))) as upstream:
        tracemalloc.start()
        started = time.monotonic()
        error = failure(transport, asking(upstream))
        took_s = time.monotonic() - started
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert isinstance(error, ResponseTooLarge)
    assert took_s < 2
    assert peak_bytes < 64 * 1024 * 1024


def test_an_answer_without_end_is_cut_at_the_limit(transport, asking):
    flood = (b"HTTP/1.1 200 OK\r\n\r\n", *[bytes(100_000)] * 200)
    with Upstream(flood) as upstream:
        error = failure(transport, asking(upstream, largest_bytes=1_000_000))

    assert isinstance(error, ResponseTooLarge)
    assert error.message == "127.0.0.1 answered with more than 1000000 bytes"


def test_an_action_whose_answer_is_too_large_may_have_happened(transport, publishing):
    with Upstream(answer(201, body=bytes(2000))) as upstream:
        error = failure(transport, publishing(upstream, largest_bytes=1000))

    assert (error.code, error.outcome, error.retryable) == ("response_too_large", "unknown", False)


TRICKLE = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n", 0.05] * 200)
"""One byte every 50 ms for 10 s: no single read ever waits long."""


@pytest.mark.parametrize(
    "script",
    [
        TRICKLE,
        (10.0,),
        (b"HTTP/1.1 200", 10.0),
        (b"HTTP/1.1 100 Continue\r\n\r\n", *[b"HTTP/1.1 102 X\r\n\r\n", 0.05] * 200),
    ],
    ids=["bytes that trickle", "silence", "half a line", "endless preliminaries"],
)
@pytest.mark.parametrize(("is_read", "outcome", "retryable"), [(True, "not_sent", True), (False, "unknown", False)])
def test_the_clock_counts_the_whole_exchange(transport, publishing, script, is_read, outcome, retryable):
    with Upstream(script) as upstream:
        started = time.monotonic()
        error = failure(transport, publishing(upstream, is_read=is_read, timeout_s=0.4))
        took_s = time.monotonic() - started

    assert isinstance(error, UpstreamTimeout)
    assert error.message == "127.0.0.1 gave no whole answer within 0.4 s"
    assert (error.outcome, error.retryable) == (outcome, retryable)
    assert took_s < 2.5
    assert len(upstream.requests) == 1


def test_an_action_that_could_not_be_handed_over_whole_may_have_happened(transport):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        request = publishing_to(f"127.0.0.1:{deaf.getsockname()[1]}", bytes(30_000_000), timeout_s=0.3)
        error = failure(transport, request)

    assert (error.code, error.outcome) == ("upstream_timeout", "unknown")


BROKEN = {
    "a body that breaks off": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", CLOSE),
    "chunks that break off": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", CLOSE),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",),
    "a length that is no number": (b"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",),
    "a chunk size that is no number": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n",),
    "a header of 200 KB": (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\nContent-Length: 0\r\n\r\n",),
    "headers of 70 KB": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
        + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(70))
        + b"\r\n",
    ),
    "an empty reply": (CLOSE,),
    "no HTTP": (b"220 mail.example ESMTP\r\n", CLOSE),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", CLOSE),
    "a packed body that breaks off": answer(body=gzip.compress(b"hello")[:-4], headers=(("Content-Encoding", "gzip"),)),
    "an encoding nobody asked for": answer(body=b"hello", headers=(("Content-Encoding", "br"),)),
}  # fmt: skip


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "unknown")])
def test_a_broken_answer_is_never_taken_for_a_whole_one(transport, publishing, script, is_read, outcome):
    with Upstream(script) as upstream:
        error = failure(transport, publishing(upstream, is_read=is_read))

    assert isinstance(error, UpstreamProtocol)
    assert (error.outcome, error.where) == (outcome, "tool 'publish'")
    assert error.message.startswith("127.0.0.1 ")
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("name", ["a body that breaks off", "two lengths", "a chunk size that is no number"])
def test_a_connection_that_broke_is_not_used_again(transport, asking, name):
    with Upstream(BROKEN[name], answer(body=b"whole")) as upstream:
        failure(transport, asking(upstream))
        got = transport.send(asking(upstream))

    assert got.body == b"whole"
    assert [seen.connection for seen in upstream.requests] == [1, 2]


@pytest.mark.parametrize("is_read", [True, False])
def test_nobody_listening_means_not_sent(transport, nobody_listens, is_read):
    place = f"127.0.0.1:{nobody_listens}"
    request = Request(
        where="t", method="POST", url=f"http://{place}/", private_hosts=frozenset({place}), is_read=is_read
    )

    error = failure(transport, request)

    assert isinstance(error, UpstreamUnavailable)
    assert (error.outcome, error.retryable) == ("not_sent", True)


def test_a_name_that_does_not_resolve_means_not_sent(naming):
    request = Request(where="tool 'publish'", method="POST", url="https://gone.test/", is_read=False)

    error = failure(HttpTransport(resolver=naming()), request)

    assert (error.code, error.outcome, error.where) == ("upstream_unavailable", "not_sent", "tool 'publish'")


def test_an_action_whose_answer_never_came_is_not_sent_again(transport, publishing):
    with Upstream((CLOSE,)) as upstream:
        error = failure(transport, publishing(upstream))

    assert (error.code, error.outcome) == ("upstream_protocol", "unknown")
    assert len(upstream.requests) == 1


def test_an_action_never_meets_a_connection_the_other_side_just_closed(transport, publishing, asking):
    closing = (answer(), CLOSE)
    with Upstream(closing) as upstream:
        for n in range(200):
            transport.send(asking(upstream))
            transport.send(publishing(upstream, f"/posts/{n}"))

    published = [seen.target for seen in upstream.requests if seen.method == "POST"]
    assert published == [f"/posts/{n}" for n in range(200)]


def test_a_read_that_meets_a_connection_just_closed_is_asked_once_more(transport, asking):
    # The second request is read and then hung up on, as when a server's idle limit strikes at that moment.
    with Upstream(answer(body=b"1"), (CLOSE,), answer(body=b"2")) as upstream:
        bodies = [transport.send(asking(upstream)).body for _ in range(2)]

    assert bodies == [b"1", b"2"]
    assert [seen.connection for seen in upstream.requests] == [1, 1, 2]


def test_a_read_is_not_asked_again_once_its_answer_began(transport, asking):
    with Upstream(answer(body=b"1"), (b"HTTP/1.1 2", CLOSE), answer(body=b"2")) as upstream:
        transport.send(asking(upstream))
        error = failure(transport, asking(upstream))

    assert error.code == "upstream_protocol"
    assert len(upstream.requests) == 2


def test_an_answer_given_before_the_whole_body_was_taken_counts(transport):
    def refuse():
        sock, _ = early.accept()
        with sock:  # closing with the rest unread resets the connection while the body is still being sent
            sock.recv(1000)
            sock.sendall(answer(413, body=b"too big"))

    with socket.create_server(("127.0.0.1", 0)) as early:
        thread = threading.Thread(target=refuse)
        thread.start()
        got = transport.send(publishing_to(f"127.0.0.1:{early.getsockname()[1]}", bytes(20_000_000)))
        thread.join()

    assert (got.status, got.body) == (413, b"too big")


@pytest.mark.parametrize("script", [*BROKEN.values(), answer(302, headers=(("Location", METADATA),))])
def test_no_error_repeats_what_the_request_carried(transport, publishing, script):
    headers = (("Authorization", "Bearer s3cret-token"),)
    with Upstream(script) as upstream:
        error = failure(transport, publishing(upstream, "/v1?key=s3cret-query", headers=headers, body=b"s3cret-body"))

    said = [error.message, error.hint, error.where, str(error), repr(error), repr(vars(error))]
    assert "s3cret" not in " ".join(said)
    assert error.__cause__ is None
    assert "s3cret" not in repr(error.__context__)


def test_the_library_logs_no_url(transport, asking, caplog):
    caplog.set_level(logging.DEBUG)
    with Upstream(answer(500)) as upstream:
        transport.send(asking(upstream, "/?key=s3cret"))

    assert "s3cret" not in caplog.text
    assert not [record for record in caplog.records if record.name.startswith(("httpx", "httpcore"))]
