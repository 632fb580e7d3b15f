"""Texts as JSON values: one that is exactly one placeholder takes the value with its type."""

import json
import math
from collections.abc import Sequence

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.grammar import Placeholder, parse, parse_expression, shortened
from habilis.templating.reads import Read, reader
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.texts import fill_parts
from habilis.templating.uses import Uses


def value_of(parts: Sequence[str | Placeholder]) -> Read:
    """Make the function that fills a parsed text as a JSON value."""
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        return _whole(parts[0])
    return fill_parts(parts)


def read_written(text: str, uses: Uses) -> Read:
    """Make the function that finds what a path or call leads to, written bare or as one placeholder.

    Raises:
        BadInput: It is something else.
    """
    if "{{" not in text and "${" not in text:
        expression = parse_expression(text)
        uses.add_expression(expression)
        return reader(expression)
    parts = parse(text.strip())
    if len(parts) != 1:
        raise BadInput("one path or call is expected, such as files or {{files}}", where=shortened(text))
    uses.add(parts)
    return value_of(parts)


def _whole(part: Placeholder) -> Read:
    if part.kind == "key":
        name, is_encoded = part.name, part.is_encoded
        if is_encoded:
            fill_encoded = fill_parts([part])
            return lambda scope: fill_encoded(scope) or MISSING
        # A key is text, and so is its default: the type must not depend on whether the key is set.
        text: str | Missing = MISSING if part.default is None else part.default
        return lambda scope: scope.keys.get(name) or text
    read, default = reader(part.expression), typed(part.default)

    def fill(scope: Scope) -> Json | Missing:
        value = read(scope)
        return default if value is MISSING else value

    return fill


def typed(default: str | None) -> Json | Missing:
    """Read a default as the JSON scalar it is, else as its text."""
    if default is None:
        return MISSING
    try:
        value = json.loads(default)
    except (ValueError, RecursionError):
        return default
    is_odd = isinstance(value, dict | list) or (isinstance(value, float) and not math.isfinite(value))
    return default if is_odd else value
