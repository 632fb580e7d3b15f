"""Named locks between processes and threads, gone with their holder."""

import fcntl
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from weakref import WeakValueDictionary

from habilis.errors import Busy
from habilis.home.durable import make_folders

_LONGEST_PAUSE_S = 0.01
_LONGEST_FILE_NAME = 200

_gates: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
_gates_guard = threading.Lock()


@contextmanager
def hold(path: Path, *, timeout_s: float = 10.0) -> Iterator[None]:
    """Hold the lock that the file at `path` stands for, against every other thread and process.

    The kernel lets go of it when its holder ends, however it ends. The file stays, and names its last holder's process.
    Not reentrant: a thread that takes it twice waits for itself.

    Args:
        path: The lock's file; made, with its folders, where it is missing.
        timeout_s: How long to wait, in seconds.

    Raises:
        Busy: Somebody else held it all the time.
    """
    deadline = time.monotonic() + timeout_s
    gate = _gate(path)
    # Threads of one process queue here, so that only one of them polls the file.
    if not gate.acquire(timeout=max(timeout_s, 0)):
        raise _busy(path)
    try:
        file = _open(path)
        try:
            _wait(file, path, deadline)
            os.pwrite(file, b"%-20d\n" % os.getpid(), 0)
            try:
                yield
            finally:
                # Said aloud: a child that was forked meanwhile has the file open too.
                fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            os.close(file)
    finally:
        gate.release()


def lock_file(folder: Path, name: str) -> Path:
    """Return the file of a lock by its name, which may be any text."""
    file = quote(name, safe="")
    if len(file) > _LONGEST_FILE_NAME:
        from hashlib import sha256

        file = sha256(name.encode()).hexdigest()
    return folder / f"{file}.lock"


def _gate(path: Path) -> threading.Lock:
    name = os.path.abspath(path)  # noqa: PTH100 - a link in the path is another file to others too
    with _gates_guard:
        gate = _gates.get(name)
        if gate is None:
            gate = threading.Lock()
            _gates[name] = gate
        return gate


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_folders(path.parent, mode=0o700)
        return os.open(path, flags, 0o600)


def _wait(file: int, path: Path, deadline: float) -> None:
    pause = 0.0005
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        left = deadline - time.monotonic()
        if left <= 0:
            raise _busy(path)
        time.sleep(min(left, pause * random.uniform(0.5, 1.0)))  # noqa: S311 - spreads the waiters, hides nothing
        pause = min(pause * 2, _LONGEST_PAUSE_S)


def _busy(path: Path) -> Busy:
    try:
        holder = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        holder = ""
    who = f"process {holder}" if holder.isdigit() else "another call"
    return Busy(f"{who} holds the lock and did not let go in time", where=path.name, hint="try again")


def _forget_gates() -> None:
    # A forked child has none of the threads that held them.
    global _gates, _gates_guard
    _gates, _gates_guard = WeakValueDictionary(), threading.Lock()


os.register_at_fork(after_in_child=_forget_gates)
