"""Rows as they are stored: one file a month, one row a line, sorted, the same bytes for the same rows."""

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import groupby
from operator import itemgetter

from habilis.errors import ManifestInvalid, Problem
from habilis.messages import Json
from habilis.numbers.days import DayRow
from habilis.numbers.rows import is_writable
from habilis.numbers.window import Window

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_PROBLEMS = 20

Key = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Day, names and values of the dimensions."""

_quoted = json.encoder.encode_basestring


def merge(
    existing: Mapping[str, bytes],
    rows: Iterable[DayRow],
    window: Window,
    *,
    absent: frozenset[str] = frozenset(),
) -> dict[str, bytes | None]:
    """Put the rows of one reading among those that are stored.

    Days of the window are replaced, so reading the same again changes nothing; all other days stay.

    Args:
        existing: The source's files, `<YYYY-MM>.jsonl` to content.
        rows: Each on a day of the window.
        window: The days that were read.
        absent: Metrics that the reading says nothing about: in the window, too, what is stored of them stays.

    Returns:
        The files that differ from `existing`; None for one that holds no row any more.

    Raises:
        ManifestInvalid: A line of a file that would be written is no row; every such line is named.
    """
    ordered = sorted(rows)
    changed: dict[str, bytes | None] = {}
    for month in _months(window):
        name = f"{month}.jsonl"
        found = ordered[bisect_left(ordered, (month,)) : bisect_left(ordered, (f"{month}~",))]
        left = _left(existing.get(name, b""), month, window, absent)
        if left:
            found = [_with(row, left.pop(row[:3], None)) for row in found]
            found = sorted([*found, *left.values()])
        content = _written(found)
        if content != existing.get(name, b""):
            changed[name] = content or None
    return changed


def _with(row: DayRow, stays: DayRow | None) -> DayRow:
    """A row with what stays of the one before it."""
    return row if stays is None else DayRow.of(row.date, row.dims, {**stays.metrics, **row.metrics})


def read_rows_of(content: bytes, file: str) -> list[DayRow]:
    """Read the rows of one file, in its order; ManifestInvalid names every line that is none."""
    found: list[DayRow] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is not None:
            found.append(row)
        elif len(problems) < _MOST_PROBLEMS:
            message = "expected a row of numbers; take the line out, or take the file back from git"
            problems.append(Problem(file=file, line=number, column=1, path="", message=message))
    if problems:
        raise ManifestInvalid(problems)
    return found


def _left(content: bytes, month: str, window: Window, absent: frozenset[str]) -> dict[Key, DayRow]:
    """What stays of a month's stored rows."""
    left: dict[Key, DayRow] = {}
    for row in read_rows_of(content, f"{month}.jsonl"):
        if row.date not in window:
            left[row[:3]] = row
        elif absent.intersection(row.measures):
            stays = {name: value for name, value in row.metrics.items() if name in absent}
            left[row[:3]] = DayRow.of(row.date, row.dims, stays)
    return left


def _months(window: Window) -> list[str]:
    first, last = date.fromisoformat(window.first), date.fromisoformat(window.last)
    numbers = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{number // 12:04d}-{number % 12 + 1:02d}" for number in numbers]


def _written(rows: Iterable[DayRow]) -> bytes:
    """The rows as lines, put together by hand: tens of thousands, of texts and finite numbers alone."""
    lines: list[str] = []
    for (names, measures), alike in groupby(rows, key=itemgetter(1, 3)):
        days, _, values, _, figures = zip(*alike, strict=True)
        texts = [map(_quoted, column) for column in zip(*values, strict=True)]
        parts = zip(days, *texts, *zip(*figures, strict=True), strict=True)
        lines.extend(map(_form(names, measures).__mod__, parts))
    return "".join(lines).encode()


def _form(names: tuple[str, ...], measures: tuple[str, ...]) -> str:
    """A line with places for the day, the values and the figures."""
    dims, metrics = ([_quoted(name).replace("%", "%%") for name in named] for named in (names, measures))
    texts, figures = ",".join(f"{name}:%s" for name in dims), ",".join(f"{name}:%r" for name in metrics)
    return f'{{"date":"%s","dims":{{{texts}}},"metrics":{{{figures}}}}}\n'


def _row(line: bytes) -> DayRow | None:
    try:
        found: Json = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.keys() != {"date", "dims", "metrics"}:
        return None
    day, dims, metrics = found["date"], _texts(found["dims"]), _figures(found["metrics"])
    if not isinstance(day, str) or not _DAY.fullmatch(day) or dims is None or metrics is None:
        return None
    return DayRow.of(day, dims, metrics)


def _texts(dims: Json) -> dict[str, str] | None:
    if not isinstance(dims, dict):
        return None
    texts = {name: value for name, value in dims.items() if isinstance(value, str) and is_writable(value)}
    return texts if len(texts) == len(dims) else None


def _figures(metrics: Json) -> dict[str, int | float] | None:
    if not isinstance(metrics, dict):
        return None
    figures: dict[str, int | float] = {}
    for name, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if isinstance(value, float) and not math.isfinite(value):
            return None
        figures[name] = value
    return figures
