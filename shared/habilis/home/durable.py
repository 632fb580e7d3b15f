"""Files that are whole after a crash: written beside, synced, put in place, folder synced."""

import errno
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from habilis.errors import DiskFull

LEFTOVER = ".habilis-tmp"
"""How the names of half-written files end."""

T = TypeVar("T")

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file to be put in place.

    Attributes:
        path: Where it belongs; what is there is replaced, a link too.
        beside: Where it grows, in a folder on the same disk; nothing may be there.
        content: All of it.
        mode: Its mode from its first moment, however the process' umask is set.
    """

    path: Path
    beside: Path
    content: bytes
    mode: int = 0o644

    def place(self) -> None:
        """Bring the written file to its place; the caller syncs the folder."""
        self.beside.replace(self.path)


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
    name = path.name + LEFTOVER if alone else f"{path.name}.{secrets.token_hex(6)}{LEFTOVER}"
    file = NewFile(path=path, beside=through or path.with_name(name), content=content, mode=mode)
    if alone or through:
        file.beside.unlink(missing_ok=True)
    write_files([file])
    with no_room_is_told(path):
        file.place()
        sync_folder(path.parent)


def write_files(files: Sequence[NewFile]) -> None:
    """Write files beside their places and sync them, all at once: a disk syncs several in the time of one or two.

    Raises:
        DiskFull: There is no room; none of them is left behind.
    """
    opened: list[int] = []
    try:
        for each in files:
            with no_room_is_told(each.path):
                file = os.open(each.beside, _NEW, each.mode)
                opened.append(file)
                os.fchmod(file, each.mode)
                write_all(file, each.content)
        with no_room_is_told(files[0].path):
            _together(os.fsync, opened)
    except BaseException:
        for each in files[: len(opened)]:
            each.beside.unlink(missing_ok=True)
        raise
    finally:
        for file in opened:
            os.close(file)


def sync_together(paths: Iterable[Path]) -> None:
    """Sync files and folders that are there, all at once."""
    _together(sync_file, list(paths))


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


def _together(work: Callable[[T], None], targets: Sequence[T]) -> None:
    """Do the same to several targets at once, each but the first in a thread of its own; raises the first error."""
    faults: list[BaseException] = []

    def noted(target: T) -> None:
        try:
            work(target)
        except OSError as error:
            faults.append(error)

    threads = [threading.Thread(target=noted, args=(each,)) for each in targets[1:]]
    for thread, target in zip(threads, targets[1:], strict=True):
        try:
            thread.start()
        except RuntimeError:
            noted(target)  # no further thread is to be had
    for target in targets[:1]:
        noted(target)
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    if faults:
        raise faults[0]


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
