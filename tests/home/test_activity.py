import json
import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from habilis import redaction
from habilis.errors import CapReached, DuplicateTarget, EngineFailed, OutcomeUnknown, UnsafePath
from habilis.home.activity import Action, ActivityLog
from habilis.policy.limits import Standing, check_cap, check_target

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def action(action_id, at=NOON, role="reply", target="", **more):
    return Action(id=action_id, at=at, ability="blog", role=role, tool="reply", target=target, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "connections" / "blog" / "activity.jsonl"


@pytest.fixture
def log(path):
    return ActivityLog(path)


def outcomes(log):
    return [(entry.action.id, entry.outcome) for entry in log.entries()]


def test_a_log_that_is_not_there_says_nothing(log):
    assert log.entries() == []
    assert log.used_today(NOON) == 0
    assert log.standing("reply", "post/1") is None
    assert log.skipped == 0


def test_an_action_is_an_intent_and_an_outcome(log, path):
    begun = action("a1", target="post/1", actor="agent")

    log.begin(begun)
    log.finish("a1", "done", link="https://blog.example/1")

    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {
            "id": "a1",
            "at": "2026-03-01T12:00:00Z",
            "ability": "blog",
            "role": "reply",
            "tool": "reply",
            "target": "post/1",
            "actor": "agent",
        },
        {"id": "a1", "outcome": "done", "link": "https://blog.example/1", "error": ""},
    ]
    (entry,) = log.entries()
    assert (entry.action, entry.outcome, entry.link) == (begun, "done", "https://blog.example/1")


def test_what_was_done_of_an_action_stands_between_its_intent_and_its_outcome(log):
    log.begin(action("a1"))
    log.step("a1", "register", 0, {"id": 7, "url": "https://up.example/7"})
    log.begin(action("a2"))
    log.step("a1", "register", 1, {"id": 8})
    log.step("a2", "post", None, "ok")
    log.finish("a1", "partial", error="upstream_error")

    second, first = log.entries()

    assert [(step.step, step.run, json.loads(step.saved)) for step in first.steps] == [
        ("register", 0, {"id": 7, "url": "https://up.example/7"}),
        ("register", 1, {"id": 8}),
    ]
    assert first.outcome == "partial"
    assert [(step.step, step.run, step.saved) for step in second.steps] == [("post", None, '"ok"')]


def test_a_step_changes_neither_what_counts_nor_what_is_in_the_way(log, path):
    log.begin(action("a1", target="post/1"))
    log.step("a1", "register", None, {})

    assert (log.used_today(NOON), log.skipped) == (1, 0)
    assert ActivityLog(path).used_today(NOON) == 1
    assert ActivityLog(path).skipped == 0
    assert log.standing("reply", "post/1").outcome == "unknown"


def test_a_step_keeps_no_key_and_not_a_whole_answer(log, path):
    with redaction.recording() as ledger:
        ledger.add("TOKEN", "hunter2-hunter2")
        log.begin(action("a1"))
        log.step("a1", "ask", None, {"token": "hunter2-hunter2", "rows": "x" * 5000})

    (step,) = log.entries()[0].steps
    assert "hunter2" not in path.read_text()
    assert step.saved.startswith('{"token": "[redacted TOKEN]"')
    assert len(step.saved) == 2000
    assert step.saved.endswith("…")


@pytest.mark.parametrize("run", ["-1", "1.5", "x", "٣", "1" * 10])
def test_a_step_whose_run_is_no_number_is_skipped_and_stops_nothing(log, path, run):
    log.begin(action("a1"))
    with path.open("a") as file:
        file.write(json.dumps({"id": "a1", "step": "put", "run": run, "saved": "1"}) + "\n")

    assert log.entries()[0].steps == ()
    assert ActivityLog(path).skipped == 1


def test_an_intent_without_an_outcome_is_unknown(log):
    log.begin(action("a1", target="post/1"))

    assert outcomes(log) == [("a1", "unknown")]
    assert log.used_today(NOON) == 1
    assert log.standing("reply", "post/1") == Standing(outcome="unknown", at=NOON)


def test_the_log_is_the_owner_s_alone(log, path):
    log.begin(action("a1"))

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_the_latest_actions_come_first_as_many_as_asked_for(log):
    for number in range(5):
        log.begin(action(f"a{number}"))
        log.finish(f"a{number}", "failed", error="upstream_error")

    found = log.entries(limit=2)

    assert [(entry.action.id, entry.error) for entry in found] == [("a4", "upstream_error"), ("a3", "upstream_error")]


def test_entries_are_found_far_back_in_a_long_log(log):
    log.begin(action("first", target="post/" + "x" * 200_000))
    for number in range(300):
        log.begin(action(f"a{number}", target="y" * 500))
    log.finish("first", "done")

    found = log.entries(limit=1_000)

    assert [entry.action.id for entry in found] == [*(f"a{number}" for number in reversed(range(300))), "first"]
    assert found[-1].outcome == "done"


@pytest.mark.parametrize(
    ("outcome", "stands", "counts"),
    [("done", "done", 1), ("unknown", "unknown", 1), ("failed", None, 1), ("partial", None, 1), ("not_sent", None, 0)],
)
def test_how_an_action_ended_decides_what_it_blocks_and_counts(log, outcome, stands, counts):
    log.begin(action("a1", target="post/1"))
    log.finish("a1", outcome)

    found = log.standing("reply", "post/1")

    assert (found and found.outcome) == stands
    assert log.used_today(NOON) == counts


def test_only_the_same_role_on_the_same_target_is_in_the_way(log):
    log.begin(action("a1", role="reply", target="post/1"))
    log.begin(action("a2", role="reply"))

    assert log.standing("reply", "post/1") is not None
    assert log.standing("publish", "post/1") is None
    assert log.standing("reply", "post/2") is None
    assert log.standing("reply", "") is None


def test_someone_who_looked_settles_an_unknown_action(log):
    log.begin(action("a1", target="post/1"))
    log.begin(action("a2", target="post/2"))
    log.finish("a1", "unknown", error="upstream_timeout")
    log.finish("a2", "unknown", error="upstream_timeout")

    log.finish("a1", "done", link="https://blog.example/1")
    log.finish("a2", "not_sent")

    assert outcomes(log) == [("a2", "not_sent"), ("a1", "done")]
    assert log.standing("reply", "post/1").outcome == "done"
    assert log.standing("reply", "post/2") is None
    assert log.used_today(NOON) == 1


def test_of_two_open_actions_on_one_target_one_not_sent_does_not_clear_the_other(log):
    log.begin(action("a1", target="post/1"))
    log.begin(action("a2", target="post/1"))

    log.finish("a1", "not_sent")

    assert log.standing("reply", "post/1").outcome == "unknown"


def test_an_action_that_was_done_stays_in_the_way_whatever_follows(log):
    log.begin(action("a1", target="post/1"))
    log.finish("a1", "done")
    log.begin(action("a2", target="post/1"))
    log.finish("a2", "failed")

    assert log.standing("reply", "post/1").outcome == "done"


def test_the_day_is_the_utc_day(log):
    evening_before_in_new_york = datetime.fromisoformat("2026-02-28T20:00:00-05:00")
    log.begin(action("a1", at=evening_before_in_new_york))
    log.begin(action("a2", at=datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)))

    assert log.used_today(NOON) == 1


def test_a_clock_that_was_set_back_gives_no_second_day(log):
    for number in range(5):
        log.begin(action(f"a{number}", at=NOON))

    assert log.used_today(NOON - timedelta(days=1)) == 5
    assert log.used_today(NOON) == 5
    assert log.used_today(NOON + timedelta(days=1)) == 0


def test_a_clock_that_jumped_forward_and_back_still_counts_what_was_done(log):
    log.begin(action("a1", at=NOON + timedelta(days=30)))
    log.begin(action("a2", at=NOON))

    assert log.used_today(NOON) == 2


def test_lines_that_say_nothing_are_skipped_and_counted(log, path):
    log.begin(action("a1", target="post/1"))
    with path.open("ab") as file:
        file.write(
            b'not json\n\0\0\0\n[1]\n{"id":"x"}\n{"id":"nobody","outcome":"done","link":"","error":""}\n\xff\xfe\n'
        )
        file.write(b'{"id":"b","at":"yesterday","role":"reply","target":""}\n{"a":1,\n"b":2}\n' + b"[" * 5_000 + b"\n")
    log.begin(action("a2"))

    fresh = ActivityLog(path)

    for reader in (log, fresh):
        assert reader.skipped == 10
        assert reader.used_today(NOON) == 2
        assert outcomes(reader) == [("a2", "unknown"), ("a1", "unknown")]


def test_a_torn_last_line_is_skipped_and_harms_no_line_after_it(log, path):
    log.begin(action("a1"))
    with path.open("ab") as file:
        file.write(b'{"id": "torn", "at": "2026-03-0')

    assert log.skipped == 1
    assert log.used_today(NOON) == 1
    log.begin(action("a2"))
    assert log.skipped == 1
    assert log.used_today(NOON) == 2
    assert ActivityLog(path).used_today(NOON) == 2


def test_the_log_of_a_removed_account_is_not_made_again_by_an_action_that_ends(log, path):
    log.begin(action("a1"))
    path.unlink()

    log.finish("a1", "done")

    assert not path.exists()
    assert log.used_today(NOON) == 0


def test_a_log_that_was_replaced_is_read_anew(log, path):
    log.begin(action("a1", target="post/1"))
    log.used_today(NOON)
    path.unlink()
    other = ActivityLog(path)
    for number in range(3):
        other.begin(action(f"b{number}", target="post/2"))

    assert log.used_today(NOON) == 3
    assert log.standing("reply", "post/1") is None


def test_a_link_is_neither_read_nor_written(log, path, tmp_path):
    path.parent.mkdir(parents=True)
    (tmp_path / "other").write_text("")
    path.symlink_to(tmp_path / "other")

    with pytest.raises(UnsafePath):
        log.begin(action("a1"))
    with pytest.raises(UnsafePath):
        log.used_today(NOON)
    with pytest.raises(UnsafePath):
        log.entries()

    assert (tmp_path / "other").read_text() == ""


def test_a_log_that_cannot_be_used_is_told_before_anything_is_sent(log, path):
    path.mkdir(parents=True)

    with pytest.raises(EngineFailed, match="Is a directory"):
        log.begin(action("a1"))


def test_keys_never_reach_the_log_and_a_masked_target_is_found_again(log, path):
    with redaction.recording() as ledger:
        ledger.add("TOKEN", "s3cret-token")
        log.begin(action("a1", target="https://blog.example/?key=s3cret-token", actor="s3cret-token"))
        log.finish("a1", "done", link="https://blog.example/1?key=s3cret-token")

        assert log.standing("reply", "https://blog.example/?key=s3cret-token").outcome == "done"

    assert "s3cret-token" not in path.read_text()


def test_a_refused_check_logs_nothing(log, path):
    log.begin(action("a1", target="post/1"))

    with pytest.raises(OutcomeUnknown):
        log.begin(
            action("a2", target="post/1"),
            lambda: check_target(log.standing("reply", "post/1"), role="reply", target="post/1"),
        )

    assert outcomes(log) == [("a1", "unknown")]


CALLER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from habilis.errors import CapReached
from habilis.home.activity import Action, ActivityLog
from habilis.policy.limits import check_cap
log, now = ActivityLog(Path(sys.argv[1])), datetime(2026, 3, 1, 12, tzinfo=UTC)
begun = 0
for number in range(20):
    name = f"{sys.argv[2]}-{number}"
    order = Action(id=name, at=now, ability="blog", role="reply", tool="reply")
    try:
        log.begin(order, lambda: check_cap(log.used_today(now), 20, now=now))
    except CapReached:
        continue
    log.finish(name, "done")
    begun += 1
print(begun)
"""


def test_a_cap_holds_between_processes(log, path):
    callers = [
        subprocess.Popen([sys.executable, "-c", CALLER, path, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]

    begun = [int(caller.communicate(timeout=60)[0]) for caller in callers]

    assert sum(begun) == 20
    assert log.used_today(NOON) == 20
    assert log.skipped == 0


def test_one_of_many_threads_gets_a_target(log):
    begun = []

    def call(number):
        name = f"a{number}"
        try:
            log.begin(
                action(name, target="post/1"),
                lambda: check_target(log.standing("reply", "post/1"), role="reply", target="post/1"),
            )
        except (DuplicateTarget, OutcomeUnknown):
            return
        begun.append(name)
        log.finish(name, "done")

    threads = [threading.Thread(target=call, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(begun) == 1


APPENDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from habilis.home.activity import Action, ActivityLog
log = ActivityLog(Path(sys.argv[1]))
for number in range(50):
    name = f"{sys.argv[2]}-{number}"
    begun = Action(id=name, at=datetime(2026, 3, 1, tzinfo=UTC), ability="b", role="reply", tool="t", target=name)
    log.begin(begun).sync()
    log.finish(name, "done")
"""


def test_eight_processes_append_whole_lines(log, path):
    writers = [subprocess.Popen([sys.executable, "-c", APPENDER, path, str(number)]) for number in range(8)]
    while any(writer.poll() is None for writer in writers):
        log.used_today(NOON)

    assert [writer.returncode for writer in writers] == [0] * 8
    assert log.skipped == 0
    assert log.used_today(NOON) == 400
    assert {entry.outcome for entry in log.entries(limit=1_000)} == {"done"}


@needs_strace
def test_an_action_is_synced_twice_and_no_more(path):
    ActivityLog(path).begin(action("earlier"))
    code = APPENDER.replace("range(50)", "range(1)")

    traced = subprocess.run(
        ["strace", "-f", "-e", "trace=fsync,fdatasync", sys.executable, "-c", code, path, "0"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert traced.stderr.count("sync(") == 2


@needs_strace
@pytest.mark.parametrize(("fault", "error"), [("write:error=ENOSPC", "DiskFull"), ("fsync:error=EIO", "EngineFailed")])
def test_an_action_that_could_not_be_logged_does_not_begin(path, fault, error):
    log = ActivityLog(path)
    log.begin(action("earlier"))

    outcome = subprocess.run(
        [
            "strace",
            "-f",
            "-o",
            os.devnull,
            "-P",
            path,
            "-e",
            f"inject={fault}",
            sys.executable,
            "-c",
            APPENDER,
            path,
            "0",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert outcome.returncode != 0
    assert error in outcome.stderr
    assert log.skipped == 0


def test_what_is_written_after_the_intent_is_synced_too(log, path):
    intent = log.begin(action("a1"))
    intent.sync()
    path.unlink()

    with pytest.raises(EngineFailed):
        intent.sync()


def test_a_cap_that_is_reached_says_when_it_ends(log):
    log.begin(action("a1"))

    with pytest.raises(CapReached) as caught:
        check_cap(log.used_today(NOON), 1, now=NOON)

    assert "2026-03-02 00:00 UTC" in caught.value.hint
