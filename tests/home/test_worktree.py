"""Commits in a working directory, beside a person who uses git and an editor there."""

import errno
import os
import subprocess
import threading
import time
from datetime import timedelta

import pytest
from tests.home.conftest import NOON
from tests.home.repository import content, files, git, is_whole, status, subjects

from habilis.errors import (
    BadInput,
    Collision,
    HomeConflict,
    HomeCorrupt,
    HomeLocked,
    HomeReadonly,
    NotFound,
    UnsafePath,
)
from habilis.home import worktree
from habilis.home.worktree import WorkTreeHome, init_home

pytestmark = pytest.mark.part("git")
ACCOUNT = "projects/p/connections/blog/connection.yaml"


def test_a_new_home_has_one_commit_that_says_what_git_is_to_ignore(root):
    assert subjects(root) == ["Set up the home"]
    assert files(root) == [".gitignore"]
    assert status(root) == ""
    assert root.stat().st_mode & 0o777 == 0o700


def test_making_a_home_again_changes_nothing(home, root):
    before = home.open().id

    init_home(root).close()

    assert home.open().id == before


def test_a_home_is_made_around_files_that_are_there_already(tmp_path):
    (tmp_path / "notes.md").write_text("mine")
    (tmp_path / ".gitignore").write_text("*.swp")

    home = init_home(tmp_path)

    assert status(tmp_path) == "?? notes.md\n"
    assert content(tmp_path, ".gitignore").splitlines()[:2] == ["*.swp", ".env*"]
    assert home.open().read("notes.md") == b"mine"
    home.close()


def test_a_home_inside_another_repository_has_its_own(tmp_path):
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Outer")

    home = init_home(tmp_path / "sub/home é")
    home.commit(lambda _: {"config.yaml": b"x"}, subject="Inner", action="a", actor="b")

    assert subjects(tmp_path) == ["Outer"]
    assert subjects(home.private) == ["Inner", "Set up the home"]
    home.close()


def test_where_no_home_was_made_the_way_to_make_one_is_said(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()

    with pytest.raises(NotFound, match="habilis init"):
        WorkTreeHome(tmp_path / "sub")


def test_a_linked_working_directory_is_no_place_for_a_home(tmp_path):
    git(tmp_path, "init", "-q", "outer")
    git(tmp_path / "outer", "commit", "-q", "--allow-empty", "-m", "Outer")
    git(tmp_path / "outer", "worktree", "add", "-q", "../linked")

    with pytest.raises(Collision, match="another repository"):
        init_home(tmp_path / "linked")


@pytest.mark.parametrize("setting", ["objectFormat = sha256", "refStorage = reftable"])
def test_a_repository_of_another_format_is_not_written_to(root, write, setting):
    with (root / ".git/config").open("a") as config:
        config.write(f"[extensions]\n\t{setting}\n")

    with pytest.raises(HomeReadonly, match="format"):
        write({"a": b"1"})


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_home_that_may_only_be_read_is_said_to_be_so(home, write, monkeypatch, number):
    write({"a": b"1"})

    def refuse(*_, **__):
        raise OSError(number, "no")

    monkeypatch.setattr("habilis.home.lock.os.open", refuse)

    with pytest.raises(HomeReadonly, match="owner and mode"):
        write({"a": b"2"})


def test_an_empty_repository_is_a_home_without_commits(tmp_path):
    git(tmp_path, "init", "-q", "-b", "trunk")
    home = WorkTreeHome(tmp_path)
    assert home.open().id == ""

    home.commit(lambda _: {"config.yaml": b"x"}, subject="First", action="a", actor="b")

    assert git(tmp_path, "log", "--format=%s %D") == "First HEAD -> trunk\n"
    home.close()


def test_a_commit_tells_what_happened_and_who_asked(home, root):
    made = home.commit(
        lambda _: {ACCOUNT: b"kind: blog\n"}, subject="Add account blog", action="account.add", actor="person"
    )

    assert git(root, "log", "-1", "--format=%H|%an|%ae|%cn|%ce|%aI") == (
        f"{made}|Habilis|habilis@localhost|Habilis|habilis@localhost|2026-11-30T12:00:00+00:00\n"
    )
    assert git(root, "log", "-1", "--format=%(trailers:only,unfold)").splitlines()[:2] == [
        "Habilis-Action: account.add",
        "Habilis-Actor: person",
    ]
    assert content(root, ACCOUNT) == "kind: blog\n"
    assert (root / ACCOUNT).read_bytes() == b"kind: blog\n"
    assert status(root) == ""
    assert is_whole(root)


def test_files_are_added_changed_and_removed_in_one_commit(home, root, write):
    write({"a/b/one": b"1", "a/b/two": b"2", "three": b"3"})

    write({"a/b/one": None, "a/b/two": b"22", "four/five": b"45"})

    assert files(root) == [".gitignore", "a/b/two", "four/five", "three"]
    assert status(root) == ""
    assert not (root / "a/b/one").exists()


def test_a_folder_without_files_goes_from_the_disk_and_private_files_stay(root, write):
    write({ACCOUNT: b"x", "a/b/c": b"1"})
    private = (root / ACCOUNT).with_name(".env")
    private.write_text("TOKEN=1\n")

    write({ACCOUNT: None, "a/b/c": None})

    assert not (root / "a").exists()
    assert private.read_text() == "TOKEN=1\n"
    assert status(root) == ""


def test_a_file_makes_way_for_a_folder_and_back(root, write):
    write({"a": b"1", "b/c": b"2"})

    write({"a": None, "a/x": b"3", "b/c": None, "b": b"4"})

    assert files(root) == [".gitignore", "a/x", "b"]
    assert (root / "b").read_bytes() == b"4"
    assert status(root) == ""


def test_nothing_is_committed_when_nothing_changes(home, root, write):
    before = write({"a": b"1"})

    assert write({"a": b"1", "not/there": None}) == before
    assert home.commit(lambda _: {}, subject="s", action="a", actor="b") == before
    assert len(subjects(root)) == 2


def test_an_error_in_the_change_leaves_the_home_as_it_was(home, root, write):
    before = write({"a": b"1"})

    def fail(revision):
        raise BadInput(revision.require("a").decode())

    with pytest.raises(BadInput, match="1"):
        home.commit(fail, subject="s", action="a", actor="b")

    assert home.open().id == before
    assert status(root) == ""
    write({"a": b"2"})


def test_a_commit_is_built_on_the_newest_revision(home, write):
    write({"n": b"1"})

    home.commit(lambda at: {"n": at.require("n") + b"2"}, subject="s", action="a", actor="b")

    assert home.open().read("n") == b"12"


@pytest.mark.parametrize(
    "path",
    [
        *("projects/p/.env", "projects/p/connections/x/activity.jsonl", "projects/p/connections/x/data/y", ".state/x"),
        *("../x", ".git/hooks/pre-commit", ".gitignore", "a//b"),
    ],
)
def test_what_is_private_or_unsafe_is_never_committed(home, root, write, path):
    (root / ".gitignore").unlink()

    with pytest.raises(UnsafePath):
        write({"ok": b"1", path: b"secret"})

    assert not (root / "ok").exists()
    assert home.open().read("ok") is None


def test_a_persons_gitignore_cannot_bring_a_private_file_in(root, write):
    (root / "projects/p").mkdir(parents=True)
    (root / "projects/p/.gitignore").write_text("!**/.env\n")
    (root / "projects/p/.env").write_text("TOKEN=1\n")

    write({"projects/p/project.yaml": b"name: p\n"})

    assert files(root) == [".gitignore", "projects/p/project.yaml"]


@pytest.mark.parametrize("place", ["projects", "projects/p", "projects/p/project.yaml"])
def test_nothing_is_written_through_a_link(tmp_path, root, write, place):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(outside)

    with pytest.raises(UnsafePath, match="link"):
        write({"projects/p/project.yaml": b"x"})

    assert list(outside.iterdir()) == []


def test_a_file_or_folder_of_the_person_that_is_in_the_way_is_not_touched(root, write):
    (root / "a").write_text("mine")
    (root / "b").mkdir()
    (root / "b/c").write_text("mine")

    for path in ("a/x", "b"):
        with pytest.raises(Collision):
            write({path: b"1"})

    assert (root / "a").read_text() == (root / "b/c").read_text() == "mine"
    assert len(subjects(root)) == 1


# Beside a person's edits.


def test_a_hand_edit_counts_at_once_and_stays_uncommitted(home, root, write):
    write({"projects/p/project.yaml": b"name: p\n", ACCOUNT: b"x"})
    (root / "projects/p/project.yaml").write_text("name: edited\n")

    assert home.open().read("projects/p/project.yaml") == b"name: edited\n"
    write({ACCOUNT: b"y"})

    assert content(root, "projects/p/project.yaml") == "name: p\n"
    assert status(root) == " M projects/p/project.yaml\n"


def test_a_hand_edit_of_the_same_file_is_kept_as_a_commit_of_its_own(home, root, write):
    write({"a": b"old", "gone": b"1"})
    (root / "a").write_text("edited")
    (root / "gone").unlink()
    (root / "new").write_text("untracked")

    home.commit(
        lambda at: {"a": at.require("a") + b"!", "gone": b"2", "new": b"3"}, subject="Ours", action="a", actor="b"
    )

    assert subjects(root)[:2] == ["Ours", "Manual edit of a, gone, new"]
    assert (content(root, "a", "HEAD~1"), content(root, "a")) == ("edited", "edited!")
    assert content(root, "new", "HEAD~1") == "untracked"
    assert "gone" not in files(root, "HEAD~1")
    assert status(root) == ""


def test_a_hand_edit_that_says_the_same_needs_no_commit_of_its_own(root, write):
    write({"a": b"old"})
    (root / "a").write_text("new")

    write({"a": b"new"}, subject="Ours")

    assert subjects(root)[:2] == ["Ours", "Change something"]
    assert status(root) == ""


def test_what_the_person_staged_stays_staged_and_out_of_the_commit(root, write):
    write({"theirs": b"1", "ours": b"1"})
    (root / "theirs").write_text("2")
    (root / "added").write_text("3")
    git(root, "add", "theirs", "added")
    git(root, "rm", "-q", "--cached", ".gitignore")

    write({"ours": b"2"})

    assert content(root, "theirs") == "1"
    assert ".gitignore" in files(root)
    assert status(root) == "D  .gitignore\nA  added\nM  theirs\n?? .gitignore\n"


def test_the_person_goes_on_with_git_after_us(root, write):
    write({"a": b"1"})
    (root / "a").write_text("2")

    git(root, "commit", "-q", "-am", "By hand")
    write({"b": b"1"})
    git(root, "gc", "-q")
    write({"a": b"3"}, subject="Ours")

    assert subjects(root)[:3] == ["Ours", "Change something", "By hand"]
    assert status(root) == ""
    assert is_whole(root)
    assert "Ours" in git(root, "reflog")


def test_a_merge_in_progress_stays_one(root, write):
    write({"a": b"1", "b": b"1"})
    git(root, "switch", "-q", "-c", "side")
    write({"a": b"side"})
    git(root, "switch", "-q", "main")
    write({"a": b"main"})
    with pytest.raises(AssertionError, match="merge"):
        git(root, "merge", "side")

    write({"b": b"2"})

    assert status(root) == "UU a\n"
    assert content(root, "b") == "2"


def test_without_a_branch_there_is_nothing_to_write_to(home, root, write):
    write({"a": b"1"})
    write({"a": b"2"})
    git(root, "switch", "-q", "--detach", "HEAD~1")

    with pytest.raises(HomeReadonly, match="no branch"):
        write({"a": b"3"})

    assert home.open().read("a") == b"1"


def test_an_edit_that_is_saved_while_we_write_is_not_lost(home, root, write):
    write({"a": b"1"})
    saved = []

    def change(revision):
        found = revision.require("a")
        if not saved:
            saved.append(True)
            (root / "a").write_text("saved just now")
        return {"a": found + b"!"}

    home.commit(change, subject="Ours", action="a", actor="b")

    assert content(root, "a") == "saved just now!"


# Locks of the person's git.


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(worktree, "PATIENCE_S", 0.2)


@pytest.mark.parametrize("name", ["index.lock", "refs/heads/main.lock"])
def test_a_lock_of_somebody_else_is_waited_for_and_never_removed(root, write, impatient, name):
    lock = root / ".git" / name
    lock.touch()
    os.utime(lock, (time.time() - 90, time.time() - 90))

    with pytest.raises(HomeLocked, match=r"has been holding .* for 9\d s") as caught:
        write({"a": b"1"})

    assert caught.value.where == str(lock)
    assert "remove that file" in caught.value.hint
    assert lock.exists()
    assert not (root / "a").exists()
    lock.unlink()
    write({"a": b"1"})
    assert status(root) == ""


def test_a_lock_that_is_let_go_in_time_is_no_failure(root, write):
    lock = root / ".git/index.lock"
    lock.touch()
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()

    write({"a": b"1"})

    timer.join()
    assert status(root) == ""


def test_a_change_that_another_process_keeps_open_is_waited_for(home, root, write, monkeypatch):
    monkeypatch.setattr("habilis.home.git.repository.PATIENCE_S", 0.1)
    told = []

    def slow(_):
        def other():
            try:
                write({"b": b"1"})
            except HomeLocked as error:
                told.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return {"a": b"1"}

    home.commit(slow, subject="s", action="a", actor="b")

    assert told[0].retryable
    assert f"process {os.getpid()}" in str(told[0])


def test_a_branch_that_keeps_moving_is_given_up(home, root, write):
    write({"a": b"0"})

    def change(revision):
        head = git(root, "commit-tree", "-p", "HEAD", "-m", "Moved", "HEAD^{tree}").strip()
        git(root, "update-ref", "refs/heads/main", head)  # takes no lock of the index
        return {"a": revision.require("a") + b"1"}

    with pytest.raises(HomeConflict, match="keeps moving"):
        home.commit(change, subject="s", action="a", actor="b")

    assert content(root, "a") == "0"
    assert status(root) == ""


# The machine's git settings.


def test_no_hook_runs_and_nothing_of_the_machines_settings_counts(root, write, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        for folder in (hooks, root / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
            (folder / name).chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f"[user]\nname = Machine\nemail = m@example.test\n[commit]\ngpgsign = true\n[core]\nhooksPath = {hooks}\n"
        'autocrlf = true\n[filter "x"]\nclean = touch ran\n'
    )
    (root / ".gitattributes").write_text("* filter=x\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.delenv("HOME")

    write({"a": b"line\r\n"})

    assert not ran.exists()
    monkeypatch.undo()
    shown = git(root, "cat-file", "commit", "HEAD")
    assert "author Habilis <habilis@localhost>" in shown
    assert "gpgsig" not in shown
    assert content(root, "a") == "line\r\n"


def test_a_clock_that_goes_back_changes_no_order(root):
    times = iter([NOON, NOON - timedelta(days=365)])
    home = WorkTreeHome(root, clock=lambda: next(times))

    home.commit(lambda _: {"a": b"1"}, subject="First", action="a", actor="b")
    home.commit(lambda _: {"a": b"2"}, subject="Second", action="a", actor="b")

    assert subjects(root)[:2] == ["Second", "First"]
    home.close()


# Damage.


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: index.unlink(),
        lambda index: index.write_bytes(b""),
        lambda index: index.write_bytes(b"garbage"),
        lambda index: index.write_bytes(index.read_bytes()[:-7]),
    ],
)
def test_a_lost_index_is_made_anew_from_the_commit(root, write, spoil):
    write({f"projects/p{n}/project.yaml": b"%d" % n for n in range(20)})
    spoil(root / ".git/index")

    write({"projects/p3/project.yaml": b"new"})

    assert len(files(root)) == 21
    assert status(root) == ""
    assert is_whole(root)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("refs/heads/main", b""),
        ("refs/heads/main", b"\0" * 41),
        ("refs/heads/main", b"0123\n"),
        ("refs/heads/main", None),
        ("HEAD", b""),
        ("HEAD", b"ref: ../../x\n"),
        ("HEAD", None),
    ],
)
def test_a_damaged_branch_is_named_with_its_repair_and_nothing_is_written(home, root, write, name, damage):
    last = write({"a": b"1"})
    path = root / ".git" / name
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)

    with pytest.raises(HomeCorrupt) as caught:
        write({"a": b"2"})

    assert caught.value.where == str(path)
    assert home.open().read("a") == b"1"
    with pytest.raises(HomeCorrupt):
        _ = home.open().id
    if name == "refs/heads/main":
        assert f"update-ref refs/heads/main {last}" in caught.value.hint
        path.unlink(missing_ok=True)
    subprocess.run(caught.value.hint.removeprefix("run `").removesuffix("`"), shell=True, check=True)
    write({"a": b"3"})
    assert subjects(root)[:2] == ["Change something"] * 2


@pytest.mark.parametrize("damage", [b"", b"garbage"])
def test_a_damaged_commit_is_named_and_no_new_history_begins(home, root, write, damage):
    write({"a": b"1"})
    git(root, "gc", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "By hand")
    head = git(root, "rev-parse", "HEAD").strip()
    path = root / ".git/objects" / head[:2] / head[2:]
    path.chmod(0o644)
    path.write_bytes(damage)

    with pytest.raises(HomeCorrupt, match=rf"object {head[:12]}.*git reflog"):
        write({"a": b"2"})

    assert home.open().read("a") == b"1"
    assert git(root, "rev-parse", "refs/heads/main").strip() == head
    assert not (root / ".git/index.lock").exists()
