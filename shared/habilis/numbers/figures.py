"""Figures, exactly: what a service writes as a decimal, and a decimal as JSON has it."""

import math
import re
from decimal import Context, Decimal
from typing import Final

from habilis.messages import Json
from habilis.templating import Missing

_WRITTEN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ABSENT = frozenset({"", "-"})
_EXACT_INTEGERS = 2**53


class NoNumber:
    """The type of NO_NUMBER."""


NO_NUMBER: Final = NoNumber()
"""There is a value and it is no number: other than no value, which is None."""

EXACT: Final = Context(prec=60)
"""Digits enough for the sums of any figures a service counts."""


def read_figure(value: Json | Missing) -> Decimal | NoNumber | None:
    """Return the number that a service means, None where it says that there is none, NO_NUMBER for anything else.

    Numbers and numeric text are taken alike. Blanks, thousands, percent and currency signs, digits of other scripts,
    booleans and what is too large for a float are no numbers. Null, "" and "-" say that there is none: never 0.
    """
    if isinstance(value, str):
        if value in _ABSENT:
            return None
        return Decimal(value) if _WRITTEN.fullmatch(value) and math.isfinite(float(value)) else NO_NUMBER
    if isinstance(value, Missing) or value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NO_NUMBER
    try:
        # The shortest text of a float is what the service wrote: 0.1 is meant as 0.1.
        return Decimal(repr(value)) if math.isfinite(value) else NO_NUMBER
    except OverflowError:
        return NO_NUMBER


def written_figure(value: Decimal) -> int | float | None:
    """Return a decimal as JSON has it, whole numbers without a fraction; None for what is too large for a float."""
    if value == value.to_integral_value() and abs(value) <= _EXACT_INTEGERS:
        return int(value)
    rounded = float(value)
    return rounded if math.isfinite(rounded) else None
