import os

import pytest

from habilis import __version__
from habilis.home.compiled import compiled
from habilis.home.lock import hold, lock_file

FORM = {"id": "blog", "tools": [{"name": "publish", "timeout_s": 60.5, "label": "Grüße \ud800"}], "none": None}


class Maker:
    def __init__(self, form=FORM):
        self.calls = 0
        self.form = form

    def __call__(self):
        self.calls += 1
        return self.form


@pytest.fixture
def kept(tmp_path):
    return tmp_path / ".state" / "compiled" / __version__ / "abc.json"


def test_a_form_is_made_once(tmp_path):
    make = Maker()

    first = compiled(tmp_path, "abc", make)
    second = compiled(tmp_path, "abc", make)

    assert (first, second, make.calls) == (FORM, FORM, 1)


def test_other_content_is_made_anew(tmp_path):
    compiled(tmp_path, "abc", Maker())

    assert compiled(tmp_path, "abd", Maker(5)) == 5


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: text[:-1],
        lambda text: text[: len(text) // 2],
        lambda text: text + b"x",
        lambda text: text.replace(b"blog", b"blob"),
        lambda text: b"null",
        lambda text: b"\0" * len(text),
        lambda text: b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_made_anew(tmp_path, kept, damage):
    compiled(tmp_path, "abc", Maker())
    kept.write_bytes(damage(kept.read_bytes()))
    make = Maker()

    assert compiled(tmp_path, "abc", make) == FORM

    assert make.calls == 1
    assert compiled(tmp_path, "abc", Maker("never made")) == FORM


def test_what_cannot_be_made_is_told_and_not_kept(tmp_path, kept):
    def fail():
        raise LookupError("no such file")

    with pytest.raises(LookupError):
        compiled(tmp_path, "abc", fail)

    assert not kept.exists()


def test_a_place_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / ".state").write_text("a file where a folder should be")

    assert compiled(tmp_path, "abc", Maker()) == FORM


def test_a_folder_in_the_file_s_place_leaves_nothing_behind(tmp_path, kept):
    kept.mkdir(parents=True)

    assert compiled(tmp_path, "abc", Maker()) == FORM
    assert list(kept.parent.iterdir()) == [kept]


def test_files_are_the_owner_s_alone(tmp_path, kept):
    before = os.umask(0)
    try:
        compiled(tmp_path, "abc", Maker())
    finally:
        os.umask(before)

    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def lock(home):
    with hold(lock_file(home / ".state" / "locks", "a")):
        pass


@pytest.mark.parametrize("touch", [lambda home: compiled(home, "abc", Maker()), lock])
def test_no_folder_of_the_state_is_open_to_others_whatever_the_umask(tmp_path, touch):
    before = os.umask(0)
    try:
        touch(tmp_path)
    finally:
        os.umask(before)

    folders = [path for path in (tmp_path / ".state").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / ".state", *folders)} == {0o700}
