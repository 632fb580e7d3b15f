"""Figures, exactly: what a service writes as a decimal, and a decimal as JSON has it."""

import math
import re
import sys
from collections.abc import Sequence
from decimal import Context, Decimal
from functools import lru_cache
from typing import Final

from habilis.messages import Json
from habilis.templating import Missing

_WRITTEN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ABSENT = frozenset({"", "-"})
_EXACT_INTEGERS = 2**53
_LARGEST = int(sys.float_info.max) + 1


Figure = int | float | Decimal
"""A number as it was read. A float stands for its shortest text, which is what the service wrote: 0.1 means 0.1."""


class NoNumber:
    """The type of NO_NUMBER."""


NO_NUMBER: Final = NoNumber()
"""There is a value and it is no number: other than no value, which is None."""

EXACT: Final = Context(prec=60)
"""Digits enough for the sums of any figures a service counts."""


def read_figure(value: Json | Missing) -> Figure | NoNumber | None:
    """Return the number that a service means, None where it says that there is none, NO_NUMBER for anything else.

    Numbers and numeric text are taken alike. Blanks, thousands, percent and currency signs, digits of other scripts,
    booleans and what is too large for a float are no numbers. Null, "" and "-" say that there is none: never 0.
    """
    if isinstance(value, str):
        return _figure_of(value)
    if type(value) is float:
        return value if math.isfinite(value) else NO_NUMBER
    if type(value) is int:
        return value if -_LARGEST < value < _LARGEST else NO_NUMBER
    return None if value is None or isinstance(value, Missing) else NO_NUMBER


@lru_cache(maxsize=4096)
def _figure_of(text: str) -> Figure | NoNumber | None:
    if text in _ABSENT:
        return None
    return Decimal(text) if _WRITTEN.fullmatch(text) and math.isfinite(float(text)) else NO_NUMBER


def exact(figure: Figure) -> Decimal:
    """The number as a decimal."""
    return figure if isinstance(figure, Decimal) else Decimal(repr(figure))


def plus(one: Figure, other: Figure) -> Figure:
    """The exact sum of two figures, in a context of enough digits."""
    return one + other if type(one) is int and type(other) is int else exact(one) + exact(other)


def total(figures: Sequence[Figure]) -> Figure:
    """The exact sum of one or more figures, in a context of enough digits."""
    return sum(figures) if set(map(type, figures)) == {int} else sum(map(exact, figures), Decimal(0))


def written_figure(value: Figure) -> int | float | None:
    """Return a figure as JSON has it, whole numbers without a fraction; None for what is too large for a float."""
    if type(value) is int and abs(value) <= _EXACT_INTEGERS:
        return value
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) <= _EXACT_INTEGERS else value
    number = exact(value)
    if number == number.to_integral_value() and abs(number) <= _EXACT_INTEGERS:
        return int(number)
    rounded = float(number)
    return rounded if math.isfinite(rounded) else None
