"""An account's log of actions: what was about to happen, then how it ended, each synced before anything goes on.

`activity.jsonl` has two lines an action, and between them one for each step that was done. The intent is there before
the first byte leaves; an intent without an outcome means that the outcome is unknown. Lines are only ever appended.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Literal, cast

from habilis import redaction
from habilis.errors import DiskFull, EngineFailed, UnsafePath
from habilis.home.activity_index import Index, Record, lines_backwards, open_to_read, read_record
from habilis.home.durable import make_folders, no_room_is_told, sync_folder
from habilis.messages import Json
from habilis.policy.limits import Standing
from habilis.records import stamp

_syncers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="sync")
"""Threads in which lines go to the disk; the first starts with the first action."""

_LONGEST_SAVED = 2000
"""Characters of what a step saved that are kept: the ids are what a person needs, not a whole answer."""

ActionOutcome = Literal["done", "failed", "not_sent", "unknown", "partial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A call whose role is not read.

    Attributes:
        id: Names it in the log; never used twice.
        at: When it began, with a time zone.
        role: What it does outside: publish, reply or manage.
        target: What it acts on; "" when the tool names none.
        actor: Who asked for it.
    """

    id: str
    at: datetime
    ability: str
    role: str
    tool: str
    target: str = ""
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEntry:
    """A step of an action that changed something outside and came back well.

    Attributes:
        step: Its name.
        run: Position in the list that it runs over, from 0; None where it runs once.
        saved: What it saved, as JSON; shortened, with "…" at its end, where it is long.
    """

    step: str
    run: int | None
    saved: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An action and how it ended.

    Attributes:
        outcome: `failed` when the service refused it, `not_sent` when nothing left, `partial` when some of it happened,
            `unknown` also while it is under way.
        link: The address of what it made; "" when there is none.
        error: Code of the error it ended with; "" for none.
        steps: What was done of it, in that order; empty for an action of one request.
    """

    action: Action
    outcome: ActionOutcome = "unknown"
    link: str = ""
    error: str = ""
    steps: tuple[StepEntry, ...] = ()


class Intent:
    """An action that is about to happen: its line is written and on its way to the disk."""

    __slots__ = ("_log", "_syncing")

    def __init__(self, log: "ActivityLog", syncing: Future[None]) -> None:
        self._log = log
        self._syncing: Future[None] | None = syncing

    def sync(self) -> None:
        """Return when every line of the log so far survives a crash.

        Raises:
            DiskFull, EngineFailed: They may not, so nothing must happen.
        """
        syncing, self._syncing = self._syncing, None
        if syncing is None:
            self._log.sync()
        else:
            syncing.result()


class ActivityLog:
    """The log at one path. Keep it: what was read once is not read again, so a check costs a few microseconds.

    Safe to use from several threads and processes at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = os.fspath(path)
        self._index = Index(self._name)
        self._mutex = Lock()

    def begin(self, action: Action, check: Callable[[], None] | None = None) -> Intent:
        """Log that an action is about to happen; nothing may be sent before `Intent.sync`.

        The two are apart so that the request is made and the connection opened while the disk takes the line.

        Args:
            action: What is about to happen. Keys of the request under way are masked in it.
            check: Looks at this log and raises if the action may not happen; no other action of the account begins
                between the look and the line. Nothing is logged when it raises.

        Raises:
            DiskFull, EngineFailed: It could not be logged, so it must not happen.
            UnsafePath: The log is a link.
        """
        record = {
            "id": action.id,
            "at": stamp(action.at),
            "ability": action.ability,
            "role": action.role,
            "tool": action.tool,
            "target": action.target,
            "actor": action.actor,
        }
        with _FaultsAreTold(self._path):
            file, is_new = _open_or_make(self._name)
            try:
                self._append(file, redaction.clean(record), check)
            except BaseException:
                os.close(file)
                raise
        syncing = _syncers.submit(self._sync, file, is_new=is_new)
        # A new thread's turn may come after 5 ms only, while this one is busy; this gives it at once.
        time.sleep(0)
        return Intent(self, syncing)

    def step(self, action_id: str, step: str, run: int | None, saved: Json) -> None:
        """Log a step that was done; nothing more may be sent before `sync`. Nothing happens when the log is gone.

        Args:
            action_id: As begun.
            step: The step's name.
            run: Position in the list that it runs over, from 0; None where it runs once.
            saved: What it saved. Keys of the request under way are masked in it.

        Raises:
            DiskFull, EngineFailed: It could not be logged.
            UnsafePath: The log is a link.
        """
        shown = _shortened(json.dumps(redaction.clean(saved), ensure_ascii=False))
        self._add({"id": action_id, "step": step, "run": "" if run is None else str(run), "saved": shown})

    def sync(self) -> None:
        """Return when every line so far survives a crash.

        Raises:
            DiskFull, EngineFailed: They may not, so nothing must happen.
        """
        with _FaultsAreTold(self._path):
            file = os.open(self._name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        self._sync(file, is_new=False)

    def _sync(self, file: int, *, is_new: bool) -> None:
        with _FaultsAreTold(self._path):
            try:
                os.fsync(file)
            finally:
                os.close(file)
            if is_new:
                sync_folder(self._path.parent)

    def finish(self, action_id: str, outcome: ActionOutcome, *, link: str = "", error: str = "") -> None:
        """Log how an action ended; when this returns, the line survives a crash.

        An action that ended `unknown` may be finished again, when someone has looked. Nothing happens when the log is
        gone: the account was removed meanwhile.

        Args:
            action_id: As begun.
            outcome: See `Entry`.
            link: The address of what it made. Keys of the request under way are masked in it.
            error: Code of the error it ended with.

        Raises:
            DiskFull, EngineFailed: It could not be logged, so the action's outcome counts as unknown.
            UnsafePath: The log is a link.
        """
        record = {"id": action_id, "outcome": outcome, "link": redaction.clean(link), "error": error}
        self._add(record, is_last=True)

    def used_today(self, now: datetime) -> int:
        """Return how many actions count for the UTC day of `now`: all but those proven not sent.

        Actions dated later than `now` count too: a clock that was set back gives nobody a second day.
        """
        today = now.astimezone(UTC).date().isoformat()
        with self._mutex:
            self._catch_up()
            return self._index.used_from(today)

    def standing(self, role: str, target: str) -> Standing | None:
        """Return what stands in the way of this role on this target: an action that was done, or may have been."""
        if not target:
            return None
        with self._mutex:
            self._catch_up()
            found = self._index.standing(role, redaction.clean(target))
        if found is None:
            return None
        _, outcome, at, link = found
        return Standing(outcome=outcome, at=datetime.fromisoformat(at), link=link)

    @property
    def skipped(self) -> int:
        """Return how many lines could not be read; one that is torn off at the end counts too."""
        with self._mutex:
            self._catch_up()
            return self._index.skipped + self._index.has_torn_end

    def entries(self, limit: int = 100) -> list[Entry]:
        """Return the latest actions, the last one begun first, at most `limit`; reads only as far back as needed."""
        with _FaultsAreTold(self._path):
            try:
                file = open(self._name, "rb", opener=open_to_read)  # noqa: SIM115 - the with is below
            except FileNotFoundError:
                return []
            with file:
                return _latest(lines_backwards(file), limit)

    def _add(self, record: Record, *, is_last: bool = False) -> None:
        """Append to a log that is there; the last line of an action is synced."""
        with _FaultsAreTold(self._path):
            try:
                file = os.open(self._name, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:
                return
            try:
                self._append(file, record, None)
                if is_last:
                    os.fsync(file)
            finally:
                os.close(file)

    def _append(self, file: int, record: Record, check: Callable[[], None] | None) -> None:
        line = json.dumps(record).encode() + b"\n"
        # Blocking, first come first served: nobody holds it longer than a check and a write.
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if check is not None:
                check()
            size = os.fstat(file).st_size
            # Someone was killed within a line: what is torn off stays a line of its own.
            is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            written = b"\n" + line if is_torn else line
            if os.write(file, written) != len(written):
                os.ftruncate(file, size)
                raise DiskFull("there is no room left on the disk for the log of actions", hint="free some space")
            if not is_torn:
                with self._mutex:
                    self._index.appended(record, line, at=size, now=os.fstat(file))
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _catch_up(self) -> None:
        try:
            self._index.catch_up()
        except OSError as error:
            raise _failed(self._path, error) from None


def _shortened(text: str) -> str:
    """Text of at most 2,000 characters, with "…" at its end where it was longer."""
    return text if len(text) <= _LONGEST_SAVED else f"{text[: _LONGEST_SAVED - 1]}…"


def _latest(lines: Iterator[bytes], limit: int) -> list[Entry]:
    outcomes: dict[str, Record] = {}
    steps: dict[str, list[StepEntry]] = {}
    found: list[Entry] = []
    for record in map(read_record, lines):
        if len(found) == limit:
            break
        if record is None:
            continue
        if "outcome" in record:
            outcomes.setdefault(record["id"], record)
        elif "step" in record:
            steps.setdefault(record["id"], []).append(_step(record))
        else:
            done = tuple(reversed(steps.pop(record["id"], [])))
            found.append(_entry(record, outcomes.pop(record["id"], {}), done))
    return found


def _step(record: Record) -> StepEntry:
    run = record["run"]
    return StepEntry(step=record["step"], run=int(run) if run else None, saved=record["saved"])


def _entry(intent: Record, ended: Record, steps: tuple[StepEntry, ...]) -> Entry:
    return Entry(
        action=Action(
            id=intent["id"],
            at=datetime.fromisoformat(intent["at"]).astimezone(UTC),
            ability=intent.get("ability", ""),
            role=intent["role"],
            tool=intent.get("tool", ""),
            target=intent["target"],
            actor=intent.get("actor", ""),
        ),
        outcome=cast("ActionOutcome", ended.get("outcome", "unknown")),
        link=ended.get("link", ""),
        error=ended.get("error", ""),
        steps=steps,
    )


def _open_or_make(path: str) -> tuple[int, bool]:
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags), False
    except FileNotFoundError:
        make_folders(Path(path).parent, mode=0o700)
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600), True
    except FileExistsError:
        return os.open(path, flags), False


class _FaultsAreTold:
    """Turns the system's faults within it into ours; a class, for every action enters it twice."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not isinstance(error, OSError):
            return
        try:
            with no_room_is_told(self._path):
                raise error
        except OSError:
            raise _failed(self._path, error) from None


def _failed(path: Path, error: OSError) -> EngineFailed | UnsafePath:
    if error.errno == errno.ELOOP:
        return UnsafePath("the log of actions is a link; links are not followed", where=path.name)
    reason = os.strerror(error.errno) if error.errno else "unknown fault"
    return EngineFailed(f"the log of actions cannot be used: {reason}", where=path.name)
