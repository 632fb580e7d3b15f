"""The rows of a source by day: sums of all its answers, scaled once, and the metrics derived from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

from habilis.manifest.model import DerivedMetric, Source, SourceRequest
from habilis.messages import Json
from habilis.numbers.figures import EXACT, written_figure
from habilis.numbers.rows import Dropped, Rows, read_rows
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


def combine(source: Source, answers: Sequence[Json], *, window: Window, scope: Scope) -> Snapshot:
    """Combine a source's answers into rows by day.

    Rows with the same day and dimensions are summed, totals over all rows of the day; each request's sums are scaled
    once, then those of several requests are added. What has no value is left out, never 0.

    Args:
        source: Says what the answers hold.
        answers: Parsed bodies, one for each of the source's requests, in their order.
        window: The days that were asked for.
        scope: Fills templates of days.

    Raises:
        RowsInvalid: An answer holds no rows where they should be.
    """
    taken = [
        read_rows(answer, request, scope=scope, window=window)
        for request, answer in zip(source.requests, answers, strict=True)
    ]
    with localcontext(EXACT):
        days = _Days()
        for request, rows in zip(source.requests, taken, strict=True):
            days.add(request, rows)
        for derived in source.derive:
            days.derive(derived)
        rows_by_day = tuple(days.rows())
    return Snapshot(
        rows=rows_by_day,
        dropped=tuple(dropped for rows in taken for dropped in rows.dropped),
        notes=tuple(_notes(source.requests, taken)),
        absent=_absent(source, taken),
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


class _Days:
    """Sums by day and dimensions."""

    def __init__(self) -> None:
        self._totals: dict[str, Figures] = {}
        self._breakdown: dict[tuple[str, Dims], Figures] = {}
        self._zeros_kept: set[tuple[str, Dims]] = set()

    def add(self, request: SourceRequest, rows: Rows) -> None:
        totals: dict[str, Figures] = {}
        breakdown: dict[tuple[str, tuple[str, ...]], Figures] = {}
        for row in rows.kept:
            _add(totals.setdefault(row.day, {}), row.metrics, request.totals)
            if request.dims:
                _add(breakdown.setdefault((row.day, row.dims), {}), row.metrics, request.breakdown)
        scale = {name: Decimal(str(factor)) for name, factor in request.scale.items()}
        for day, figures in totals.items():
            _add(self._totals.setdefault(day, {}), _scaled(figures, scale))
        names = tuple(request.dims)
        for (day, values), figures in breakdown.items():
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


def _notes(requests: Sequence[SourceRequest], taken: Sequence[Rows]) -> Iterable[str]:
    for request, rows in zip(requests, taken, strict=True):
        if rows.is_absent:
            yield f"no list at {request.rows}: taken as no rows, and what was stored stays"
        repeated = len(rows.kept) - len({(row.day, row.dims) for row in rows.kept})
        if repeated:
            yield f"{repeated:,} row{'s' if repeated > 1 else ''} repeated a day and its dimensions: summed"


def _absent(source: Source, taken: Sequence[Rows]) -> frozenset[str]:
    absent: set[str] = set()
    present: set[str] = set()
    for request, rows in zip(source.requests, taken, strict=True):
        (absent if rows.is_absent else present).update(request.metrics)
    absent -= present
    for derived in source.derive:
        if absent.intersection(derived.ratio or (derived.sum,)):
            absent.add(derived.metric)
    return frozenset(absent)
