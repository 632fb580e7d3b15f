"""What may be written of numbers that an ability reads."""

from typing import Annotated

from pydantic import Field

from habilis.manifest.shape.requests import RequestShape
from habilis.manifest.shape.words import Finite, Shape, Underscored


class SourceRequestShape(Shape):
    """One request of a source and where its rows are."""

    request: RequestShape
    """Filled with `{{from}}`, `{{to}}` (YYYY-MM-DD) and `{{days}}`."""
    rows: str
    """JSON pointer to the list of rows in the answer."""
    date: str
    """JSON pointer to the day in a row, or a template such as `{{to}}` for a list over the window."""
    dims: dict[Underscored, str] = {}
    """Dimension to JSON pointer into a row."""
    metrics: Annotated[dict[Underscored, str], Field(min_length=1)]
    """Metric to JSON pointer into a row."""
    totals: list[str] | None = None
    """Metrics summed per day; every metric when left out."""
    breakdown: list[str] | None = None
    """Metrics kept per dimension; every metric, when there are dims, when left out."""
    skip_zero: bool = False
    """Leave out breakdown rows that are 0."""
    scale: dict[str, Finite] = {}
    """Metric to the factor it is multiplied with."""


class DerivedShape(Shape):
    """A metric made from others: a sum over matching breakdown rows, or a ratio of two totals."""

    metric: Underscored
    """Name of the new metric."""
    sum: str | None = None
    """Metric summed over breakdown rows."""
    where: dict[str, str] = {}
    """Dimension to the exact value a row must have."""
    ratio: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """Numerator and denominator."""
    scale: Finite = 1.0
    """Factor of the outcome."""


class SourceShape(Shape):
    """A set of numbers that the ability reads."""

    requests: Annotated[list[SourceRequestShape], Field(min_length=1)]
    """The requests, once a day."""
    derive: list[DerivedShape] = []
    """Metrics made from those."""
