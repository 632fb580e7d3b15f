"""The rows of a source by day: sums of all its answers, scaled once, and the metrics derived from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import localcontext

from habilis.manifest.model import Source
from habilis.messages import Json
from habilis.numbers.days import DayRow, Days, Sums, ratio_of, written
from habilis.numbers.figures import EXACT, Figure, plus
from habilis.numbers.rows import Dropped, RowReader
from habilis.numbers.window import Window
from habilis.templating import Scope


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
        self._sums = [Sums(request, RowReader(request, scope=scope, window=window)) for request in source.requests]

    def take(self, number: int, answer: Json) -> None:
        """Take an answer, a parsed body, to the request of this position; RowsInvalid when it has no rows."""
        with localcontext(EXACT):
            self._sums[number].take(answer)

    def snapshot(self) -> Snapshot:
        """What was taken so far, by day."""
        with localcontext(EXACT):
            days = Days(drops_zeros=any(request.skip_zero for request in self._source.requests))
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
        sums: dict[str, Figure] = {}
        for row in rows:
            if not row.names:
                for name, value in row.metrics.items():
                    sums[name] = plus(sums[name], value) if name in sums else value

        def over_all(name: str) -> Figure | None:
            return ratio_of(ratios[name], over_all) if name in ratios else sums.get(name)

        found = {derived.metric: over_all(derived.metric) for derived in source.derive}
        return written({name: value for name, value in found.items() if value is not None})


def _notes(taken: Sequence[Sums]) -> Iterable[str]:
    for sums in taken:
        if sums.reader.is_absent:
            yield f"no list at {sums.request.rows}: taken as no rows, and what was stored stays"
        if sums.repeated:
            yield f"{sums.repeated:,} row{'s' if sums.repeated > 1 else ''} repeated a day and its dimensions: summed"


def _absent(source: Source, taken: Sequence[Sums]) -> frozenset[str]:
    absent: set[str] = set()
    present: set[str] = set()
    for sums in taken:
        (absent if sums.reader.is_absent else present).update(sums.request.metrics)
    absent -= present
    for derived in source.derive:
        if absent.intersection(derived.ratio or (derived.sum,)):
            absent.add(derived.metric)
    return frozenset(absent)
