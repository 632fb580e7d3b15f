"""The rows of a source by day: sums of all its answers, scaled once, and the metrics derived from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

from habilis.manifest.model import DerivedMetric, Source, SourceRequest
from habilis.messages import Json
from habilis.numbers.figures import EXACT, written_figure
from habilis.numbers.rows import Dropped, RowReader
from habilis.numbers.window import Window
from habilis.templating import Scope

Figures = dict[str, Decimal]
Dims = tuple[tuple[str, str], ...]
"""Dimension names and values, sorted by name; () for the totals of a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRow:
    """One row as it is stored: the figures of a day, as a whole or for some values of its dimensions."""

    date: str
    dims: Dims
    metrics: Mapping[str, int | float]


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
            days = _Days()
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
                _add(sums, {name: Decimal(repr(value)) for name, value in row.metrics.items()})

        def over_all(name: str) -> Decimal | None:
            return _ratio(ratios[name], over_all) if name in ratios else sums.get(name)

        found = {derived.metric: over_all(derived.metric) for derived in source.derive}
        written = {name: written_figure(value) for name, value in found.items() if value is not None}
    return {name: value for name, value in written.items() if value is not None}


class _Sums:
    """The sums of one request's rows, by day and by the values of their dimensions; not scaled yet."""

    def __init__(self, request: SourceRequest, reader: RowReader) -> None:
        self.request = request
        self.reader = reader
        self.totals: dict[str, Figures] = {}
        self.breakdown: dict[tuple[str, tuple[str, ...]], Figures] = {}
        self.repeated = 0

    def take(self, answer: Json) -> None:
        request, breakdown = self.request, self.breakdown
        for row in self.reader.read(answer):
            key = row.day, row.dims
            known = breakdown.get(key)
            if known is None:
                known = breakdown[key] = {}
            else:
                self.repeated += 1
            _add(self.totals.setdefault(row.day, {}), row.metrics, request.totals)
            if request.dims:
                _add(known, row.metrics, request.breakdown)


class _Days:
    """Sums by day and dimensions."""

    def __init__(self) -> None:
        self._totals: dict[str, Figures] = {}
        self._breakdown: dict[tuple[str, Dims], Figures] = {}
        self._zeros_kept: set[tuple[str, Dims]] = set()

    def add(self, sums: _Sums) -> None:
        request = sums.request
        scale = {name: Decimal(str(factor)) for name, factor in request.scale.items()}
        for day, figures in sums.totals.items():
            _add(self._totals.setdefault(day, {}), _scaled(figures, scale))
        names = tuple(request.dims)
        for (day, values), figures in sums.breakdown.items() if names else ():
            key = (day, tuple(sorted(zip(names, values, strict=True))))
            _add(self._breakdown.setdefault(key, {}), _scaled(figures, scale))
            if not request.skip_zero:
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
                scaled = figures[derived.sum] * Decimal(str(derived.scale))
                _add(self._totals.setdefault(day, {}), {derived.metric: scaled})

    def rows(self) -> Iterable[DayRow]:
        every: dict[tuple[str, Dims], Figures] = {(day, ()): figures for day, figures in self._totals.items()}
        every |= {key: figures for key, figures in self._breakdown.items() if self._is_kept(key, figures)}
        for (day, dims), figures in sorted(every.items(), key=lambda entry: entry[0]):
            written = ((name, written_figure(value)) for name, value in sorted(figures.items()))
            metrics = {name: value for name, value in written if value is not None}
            if metrics:
                yield DayRow(date=day, dims=dims, metrics=metrics)

    def _is_kept(self, key: tuple[str, Dims], figures: Figures) -> bool:
        return key in self._zeros_kept or any(figures.values())


def _add(into: Figures, figures: Mapping[str, Decimal], names: Iterable[str] | None = None) -> None:
    for name in figures if names is None else names:
        value = figures.get(name)
        if value is not None:
            into[name] = into[name] + value if name in into else value


def _scaled(figures: Figures, scale: Mapping[str, Decimal]) -> Figures:
    return {name: value * scale[name] if name in scale else value for name, value in figures.items()}


def _ratio(derived: DerivedMetric, value_of: Callable[[str], Decimal | None]) -> Decimal | None:
    above, below = (value_of(name) for name in derived.ratio or ("", ""))
    return above / below * Decimal(str(derived.scale)) if above is not None and below else None


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
