"""Plain scalars as YAML 1.1 reads them, dates staying text."""

import math
import re
from dataclasses import dataclass

import yaml

from habilis.reading.json_text import MOST_DIGITS, Json

# Nearly every number, and the library's way of reading them takes six times as long.
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_TAG = "tag:yaml.org,2002:"
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_CONSTRUCT = yaml.constructor.SafeConstructor()
_NUMBERS = {f"{_TAG}int": _CONSTRUCT.construct_yaml_int, f"{_TAG}float": _CONSTRUCT.construct_yaml_float}


@dataclass(frozen=True, slots=True)
class NoNumber:
    """Looks like a number and is none that can be used; `why` continues "this number"."""

    why: str


def read_scalar(text: str) -> Json | NoNumber:
    """The value of a plain scalar.

    Args:
        text: As written: `NO` is false, `1.10` is 1.1, `22:22` is 1342, `01234` is 668, `2024-02-30` stays text.
    """
    if _DECIMAL.fullmatch(text):
        return int(text)
    tag = next((tag for tag, pattern in _RESOLVERS.get(text[:1], ()) if pattern.match(text)), "")
    if tag == f"{_TAG}bool":
        return bool(_CONSTRUCT.bool_values[text.lower()])
    if tag == f"{_TAG}null":
        return None
    if tag not in _NUMBERS:
        return text
    if len(text) > MOST_DIGITS:
        return NoNumber("has too many digits")
    try:
        value: int | float = _NUMBERS[tag](yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):
        return NoNumber("cannot be read")
    return value if math.isfinite(value) else NoNumber("is not finite")
