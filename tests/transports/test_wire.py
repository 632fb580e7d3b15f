import socket
import ssl

import pytest
from tests.upstream import Upstream, answer

from habilis.errors import UpstreamTimeout
from habilis.transports.http import HttpTransport
from habilis.transports.wire import Exchange, secure


def exchange(*, is_read=False, timeout_s=5.0):
    return Exchange(where="t", host="api.example.com", is_read=is_read, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("is_read", "sent", "outcome"),
    [(True, False, "not_sent"), (True, True, "not_sent"), (False, False, "not_sent"), (False, True, "unknown")],
)
def test_only_an_action_that_began_to_leave_has_an_unknown_outcome(is_read, sent, outcome):
    one = exchange(is_read=is_read)
    one.sent = sent

    assert one.outcome == one.timed_out().outcome == one.broken("hung up").outcome == outcome
    assert one.timed_out().retryable == (outcome == "not_sent")


def test_no_time_is_left_after_the_deadline():
    assert 4 < exchange().left_s() <= 5
    with pytest.raises(UpstreamTimeout):
        exchange(timeout_s=0).left_s()


def test_a_connection_that_cannot_be_secured_in_time_is_closed():
    ours, theirs = socket.socketpair()
    theirs.settimeout(5)
    with theirs:
        with pytest.raises(UpstreamTimeout) as caught:
            secure(ours, ssl.create_default_context(), "api.example.com", exchange(timeout_s=0))

        assert theirs.recv(1) == b""
    assert caught.value.outcome == "not_sent"


def test_an_address_that_never_answers_leaves_time_for_the_next(asking, naming):
    with Upstream(answer(body=b"hello")) as upstream, socket.socket() as deaf:
        deaf.bind(("127.0.0.2", upstream.port))
        deaf.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for sock in waiting:  # a full queue: further connections are neither taken nor refused
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.2", upstream.port))
        transport = HttpTransport(resolver=naming(nas_local=["127.0.0.2", "127.0.0.1"]))
        got = transport.send(asking(upstream, host="nas.local", timeout_s=1.0))
        transport.close()
        for sock in waiting:
            sock.close()

    assert got.body == b"hello"
