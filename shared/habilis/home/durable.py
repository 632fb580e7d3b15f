"""Files that are whole after a crash: written beside, synced, put in place, folder synced."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from habilis.errors import DiskFull

LEFTOVER = ".habilis-tmp"
"""How the names of half-written files end."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def replace_file(
    path: Path, content: bytes, *, mode: int = 0o644, alone: bool = False, through: Path | None = None
) -> None:
    """Put `content` at `path`, so that at any time and after any crash the old or the new content is there.

    Args:
        path: The file; a link there is replaced, not followed. Its folder exists.
        content: All of it.
        mode: The file's mode from its first moment, however the process' umask is set.
        alone: The caller holds a lock against other writers of this file: what a killed writer left is taken away.
        through: Where the new content grows, on the same disk, when that may not be beside the file; implies `alone`.

    Raises:
        DiskFull: There is no room; the old content is intact.
    """
    beside = path.name + LEFTOVER if alone else f"{path.name}.{secrets.token_hex(6)}{LEFTOVER}"
    temporary = through or path.with_name(beside)
    if alone or through:
        temporary.unlink(missing_ok=True)
    with no_room_is_told(path):
        try:
            write_new(temporary, content, mode=mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def write_new(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file that must not exist yet, and sync it; the caller syncs its folder."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        os.fchmod(file, mode)
        write_all(file, content)
        os.fsync(file)
    finally:
        os.close(file)


def write_all(file: int, content: bytes) -> None:
    """Write all of `content`, however many calls the system takes for it."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def make_folders(path: Path, *, mode: int = 0o755) -> None:
    """Make a folder and those above it that are missing, each one synced."""
    if path.is_dir():
        return
    make_folders(path.parent, mode=mode)
    with suppress(FileExistsError), no_room_is_told(path):
        path.mkdir(mode=mode)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Sync a file or folder that is there."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Sync a folder, so that the names in it survive a crash."""
    sync_file(path)


@contextmanager
def no_room_is_told(path: Path) -> Iterator[None]:
    """Turn the system's "no space" into DiskFull."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(
                "there is no room left on the disk; what was there before is intact",
                where=path.name,
                hint="free some space and run it again",
            ) from None
        raise
