"""What one call has changed outside so far, told when it cannot go on."""

from habilis.errors import HabilisError

_LONGEST_MESSAGE = 300
_LONGEST_TOLD = 160
_AFTERWARDS = "what was done stays done, and another call begins from the start"
_NOT_YET = frozenset({"refused", "not_sent"})


class Journal:
    """What was done, step by step, and what a person should know beside the result.

    Attributes:
        notes: Sentences for `Result.notes`.
    """

    __slots__ = ("_done", "notes")

    def __init__(self) -> None:
        self._done: dict[str, list[str]] = {}
        self.notes: list[str] = []

    def did(self, step: str, run: str = "", *, is_sure: bool = True) -> None:
        """Note that a request changed something.

        Args:
            step: Name of the step, or what else messages call it.
            run: Which of its runs, as in `file 2`; "" where it runs once.
            is_sure: False when nobody saw the answer.
        """
        self._done.setdefault(step, []).append(run if is_sure else f"{run} perhaps".lstrip())

    def settle(self, error: HabilisError) -> None:
        """Make an error that ends the call say what was done before it.

        What may have happened stays `unknown`; what did not happen leaves the call `partial` once something else was
        done. The order may then not be sent again as it is: it would do that once more.
        """
        if not self._done:
            return
        if error.outcome in _NOT_YET:
            error.outcome = "partial"
        error.retryable = False
        told = f"; done before: {self._told()}"
        room = _LONGEST_MESSAGE - len(told)
        kept = error.message if len(error.message) <= room else f"{error.message[: room - 1]}…"
        error.message = kept + told
        error.args = (error.message,)
        error.hint = "; ".join(filter(None, [error.hint, _AFTERWARDS]))

    def _told(self) -> str:
        """Each step with its runs, as in `register (file 1, file 2), put (file 1)`; cut where it is long."""
        told = ""
        for step, runs in self._done.items():
            named = [run for run in runs if run]
            told += f"{', ' if told else ''}{step}" + (f" ({_listed(named)})" if named else "")
        return told if len(told) <= _LONGEST_TOLD else f"{told[: _LONGEST_TOLD - 1]}…"


def _listed(runs: list[str]) -> str:
    """The runs; of many in a row the first and the last."""
    return ", ".join(runs) if len(runs) <= 4 else f"{len(runs)} runs: {runs[0]} to {runs[-1]}"
