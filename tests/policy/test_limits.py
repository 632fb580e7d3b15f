from datetime import UTC, datetime

import pytest

from habilis.errors import CapReached, DuplicateTarget, OutcomeUnknown
from habilis.policy.limits import Standing, check_cap, check_target

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("used", "cap"), [(0, 1), (4, 5), (10_000, None)])
def test_an_action_below_the_cap_may_happen(used, cap):
    check_cap(used, cap, now=NOON)


@pytest.mark.parametrize(("used", "cap"), [(5, 5), (6, 5), (0, 0)])
def test_an_action_beyond_the_cap_is_refused(used, cap):
    with pytest.raises(CapReached, match=f"{used} of {cap} actions"):
        check_cap(used, cap, now=NOON)


@pytest.mark.parametrize(
    ("now", "reset"),
    [
        ("2026-03-01T00:00:00+00:00", "2026-03-02 00:00 UTC"),
        ("2026-02-28T23:59:59+00:00", "2026-03-01 00:00 UTC"),
        ("2026-12-31T20:00:00-05:00", "2027-01-02 00:00 UTC"),
    ],
)
def test_the_refusal_says_when_the_next_utc_day_begins(now, reset):
    with pytest.raises(CapReached) as caught:
        check_cap(1, 1, now=datetime.fromisoformat(now))

    assert reset in caught.value.hint
    assert caught.value.retryable


def test_nothing_in_the_way_is_no_refusal():
    check_target(None, role="reply", target="post/1")


def test_what_was_done_is_not_done_again():
    done = Standing(outcome="done", at=NOON, link="https://blog.example/1")

    with pytest.raises(DuplicateTarget, match="reply on post/1 on 2026-03-01 12:00 UTC") as caught:
        check_target(done, role="reply", target="post/1")

    assert caught.value.hint == "see https://blog.example/1"


def test_what_may_have_been_done_waits_for_someone_to_look():
    with pytest.raises(OutcomeUnknown, match="may have happened") as caught:
        check_target(Standing(outcome="unknown", at=NOON), role="reply", target="post/1")

    assert caught.value.outcome == "unknown"
    assert "mark" in caught.value.hint


def test_a_long_target_does_not_fill_the_message():
    with pytest.raises(DuplicateTarget) as caught:
        check_target(Standing(outcome="done", at=NOON), role="reply", target="x" * 10_000)

    assert len(str(caught.value)) < 300
