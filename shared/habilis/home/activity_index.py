"""What an activity log says, kept in memory and read on from where the last look ended."""

import json
import os
import re
from bisect import insort
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from sys import intern
from typing import BinaryIO, Literal

Record = dict[str, str]

_OUTCOMES = frozenset({"done", "failed", "not_sent", "unknown", "partial"})
_RUN = re.compile("[0-9]{0,9}")
_BATCH_LINES = 4096
_BLOCK_BYTES = 64 * 1024
_LONGEST_LINE_BYTES = 16 * 1024 * 1024
_OVERLAP_BYTES = 64


class Index:
    """Counts by day and standing targets of the log at one path; not safe for several threads at once.

    Attributes:
        skipped: Lines that could not be read.
        has_torn_end: The last line has no end yet: someone was killed while writing it.
    """

    skipped: int
    has_torn_end: bool
    _seen: tuple[int, int, int] | None
    _offset: int
    _overlap: bytes
    # Days are YYYY-MM-DD, times end in Z: as text they sort as time does, and a line costs no date to be made.
    _days: list[str]
    _counts: dict[str, int]
    _standing: dict[tuple[str, str], tuple[str, Literal["done", "unknown"], str, str]]
    _open: dict[str, tuple[tuple[str, str], str]]

    def __init__(self, name: str) -> None:
        self._name = name
        self._start_over()

    def used_from(self, day: str) -> int:
        """Return how many actions, but for those not sent, fall on this UTC day (YYYY-MM-DD) or a later one."""
        used = 0
        for counted in reversed(self._days):
            if counted < day:
                break
            used += self._counts[counted]
        return used

    def standing(self, role: str, target: str) -> tuple[str, Literal["done", "unknown"], str, str] | None:
        """Return id, outcome, time and link of the action in the way of this role on this target."""
        return self._standing.get((role, target))

    def catch_up(self) -> None:
        """Read what was appended since the last time; all of it when the file is another one."""
        try:
            now = os.stat(self._name, follow_symlinks=False)  # noqa: PTH116 - three times as fast on a text
        except FileNotFoundError:
            if self._seen is not None:
                self._start_over()
            return
        seen = (now.st_ino, now.st_size, now.st_mtime_ns)
        if seen == self._seen:
            return
        with open(self._name, "rb", opener=open_to_read) as file:
            before = file.seek(max(0, self._offset - _OVERLAP_BYTES))
            if file.read(self._offset - before) != self._overlap:
                self._start_over()
                file.seek(0)
            self._read_on(file)
        self._seen = seen

    def appended(self, record: Record, line: bytes, *, at: int, now: os.stat_result) -> None:
        """Take in a line that this process wrote, when all before it is known; else it is read later.

        Args:
            record: What the line says.
            line: As written.
            at: Where in the file it starts.
            now: The file's state after writing, still under the writer's lock.
        """
        is_same = self._seen is None or self._seen[0] == now.st_ino
        if is_same and self._offset == at and not self.has_torn_end:
            self.skipped += not self._note(record)
            self._move(line)
            self._seen = (now.st_ino, now.st_size, now.st_mtime_ns)

    def _start_over(self) -> None:
        self.skipped = 0
        self.has_torn_end = False
        self._seen = None
        self._offset = 0
        self._overlap = b""
        self._days = []
        self._counts = {}
        self._standing = {}
        self._open = {}

    def _read_on(self, file: BinaryIO) -> None:
        self.has_torn_end = False
        while lines := list(islice(file, _BATCH_LINES)):
            if not lines[-1].endswith(b"\n"):
                self.has_torn_end = True
                lines.pop()
            for record in _records(lines):
                if record is None or not self._note(record):
                    self.skipped += 1
            self._move(b"".join(lines))

    def _move(self, read: bytes) -> None:
        self._offset += len(read)
        self._overlap = (self._overlap + read[-_OVERLAP_BYTES:])[-_OVERLAP_BYTES:]

    def _note(self, record: Record) -> bool:
        action_id = record["id"]
        if "outcome" in record:
            return self._note_outcome(action_id, record["outcome"], record["link"])
        if "step" in record:
            return action_id in self._open
        if action_id in self._open:
            return False
        at, key = record["at"], (intern(record["role"]), record["target"])
        self._open[action_id] = (key, at)
        day = at[:10]
        if day not in self._counts:
            insort(self._days, day)
            self._counts[day] = 0
        self._counts[day] += 1
        if key[1]:
            self._standing.setdefault(key, (action_id, "unknown", at, ""))
        return True

    def _note_outcome(self, action_id: str, outcome: str, link: str) -> bool:
        begun = self._open.get(action_id)
        if begun is None:
            return False
        if outcome == "unknown":
            return True
        del self._open[action_id]
        key, at = begun
        if outcome == "done" and key[1]:
            self._standing[key] = (action_id, "done", at, link)
            return True
        if outcome == "not_sent":
            self._counts[at[:10]] -= 1
        standing = self._standing.get(key)
        if standing is not None and standing[0] == action_id:
            self._lift(key)
        return True

    def _lift(self, key: tuple[str, str]) -> None:
        del self._standing[key]
        for other, (begun, at) in self._open.items():
            if begun == key:
                self._standing[key] = (other, "unknown", at, "")
                return


def open_to_read(name: str, flags: int) -> int:
    """Open a log for reading and return its descriptor; neither a link nor a pipe holds it up."""
    return os.open(name, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)


def read_record(line: bytes) -> Record | None:
    """Return what a line says, an intent, a step or an outcome; None for anything else."""
    try:
        return _checked(json.loads(line))
    except (ValueError, RecursionError):
        return None


def lines_backwards(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file from the last to the first, reading only as far as they are asked for."""
    at = file.seek(0, os.SEEK_END)
    rest = b""
    while at > 0:
        size = min(_BLOCK_BYTES, at)
        at = file.seek(at - size)
        first, *lines = (file.read(size) + rest).split(b"\n")
        yield from reversed(lines)
        # No record is that long: garbage is let go of, piece by piece.
        rest = first if len(first) <= _LONGEST_LINE_BYTES else b""
    yield rest


def _records(lines: list[bytes]) -> Iterator[Record | None]:
    # All at once is several times as fast; with one bad line among them, each is read by itself.
    try:
        found = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        found = []
    return map(_checked, found) if len(found) == len(lines) else map(read_record, lines)


def _checked(found: object) -> Record | None:
    if not isinstance(found, dict):
        return None
    for value in found.values():
        if type(value) is not str:
            return None
    try:
        if "outcome" in found:
            is_record = found["outcome"] in _OUTCOMES and found["id"] and found["link"] is not None
        elif "step" in found:
            is_record = found["id"] and _RUN.fullmatch(found["run"]) and found["saved"] is not None
        else:
            datetime.fromisoformat(found["at"])
            is_record = found["at"].endswith("Z") and found["id"] and found["role"] and found["target"] is not None
    except (KeyError, ValueError):
        return None
    return found if is_record else None
