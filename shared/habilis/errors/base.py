"""What every error has, and the faults of a file."""

from dataclasses import dataclass
from typing import ClassVar, Literal

Outcome = Literal["refused", "not_sent", "done", "partial", "unknown"]
"""What became of the order: `refused` means nothing left the engine, `unknown` that it may have happened."""

_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of a file a person wrote.

    Attributes:
        file: The file's name as the person knows it.
        line: Line, from 1.
        column: Column, from 1.
        path: Where in the document, as `tools[0].request.url`; "" for the whole of it.
        message: What is there and what is expected.
    """

    file: str
    line: int
    column: int
    path: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place} {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class HabilisError(Exception):
    """Base of every error raised on purpose.

    Attributes:
        code: For programs; one per class.
        status: The HTTP status of its family.
        where: A file, field, step or host; "" when the message says it all.
        hint: What to do next; "" when there is nothing to add.
        retryable: Whether the same order may work later, unchanged.
        outcome: What became of the order.
        error_id: Names this one error in a reply and in the log; "" until it is shown.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: bool = False
    outcome: Outcome = "refused"

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        hint: str = "",
        retryable: bool | None = None,
        outcome: Outcome | None = None,
    ) -> None:
        self.message = message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
        super().__init__(self.message)
        self.where = where
        self.hint = hint
        self.error_id = ""
        if retryable is not None:
            self.retryable = retryable
        if outcome is not None:
            self.outcome = outcome

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text
