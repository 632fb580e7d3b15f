"""What templates are filled from, and how a value becomes text."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from habilis.errors import ArgsInvalid, EngineFailed
from habilis.reading import Json
from habilis.templating.made import Made


class Missing(Enum):
    """The type of MISSING."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing.MISSING
"""There is no value: other than null, which is one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The values that placeholders stand for.

    Attributes:
        arguments: For `{{name}}`; also what earlier steps saved.
        keys: For `${NAME}`; an empty value counts as not set.
        made: For `now()`, `uuid()` and `call_id()`; None where nothing is called, and these have no value.
    """

    arguments: Mapping[str, Json]
    keys: Mapping[str, str]
    made: Made | None = None

    def __repr__(self) -> str:
        return f"Scope(arguments={sorted(self.arguments)}, keys={sorted(self.keys)})"

    def with_values(self, values: Mapping[str, Json]) -> "Scope":
        """The same scope with these arguments laid over its own."""
        return Scope({**self.arguments, **values}, self.keys, self.made)

    def call(self) -> Made:
        """What the call makes.

        Raises:
            EngineFailed: The template is filled outside a call.
        """
        if self.made is None:
            raise EngineFailed("now(), uuid() and call_id() have a value inside a call only")
        return self.made


def text_of(value: Json, name: str) -> str:
    """Write a value as it stands inside text.

    Args:
        value: Text stays; null is ""; all else is written as JSON, whole floats without their fraction.
        name: What holds it, for messages.

    Raises:
        ArgsInvalid: JSON cannot carry it, such as an infinite number.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    if not isinstance(value, float) or math.isfinite(value):
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except (ValueError, RecursionError):
            pass
    raise ArgsInvalid(f"{name}: JSON cannot carry this value")
