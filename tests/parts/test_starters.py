"""The starters keep their contract: they answer, end with their parent, leave nothing, and say what is missing."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.parts.needs import ABSENT, NEEDS

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]

ASKS_FOR_STRACE = """
import pytest

@pytest.mark.part("strace")
def test_that_traces():
    pass
"""


@pytest.mark.parametrize("part", ["gitremote", "mediawiki", "wordpress"])
def test_a_starter_without_its_programs_ends_with_69_and_names_the_packages(part):
    done = _run([sys.executable, HERE / f"{part}.py"], env={"PATH": "/nowhere"})

    assert done.returncode == ABSENT
    assert f"install: {' '.join(NEEDS[part].packages)}" in done.stderr
    assert done.stdout == ""


@pytest.mark.part("gitremote")
def test_nothing_of_a_part_outlives_the_process_that_started_it():
    starts_and_prints = f"""
import subprocess, sys
starter = subprocess.Popen([sys.executable, {str(HERE / "gitremote.py")!r}], stdout=subprocess.PIPE, text=True)
print(starter.stdout.readline(), flush=True)
starter.wait()
"""
    with subprocess.Popen([sys.executable, "-c", starts_and_prints], stdout=subprocess.PIPE, text=True) as parent:
        facts = json.loads(parent.stdout.readline())

        parent.kill()

    assert _is_gone(facts)


@pytest.mark.part("gitremote")
def test_nothing_of_a_part_outlives_a_starter_that_was_killed():
    with subprocess.Popen([sys.executable, HERE / "gitremote.py"], stdout=subprocess.PIPE, text=True) as starter:
        facts = json.loads(starter.stdout.readline())

        os.kill(facts["pid"], signal.SIGKILL)

    assert _is_gone(facts)


@pytest.mark.part("gitremote")
def test_a_folder_that_is_to_be_kept_is_kept(tmp_path):
    command = [sys.executable, HERE / "gitremote.py", "--keep", "--data", tmp_path / "here"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        starter.stdout.readline()

        starter.terminate()

    assert starter.returncode == 0
    assert (tmp_path / "here" / "repos" / "demo.git" / "HEAD").exists()


@pytest.mark.parametrize(
    ("wanted", "code", "count"),
    [
        ("", pytest.ExitCode.OK, "1 skipped"),
        ("all", pytest.ExitCode.TESTS_FAILED, "1 error"),
    ],
)
def test_an_absent_part_is_told_and_fails_only_when_all_are_wanted(tmp_path, wanted, code, count):
    (tmp_path / "test_asking.py").write_text(ASKS_FOR_STRACE)
    command = [sys.executable, "-m", "pytest", "-p", "tests.parts.plugin", "-q", tmp_path / "test_asking.py"]
    environment = {"PATH": "/nowhere", "HABILIS_PARTS": wanted, "PYTHONPATH": str(PROJECT)}

    done = _run(command, cwd=tmp_path, env=environment)

    assert done.returncode == code
    assert "Real counterparts absent: strace (install: strace)" in done.stdout
    assert count in done.stdout.splitlines()[-1]


def test_wordpress_answers_and_knows_its_people(wordpress):
    with urllib.request.urlopen(f"{wordpress.rest}/users", timeout=20) as answer:
        assert [person["slug"] for person in json.load(answer)] == ["admin"]


def test_mediawiki_answers_and_lets_nobody_edit_who_has_not_signed_in(mediawiki):
    form = b"action=edit&title=Mine&text=x&format=json&token=%2B%5C"
    with urllib.request.urlopen(mediawiki.api, data=form, timeout=20) as answer:
        assert json.load(answer)["error"]["code"] == "permissiondenied"


def test_a_repository_made_by_a_test_is_served_at_once(gitremote):
    address = gitremote.make("served-at-once").replace("://", f"://writer:{gitremote.passwords['writer']}@")

    seen = _run(["git", "ls-remote", address])

    assert (seen.returncode, seen.stdout) == (0, "")


def _run(command: list, **how) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **how)


def _is_gone(facts: dict) -> bool:
    """Whether, within five seconds, nobody listens at the part's port and its folder is removed."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not Path(facts["data"]).exists() and not _listens(facts["url"]):
            return True
        time.sleep(0.02)
    return False


def _listens(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=1).close()
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False
    return True
