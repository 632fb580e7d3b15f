import os
import resource
import signal
from contextlib import contextmanager

import pytest

from habilis.errors import DiskFull
from habilis.home.durable import make_folders, replace_file, write_all


@contextmanager
def small_files():
    """No file may grow past 4 KiB, as on a disk that is full; a log that pytest itself writes to may not either."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a.yaml"

    replace_file(path, b"old")
    replace_file(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_the_mode_is_the_one_asked_for_whatever_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        replace_file(tmp_path / "a", b"x", mode=0o600)
        replace_file(tmp_path / "b", b"x", mode=0o644)
    finally:
        os.umask(before)

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o644


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "other").write_text("untouched")
    (tmp_path / "a").symlink_to("other")

    replace_file(tmp_path / "a", b"x")

    assert (tmp_path / "other").read_text() == "untouched"
    assert not (tmp_path / "a").is_symlink()


def test_a_full_disk_leaves_the_old_content_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a.yaml"
    replace_file(path, b"old")

    with small_files(), pytest.raises(DiskFull) as caught:
        replace_file(path, b"n" * 10_000)

    assert caught.value.where == "a.yaml"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_taken_away_by_the_next_one(tmp_path):
    left = tmp_path / ".env.habilis-tmp"
    left.write_bytes(b"half")

    replace_file(tmp_path / ".env", b"x", mode=0o600, alone=True)

    assert not left.exists()


def test_folders_are_made_with_those_above(tmp_path):
    make_folders(tmp_path / "a/b/c", mode=0o700)
    make_folders(tmp_path / "a/b/c")

    assert (tmp_path / "a/b/c").stat().st_mode & 0o777 == 0o700


def test_all_of_it_is_written_however_little_the_system_takes_at_once(monkeypatch):
    taken = []

    def little(_, content):
        taken.append(bytes(content[:3]))
        return min(3, len(content))

    monkeypatch.setattr(os, "write", little)

    write_all(0, b"0123456789")

    assert b"".join(taken) == b"0123456789"
