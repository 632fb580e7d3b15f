"""Conditions: true or false of what is known so far, and of an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.bodies import compile_json
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.seen import Seen

Holds = Callable[[Scope, Seen | None], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition, compiled.

    Attributes:
        source: As written; `compile_condition(source)` gives an equal one.
        arguments: The first names of all paths.
        keys: Names of keys, and whether each has a default wherever it stands.
    """

    source: Json
    arguments: frozenset[str] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    _holds: Holds = field(repr=False, compare=False)

    def holds(self, scope: Scope, seen: Seen | None = None) -> bool:
        """Whether it is true; `seen` is the answer that its pointers look into."""
        return self._holds(scope, seen)


def compile_condition(value: Json) -> Condition:
    """Prepare a condition: a template, true where it fills to something.

    Raises:
        BadInput: It is no condition.
    """
    if not isinstance(value, str):
        raise BadInput("a condition is a template such as {{text}}")
    template = compile_json(value)
    return Condition(
        source=value,
        arguments=template.arguments,
        keys=template.keys,
        _holds=lambda scope, seen: not is_nothing(template.fill(scope)),
    )


def is_nothing(value: Json | Missing) -> bool:
    """Whether a value counts as nothing: missing, null, false, "", [] or {}. Zero is something."""
    return value is MISSING or value is None or value is False or value in ("", [], {})
