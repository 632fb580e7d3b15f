"""A mark tells a later revision whether what was read before still reads the same."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from habilis.home.bare import BareHome
from habilis.home.worktree import WorkTreeHome, init_home

FILES = {"projects/acme/project.yaml": b"name: Acme\n", "abilities/press/SKILL.md": b"Press.\n"}


def now() -> datetime:
    return datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> WorkTreeHome:
    """A home whose files are old enough that a look tells whether they changed."""
    home = init_home(tmp_path / "home", clock=now)
    home.commit(lambda _: FILES, subject="Begin", action="test", actor="tests")
    for path in (tmp_path / "home").rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (1_000_000_000, 1_000_000_000))
    time.sleep(0.06)  # the time of a change of owner or mode, which nobody can set
    return home


def marked(home):
    revision = home.open()
    for path in FILES:
        revision.content_key(path)
    for folder in ("abilities", "projects/acme", "projects/other"):
        revision.list(folder)
    revision.content_key("projects/acme/actauth.yml")
    mark = revision.mark()
    assert mark is not None
    return mark


def test_nothing_changed_reads_the_same(home):
    mark = marked(home)

    assert home.open().reads_same(mark)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "projects/acme/project.yaml").write_text("name: Acne\n"),
        lambda root: (root / "projects/acme/project.yaml").unlink(),
        lambda root: (root / "projects/acme/actauth.yml").write_text("[]\n"),
        lambda root: (root / "abilities/other").mkdir(),
        lambda root: (root / "abilities/press").rename(root / "abilities/presse"),
        lambda root: (root / "projects/other").mkdir(),
        lambda root: (root / "abilities/press/SKILL.md").chmod(0o600),
    ],
)
def test_any_change_to_what_was_read_shows(home, change):
    mark = marked(home)

    change(home.private)

    assert not home.open().reads_same(mark)


def test_a_commit_to_what_was_read_shows_and_one_to_other_files_does_not(home):
    mark = marked(home)
    other = {"projects/other-one/project.yaml": b"name: Other\n"}

    home.commit(lambda _: other, subject="Elsewhere", action="test", actor="tests")
    assert home.open().reads_same(mark)
    home.commit(lambda _: {"projects/acme/project.yaml": b"name: B\n"}, subject="Here", action="test", actor="tests")

    assert not home.open().reads_same(mark)


def test_a_file_too_young_to_tell_a_further_change_gives_no_mark(home):
    (home.private / "projects/acme/project.yaml").write_text("name: Young\n", encoding="utf-8")
    revision = home.open()
    revision.content_key("projects/acme/project.yaml")

    assert revision.mark() is None


def test_a_mark_of_another_kind_of_home_is_no_mark(home):
    assert not home.open().reads_same("0" * 40)


def test_a_bare_home_reads_the_same_while_its_tree_is_the_same(tmp_path):
    home = BareHome(tmp_path / "bare.git", private=tmp_path / "private", clock=now)
    home.commit(lambda _: FILES, subject="Begin", action="test", actor="tests")
    mark = home.open().mark()

    assert home.open().reads_same(mark)
    home.commit(lambda _: {"a.txt": b"a"}, subject="More", action="test", actor="tests")
    assert not home.open().reads_same(mark)
    home.close()
