"""What an exchange asks for is carried out, in its order, and an action is written down on the way."""

from datetime import timedelta

import pytest
from tests.upstream import Upstream, answer

from habilis.engine.outside import Outside, Traced
from habilis.errors import EngineFailed, UpstreamUnavailable
from habilis.messages import Pause, Request, StepDone
from habilis.transports.http import HttpTransport


class Diary:
    """A journal that keeps what it was told, in order."""

    def __init__(self):
        self.lines = []

    def begin(self):
        self.lines.append("begin")

    def before_first_byte(self):
        self.lines.append("before first byte")

    def step_done(self, done):
        self.lines.append(f"{done.step} done")


@pytest.fixture
def upstream():
    with Upstream(answer(201, body=b'{"id": 7}')) as upstream:
        yield upstream


@pytest.fixture
def outside(clock):
    transport = HttpTransport()
    yield Outside(transport=transport, now=clock, sleep=clock.sleep, token=lambda: "t")
    transport.close()


def request(upstream, target="/", *, method="POST", **more):
    return Request(
        where=f"step '{target[1:]}'",
        method=method,
        url=upstream.url(target),
        private_hosts=frozenset({upstream.place}),
        is_read=method == "GET",
        **more,
    )


def test_each_request_is_answered_and_each_pause_is_waited_for(outside, upstream, clock):
    started = clock()

    def exchange():
        first = yield request(upstream, "/one")
        slept = yield Pause(seconds=90, where="step 'two'")
        second = yield request(upstream, "/two")
        return first.status, slept, second.body

    told = outside.drive(exchange())

    assert told == (201, None, b'{"id": 7}')
    assert [seen.target for seen in upstream.requests] == ["/one", "/two"]
    assert clock() - started == timedelta(seconds=90)


def test_a_request_that_failed_is_thrown_into_the_exchange_which_may_go_on(outside, upstream):
    with Upstream() as gone:
        nobody = request(gone, "/gone")

    def exchange():
        try:
            yield nobody
        except UpstreamUnavailable as error:
            told = error.code
        return told, (yield request(upstream)).status

    assert outside.drive(exchange()) == ("upstream_unavailable", 201)


def test_an_exchange_that_asks_for_nothing_is_over_and_begins_no_action(outside):
    diary = Diary()

    def exchange():
        return "nothing to do"
        yield

    assert outside.drive(exchange(), diary) == "nothing to do"
    assert diary.lines == []


def test_a_journal_hears_of_each_change_before_its_first_byte_and_of_no_read(outside, upstream):
    diary = Diary()

    def exchange():
        yield request(upstream, "/look", method="GET")
        yield request(upstream, "/register")
        yield StepDone(step="register", run=None, saved={"id": 7})
        yield request(upstream, "/post")

    outside.drive(exchange(), diary)

    assert diary.lines == ["begin", "before first byte", "register done", "before first byte"]


def test_what_the_journal_cannot_write_down_ends_the_call_before_anything_is_sent(outside, upstream):
    class Full(Diary):
        def begin(self):
            raise EngineFailed("the log of actions cannot be used")

    def exchange():
        yield request(upstream)

    with pytest.raises(EngineFailed, match="log of actions"):
        outside.drive(exchange(), Full())

    assert upstream.connections == 0


def test_a_trace_tells_each_request_and_each_wait_with_its_time_and_sizes(clock, upstream):
    traced = []
    transport = HttpTransport()
    outside = Outside(transport=transport, now=clock, sleep=clock.sleep, token=lambda: "t", trace=traced.append)
    with Upstream() as gone:
        nobody = request(gone, "/gone")

    def exchange():
        yield request(upstream, "/put", body=b"abcdefg")
        yield Pause(seconds=2.5, where="step 'look'")
        try:
            yield nobody
        except UpstreamUnavailable:
            return

    outside.drive(exchange())
    transport.close()

    sent, waited, failed = traced
    assert (sent.where, sent.method, sent.status, sent.sent_bytes, sent.received_bytes) == (
        "step 'put'", "POST", 201, 7, 9,
    )  # fmt: skip
    assert sent.elapsed_s > 0
    assert waited == Traced(where="step 'look'", elapsed_s=2.5)
    assert (failed.url, failed.status, failed.error) == (nobody.url, 0, "upstream_unavailable")
