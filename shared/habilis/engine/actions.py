"""An action as it happens: what the account's log says of it, also when it is stopped half-way."""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from habilis.errors import EngineFailed, HabilisError, Outcome, UpstreamError
from habilis.home.activity import Action, ActionOutcome, ActivityLog, Intent
from habilis.home.store import Home
from habilis.messages import Result, StepDone
from habilis.records import Account

_LONGEST_LINK_TOLD = 150


class ActionJournal:
    """Writes one action into its account's log."""

    def __init__(self, log: ActivityLog, action: Action, check: Callable[[], None]) -> None:
        """Stand for an action that has not begun.

        Args:
            log: The account's.
            action: What is about to happen.
            check: Raises if it may not; see `ActivityLog.begin`.
        """
        self._log = log
        self._action = action
        self._check = check
        self._intent: Intent | None = None
        self._may_be_under_way = False
        self._is_partly_done = False

    def begin(self) -> None:
        """Write down what is about to happen; nothing is written where it may not."""
        self._intent = self._log.begin(self._action, self._check)

    def before_first_byte(self) -> None:
        """Make every line so far survive a crash: a request that changes something is about to leave."""
        if self._intent is not None:
            self._intent.sync()
        self._may_be_under_way = True

    def step_done(self, done: StepDone) -> None:
        """Write down a step that was done; the only one of a call needs no line, for the call's own comes next."""
        self._may_be_under_way = False
        self._is_partly_done = True
        if done.step:
            self._log.step(self._action.id, done.step, done.run, done.saved)

    def done(self, result: Result) -> None:
        """Write down that it was done; EngineFailed, which says that it was done all the same, when that fails."""
        if self._intent is None:
            return
        try:
            self._log.finish(self._action.id, "done", link=result.link)
        except HabilisError as error:
            raise _done_unlogged(error, result) from error

    def failed(self, error: HabilisError) -> None:
        """Write down how it failed.

        What happened outside is the news, so a fault of the log is not told: without this line the action counts as
        unknown, which is the safe side.
        """
        if self._intent is not None:
            with suppress(HabilisError):
                self._log.finish(self._action.id, _ending(error), error=error.code)

    def stopped(self) -> EngineFailed:
        """Write down that somebody stopped it, and return what to tell of that."""
        outcome: Outcome = "partial" if self._is_partly_done else "not_sent"
        if self._may_be_under_way:
            outcome = "unknown"
        message, hint = {
            "unknown": ("it was stopped under way, and may have happened", "look before you do it again"),
            "partial": ("it was stopped half-way", "the account's log has the steps that were done"),
            "not_sent": ("it was stopped before anything was sent", ""),
        }[outcome]
        error = EngineFailed(message, where=f"tool '{self._action.tool}'", hint=hint, outcome=outcome)
        self.failed(error)
        return error


def activity_log(home: Home, account: Account) -> ActivityLog:
    """The account's log, kept for the life of the process: what was read of it once is not read again."""
    return _log(f"{home.private}/{account.folder}/activity.jsonl")


@lru_cache(maxsize=512)
def _log(path: str) -> ActivityLog:
    return ActivityLog(Path(path))


def _done_unlogged(error: HabilisError, result: Result) -> EngineFailed:
    """What a caller is told of an action that was done and could not be logged so: above all, that it was done."""
    made = f" at {result.link}" if len(result.link) <= _LONGEST_LINK_TOLD and result.link else ""
    return EngineFailed(
        f"it was done{made}, but the log of actions could not say so: {error.message}",
        where=error.where,
        hint="do not do it again; the log has it as unknown",
        outcome="done",
    )


def _ending(error: HabilisError) -> ActionOutcome:
    """How the log names what an error left behind."""
    if isinstance(error, UpstreamError) and error.outcome == "not_sent":
        return "failed"
    return "not_sent" if error.outcome == "refused" else error.outcome
