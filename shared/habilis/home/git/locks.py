"""Git's own locks, taken beside the user's git, and told from locks that a killed process of ours left."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from habilis.errors import HomeLocked
from habilis.home.durable import replace_file

MARK = b"held by habilis\n"
"""What a lock of ours holds. Git's own locks hold the content that is to come, which never reads so."""

_PAUSE_S = 0.01


@contextmanager
def git_lock(git_dir: Path, path: Path, *, deadline: float) -> Iterator[None]:
    """Hold `<path>.lock`, as git does while it changes the file at `path`.

    The caller holds the repository's own lock. So a lock with our mark has no living holder, and is taken away; every
    other one belongs to somebody: it is waited for and never removed.

    Args:
        git_dir: The repository.
        path: The file that is to change: its index or a ref.
        deadline: When to give up, on the clock of `time.monotonic`.

    Raises:
        HomeLocked: Somebody else's lock stayed.
    """
    lock = path.with_name(path.name + ".lock")
    while not _taken(git_dir, lock):
        if _is_ours(lock):
            lock.unlink(missing_ok=True)
        elif time.monotonic() >= deadline:
            raise _held(git_dir, lock)
        else:
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _taken(git_dir: Path, lock: Path) -> bool:
    # A second name for a file that has the mark already: the lock never exists without it, whenever we are killed.
    mark = git_dir / "habilis-mark"
    try:
        os.link(mark, lock)
    except FileExistsError:
        return False
    except FileNotFoundError:
        replace_file(mark, MARK)
        lock.parent.mkdir(parents=True, exist_ok=True)
        return _taken(git_dir, lock)
    return True


def _is_ours(lock: Path) -> bool:
    try:
        return lock.read_bytes() == MARK
    except FileNotFoundError:
        return False


def _held(git_dir: Path, lock: Path) -> HomeLocked:
    try:
        age = f"for {max(time.time() - lock.stat().st_mtime, 0):.0f} s"
    except FileNotFoundError:
        age = "until a moment ago"
    return HomeLocked(
        f"git, or a program that uses it, has been holding the home's repository {age}",
        where=str(lock),
        hint=f"let it finish; if no git runs in {git_dir.parent} any more, remove that file",
    )
