"""CSV read as a list of objects."""

import csv
import io
import re
from itertools import islice

from habilis.exchange.unreadable import Unreadable
from habilis.messages import Json

_QUOTED = re.compile(r'"[^"]*"')
_DELIMITERS = ",;\t"
_MOST_ROWS = 500_000


def read_table(text: str, *, tabs: bool = False) -> list[Json]:
    """The rows of a CSV text, each an object of texts by the names of the first line.

    Args:
        text: With or without a byte order mark, with any line ends.
        tabs: Whether it is known that tabs part the fields; else it is the one of comma, semicolon and tab that stands
            most often in the first line.

    Returns:
        Values are texts as they stand. A name that stands twice gets a number (`price`, `price_2`); a field without a
        name is `column_3`, by its position. A row that is short lacks its last fields; an empty line is no row.

    Raises:
        Unreadable: A quoted field does not end, or goes on after its quote; there are more than 500,000 rows.

    Source: RFC 4180.
    """
    text = text.removeprefix("\ufeff")
    # The limit is one for the whole process, and low; how much there is to read is bounded already.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    delimiter = "\t" if tabs else _delimiter(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = _Names(next(lines, []))
        rows: list[Json] = [_row(names, fields) for fields in islice(lines, _MOST_ROWS) if fields]
        if next(lines, None) is not None:
            raise Unreadable(f"a table of more than {_MOST_ROWS:,} rows")
        return rows
    except csv.Error:
        raise Unreadable("a table with a quote that does not fit") from None


def _row(names: "_Names", fields: list[str]) -> Json:
    if len(fields) > len(names):
        names.widen(len(fields))
    return dict(zip(names, fields, strict=False))


class _Names(list[str]):
    """The names of the columns, each once."""

    def __init__(self, header: list[str]) -> None:
        super().__init__()
        self._taken: set[str] = set()
        for name in header:
            self._add(name.strip())

    def widen(self, columns: int) -> None:
        """Name the columns that the header does not, up to so many."""
        while len(self) < columns:
            self._add("")

    def _add(self, name: str) -> None:
        plain = name or f"column_{len(self) + 1}"
        name, number = plain, 2
        while name in self._taken:
            name, number = f"{plain}_{number}", number + 1
        self._taken.add(name)
        self.append(name)


def _delimiter(text: str) -> str:
    header = _QUOTED.sub("", re.split(r"[\r\n]", text, maxsplit=1)[0])
    return max(_DELIMITERS, key=header.count)
