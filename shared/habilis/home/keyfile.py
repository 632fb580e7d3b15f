"""The keys of one account: a `.env` file that only its owner can read, and that is whole after a crash."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from habilis.errors import HabilisError, Problem, SecretMalformed, SecretStoreError, TooLarge, UnsafePath
from habilis.home.durable import make_folders, replace_file
from habilis.home.keytext import read_lines, values_of, with_keys, without_keys
from habilis.names import key_name

_LARGEST_BYTES = 256 * 1024
_OWNER_ONLY = 0o600
# A file can change twice within one tick of the file system's clock and look the same: what was read this soon after
# the file's last change is not trusted the next time.
_TICK_NS = 50_000_000


class _Keys(dict[str, str]):
    """Name to value; shown as names only."""

    def __repr__(self) -> str:
        return f"<keys {', '.join(self)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What was read, and the signature of the file that it was read from; None when that may not be trusted."""

    signature: tuple[int, ...] | None
    keys: Mapping[str, str]
    problems: tuple[Problem, ...]


_NO_KEYS: Mapping[str, str] = MappingProxyType(_Keys())
_ABSENT = _Read(signature=None, keys=_NO_KEYS, problems=())


class KeyFile:
    """The `.env` file at one path. Keep it: what was read is not read again while the file stays the same.

    Safe to use from several threads and processes at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = os.fspath(path)
        self._last = _ABSENT
        self._notices: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return the lines that are no key, no comment and not blank, by their number and never by their text."""
        self.load()
        return self._last.problems

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what was put right so far, for the person to know."""
        return self._notices

    def load(self) -> Mapping[str, str]:
        """Return name to value as the file says them, none where there is no file.

        Raises:
            UnsafePath: The file is a link, or no plain file.
            TooLarge: The file is bigger than 256 KiB.
            SecretStoreError: The system does not let it be read.
        """
        last = self._last
        try:
            now = os.stat(self._name, follow_symlinks=False)  # noqa: PTH116 - three times as fast on a text
        except FileNotFoundError:
            self._last = _ABSENT
            return _NO_KEYS
        except OSError as error:
            raise _failed("read", error) from None
        if last.signature == (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino):
            return last.keys
        self._last = last = self._read()
        return last.keys

    def set(self, values: Mapping[str, str]) -> None:
        """Save these keys, those that are there already in their place; every other line stays as it is.

        When this returns, the keys survive a crash. When it raises, the file is as it was.

        Args:
            values: Name to value, kept to the byte.

        Raises:
            BadInput: A name is no key name.
            SecretMalformed: A value holds a character that no program can be given.
            TooLarge: The file would be bigger than 256 KiB.
            UnsafePath, SecretStoreError: As `load`; or an open quote in the file would swallow a key.
            DiskFull: There is no room.
        """
        for name, value in values.items():
            _check(key_name(name), value)
        if values:
            self._change(lambda text: with_keys(text, values))

    def remove(self, names: Iterable[str]) -> None:
        """Take these keys out of the file, those that are there; raises as `set`."""
        gone = frozenset(names)
        self._change(lambda text: without_keys(text, gone))

    def _change(self, edit: Callable[[str], str | None]) -> None:
        with _faults_are_told("saved"):
            make_folders(self._path.parent, mode=0o700)
            with _held(self._path.parent):
                before, _ = self._text()
                after = edit(before)
                if after is None:
                    raise SecretStoreError(
                        "a line of the file opens a quote that would swallow the key", where=".env", hint="close it"
                    )
                if after == before:
                    return
                content = after.encode("utf-8", "surrogateescape")
                if len(content) > _LARGEST_BYTES:
                    raise TooLarge("the keys of one account may not exceed 256 KiB", where=".env")
                replace_file(self._path, content, mode=_OWNER_ONLY, alone=True)

    def _read(self) -> _Read:
        with _faults_are_told("read"):
            text, found = self._text()
        if found is None:
            return _ABSENT
        lines = read_lines(text)
        return _Read(
            signature=_signature(found),
            keys=MappingProxyType(_Keys(values_of(lines))),
            problems=tuple(_problem(line.number) for line in lines if line.is_broken),
        )

    def _text(self) -> tuple[str, os.stat_result | None]:
        """What the file says and its state, after a mode that is too wide was narrowed; "" and None if absent."""
        try:
            file = os.open(self._name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return "", None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise UnsafePath("the file of keys is no plain file", where=".env")
            if found.st_size > _LARGEST_BYTES:
                raise TooLarge("the file of keys is bigger than 256 KiB", where=".env")
            if found.st_mode & 0o077:
                found = self._tighten(file, found)
            with open(file, "rb", closefd=False) as opened:
                content = opened.read(_LARGEST_BYTES + 1)
        finally:
            os.close(file)
        return content.decode("utf-8", "surrogateescape"), found

    def _tighten(self, file: int, found: os.stat_result) -> os.stat_result:
        os.fchmod(file, _OWNER_ONLY)
        notice = f".env could be read by others (mode {found.st_mode & 0o777:04o}); it is 0600 now"
        self._notices = (*self._notices, notice)
        return os.fstat(file)


def _signature(found: os.stat_result) -> tuple[int, ...] | None:
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < _TICK_NS:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def _check(name: str, value: str) -> None:
    if "\0" in value:
        raise SecretMalformed("a key's value may not hold a NUL character", where=name)
    try:
        value.encode()
    except UnicodeEncodeError:
        # Not chained: the library's error holds the value.
        fault = SecretMalformed("a key's value holds half of a character pair", where=name, hint="paste it again")
    else:
        return
    raise fault


def _problem(number: int) -> Problem:
    return Problem(file=".env", line=number, column=1, path="", message="this line is no NAME=value; it is left alone")


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the file's folder against other writers: the file itself is replaced, and a lock would go with it."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)


@contextmanager
def _faults_are_told(done: str) -> Iterator[None]:
    try:
        yield
    except HabilisError:
        raise
    except OSError as error:
        raise _failed(done, error) from None


def _failed(done: str, error: OSError) -> HabilisError:
    if error.errno == errno.ELOOP:
        return UnsafePath("the file of keys is a link; links are not followed", where=".env")
    reason = os.strerror(error.errno) if error.errno else "unknown fault"
    return SecretStoreError(f"the keys could not be {done}: {reason}", where=".env", hint="see who owns the folder")
