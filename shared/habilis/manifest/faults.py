"""Gathering the faults of one document, each with its place, in words that say what is there and what is expected."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from habilis.errors import ManifestInvalid, Problem
from habilis.messages import Json
from habilis.reading import Document, path_text
from habilis.reading.document import Path
from habilis.reading.json_text import shortened

LONGEST_LINE = 300
LONGEST_DESCRIPTION = 1024
MOST_FAULTS = 100
"""Told of one file; a file with more is another kind of file."""

_MOST_LISTED = 12
_MOST_COMPARED = 300
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(slots=True, kw_only=True)
class Faults:
    """The faults found so far in one document.

    Attributes:
        document: What was read, with its positions.
        found: In the order they were noticed.
    """

    document: Document
    found: list[Problem] = field(default_factory=list)

    def add(self, path: Path, message: str, *, at_name: bool = False) -> None:
        """Note a fault.

        Args:
            path: Where; what is missing there is placed at the nearest part that exists.
            message: What is there and what is expected.
            at_name: Whether the field's name is at fault, not its value.

        Raises:
            ManifestInvalid: There are so many by now that looking further would only cost time.
        """
        line, column = self.document.key_place(path) if at_name else self.document.place(path)
        problem = Problem(file=self.document.file, line=line, column=column, path=path_text(path), message=message)
        if problem not in self.found:
            self.found.append(problem)
        if len(self.found) >= MOST_FAULTS:
            raise self.all()

    def line(self, path: Path) -> int:
        """The line of a path."""
        return self.document.key_place(path)[0]

    def all(self) -> ManifestInvalid:
        """The error that holds every fault, in the order of the file."""
        return ManifestInvalid(sorted(self.found, key=lambda one: (one.line, one.column, one.path)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A value of the document and where it stands; what is absent or of another type is empty, never a fault.

    Types are the shape's business: rules across fields look only at what is well-formed, so that one answer holds the
    faults of both.
    """

    value: Json
    path: Path = ()

    def at(self, *names: str) -> "Part":
        """The part under these field names; holding None when there is none."""
        here = self
        for name in names:
            inside = here.value.get(name) if isinstance(here.value, dict) else None
            here = Part(value=inside, path=(*here.path, name))
        return here

    def text(self) -> str | None:
        """The text here, or None."""
        return self.value if isinstance(self.value, str) else None

    def entries(self) -> list["Part"]:
        """The entries of the list here, or none."""
        values = self.value if isinstance(self.value, list) else []
        return [Part(value=value, path=(*self.path, index)) for index, value in enumerate(values)]

    def fields(self) -> dict[str, "Part"]:
        """The fields of the mapping here, or none."""
        values = self.value if isinstance(self.value, dict) else {}
        return {name: Part(value=value, path=(*self.path, name)) for name, value in values.items()}

    def texts(self, name: str = "") -> list["Part"]:
        """The entries that are text; with a name, the text under that name in each entry."""
        parts = [entry.at(name) if name else entry for entry in self.entries()]
        return [part for part in parts if part.text() is not None]


def line_fault(text: str) -> str:
    """What is wrong with a text shown on one line, such as a name; "" when nothing is."""
    if _CONTROL.search(text):
        return "expected one line, without control characters"
    return _length_fault(text, LONGEST_LINE)


def description_fault(text: str) -> str:
    """What is wrong with a text that may take several lines; "" when nothing is."""
    if _CONTROL_IN_TEXT.search(text):
        return "expected text without control characters"
    return _length_fault(text, LONGEST_DESCRIPTION)


def blank_fault(text: str) -> str:
    """What is wrong with a text that must say something; "" when nothing is."""
    return "" if text.strip() else "found nothing; expected text"


def _length_fault(text: str, longest: int) -> str:
    return f"found {len(text):,} characters; expected at most {longest:,}" if len(text) > longest else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known name, or ""."""
    lower = {one.lower(): one for one in sorted(known)[:_MOST_COMPARED]}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.75)
    return f"; did you mean {shortened(lower[nearest[0]])}?" if nearest else ""


def listing(names: Iterable[str]) -> str:
    """Names in a row, sorted, those that are no plain words in quotes; "none" when there are none."""
    every = [shown(name) for name in sorted(names)]
    return ", ".join(every[:_MOST_LISTED]) + (", …" if len(every) > _MOST_LISTED else "") or "none"


def shown(name: str) -> str:
    """A name as it is when it is a plain word, else in quotes, escaped and cut."""
    return name if _WORD.fullmatch(name) else shortened(name)


def kind_of(value: Json) -> str:
    """What a value is, in a person's words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"


def as_yaml_read(value: Json, raw: str) -> str:
    """How YAML took something meant as text, and what to do.

    Args:
        value: A number or a boolean.
        raw: The scalar as written.
    """
    written = shortened(raw)[1:-1]
    took = f"found {kind_of(value)}" if kind_of(value).endswith(raw) else f"YAML reads {written} as {kind_of(value)}"
    return f'{took}; quote it: "{written}"'
