"""Typed reading of records, and what writing them back shares."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from habilis.errors import BadInput, ManifestInvalid, Problem, Refused
from habilis.messages import Json
from habilis.reading import Document, path_text
from habilis.reading.document import Path

_T = TypeVar("_T")
_ISO = "YYYY-MM-DDTHH:MM:SSZ"


def stamp(moment: datetime) -> str:
    """A moment as records write it: UTC, whole seconds, `2026-11-30T19:37:26Z`."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def with_extra(record: dict[str, Json], extra: Mapping[str, Json]) -> dict[str, Json]:
    """A record with the fields of other makers behind its own."""
    return record | {name: value for name, value in extra.items() if name not in record}


class Record:
    """Typed reading of one parsed record; every miss names the file and the field, and remembers which were read."""

    def __init__(self, data: Json | Document, file: str) -> None:
        self._document = data if isinstance(data, Document) else None
        self._data = data.data if isinstance(data, Document) else data
        self._file = file
        self._path: Path = ()
        self._read: set[str] = set()

    def _inside(self, path: Path, data: Json) -> "Record":
        record = Record(data, self._file)
        record._document, record._path = self._document, path
        return record

    def wrong(self, message: str, *path: str | int) -> ManifestInvalid:
        """The fault of a field, at its place where the record knows it."""
        full = (*self._path, *path)
        line, column = self._document.place(full) if self._document else (1, 1)
        return ManifestInvalid([problem(self._file, path_text(full), message, line=line, column=column)])

    def _value(self, name: str) -> Json:
        if not isinstance(self._data, dict):
            raise self.wrong(f"expected fields, found {_kind(self._data)}")
        self._read.add(name)
        return self._data.get(name)

    def has(self, name: str) -> bool:
        """Whether a field says something."""
        return self._value(name) is not None

    def text(self, name: str, *, default: str | None = None) -> str:
        """A text; the default where there is none."""
        value = self._value(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            quote = "; quote it" if isinstance(value, bool | int | float) else ""
            raise self.wrong(f"expected text, found {_kind(value)}{quote}", name)
        return value

    def checked(self, name: str, checker: Callable[[str], _T]) -> _T:
        """What a checker makes of a text."""
        return self._checked(self.text(name), checker, name)

    def each(self, name: str, checker: Callable[[str], _T]) -> list[_T]:
        """What a checker makes of each text of a list."""
        return [self._checked(text, checker, name, number) for number, text in enumerate(self.texts(name))]

    def _checked(self, text: str, checker: Callable[[str], _T], *path: str | int) -> _T:
        try:
            return checker(text)
        except (BadInput, Refused) as error:
            raise self.wrong(error.message, *path) from None

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false; the default where it says neither."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(f"expected true or false, found {_kind(value)}", name)
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where there is none."""
        entries = self._list(name)
        odd = next((number for number, entry in enumerate(entries) if not isinstance(entry, str)), None)
        if odd is not None:
            raise self.wrong(f"expected text, found {_kind(entries[odd])}", name, odd)
        return [str(entry) for entry in entries]

    def mapping(self, name: str) -> dict[str, Json]:
        """Fields of any kind; empty where there are none."""
        value = self._value(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(f"expected fields, found {_kind(value)}", name)
        return value

    def records(self, name: str) -> "list[Record]":
        """A list of records; empty where there is none."""
        return [self._inside((*self._path, name, number), entry) for number, entry in enumerate(self._list(name))]

    def inside(self, name: str) -> "Record | None":
        """The record in a field; None where there is none."""
        value = self._value(name)
        return None if value is None else self._inside((*self._path, name), value)

    def moment(self, name: str) -> datetime:
        """A moment with its zone, in UTC."""
        text = self.text(name)
        try:
            moment = datetime.fromisoformat(text)
            in_utc = moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.wrong(f"expected a moment such as {_ISO}", name) from None
        if moment.tzinfo is None:
            raise self.wrong(f"expected a moment with its zone, such as {_ISO}", name)
        return in_utc

    def rest(self, *, but: frozenset[str] = frozenset()) -> dict[str, Json]:
        """The fields that were not asked for."""
        fields = self._data if isinstance(self._data, dict) else {}
        return {name: value for name, value in fields.items() if name not in self._read | but}

    def _list(self, name: str) -> list[Json]:
        value = self._value(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(f"expected a list, found {_kind(value)}", name)
        return value


def problem(file: str, path: str, message: str, *, line: int = 1, column: int = 1) -> Problem:
    """A fault of a record."""
    return Problem(file=file, line=line, column=column, path=path, message=message)


def _kind(value: Json) -> str:
    if value is None:
        return "nothing"
    return {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "fields"}[
        type(value)
    ]
