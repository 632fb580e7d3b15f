"""How conditions compare two values.

Two values are compared as numbers when both are numbers, or when one is and the other is text that looks like one
(what a header or a CSV file holds); two texts as texts, so that dates written YYYY-MM-DD come in order. Missing is as
null, and neither is less or greater than anything.

Source: docs/format.md "Conditions".
"""

import re
from collections.abc import Callable, Mapping
from math import isnan

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.grammar import shortened
from habilis.templating.scope import MISSING, Missing

Compare = Callable[[Json | Missing, Json | Missing], bool]
Value = Json | Missing

_NUMBER = re.compile(r"\s*-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?\s*", re.ASCII)
_LONGEST_PATTERN = 1000


def _equal(left: Value, right: Value) -> bool:
    left, right = _known(left), _known(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[name]) for name, value in left.items())
    # Without this, true would equal 1.
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    numbers = _numbers(left, right)
    return numbers[0] == numbers[1] if numbers else type(left) is type(right) and left == right


def _known(value: Value) -> Json:
    return None if value is MISSING else value


def _numbers(left: Json, right: Json) -> tuple[float, float] | None:
    if not (_is_number(left) or _is_number(right)):
        return None
    first, second = _number(left), _number(right)
    return None if first is None or second is None else (first, second)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Json) -> float | None:
    """A value as a number, an int where it is one: large ids must not become equal by rounding."""
    if isinstance(value, str) and (written := _NUMBER.fullmatch(value)):
        return float(value) if written[1] or written[2] else int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _ordered(holds: Callable[[int], bool]) -> Compare:
    def compare(left: Value, right: Value) -> bool:
        left, right = _known(left), _known(right)
        if numbers := _numbers(left, right):
            return not any(map(isnan, numbers)) and holds((numbers[0] > numbers[1]) - (numbers[0] < numbers[1]))
        if isinstance(left, str) and isinstance(right, str):
            return holds((left > right) - (left < right))
        return False

    return compare


def _is_in(left: Value, right: Value) -> bool:
    return isinstance(right, list) and any(_equal(left, one) for one in right)


def _contains(left: Value, right: Value) -> bool:
    if isinstance(left, list):
        return any(_equal(one, right) for one in left)
    return isinstance(left, str | dict) and isinstance(right, str) and right in left


OPERATORS: Mapping[str, Compare] = {
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "gt": _ordered(lambda order: order > 0),
    "gte": _ordered(lambda order: order >= 0),
    "lt": _ordered(lambda order: order < 0),
    "lte": _ordered(lambda order: order <= 0),
    "in": _is_in,
    "contains": _contains,
}
"""Those that compare with a value; `exists` and `matches` are beside them."""


def value_fault(op: str, value: Json) -> str:
    """What is wrong with a value that is written out: one that nothing could ever compare with; "" when it fits."""
    if op == "in" and not isinstance(value, list):
        return "in takes a list of values"
    if op in {"gt", "gte", "lt", "lte"} and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        return f"{op} takes a number or a text"
    if op == "contains" and (value is None or isinstance(value, list | dict)):
        return "contains takes a text, a number, true or false"
    return ""


def pattern(written: Json) -> Callable[[Value], bool]:
    """Make the function that tells whether a pattern is found in a text; nothing else matches.

    The engine takes time in proportion to the text, whatever the pattern, and so knows no back-references and no
    look-around.

    Raises:
        BadInput: It is no such pattern.
    """
    import jsonschema_rs

    if not isinstance(written, str) or not 0 < len(written) <= _LONGEST_PATTERN:
        raise BadInput(f"matches takes a pattern of at most {_LONGEST_PATTERN} characters")
    options = jsonschema_rs.RegexOptions(size_limit=1_000_000, dfa_size_limit=1_000_000)
    try:
        found = jsonschema_rs.validator_for({"type": "string", "pattern": written}, pattern_options=options)
    except ValueError:
        found = None
    if found is None:
        hint = "back-references and look-around are not known here"
        raise BadInput("the pattern of matches is no regular expression", where=shortened(written), hint=hint)
    is_valid = found.is_valid
    # Half a character cannot be handed on; no pattern means one.
    return lambda value: isinstance(value, str) and is_valid(value.encode("utf-8", "replace").decode())


def whole_value(written: str) -> Callable[[Value], bool]:
    """Make the function that tells whether a pattern matches a whole text; as `pattern` otherwise.

    Raises:
        BadInput: It is no such pattern.
    """
    try:
        pattern(written)  # alone, so that no bracket of it can close the one around it
        return pattern(f"^(?:{written})$")
    except BadInput as error:
        message = f"the pattern is no regular expression of at most {_LONGEST_PATTERN} characters"
        raise BadInput(message, where=error.where, hint=error.hint) from None
