import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from habilis.home.waiting import Waiting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=10)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".state" / "approvals"


@pytest.fixture
def waiting(folder):
    return Waiting(folder)


def test_a_record_waits_and_is_taken_once(waiting):
    waiting.put("a1", {"tool": "publish"}, LATER)

    assert waiting.peek("a1", now=NOON) == {"tool": "publish"}
    assert waiting.take("a1", now=NOON) == {"tool": "publish"}
    assert waiting.take("a1", now=NOON) is None
    assert waiting.peek("a1", now=NOON) is None


def test_nothing_waits_in_a_folder_that_is_not_there(waiting, folder):
    assert waiting.peek("a1", now=NOON) is None
    assert waiting.take("a1", now=NOON) is None
    assert waiting.list(now=NOON) == []
    assert not folder.exists()


@pytest.mark.parametrize(("seconds", "is_there"), [(-1, True), (0, False), (1, False)])
def test_a_record_is_gone_at_the_moment_its_time_is_over(waiting, seconds, is_there):
    waiting.put("a1", {}, LATER)
    now = LATER + timedelta(seconds=seconds)

    assert (waiting.peek("a1", now=now) is not None) is is_there
    assert (waiting.take("a1", now=now) is not None) is is_there


def test_a_record_that_ran_out_is_not_taken_by_a_clock_that_was_set_back(waiting):
    waiting.put("a1", {}, LATER)

    assert waiting.take("a1", now=LATER) is None
    assert waiting.take("a1", now=NOON) is None


def test_records_are_listed_the_first_to_run_out_first(waiting):
    for number in (3, 1, 2):
        waiting.put(f"a{number}", {"number": number}, NOON + timedelta(minutes=number))

    assert [record["number"] for record in waiting.list(now=NOON)] == [1, 2, 3]


@pytest.mark.parametrize(
    "look", [lambda waiting, now: waiting.list(now=now), lambda waiting, now: waiting.take("new", now=now)]
)
def test_what_ran_out_or_is_damaged_is_swept(waiting, folder, look):
    waiting.put("old", {}, NOON)
    waiting.put("new", {}, LATER)
    waiting.put("other", {}, LATER)
    for number, content in enumerate(
        [
            b"",
            b"\0\0",
            b"[]",
            b"{}",
            b'{"expires_at":"x","data":{}}',
            b'{"expires_at":1,"data":5}',
            b'{"expires_at":1' + b"0" * 400 + b',"data":{}}',
        ]
    ):
        (folder / f"{number}.json").write_bytes(content)

    look(waiting, LATER - timedelta(seconds=1))

    assert waiting.peek("other", now=NOON) == {}
    assert {path.suffix for path in folder.iterdir()} == {".json"}
    assert len(list(folder.iterdir())) <= 2


def test_a_folder_among_the_records_is_none(waiting, folder):
    waiting.put("a1", {}, LATER)
    waiting._path("a2").mkdir()

    assert waiting.list(now=NOON) == [{}]
    assert waiting.peek("a2", now=NOON) is None
    assert waiting.take("a2", now=NOON) is None


def test_what_a_killed_writer_left_goes_and_what_is_being_written_stays(waiting, folder):
    waiting.put("a1", {}, LATER)
    left, fresh = folder / "x.json.1.habilis-tmp", folder / "y.json.2.habilis-tmp"
    left.write_text("{")
    fresh.write_text("{")
    os.utime(left, (1, 1))

    waiting.list(now=NOON)

    assert not left.exists()
    assert fresh.exists()


def test_an_id_is_written_nowhere_and_a_record_is_the_owner_s_alone(waiting, folder):
    waiting.put("s3cret-state/../x\ud800", {"verifier": "v"}, LATER)

    (path,) = folder.iterdir()
    assert "s3cret" not in path.name + path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_record_that_is_put_again_waits_again(waiting):
    waiting.put("a1", {"n": 1}, LATER)
    waiting.take("a1", now=NOON)

    waiting.put("a1", {"n": 2}, LATER)

    assert waiting.take("a1", now=NOON) == {"n": 2}


def test_one_of_many_threads_takes_a_record(waiting):
    for number in range(20):
        waiting.put(f"a{number}", {}, LATER)
        taken = []
        start = threading.Barrier(8)

        def take(name=f"a{number}", taken=taken, start=start):
            start.wait()
            if waiting.take(name, now=NOON) is not None:
                taken.append(1)

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert taken == [1]


TAKER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from habilis.home.waiting import Waiting
waiting, now = Waiting(Path(sys.argv[1])), datetime(2026, 3, 1, 12, tzinfo=UTC)
sys.stdin.readline()
print(sum(waiting.take(f"a{number}", now=now) is not None for number in range(200)))
"""


def test_one_of_many_processes_takes_a_record(waiting, folder):
    for number in range(200):
        waiting.put(f"a{number}", {}, LATER)
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]

    taken = [int(taker.communicate("go\n", timeout=60)[0]) for taker in takers]

    assert sum(taken) == 200
