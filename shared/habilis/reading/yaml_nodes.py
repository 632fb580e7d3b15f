"""From the events of the YAML parser to plain values with places, stopping at the first event past a limit.

Imports the YAML library, so only `yaml_text` imports this, and only when there is YAML to read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from habilis.errors import ManifestInvalid, Problem
from habilis.reading.document import Document, Path, Place, path_text
from habilis.reading.json_text import Json, shortened
from habilis.reading.yaml_scalars import NoNumber, read_scalar

_DEEPEST = 40
_MOST_VALUES = 50_000
_BINARY = "tag:yaml.org,2002:binary"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A mapping or list whose parts are still coming in.

    Attributes:
        start: Where it begins in the text.
        key: The field whose value comes next; None when a field's name comes next.
        is_odd: Whether the name of one of its fields is no scalar.
    """

    value: dict[str, Json] | list[Json]
    place: Place
    parts: dict[str | int, Place]
    start: int
    key: str | None = None
    key_place: tuple[int, int] = (1, 1)
    is_odd: bool = False

    @property
    def expects_key(self) -> bool:
        return self.key is None and isinstance(self.value, dict)


class Reading:
    """One pass over a text."""

    def __init__(self, text: str, file: str, *, with_bytes: bool = False) -> None:
        self._text = text
        self._file = file
        self._with_bytes = with_bytes
        self._problems: list[Problem] = []
        self._open: list[_Open] = []
        self._root: tuple[Json, Place] | None = None
        self._values = 0
        self._documents = 0

    def document(self, list_as: str = "") -> tuple[Document, list[Problem]]:
        """The document and the faults that were read past; ManifestInvalid at one that cannot be."""
        for event in self._events():
            take = _TAKERS.get(type(event))
            if take is not None:
                take(self, event)
        data, place = self._root or (None, Place(line=1, column=1))
        if list_as and (data is None or isinstance(data, list)):
            data, place = {list_as: data or []}, Place(line=place.line, column=place.column, parts={list_as: place})
        if not isinstance(data, dict):
            found = "a list" if isinstance(data, list) else "a single value"
            message = "the file is empty" if data is None else f"expected fields (name: value), found {found}"
            self._stop(place.line, place.column, message)
        return Document(data=data, file=self._file, _root=place), self._sorted()

    def _events(self) -> Iterator[yaml.Event]:
        problem, mark = "", None
        try:
            yield from yaml.parse(self._text, Loader=_LOADER)
            return
        except yaml.MarkedYAMLError as error:
            problem, mark = error.problem or "", error.problem_mark or error.context_mark
        # The library's words may quote the text, which may hold a key: they only choose ours.
        line, column = (mark.line, mark.column) if mark else (0, 0)
        # The parser may place the end of the file on a line after the last.
        line = min(line, self._text.count("\n"))
        written = self._text.splitlines()[line : line + 1]
        self._stop(line + 1, column + 1, _syntax_message(problem, "".join(written)))

    def _take_document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop_at(event, "a second document begins here; one file holds one")

    def _take_alias(self, event: yaml.Event) -> None:
        self._stop_at(event, "aliases (*name) are not allowed; write the value out")

    def _take_scalar(self, event: Any) -> None:  # noqa: ANN401 - the library's stubs leave its attributes out
        place = self._placed(event)
        is_plain = event.implicit[0]
        outer = self._open[-1] if self._open else None
        if outer is not None and outer.expects_key:
            if is_plain and event.value == "<<":
                self._stop_at(event, "merge keys (<<) are not allowed; write the fields out")
            outer.key, outer.key_place = event.value, (place.line, place.column)
            return
        place.raw = event.value
        place.is_binary = event.tag is not None
        value = read_scalar(event.value) if is_plain else event.value
        if isinstance(value, NoNumber):
            self._stop_at(event, f"this number {value.why}; quote it if it is text")
        self._add(value, place)

    def _take_start(self, event: Any) -> None:  # noqa: ANN401 - as above
        place = self._placed(event)
        if len(self._open) >= _DEEPEST:
            self._stop_at(event, f"nested deeper than {_DEEPEST} levels")
        if self._open and self._open[-1].expects_key:
            self._open[-1].is_odd = True
        value: dict[str, Json] | list[Json] = {} if isinstance(event, yaml.MappingStartEvent) else []
        place.parts = {}
        self._open.append(_Open(value=value, place=place, parts=place.parts, start=event.start_mark.index))

    def _take_end(self, event: Any) -> None:  # noqa: ANN401 - as above
        ended = self._open.pop()
        outer = self._open[-1] if self._open else None
        if outer is not None and outer.expects_key:
            outer.key = ""  # stands for the odd name, whose fault is told when its mapping ends
            return
        value: Json = ended.value
        if ended.is_odd:
            value = self._unquoted(ended, event.end_mark.index)
        self._add(value, ended.place)

    def _unquoted(self, ended: _Open, end: int) -> str:
        """Take `{{x}}`, which YAML reads as a mapping within a mapping, as the text that was meant."""
        written = self._text[ended.start : end]
        line, column = ended.place.line, ended.place.column
        if not written.startswith("{{"):
            self._stop(line, column, "the name of a field must be plain text")
        self._note(line, column, f"{shortened(written)} must be quoted: YAML reads bare braces as a mapping")
        ended.place.parts = None
        ended.place.raw = written
        return written

    def _add(self, value: Json, place: Place) -> None:
        if not self._open:
            self._root = (value, place)
            return
        outer = self._open[-1]
        if isinstance(outer.value, list):
            outer.parts[len(outer.value)] = place
            outer.value.append(value)
            return
        name = outer.key or ""
        first = outer.parts.get(name)
        if first is None:
            place.key = outer.key_place
            outer.parts[name] = place
            outer.value[name] = value
        elif not outer.is_odd:
            line = first.key[0] if first.key else first.line
            self._note(*outer.key_place, f"{shortened(name)} is given twice, first in line {line}")
        outer.key = None

    def _placed(self, event: Any) -> Place:  # noqa: ANN401 - as above
        self._values += 1
        if self._values > _MOST_VALUES:
            self._stop_at(event, f"more than {_MOST_VALUES:,} values in one file")
        if event.tag is not None and not self._is_bytes(event):
            self._stop_at(event, "tags (!name) are not allowed")
        return Place(line=event.start_mark.line + 1, column=event.start_mark.column + 1)

    def _is_bytes(self, event: Any) -> bool:  # noqa: ANN401 - as above
        is_key = bool(self._open) and self._open[-1].expects_key
        return self._with_bytes and not is_key and isinstance(event, yaml.ScalarEvent) and event.tag == _BINARY

    def _path(self) -> Path:
        parts = [len(one.value) if isinstance(one.value, list) else one.key for one in self._open]
        return tuple(part for part in parts if part is not None)

    def _note(self, line: int, column: int, message: str) -> None:
        path = path_text(self._path())
        self._problems.append(Problem(file=self._file, line=line, column=column, path=path, message=message))

    def _sorted(self) -> list[Problem]:
        return sorted(self._problems, key=lambda problem: (problem.line, problem.column))

    def _stop_at(self, event: Any, message: str) -> NoReturn:  # noqa: ANN401 - as above
        self._stop(event.start_mark.line + 1, event.start_mark.column + 1, message)

    def _stop(self, line: int, column: int, message: str) -> NoReturn:
        self._note(line, column, message)
        raise ManifestInvalid(self._sorted())


_TAKERS: Mapping[type[yaml.Event], Callable[[Reading, Any], None]] = {
    yaml.DocumentStartEvent: Reading._take_document,
    yaml.AliasEvent: Reading._take_alias,
    yaml.ScalarEvent: Reading._take_scalar,
    yaml.MappingStartEvent: Reading._take_start,
    yaml.SequenceStartEvent: Reading._take_start,
    yaml.MappingEndEvent: Reading._take_end,
    yaml.SequenceEndEvent: Reading._take_end,
}


def _syntax_message(problem: str, line: str) -> str:
    if "nesting depth" in problem:
        return f"nested deeper than {_DEEPEST} levels"
    if "{{" in line:
        return "no valid YAML; text with {{...}} must be quoted"
    if problem.startswith("mapping values are not allowed"):
        return "no valid YAML; text with a colon and a blank in it must be quoted"
    if r"'\t'" in problem or line.startswith("\t"):
        return "no valid YAML; indent with blanks, not tabs"
    return "no valid YAML from here on; check quotes, brackets and indentation"
