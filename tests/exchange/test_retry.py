from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.exchange.conversations import ACTION, NOW, READ, answer, request, run, scope, step, tool

from habilis.errors import (
    EngineFailed,
    RedirectRefused,
    ResponseTooLarge,
    TlsVerifyFailed,
    UpstreamProtocol,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.manifest.model import Idempotency, RetryRule
from habilis.templating import Made, compile_place, compile_text

LATER = answer(429, {"message": "slow down"}, retry_after="1")
KEY = Idempotency(header="Idempotency-Key", value=compile_text("{{call_id()}}"))


def resets(name="x-ratelimit-reset", unit="", **fields):
    return RetryRule(reset=compile_place(f"header:{name}"), unit=unit, **fields)


def test_a_read_that_is_asked_to_wait_waits_so_long_and_asks_again():
    played = run(tool(request("GET")), scope(), [LATER, answer(200, "ok")])

    assert (played.pauses, played.result.text, len(played.requests)) == ([1.0], "ok", 2)


def test_a_date_to_come_back_at_is_waited_for():
    later = answer(503, None, retry_after="Mon, 30 Nov 2026 12:00:07 GMT")

    assert run(tool(request("GET")), scope(), [later, answer()]).pauses == [7.0]


def test_a_date_counts_from_when_the_answer_came():
    first = answer(503, None, elapsed_s=2.0, retry_after="1")
    second = answer(503, None, elapsed_s=1.0, retry_after="Mon, 30 Nov 2026 12:00:07 GMT")

    assert run(tool(request("GET")), scope(), [first, second, answer()]).pauses == [1.0, 3.0]


def test_without_a_word_of_the_service_the_waits_grow_and_are_the_same_for_the_same_call():
    script = [answer(503), answer(503), answer()]

    played = run(tool(request("GET")), scope(), script)
    again = run(tool(request("GET")), scope(), script)
    other = run(tool(request("GET")), replace(scope(), made=Made(now=NOW, call_id="call-2")), script)

    assert 0 <= played.pauses[0] <= 1
    assert 0 <= played.pauses[1] <= 2
    assert again.pauses == played.pauses != other.pauses


def test_a_read_is_sent_three_times_and_then_fails_with_the_last_answer():
    played = run(tool(request("GET")), scope(), [answer(503), answer(503), answer(503, {"message": "down"})])

    assert (str(played.error), played.error.outcome) == ("tool 'post': answered 503: down", "not_sent")


def test_a_pause_beyond_the_budget_is_not_waited_for_but_told():
    long = answer(429, {"message": "no"}, retry_after="3600")

    played = run(tool(request("GET")), scope(), [long])

    assert played.pauses == []
    assert str(played.error) == (
        "tool 'post': answered 429: no (the service asks for a pause of 3,600 s; try again then)"
    )
    assert played.error.retryable


def test_the_budget_counts_waits_and_what_answers_took():
    slow = answer(429, None, elapsed_s=40.0, retry_after="20")

    played = run(tool(request("GET")), scope(), [slow, slow])

    assert played.pauses == [20.0]


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (answer(429), "not_sent"),
        (answer(400), "not_sent"),
        (answer(408), "unknown"),
        (answer(500), "unknown"),
        (answer(503, None, retry_after="1"), "unknown"),
        (UpstreamTimeout("slow", outcome="unknown"), "unknown"),
        (UpstreamProtocol("broken", outcome="unknown"), "unknown"),
    ],
)
def test_a_write_that_may_have_happened_or_was_refused_is_never_sent_again_by_itself(fault, outcome):
    played = run(tool(request("POST")), scope(), [fault])

    assert (len(played.requests), played.pauses, played.error.outcome) == (1, [], outcome)


def test_a_write_of_which_nothing_left_is_sent_up_to_three_times():
    fault = UpstreamUnavailable("api.example.com does not take connections")

    played = run(tool(request("POST")), scope(), [fault] * 3)

    assert (len(played.requests), len(played.pauses), played.error) == (3, 2, fault)
    assert (played.error.outcome, played.error.code) == ("not_sent", "upstream_unavailable")


def test_a_write_that_timed_out_before_a_byte_left_is_sent_again():
    played = run(tool(request("POST")), scope(), [UpstreamTimeout("slow", outcome="not_sent"), answer()])

    assert (len(played.requests), played.error) == (2, None)


@pytest.mark.parametrize(
    "fault",
    [
        TlsVerifyFailed("bad certificate"),
        RedirectRefused("elsewhere", outcome="not_sent"),
        ResponseTooLarge("big", outcome="not_sent"),
        EngineFailed("no disk"),
    ],
)
def test_what_would_fail_again_is_not_sent_again(fault):
    assert run(tool(request("GET")), scope(), [fault]).error is fault


@pytest.mark.parametrize(
    "fault", [UpstreamTimeout("slow", outcome="not_sent"), UpstreamProtocol("cut", outcome="not_sent")]
)
def test_a_get_is_sent_again_after_any_network_fault_a_reading_post_only_where_the_manifest_says_so(fault):
    said = RetryRule(tries=2)

    assert len(run(tool(request("GET")), scope(), [fault, answer()]).requests) == 2
    assert len(run(tool(request("POST")), scope(), [fault], READ).requests) == 1
    assert len(run(tool(request("POST", retry=said)), scope(), [fault, answer()], READ).requests) == 2


def test_a_reading_post_is_sent_again_when_it_is_asked_to_wait():
    assert run(tool(request("POST")), scope(), [LATER, answer()], READ).pauses == [1.0]


def test_a_timed_out_try_uses_up_its_time_of_the_budget():
    slow = UpstreamTimeout("slow", outcome="not_sent")

    played = run(tool(request("GET", timeout_s=50.0)), scope(), [slow, slow])

    assert (len(played.requests), played.error) == (2, slow)


def test_a_write_is_sent_again_where_the_manifest_says_so_and_the_status_proves_that_nothing_happened():
    rule = RetryRule(statuses=frozenset({429, 503}))

    waited = run(tool(request("POST", retry=rule)), scope(), [LATER, answer()])
    in_doubt = run(tool(request("POST", retry=rule)), scope(), [answer(503)])

    assert (waited.pauses, waited.error) == ([1.0], None)
    assert (in_doubt.pauses, in_doubt.error.outcome) == ([], "unknown")


@pytest.mark.parametrize("fault", [answer(503), LATER, UpstreamTimeout("slow", outcome="unknown")])
def test_a_write_that_the_service_knows_by_its_header_is_sent_again_with_the_same_one(fault):
    played = run(tool(request("POST", idempotency=KEY)), scope(), [fault, answer()])

    assert played.error is None
    assert [dict(sent.headers)["Idempotency-Key"] for sent in played.requests] == ["call-1", "call-1"]


def test_each_run_has_a_header_of_its_own_to_be_known_by():
    of = tool(step("a", request(idempotency=KEY), over="{{tags}}"), step("b", request(idempotency=KEY)))

    played = run(of, scope(tags=["x", "y"]), [answer(), LATER, answer(), answer()])

    keys = [dict(sent.headers)["Idempotency-Key"] for sent in played.requests]
    assert keys == ["call-1", "call-1-2", "call-1-2", "call-1-3"]


def test_a_value_that_is_new_each_time_it_is_filled_stays_the_same_over_the_tries_of_a_request():
    own = Idempotency(header="Idempotency-Key", value=compile_text("{{uuid()}}"))

    played = run(tool(step("a", request(idempotency=own), over="{{n}}")), scope(n=[1, 2]), [LATER, answer(), answer()])

    first, second, third = (dict(sent.headers)["Idempotency-Key"] for sent in played.requests)
    assert first == second != third
    assert len(third) == 36


def test_a_write_with_a_key_that_stays_in_doubt_is_unknown_in_the_end():
    slow = UpstreamTimeout("slow", outcome="unknown")

    assert run(tool(request("POST", idempotency=KEY, timeout_s=1)), scope(), [slow] * 3).error.outcome == "unknown"


@pytest.mark.parametrize(
    ("unit", "told", "wait"),
    [
        ("", "1754002980000", 53.0),
        ("", "1754002980", 53.0),
        ("", "53", 53.0),
        ("", "2025-07-31T23:03:00Z", 53.0),
        ("", "2025-08-01T01:03:00+02:00", 53.0),
        ("", "Thu, 31 Jul 2025 23:03:00 GMT", 53.0),
        ("seconds", "0.5", 0.5),
        ("unix", "1754002980", 53.0),
        ("unix_ms", "1754002980000", 53.0),
        ("date", "2025-07-31T23:03:00", 53.0),
    ],
)
def test_the_moment_to_come_back_is_understood_in_each_unit(unit, told, wait):
    at = replace(scope(), made=Made(now=datetime.fromtimestamp(1754002927, UTC), call_id="c"))
    later = answer(429, None, x_ratelimit_reset=told)

    assert run(tool(request("GET", retry=resets(unit=unit))), at, [later, answer()]).pauses == [wait]


@pytest.mark.parametrize("told", ["soon", "", "nan", "-5", "1e400", "1754002900"])
def test_a_moment_that_is_none_or_is_over_leaves_the_usual_wait(told):
    at = replace(scope(), made=Made(now=datetime.fromtimestamp(1754002927, UTC), call_id="c"))

    played = run(tool(request("GET", retry=resets())), at, [answer(429, None, x_ratelimit_reset=told), answer()])

    assert 0 <= played.pauses[0] <= 1


def test_the_moment_may_stand_in_the_body_and_the_later_of_two_counts():
    rule = RetryRule(reset=compile_place("/retry_after"))
    later = answer(429, {"retry_after": 3.5}, retry_after="1")

    assert run(tool(request("GET", retry=rule)), scope(), [later, answer()]).pauses == [3.5]


def test_a_refusal_that_carries_rate_headers_is_not_sent_again():
    refused = answer(400, {"message": "bad"}, x_ratelimit_reset="60", retry_after="1")

    played = run(tool(request("GET", retry=resets())), scope(), [refused])

    assert str(played.error) == "tool 'post': answered 400: bad"


def test_a_fixed_wait_and_fewer_tries_are_kept_to():
    played = run(tool(request("GET", retry=RetryRule(tries=2, wait_s=4.0))), scope(), [answer(503), answer(503)])

    assert (played.pauses, played.error.message) == ([4.0], "answered 503")


def test_waits_that_the_manifest_itself_wants_are_never_too_long():
    played = run(tool(request("GET", retry=RetryRule(wait_s=120.0))), scope(), [answer(503), answer(503), answer()])

    assert (played.pauses, played.error) == ([120.0, 120.0], None)


def test_a_manifest_may_leave_out_the_network():
    rule = RetryRule(on_network=False)
    fault = UpstreamUnavailable("down")

    assert run(tool(request("GET", retry=rule)), scope(), [fault]).error is fault


def test_without_a_clock_a_date_says_nothing_and_the_usual_wait_holds():
    later = answer(503, None, retry_after="Mon, 30 Nov 2026 12:00:30 GMT")

    assert run(tool(request("GET")), replace(scope(), made=None), [later, answer()], ACTION).pauses[0] <= 1
