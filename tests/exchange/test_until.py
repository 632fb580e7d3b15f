import pytest
from tests.exchange.conversations import READ, answer, request, run, scope, step, tool

from habilis.errors import UpstreamError, UpstreamTimeout
from habilis.manifest.model import OkRule, UntilRule
from habilis.templating import compile_condition, compile_place

READY = compile_condition({"field": "status", "op": "eq", "value": 200})
FAILED = compile_condition({"field": "/state", "op": "eq", "value": "failed"})


def wait(path="/media/{{upload.id}}", **rule):
    return step("wait", request("GET", path, until=UntilRule(when=READY, **rule)))


UPLOAD = step("upload", request(path="/media"), save={"id": "/id"})


def test_a_post_waits_until_the_upload_before_it_is_ready():
    of = tool(UPLOAD, wait(), step("status", request(path="/statuses", json={"ids": ["{{upload.id}}"]})))

    played = run(of, scope(), [answer(202, {"id": "7"}), answer(206), answer(206), answer(200, {}), answer(200, {})])

    assert played.sent == [
        "POST https://api.example.com/media",
        "GET https://api.example.com/media/7",
        "GET https://api.example.com/media/7",
        "GET https://api.example.com/media/7",
        "POST https://api.example.com/statuses",
    ]
    assert played.pauses == [2.0, 2.0]
    assert played.error is None


def test_what_is_ready_at_once_is_not_waited_for():
    assert run(tool(wait("/x")), scope(), [answer(200, {})]).pauses == []


def test_the_answer_may_say_how_long_to_wait():
    of = tool(wait("/x", every=compile_place("/check_after_secs")))
    script = [answer(202, {"check_after_secs": 5}), answer(202, {"check_after_secs": 0}), answer(202, {}), answer(200)]

    assert run(of, scope(), script).pauses == [5.0, 0.5, 2.0]


def test_a_wait_ends_with_its_time_and_names_its_step_and_what_was_done():
    of = tool(UPLOAD, wait(every_s=4.0, most_s=10.0))

    played = run(of, scope(), [answer(202, {"id": "7"}), answer(206), answer(206), answer(206, elapsed_s=1.0)])

    assert isinstance(played.error, UpstreamTimeout)
    assert str(played.error) == (
        "step 'wait': the service was not ready within 10 s; done before: upload"
        " (it may still become ready; look there before doing it again;"
        " what was done stays done, and another call begins from the start)"
    )
    assert (played.pauses, played.error.outcome) == ([4.0, 4.0], "partial")


def test_what_the_answers_take_counts_as_waited_for():
    of = tool(wait("/x", every_s=1.0, most_s=10.0))

    played = run(of, scope(), [answer(206, elapsed_s=9.5)], READ)

    assert (played.pauses, played.error.outcome, played.error.retryable) == ([], "not_sent", True)


def test_what_will_never_be_ready_ends_the_wait_in_the_words_of_the_service():
    of = tool(UPLOAD, wait(fail=FAILED))
    script = [
        answer(202, {"id": "7"}),
        answer(202, {"state": "new"}),
        answer(202, {"state": "failed", "message": "odd"}),
    ]

    played = run(of, scope(), script)

    assert isinstance(played.error, UpstreamError)
    assert str(played.error).startswith("step 'wait': answered 202 with an error: odd; done before: upload")
    assert played.error.outcome == "partial"


def test_an_error_while_it_waits_ends_the_wait_unless_it_is_expected():
    expected = request("GET", until=UntilRule(when=READY), ok=OkRule(statuses=frozenset({404})))

    assert run(tool(wait("/x")), scope(), [answer(404, {})]).error.message.startswith("answered 404")
    assert run(tool(expected), scope(), [answer(404, {}), answer(200, {})]).error is None


def test_a_read_that_waits_is_sent_again_when_it_is_asked_to_slow_down():
    played = run(tool(wait("/x")), scope(), [answer(429, None, retry_after="3"), answer(206), answer(200)])

    assert played.pauses == [3.0, 2.0]


def test_a_request_that_changes_something_and_never_is_ready_leaves_its_outcome_unknown():
    of = tool(request("POST", until=UntilRule(when=READY, most_s=1.0)))

    played = run(of, scope(), [answer(202)])

    assert (played.error.outcome, played.error.retryable) == ("unknown", False)


@pytest.mark.parametrize("told", ["soon", None, True, "1e999"])
def test_a_wait_that_is_no_number_is_the_usual_one(told):
    of = tool(wait("/x", every=compile_place("/in")))

    assert run(of, scope(), [answer(202, {"in": told}), answer(200)]).pauses == [2.0]
