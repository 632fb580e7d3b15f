"""Figures, exactly: what a service writes as a decimal, and a decimal as JSON has it."""

import math
import re
import sys
from collections.abc import Sequence
from decimal import Context, Decimal
from functools import lru_cache
from typing import Final, cast

from habilis.messages import Json
from habilis.templating import Missing

_WRITTEN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ABSENT = frozenset({"", "-"})
_EXACT_INTEGERS = 2**53
_SURE = 10**13
"""Below it two decimal places may follow: a float tells numbers of up to 15 digits apart."""

_NUMBERS = frozenset({int, float})
_LARGEST = int(sys.float_info.max) + 1


Figure = int | float | Decimal
"""A number as it was read: an int or a float where JSON has it so, a decimal otherwise. A float stands for its shortest
text, which is what the service wrote: 0.1 means 0.1."""


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
        return _plain(value) if math.isfinite(value) else NO_NUMBER
    if type(value) is int:
        return _plain(value) if -_LARGEST < value < _LARGEST else NO_NUMBER
    return None if value is None or isinstance(value, Missing) else NO_NUMBER


def read_figures(values: Sequence[Json | Missing]) -> Sequence[Figure | NoNumber | None]:
    """Read many values, which are mostly alike: those that are numbers already at once."""
    if _NUMBERS.issuperset(map(type, values)) and all(map(math.isfinite, values)):  # type: ignore[arg-type]  # as told
        return [_plain(value) for value in values]  # type: ignore[arg-type]  # as told
    return [read_figure(value) for value in values]


def _plain(value: float) -> Figure:
    """A number as JSON would have it, if JSON can have it exactly."""
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) <= _EXACT_INTEGERS else value
    return value if abs(value) <= _EXACT_INTEGERS else Decimal(value)


@lru_cache(maxsize=4096)
def _figure_of(text: str) -> Figure | NoNumber | None:
    if text in _ABSENT:
        return None
    if not _WRITTEN.fullmatch(text) or not math.isfinite(float(text)):
        return NO_NUMBER
    number, plain = Decimal(text), _plain(float(text))
    return plain if exact(plain) == number else number


def exact(figure: Figure) -> Decimal:
    """The number as a decimal."""
    return figure if isinstance(figure, Decimal) else Decimal(repr(figure))


def plus(one: Figure, other: Figure) -> Figure:
    """The exact sum of two figures, in a context of enough digits."""
    return _plain(one + other) if type(one) is int and type(other) is int else exact(one) + exact(other)


def total(figures: Sequence[Figure]) -> Figure:
    """The exact sum of one or more figures, in a context of enough digits."""
    kinds = set(map(type, figures))
    if kinds == {int}:
        return _plain(sum(figures))  # type: ignore[arg-type]  # as told
    if _NUMBERS.issuperset(kinds):
        numbers = cast("Sequence[float]", figures)
        hundredths = [round(number * 100) for number in numbers] if max(map(abs, numbers)) < _SURE else []
        if [one / 100 for one in hundredths] == figures:
            # Amounts, mostly: each is so many hundredths and nothing else, having no more digits than tell it apart.
            return Decimal(sum(hundredths)).scaleb(-2)
    return sum(map(exact, figures), Decimal(0))


def written_figure(value: Figure) -> int | float | None:
    """Return a figure as JSON has it, whole numbers without a fraction; None for what is too large for a float."""
    if not isinstance(value, Decimal):
        return value
    if value == value.to_integral_value() and abs(value) <= _EXACT_INTEGERS:
        return int(value)
    rounded = float(value)
    return rounded if math.isfinite(rounded) else None
