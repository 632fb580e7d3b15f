"""Reading a home in a working directory: what lies there counts, and a revision never changes."""

import os
import subprocess
import sys
import threading
import time

import pytest
from tests.home.repository import git

from habilis.errors import HomeCorrupt, NotFound, UnsafePath
from habilis.home.git.objects import blob
from habilis.home.worktree import WorkTreeHome

ACCOUNT = "projects/p/connections/blog/connection.yaml"


def settle():
    """Let files grow old enough for a further change to show in their times."""
    time.sleep(0.06)


def test_a_file_reads_as_it_lies_there(home, root):
    (root / "config.yaml").write_bytes(b"a: 1\n")

    revision = home.open()

    assert revision.read("config.yaml") == revision.require("config.yaml") == b"a: 1\n"
    assert revision.content_key("config.yaml") == blob(b"a: 1\n").id
    assert revision.read("missing.yaml") is None
    assert revision.content_key("missing.yaml") is None
    assert revision.read("config.yaml/x") is None
    with pytest.raises(NotFound) as caught:
        revision.require("missing.yaml")
    assert caught.value.where == "missing.yaml"


def test_a_folder_is_no_file_and_a_file_no_folder(home, write):
    write({"a/b": b"1"})

    revision = home.open()

    assert revision.read("a") is None
    assert revision.list("a/b") == []
    assert revision.list("not/there") == []


def test_a_listing_leaves_out_what_is_private_linked_or_empty(home, root, write):
    write({ACCOUNT: b"x", "config.yaml": b"y"})
    account = (root / ACCOUNT).parent
    (account / ".env").touch()
    (account / "activity.jsonl").touch()
    (account / "data").mkdir()
    (account / "data/x").touch()
    (root / "link").symlink_to("config.yaml")
    (root / "projects/empty/connections").mkdir(parents=True)
    (root / "projects/left/connections/gone").mkdir(parents=True)
    (root / "projects/left/connections/gone/.env").touch()
    with home.hold("x"):
        pass

    revision = home.open()

    assert revision.list("") == ["config.yaml", "projects/"]
    assert revision.list("projects") == ["p/"]
    assert revision.list("projects/p/connections/blog") == ["connection.yaml"]


@pytest.mark.parametrize("path", [".env", "projects/p/connections/blog/.env", ".git/config", "../x", ".state/x"])
def test_what_is_private_or_unsafe_is_not_read(home, path):
    for read in (home.open().read, home.open().list, home.open().content_key):
        with pytest.raises(UnsafePath):
            read(path)


@pytest.mark.parametrize("place", ["projects", "projects/p", "projects/p/project.yaml"])
def test_nothing_is_read_through_a_link(home, root, tmp_path, place):
    outside = tmp_path / "outside/p"
    outside.mkdir(parents=True)
    (outside / "project.yaml").write_text("theirs")
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to({"projects": outside.parent, "projects/p": outside}.get(place, outside / "project.yaml"))

    with pytest.raises(UnsafePath, match="link"):
        home.open().read("projects/p/project.yaml")


def test_a_file_whose_folder_becomes_a_link_is_not_read_any_more(home, root, tmp_path, write):
    write({"a/b": b"1"})
    settle()
    assert home.open().read("a/b") == b"1"
    (root / "a").rename(root / "moved")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").write_text("2")
    (root / "a").symlink_to(tmp_path / "a")

    with pytest.raises(UnsafePath):
        home.open().read("a/b")


def test_a_pipe_is_not_waited_for(home, root):
    os.mkfifo(root / "pipe")

    with pytest.raises(UnsafePath, match="device"):
        home.open().read("pipe")


def test_what_was_read_once_reads_the_same(home, root, write):
    write({"a": b"1", "b/c": b"1"})
    revision = home.open()
    assert (revision.read("a"), revision.list("b")) == (b"1", ["c"])

    (root / "a").write_text("2")
    (root / "b/d").write_text("2")

    assert (revision.read("a"), revision.list("b")) == (b"1", ["c"])
    assert (home.open().read("a"), home.open().list("b")) == (b"2", ["c", "d"])


def test_a_revision_keeps_what_a_later_commit_changes_also_where_it_had_not_looked(home, root, write):
    write({"same": b"0", "changed": b"1", "removed": b"1", "f/old": b"1", "g/one": b"1"})
    (root / "same").write_text("by hand")
    settle()
    revision = home.open()

    write({"changed": b"2", "removed": None, "added": b"1", "f/old": None, "f/new": b"1", "h/x": b"1"})

    assert revision.read("same") == b"by hand"
    assert revision.read("changed") == b"1"
    assert revision.read("removed") == b"1"
    assert revision.read("added") is None
    assert revision.list("f") == ["old"]
    assert revision.list("g") == ["one"]
    assert revision.list("h") == []
    assert home.open().list("f") == ["new"]
    assert revision.id != home.open().id


def test_a_revision_keeps_what_it_had_looked_at_in_an_earlier_one(home, write):
    write({"a": b"1", "f/x": b"1"})
    settle()
    home.open().read("a")
    home.open().list("f")
    revision = home.open()

    write({"a": b"2", "f/y": b"2"})
    settle()
    home.open().read("a")
    home.open().list("f")

    assert revision.read("a") == b"1"
    assert revision.list("f") == ["x"]


def test_readers_never_see_half_a_commit(home, root):
    paths = [f"projects/p{n}/project.yaml" for n in range(5)]
    home.commit(lambda _: dict.fromkeys(paths, b"0"), subject="s", action="a", actor="b")
    seen, stop = [], threading.Event()

    def read():
        reader = WorkTreeHome(root)
        while not stop.is_set():
            revision = reader.open()
            seen.append({revision.read(path) for path in paths})
        reader.close()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(1, 15):
        home.commit(lambda _, n=n: dict.fromkeys(paths, b"%d" % n), subject="s", action="a", actor="b")
    stop.set()
    for thread in threads:
        thread.join()

    assert {len(each) for each in seen} == {1}
    assert len({next(iter(each)) for each in seen}) > 3


def test_an_edit_within_one_tick_of_the_clock_is_seen(home, root):
    path = root / "config.yaml"
    for n in range(200):
        path.write_bytes(b"%03d" % n)
        assert home.open().read("config.yaml") == b"%03d" % n


def test_an_edit_that_puts_back_the_time_is_seen(home, root):
    path = root / "config.yaml"
    path.write_text("1")
    before = path.stat()
    settle()
    assert home.open().read("config.yaml") == b"1"
    settle()

    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    settle()

    assert home.open().read("config.yaml") == b"2"


def test_a_file_that_may_not_be_read_is_named(home, root, monkeypatch):
    (root / "config.yaml").write_text("x")

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)

    with pytest.raises(HomeCorrupt, match="owner and mode") as caught:
        home.open().read("config.yaml")
    assert caught.value.where == "config.yaml"


def test_the_commit_is_known_also_when_refs_are_packed(home, root, write):
    made = write({"a": b"1"})

    git(root, "pack-refs", "--all")

    assert home.open().id == made
    assert WorkTreeHome(root).open().id == made


def test_reading_loads_no_git_library(root):
    program = (
        "import sys; from pathlib import Path; from habilis.home.worktree import WorkTreeHome\n"
        "home = WorkTreeHome(Path(sys.argv[1])); home.open().read('config.yaml'); home.open().list('')\n"
        "home.commit(lambda _: {'a': b'1'}, subject='s', action='a', actor='b')\n"
        "print([name for name in sys.modules if name.startswith(('dulwich', 'urllib3', 'httpx', 'yaml', 'pydantic'))])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, root], capture_output=True, text=True, check=True, env={"PYTHONPATH": "shared"}
    )

    assert done.stdout == "[]\n"
