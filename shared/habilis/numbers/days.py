"""Rows by day: the sums of what was read, and one row as it is stored."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, repeat
from typing import NamedTuple, Self, cast

from habilis.manifest.model import DerivedMetric, SourceRequest
from habilis.messages import Json
from habilis.numbers.figures import Figure, exact, plus, total, written_figure
from habilis.numbers.rows import RowReader

Figures = dict[str, Figure]
Metrics = Mapping[str, int | float]
Read = tuple[Figure | None, ...]
"""A figure for each of several metrics; None where there is none."""

ByDay = Mapping[str, Mapping[tuple[str, ...], Read]]
"""By day and by the values of the dimensions."""

_AS_WRITTEN = frozenset({int, float})


class DayRow(NamedTuple):
    """One row as it is stored: the figures of a day, as a whole or for some values of its dimensions.

    A tuple, whose names are those of many other rows too: there are tens of thousands. Rows of one reading are in order
    as tuples are, the day's totals before its dimensions.

    Attributes:
        names: Of the dimensions, sorted.
        measures: Names of the metrics, sorted.
    """

    date: str
    names: tuple[str, ...]
    values: tuple[str, ...]
    measures: tuple[str, ...]
    figures: tuple[int | float, ...]

    @classmethod
    def of(cls, date: str, dims: Mapping[str, str], metrics: Metrics) -> Self:
        """Make a row of values by their names."""
        names, measures = tuple(sorted(dims)), tuple(sorted(metrics))
        values, figures = tuple(dims[name] for name in names), tuple(metrics[name] for name in measures)
        return cls(date, names, values, measures, figures)

    @property
    def dims(self) -> dict[str, str]:
        """The values of its dimensions, by name."""
        return dict(zip(self.names, self.values, strict=True))

    @property
    def metrics(self) -> dict[str, int | float]:
        """Its figures, by name."""
        return dict(zip(self.measures, self.figures, strict=True))


class Sums:
    """The sums of one request's rows; not scaled yet.

    Attributes:
        by_day: Figures of all the request's metrics, by the reader's order.
        repeated: Rows whose day and dimensions came before.
    """

    def __init__(self, request: SourceRequest, reader: RowReader) -> None:
        self.request = request
        self.reader = reader
        self.by_day: dict[str, dict[tuple[str, ...], Read]] = {}
        self.repeated = 0

    def take(self, answer: Json) -> None:
        """Take the rows of an answer; RowsInvalid when it has none."""
        by_day = self.by_day
        for day, dims, figures in self.reader.read(answer):
            known = by_day.get(day)
            if known is None:
                known = by_day[day] = {}
            # One look instead of two: this runs for every row.
            other = known.setdefault(dims, figures)
            if other is not figures:
                self.repeated += 1
                known[dims] = _added(other, figures)


class Days:
    """Sums by day and dimensions, of several requests."""

    def __init__(self, *, drops_zeros: bool) -> None:
        """Begin; `drops_zeros` where a request leaves out rows whose every figure is 0."""
        self._totals: dict[str, Figures] = {}
        self._tables: dict[tuple[str, ...], list[tuple[tuple[str, ...], ByDay]]] = {}
        self._drops_zeros = drops_zeros
        self._zeros_kept: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()

    def add(self, sums: Sums) -> None:
        """Add a request's sums, scaled."""
        request, reader = sums.request, sums.reader
        for day, known in sums.by_day.items():
            found = dict(zip(reader.measures, _summed(known.values()), strict=True))
            chosen = {name: found[name] for name in request.totals}
            _add(self._totals.setdefault(day, {}), _scaled(chosen, request.scale))
        if not request.dims or not request.breakdown:
            return
        self._tables.setdefault(reader.names, []).append(_chosen(sums))
        if self._drops_zeros and not request.skip_zero:
            self._zeros_kept.update(
                (day, reader.names, values) for day, known in sums.by_day.items() for values in known
            )

    def derive(self, derived: DerivedMetric) -> None:
        """Work a metric out from those that are there, for each day."""
        if derived.ratio is None:
            self._derive_sum(derived)
            return
        for figures in self._totals.values():
            value = ratio_of(derived, figures.get)
            if value is not None:
                figures[derived.metric] = value

    def rows(self) -> Iterator[DayRow]:
        """The rows as they are stored, in their order."""
        tables = [(names, *_united(self._tables[names])) for names in sorted(self._tables)]
        for day in sorted(self._totals):
            if totals := written(self._totals[day]):
                yield DayRow.of(day, {}, totals)
            for names, measures, by_day in tables:
                known = by_day.get(day, {})
                ordered = sorted(known)
                rows = _rows(day, names, measures, ordered, [known[values] for values in ordered])
                yield from filter(self._is_kept, rows) if self._drops_zeros else rows

    def _is_kept(self, row: DayRow) -> bool:
        return any(row.figures) or row[:3] in self._zeros_kept

    def _derive_sum(self, derived: DerivedMetric) -> None:
        for names, parts in self._tables.items():
            measures, by_day = _united(parts)
            if derived.sum not in measures or not derived.where.keys() <= set(names):
                continue
            at, wanted = (
                measures.index(derived.sum),
                [(names.index(name), value) for name, value in derived.where.items()],
            )
            for day, known in by_day.items():
                for values, figures in known.items():
                    figure = figures[at]
                    if figure is not None and all(values[place] == value for place, value in wanted):
                        scaled = exact(figure) * Decimal(str(derived.scale))
                        _add(self._totals.setdefault(day, {}), {derived.metric: scaled})


def ratio_of(derived: DerivedMetric, value_of: Callable[[str], Figure | None]) -> Decimal | None:
    """A ratio of two figures; None where one is not there, or the lower one is 0."""
    above, below = (value_of(name) for name in derived.ratio or ("", ""))
    return exact(above) / exact(below) * Decimal(str(derived.scale)) if above is not None and below else None


def written(figures: Mapping[str, Figure]) -> dict[str, int | float]:
    """The figures as JSON has them, by name; without those that it cannot carry."""
    found = {name: written_figure(figure) for name, figure in figures.items()}
    return {name: value for name, value in found.items() if value is not None}


def _rows(
    day: str,
    names: tuple[str, ...],
    measures: tuple[str, ...],
    values: Sequence[tuple[str, ...]],
    figures: Sequence[Read],
) -> Iterator[DayRow]:
    """The rows of a day of which any figure has a value."""
    if _AS_WRITTEN.issuperset(map(type, chain.from_iterable(figures))):
        parts = zip(repeat(day), repeat(names), values, repeat(measures), figures, strict=False)
        yield from cast("Iterator[DayRow]", map(tuple.__new__, repeat(DayRow), parts))
        return
    for of, read in zip(values, figures, strict=True):
        there = {name: figure for name, figure in zip(measures, read, strict=True) if figure is not None}
        if metrics := written(there):
            yield DayRow(day, names, of, tuple(metrics), tuple(metrics.values()))


def _chosen(sums: Sums) -> tuple[tuple[str, ...], ByDay]:
    """Of a request's sums the metrics that are kept by dimension, scaled; the sums themselves where that is all."""
    request, measures = sums.request, sums.reader.measures
    kept = set(request.breakdown)
    if kept.issuperset(measures) and not request.scale:
        return measures, sums.by_day
    places = [(at, name) for at, name in enumerate(measures) if name in kept]
    factors = [(at, Decimal(str(request.scale[name])) if name in request.scale else None) for at, name in places]

    def scaled(figures: Read) -> Read:
        return tuple([
            figure if factor is None or figure is None else exact(figure) * factor
            for figure, factor in ((figures[at], factor) for at, factor in factors)
        ])  # fmt: skip

    by_day = {day: {values: scaled(figures) for values, figures in known.items()} for day, known in sums.by_day.items()}
    return tuple(name for _, name in places), by_day


def _united(parts: Sequence[tuple[tuple[str, ...], ByDay]]) -> tuple[tuple[str, ...], ByDay]:
    """The sums of several requests over the same dimensions."""
    if len(parts) == 1:
        return parts[0]
    measures = tuple(sorted({name for names, _ in parts for name in names}))
    united: dict[str, dict[tuple[str, ...], Read]] = {}
    for names, by_day in parts:
        places = [names.index(name) if name in names else None for name in measures]
        for day, known in by_day.items():
            of_day = united.setdefault(day, {})
            for values, figures in known.items():
                wide = tuple([None if at is None else figures[at] for at in places])
                of_day[values] = _added(of_day[values], wide) if values in of_day else wide
    return measures, united


def _add(into: Figures, figures: Mapping[str, Figure]) -> None:
    for name, value in figures.items():
        into[name] = plus(into[name], value) if name in into else value


def _added(one: Read, other: Read) -> Read:
    """The sums of two rows' figures."""
    pairs = zip(one, other, strict=True)
    return tuple([two if first is None else first if two is None else plus(first, two) for first, two in pairs])


def _summed(rows: Iterable[Read]) -> Read:
    """The sums of many rows' figures, None where no row has one."""
    columns = [[figure for figure in column if figure is not None] for column in zip(*rows, strict=True)]
    return tuple([total(column) if column else None for column in columns])


def _scaled(figures: Mapping[str, Figure | None], scale: Mapping[str, float]) -> Figures:
    there = {name: figure for name, figure in figures.items() if figure is not None}
    return {
        name: exact(figure) * Decimal(str(scale[name])) if name in scale else figure for name, figure in there.items()
    }
