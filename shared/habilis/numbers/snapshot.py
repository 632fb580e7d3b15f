"""The rows of a source by day: sums of all its answers, scaled once, and the metrics derived from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from operator import itemgetter
from typing import NamedTuple

from habilis.manifest.model import DerivedMetric, Source, SourceRequest
from habilis.messages import Json
from habilis.numbers.figures import EXACT, Figure, exact, plus, total, written_figure
from habilis.numbers.rows import Dropped, RowReader
from habilis.numbers.window import Window
from habilis.templating import Scope

Figures = dict[str, Figure]
_Read = tuple[Figure | None, ...]
Metrics = Mapping[str, int | float]
Dims = tuple[tuple[str, str], ...]
"""Dimension names and values, sorted by name; () for the totals of a day."""


class DayRow(NamedTuple):
    """One row as it is stored: the figures of a day, as a whole or for some values of its dimensions.

    A tuple, because there are tens of thousands of them.
    """

    date: str
    dims: Dims
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one reading of a source says.

    Attributes:
        rows: By day, the day's totals before its dimensions.
        dropped: Rows of the answers that were left out.
        notes: What else a person should know.
        absent: Metrics about which the answers say nothing at all: what is stored of them stays.
    """

    rows: tuple[DayRow, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    absent: frozenset[str] = frozenset()


class Reading:
    """What the answers to a source's requests say, taken in as they come.

    Rows with the same day and dimensions are summed, totals over all rows of the day; each request's sums are scaled
    once, then those of several requests are added. What has no value is left out, never 0.
    """

    def __init__(self, source: Source, *, window: Window, scope: Scope) -> None:
        """Begin a reading.

        Args:
            source: Says what the answers hold.
            window: The days that were asked for.
            scope: Fills templates of days.
        """
        self._source = source
        self._sums = [_Sums(request, RowReader(request, scope=scope, window=window)) for request in source.requests]

    def take(self, number: int, answer: Json) -> None:
        """Take an answer, a parsed body, to the request of this position; RowsInvalid when it has no rows."""
        with localcontext(EXACT):
            self._sums[number].take(answer)

    def snapshot(self) -> Snapshot:
        """What was taken so far, by day."""
        with localcontext(EXACT):
            days = _Days(drops_zeros=any(request.skip_zero for request in self._source.requests))
            for sums in self._sums:
                days.add(sums)
            for derived in self._source.derive:
                days.derive(derived)
            rows = tuple(days.rows())
        return Snapshot(
            rows=rows,
            dropped=tuple(dropped for sums in self._sums for dropped in sums.reader.dropped),
            notes=tuple(_notes(self._sums)),
            absent=_absent(self._source, self._sums),
        )


def derived_over(source: Source, rows: Iterable[DayRow]) -> dict[str, int | float]:
    """Return the derived metrics over all the days of `rows`: a ratio is the ratio of the sums, not a mean of ratios.

    Metrics that are not derived have no such figure: nothing says which of them may be summed over days.
    """
    ratios = {derived.metric: derived for derived in source.derive if derived.ratio}
    with localcontext(EXACT):
        sums: Figures = {}
        for row in rows:
            if not row.dims:
                _add(sums, dict(row.metrics))

        def over_all(name: str) -> Figure | None:
            return _ratio(ratios[name], over_all) if name in ratios else sums.get(name)

        found = {derived.metric: over_all(derived.metric) for derived in source.derive}
        written = {name: written_figure(value) for name, value in found.items() if value is not None}
    return {name: value for name, value in written.items() if value is not None}


class _Sums:
    """The sums of one request's rows, by day and by the values of their dimensions; not scaled yet.

    Attributes:
        by_day: For the values of the dimensions a figure for each of the request's metrics, None where no row has one.
        repeated: Rows whose day and dimensions came before.
    """

    def __init__(self, request: SourceRequest, reader: RowReader) -> None:
        self.request = request
        self.reader = reader
        self.by_day: dict[str, dict[tuple[str, ...], _Read]] = {}
        self.repeated = 0

    def take(self, answer: Json) -> None:
        by_day = self.by_day
        for day, dims, figures in self.reader.read(answer):
            known = by_day.get(day)
            if known is None:
                by_day[day] = {dims: figures}
            elif dims in known:
                self.repeated += 1
                known[dims] = _added(known[dims], figures)
            else:
                known[dims] = figures


class _Days:
    """Sums by day and dimensions."""

    def __init__(self, *, drops_zeros: bool) -> None:
        self._totals: dict[str, Figures] = {}
        self._breakdown: dict[tuple[str, Dims], Figures] = {}
        self._drops_zeros = drops_zeros
        self._zeros_kept: set[tuple[str, Dims]] = set()

    def add(self, sums: _Sums) -> None:
        places = _places(sums.request, sums.request.totals)
        for day, known in sums.by_day.items():
            _add(self._totals.setdefault(day, {}), _scaled(_summed(known.values()), places))
        if sums.request.dims:
            self._add_breakdown(sums)

    def _add_breakdown(self, sums: _Sums) -> None:
        request, breakdown = sums.request, self._breakdown
        names = sorted(request.dims)
        order = [list(request.dims).index(name) for name in names]
        places = _places(request, request.breakdown)
        for day in sorted(sums.by_day):
            known = sums.by_day[day]
            # Sorted here, day by day, so that what is stored is nearly in order already.
            for values in sorted(known):
                key = (day, tuple(zip(names, [values[at] for at in order], strict=True)))
                scaled = _scaled(known[values], places)
                figures = breakdown.setdefault(key, scaled)
                if figures is not scaled:
                    _add(figures, scaled)
                if self._drops_zeros and not request.skip_zero:
                    self._zeros_kept.add(key)

    def derive(self, derived: DerivedMetric) -> None:
        if derived.ratio is None:
            self._derive_sum(derived)
            return
        for figures in self._totals.values():
            value = _ratio(derived, figures.get)
            if value is not None:
                figures[derived.metric] = value

    def _derive_sum(self, derived: DerivedMetric) -> None:
        wanted = set(derived.where.items())
        for (day, dims), figures in self._breakdown.items():
            if derived.sum in figures and wanted <= set(dims):
                scaled = exact(figures[derived.sum]) * Decimal(str(derived.scale))
                _add(self._totals.setdefault(day, {}), {derived.metric: scaled})

    def rows(self) -> Iterable[DayRow]:
        every: dict[tuple[str, Dims], Figures] = {(day, ()): figures for day, figures in self._totals.items()}
        every |= self._breakdown
        for key, figures in sorted(every.items(), key=itemgetter(0)):
            metrics = _written(figures)
            if metrics and (not self._drops_zeros or self._is_kept(key, metrics)):
                yield DayRow(*key, metrics)

    def _is_kept(self, key: tuple[str, Dims], metrics: Metrics) -> bool:
        return not key[1] or key in self._zeros_kept or any(metrics.values())


def _written(figures: Figures) -> Metrics:
    """The figures as JSON has them, by name."""
    written = [(name, written_figure(figure)) for name, figure in figures.items()]
    return {name: value for name, value in written if value is not None}


def _add(into: Figures, figures: Figures) -> None:
    for name, value in figures.items():
        into[name] = plus(into[name], value) if name in into else value


def _added(one: _Read, other: _Read) -> _Read:
    """The sums of two rows' figures."""
    pairs = zip(one, other, strict=True)
    return tuple([two if first is None else first if two is None else plus(first, two) for first, two in pairs])


def _summed(rows: Iterable[_Read]) -> _Read:
    """The sums of many rows' figures, None where no row has one."""
    columns = [[figure for figure in column if figure is not None] for column in zip(*rows, strict=True)]
    return tuple([total(column) if column else None for column in columns])


def _places(request: SourceRequest, wanted: Iterable[str]) -> list[tuple[int, str, Decimal | None]]:
    """Of the wanted metrics: where each is among a row's figures, its name, and what it is multiplied with."""
    scale = {name: Decimal(str(factor)) for name, factor in request.scale.items()}
    names = set(wanted)
    return [(at, name, scale.get(name)) for at, name in enumerate(request.metrics) if name in names]


def _scaled(figures: _Read, places: Sequence[tuple[int, str, Decimal | None]]) -> Figures:
    scaled: Figures = {}
    for at, name, factor in places:
        value = figures[at]
        if value is not None:
            scaled[name] = value if factor is None else exact(value) * factor
    return scaled


def _ratio(derived: DerivedMetric, value_of: Callable[[str], Figure | None]) -> Decimal | None:
    above, below = (value_of(name) for name in derived.ratio or ("", ""))
    return exact(above) / exact(below) * Decimal(str(derived.scale)) if above is not None and below else None


def _notes(taken: Sequence[_Sums]) -> Iterable[str]:
    for sums in taken:
        if sums.reader.is_absent:
            yield f"no list at {sums.request.rows}: taken as no rows, and what was stored stays"
        if sums.repeated:
            yield f"{sums.repeated:,} row{'s' if sums.repeated > 1 else ''} repeated a day and its dimensions: summed"


def _absent(source: Source, taken: Sequence[_Sums]) -> frozenset[str]:
    absent: set[str] = set()
    present: set[str] = set()
    for sums in taken:
        (absent if sums.reader.is_absent else present).update(sums.request.metrics)
    absent -= present
    for derived in source.derive:
        if absent.intersection(derived.ratio or (derived.sum,)):
            absent.add(derived.metric)
    return frozenset(absent)
