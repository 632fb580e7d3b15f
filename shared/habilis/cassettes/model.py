"""What a cassette of an ability holds, as data.

Source: docs/cassettes.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from habilis.messages import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One request as it was recorded, and what the service answered.

    Attributes:
        headers: Lower-case names.
        body: b"" for none.
        answer_headers: As recorded; a name may stand there more than once.
        line: Where it begins in the file.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    status: int
    answer_headers: tuple[tuple[str, str], ...]
    answer_body: bytes
    line: int

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A file that the case's asset has; its type is "" when its bytes tell."""

    name: str
    mime: str
    content: bytes
    alt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a case has to come to; None where it does not say.

    Attributes:
        error: Code of the error that it has to end in; "" when it has to go well.
        says: Part of the error's message.
        files: Name and type of each file brought back.
        rows: The rows of a source: `date`, `dims`, `metrics`.
        pauses_s: Seconds of every pause, in order.
        mail: What the mail says, by the names of its headers; its Markdown under `Text`.
    """

    text: str | None = None
    link: str | None = None
    error: str = ""
    says: str = ""
    files: tuple[tuple[str, str], ...] | None = None
    rows: tuple[Json, ...] | None = None
    pauses_s: tuple[float, ...] | None = None
    mail: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is run against the recorded conversation.

    Attributes:
        tool: Name of a tool, or of a contract; "" when a source is read.
        source: Name of a source; "" when a tool is called.
        keys: Values of the account's keys, all made up; a secret one that is left out gets a placeholder.
        now: The time of the call.
    """

    tool: str
    source: str
    arguments: Mapping[str, Json]
    keys: Mapping[str, str]
    files: tuple[CaseFile, ...]
    now: datetime
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """One file of an ability's `cassettes` folder."""

    file: str
    case: Case
    interactions: tuple[Interaction, ...]
