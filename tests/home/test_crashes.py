"""A home after a kill at any step of a commit, on a full disk, and with many writers at once."""

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.home.conftest import NOON
from tests.home.repository import content, files, is_whole, status, subjects

from habilis.errors import DiskFull
from habilis.home.bare import BareHome
from habilis.home.worktree import WorkTreeHome, init_home

pytestmark = pytest.mark.part("git")

STEPS = ("open", "write", "pwrite", "fsync", "link", "rename", "replace", "unlink", "mkdir", "rmdir")
"""What changes the disk: a kill comes before the nth of them."""

BEFORE = {"a/edited": b"1", "a/removed": b"1", "b": b"1"}
CHANGE = {"a/edited": b"2", "a/removed": None, "c/added": b"2"}


def killed_at(step, work):
    """Run `work` in a child that is killed at a step, counted from 0; False when it ended before."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    count = 0

    def counted(function):
        def call(*arguments, **options):
            nonlocal count
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            return function(*arguments, **options)

        return call

    try:
        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        work()
    finally:
        os._exit(0)


def commit(home, changes, subject="Change"):
    return home.commit(lambda _: changes, subject=subject, action="a", actor="b")


def leftovers(root):
    """Return what is in a repository's folder that neither git nor a home at rest has there."""
    known = (
        r"habilis(-mark|\.lock|-stage)|HEAD|ORIG_HEAD|config|index|logs|objects|refs|info|description|hooks|branches"
    )
    return [path.name for path in root.iterdir() if not re.fullmatch(known, path.name)] + [
        path.name for path in root.rglob("*.lock") if path.name != "habilis.lock"
    ]


def test_a_kill_at_any_step_leaves_the_home_before_or_after_and_the_next_write_works(tmp_path):
    template = init_home(tmp_path / "template", clock=lambda: NOON)
    before = commit(template, BEFORE)
    template.close()
    step, outcomes = 0, []
    while True:
        root = tmp_path / str(step)
        shutil.copytree(tmp_path / "template", root)
        (root / "b").write_text("by hand")
        if not killed_at(step, lambda root=root: commit(WorkTreeHome(root), CHANGE)):
            break

        seen = WorkTreeHome(root).open()
        state = tuple(seen.read(path) for path in ("a/edited", "a/removed", "c/added"))
        assert state == ((b"1", b"1", None) if seen.id == before else (b"2", None, b"2"))
        assert seen.list("") == ["a/", "b"] + (["c/"] if seen.id != before else [])
        assert seen.read("b") == b"by hand"
        commit(WorkTreeHome(root), {"next": b"1"}, subject="Next")
        assert files(root) == sorted(
            [".gitignore", "a/edited", "b", "next"] + (["a/removed"] if seen.id == before else ["c/added"])
        )
        assert status(root) == " M b\n"
        assert is_whole(root)
        assert leftovers(root / ".git") == []
        assert subjects(root)[0] == "Next"
        outcomes.append(seen.id == before)
        step += 1

    assert step > 40
    assert outcomes == sorted(outcomes, reverse=True)
    assert len(set(outcomes)) == 2


def test_a_kill_while_a_hand_edit_is_kept_loses_neither(tmp_path):
    for step in range(10, 200, 7):
        root = tmp_path / str(step)
        home = init_home(root)
        commit(home, {"a": b"1"})
        (root / "a").write_text("by hand")
        if not killed_at(step, lambda home=home: commit(home, {"a": b"2"})):
            break

        commit(WorkTreeHome(root), {"next": b"1"})

        assert WorkTreeHome(root).open().read("a") in {b"by hand", b"2"}
        if WorkTreeHome(root).open().read("a") == b"2":
            assert content(root, "a", "HEAD~2") == "by hand"
        assert is_whole(root)


def test_a_kill_at_any_step_of_a_bare_commit(tmp_path):
    step = 0
    while True:
        home = BareHome(tmp_path / f"{step}.git", private=tmp_path / "private")
        before = commit(home, BEFORE)
        if not killed_at(step, lambda home=home: commit(home, CHANGE)):
            break

        other = BareHome(tmp_path / f"{step}.git", private=tmp_path / "private")
        assert other.open().read("a/edited") == (b"1" if other.open().id == before else b"2")
        commit(other, {"next": b"1"})
        assert is_whole(tmp_path / f"{step}.git")
        assert leftovers(tmp_path / f"{step}.git") == []
        other.close()
        step += 1

    assert step > 20


def test_an_edit_after_a_crash_is_not_overwritten(tmp_path):
    home = init_home(tmp_path)
    commit(home, {"a": b"1", "b": b"1"})
    before = home.open().id
    step = 0
    while home.open().id == before:
        assert killed_at(step, lambda: commit(home, {"a": b"2", "b": b"2"})), "every kill came before the commit stood"
        step += 4
    (tmp_path / "a").write_text("by hand")

    commit(home, {"next": b"1"})

    assert (tmp_path / "a").read_text() == "by hand"
    assert (tmp_path / "b").read_text() == "2"
    assert status(tmp_path) == " M a\n"


@pytest.mark.parametrize("room", range(9))
def test_a_full_disk_leaves_the_home_as_it_was_and_the_same_command_works_later(tmp_path, monkeypatch, room):
    home = init_home(tmp_path)
    before = commit(home, BEFORE)
    write, left = os.write, [room]

    def full(file, data):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    try:
        commit(home, CHANGE)
    except DiskFull:
        is_told_done = False
    else:
        is_told_done = True
    monkeypatch.undo()

    assert (home.open().id != before) == is_told_done
    assert home.open().read("a/edited") == (b"2" if is_told_done else b"1")
    assert is_told_done or status(tmp_path) == ""
    commit(home, CHANGE)
    commit(home, {"next": b"1"})
    assert (tmp_path / "a/edited").read_text() == "2"
    assert status(tmp_path) == ""
    assert is_whole(tmp_path)


WRITER = """
import sys
from pathlib import Path
from habilis.home.worktree import WorkTreeHome
home, name, count = WorkTreeHome(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for n in range(count):
    home.commit(
        lambda at: {f"projects/{name}/{n}.md": b"x", "log.md": (at.read("log.md") or b"") + f"{name} {n}\\n".encode()},
        subject=f"{name} {n}", action="a", actor=name,
    )
    print(n, flush=True)
home.close()
"""


def writer(root, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, root, name, str(count)], stdout=subprocess.PIPE, env={"PYTHONPATH": "shared"}
    )


def test_every_change_that_four_processes_were_told_is_done_is_there(root):
    count = 12
    writers = [writer(root, f"w{n}", count) for n in range(4)]

    told = [process.communicate(timeout=300)[0].split() for process in writers]

    assert [len(each) for each in told] == [count] * 4
    written = sorted(f"w{n} {m}" for n in range(4) for m in range(count))
    assert sorted(content(root, "log.md").splitlines()) == written
    assert sorted(subjects(root)[:-1]) == written
    assert len(files(root)) == 4 * count + 2
    assert status(root) == ""
    assert is_whole(root)


def test_writers_that_are_killed_lose_nothing_they_were_told_is_done(root):
    chance = random.Random(7)
    told = []
    for round_number in range(12):
        process = writer(root, f"w{round_number}", 1000)
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.08))
        process.kill()
        rest = process.stdout.read().split()
        process.stdout.close()
        process.wait()
        told += [f"w{round_number} {n}" for n in range(len(rest) + 1)]

    last = writer(root, "last", 1)
    assert last.communicate(timeout=30)[0] == b"0\n"
    assert set(told) <= set(content(root, "log.md").splitlines())
    assert status(root) == ""
    assert is_whole(root)


def test_the_person_and_the_engine_write_at_once(root):
    process = writer(root, "w", 15)
    made = 0
    for n in range(15):
        (root / "mine").write_text(str(n))
        command = ["git", "-C", root, "-c", "user.name=P", "-c", "user.email=p@example.test"]
        added = subprocess.run([*command, "add", "mine"], capture_output=True, check=False)
        done = subprocess.run([*command, "commit", "-qm", f"Mine {n}"], capture_output=True, check=False)
        made += added.returncode == done.returncode == 0

    assert process.communicate(timeout=60)[0].split()[-1] == b"14"
    assert len([each for each in subjects(root) if each.startswith("w ")]) == 15
    assert len([each for each in subjects(root) if each.startswith("Mine")]) >= made > 0
    assert len(content(root, "log.md").splitlines()) == 15
    assert is_whole(root)


@pytest.mark.part("strace")
def test_what_is_acknowledged_was_synced_before(tmp_path):
    root = tmp_path / "home"
    commit(init_home(root), {"a": b"1"})
    trace = tmp_path / "trace"
    program = WRITER.replace("for n in range(count)", "for n in (7,)")

    subprocess.run(
        [
            "strace",
            "-f",
            "-y",
            "-o",
            trace,
            "-e",
            "trace=fsync,rename,link,write",
            sys.executable,
            "-c",
            program,
            root,
            "w",
            "1",
        ],
        check=True,
        capture_output=True,
        env={"PYTHONPATH": "shared", "PATH": os.environ["PATH"]},
    )

    lines = trace.read_text().splitlines()

    def first(pattern):
        found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
        assert found, pattern
        return found[0]

    git_dir = re.escape(str(root / ".git"))
    packs = [number for number, line in enumerate(lines) if re.search(rf"fsync\(\d+<{git_dir}/objects/pack/tmp", line)]
    moved = first(rf'rename\("{git_dir}/habilis-ref", "{git_dir}/refs/heads/main"')
    answered = first(r'write\(1<.*"7')
    assert len(packs) == 2
    assert packs[-1] < first(rf"fsync\(\d+<{git_dir}/objects/pack>") < moved
    assert first(rf"fsync\(\d+<{git_dir}/habilis-journal") < moved
    assert first(rf"fsync\(\d+<{git_dir}/habilis-ref") < moved
    assert moved < first(rf"fsync\(\d+<{git_dir}/refs/heads>") < answered
    assert first(rf"fsync\(\d+<{git_dir}/habilis-stage/") < moved
    assert first(rf"fsync\(\d+<{re.escape(str(root))}>") < answered
