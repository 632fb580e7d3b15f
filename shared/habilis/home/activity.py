"""An account's log of actions: a line before the first byte leaves, a line after the answer came.

A line without its outcome means that nobody knows: it counts for the cap and blocks its target until a person settles it.
"""

import fcntl
import json
import os
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal

from habilis.home.durable import make_folders, write_all
from habilis.records import stamp
from habilis.redaction import clean

Ending = Literal["done", "failed", "not_sent", "unknown", "partial"]
_COUNTED = frozenset({"done", "unknown", "partial"})
_MOST_KEPT = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A call that changes something outside, about to be made.

    Attributes:
        at: When, with a zone.
        target: What is acted on; "" when the tool names none.
        actor: Who asked for it.
    """

    at: datetime
    ability: str
    role: str
    tool: str
    target: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An action of the log with what became of it: `unknown` until its outcome is written."""

    id: str
    action: Action
    outcome: Ending
    link: str = ""
    code: str = ""


@dataclass(slots=True)
class _Tail:
    """What was read of a log so far; grows with it."""

    inode: int = 0
    size: int = 0
    entries: dict[str, Entry] = field(default_factory=dict)
    odd_lines: int = 0
    lock: Lock = field(default_factory=Lock)


_tails: OrderedDict[str, _Tail] = OrderedDict()
_tails_guard = Lock()


class ActivityLog:
    """The log of one account, `activity.jsonl`: appended by any number of processes, never rewritten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, action: Action) -> str:
        """Write an action down before it is made, durably; returns the id to finish it with."""
        entry = os.urandom(8).hex()
        self._append({
            "id": entry,
            "at": stamp(action.at),
            "ability": action.ability,
            "role": action.role,
            "tool": action.tool,
            "target": action.target,
            "actor": action.actor,
        })
        return entry

    def finish(self, entry: str, *, outcome: Ending, link: str = "", code: str = "") -> None:
        """Write down what became of an action, durably."""
        self._append({"of": entry, "outcome": outcome, "link": link, "code": code})

    def entries(self) -> list[Entry]:
        """Every action, newest first."""
        return list(reversed(self._tail().entries.values()))

    def odd_lines(self) -> int:
        """How many lines could not be read; they are skipped."""
        return self._tail().odd_lines

    def used_today(self, now: datetime) -> int:
        """Actions that count on the UTC day of `now`; those dated later count too, for the clock may have gone back."""
        today = now.astimezone(UTC).date()
        return sum(
            entry.outcome in _COUNTED and entry.action.at.astimezone(UTC).date() >= today
            for entry in self._tail().entries.values()
        )

    def standing(self, role: str, target: str) -> Entry | None:
        """The latest action of that role on that target which was, or may have been, carried out."""
        for entry in reversed(self._tail().entries.values()):
            if entry.action.role == role and entry.action.target == target and entry.outcome in _COUNTED:
                return entry
        return None

    def _append(self, record: dict[str, str]) -> None:
        line = json.dumps(clean(record), ensure_ascii=False).encode()  # type: ignore[arg-type]  # texts are JSON
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            file = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            make_folders(self._path.parent, mode=0o700)
            file = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            # A line that a crash tore off is ended first, so that it spoils no other.
            is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            write_all(file, (b"\n" if is_torn else b"") + line + b"\n")
            os.fsync(file)
        finally:
            os.close(file)

    def _tail(self) -> _Tail:
        tail = _kept_tail(str(self._path))
        with tail.lock:
            try:
                file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:
                tail.inode, tail.size, tail.entries, tail.odd_lines = 0, 0, {}, 0
                return tail
            try:
                found = os.fstat(file)
                if found.st_ino != tail.inode or found.st_size < tail.size:
                    tail.inode, tail.size, tail.entries, tail.odd_lines = found.st_ino, 0, {}, 0
                if found.st_size > tail.size:
                    _read_on(tail, os.pread(file, found.st_size - tail.size, tail.size))
            finally:
                os.close(file)
        return tail


def _kept_tail(path: str) -> _Tail:
    with _tails_guard:
        tail = _tails.setdefault(path, _Tail())
        _tails.move_to_end(path)
        while len(_tails) > _MOST_KEPT:
            _tails.popitem(last=False)
        return tail


def _read_on(tail: _Tail, added: bytes) -> None:
    whole, newline, _ = added.rpartition(b"\n")
    tail.size += len(whole) + len(newline)
    for line in whole.split(b"\n"):
        if line:
            _take(tail, line)


def _take(tail: _Tail, line: bytes) -> None:
    try:
        record = json.loads(line)
        if "of" in record:
            begun = tail.entries[record["of"]]
            tail.entries[begun.id] = Entry(
                id=begun.id, action=begun.action, outcome=record["outcome"], link=record["link"], code=record["code"]
            )
            return
        action = Action(
            at=datetime.fromisoformat(record["at"]),
            ability=record["ability"],
            role=record["role"],
            tool=record["tool"],
            target=record["target"],
            actor=record["actor"],
        )
        tail.entries[record["id"]] = Entry(id=record["id"], action=action, outcome="unknown")
    except (ValueError, KeyError, TypeError):
        tail.odd_lines += 1
