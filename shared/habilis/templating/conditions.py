"""Conditions: true or false of what is known so far, and of an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.comparing import OPERATORS, pattern, value_fault
from habilis.templating.grammar import Placeholder, parse, shortened
from habilis.templating.reads import Read
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.seen import Seen, compile_place
from habilis.templating.uses import Uses
from habilis.templating.values import read_written, value_of

Holds = Callable[[Scope, Seen | None], bool]
_ReadField = Callable[[Scope, Seen | None], Json | Missing]

_DEEPEST = 16
_OPERATORS = (*OPERATORS, "exists", "matches")
_SHAPES = "{ field, op, value }, { all: […] }, { any: […] }, { not: … } or a template such as {{text}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition, compiled.

    Attributes:
        source: As written; `compile_condition(source)` gives an equal one.
        arguments: The first names of all paths.
        paths: The paths of all arguments, also of those that functions are given.
        keys: Names of keys, and whether each has a default wherever it stands.
        asks_answer: Whether it looks into an answer; where there is none, nothing is found there.
    """

    source: Json
    arguments: frozenset[str] = field(compare=False)
    paths: frozenset[tuple[str, ...]] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    asks_answer: bool = field(compare=False)
    _holds: Holds = field(repr=False, compare=False)

    def holds(self, scope: Scope, seen: Seen | None = None) -> bool:
        """Whether it is true; `seen` is the answer that its pointers look into."""
        return self._holds(scope, seen)


def compile_condition(value: Json) -> Condition:
    """Prepare a condition.

    Args:
        value: A template, true where it fills to something; or `{ field, op, value }`, `{ all: […] }`, `{ any: […] }`
            or `{ not: … }` of conditions.

    Raises:
        BadInput: It is no condition; `where` shows the part that is not.
    """
    uses = Uses()
    holds = compile_holds(value, uses)
    return Condition(
        source=value,
        arguments=uses.arguments,
        paths=frozenset(uses.paths),
        keys=uses.keys,
        asks_answer=uses.asks_answer,
        _holds=holds,
    )


def compile_holds(value: Json, uses: Uses, depth: int = 0) -> Holds:
    """Make the function that tells whether a condition holds, and note what it uses.

    Raises:
        BadInput: It is no condition.
    """
    if depth > _DEEPEST:
        raise BadInput(f"conditions stand in each other at most {_DEEPEST} deep")
    if isinstance(value, str):
        return _something(value, uses)
    if not isinstance(value, dict):
        raise BadInput(f"a condition is {_SHAPES}")
    if "field" in value or "op" in value:
        return _comparison(value, uses)
    if len(value) != 1 or next(iter(value)) not in {"all", "any", "not"}:
        raise BadInput(f"a condition is {_SHAPES}", where=shortened(", ".join(map(str, value))))
    ((word, inside),) = value.items()
    if word == "not":
        holds = compile_holds(inside, uses, depth + 1)
        return lambda scope, seen: not holds(scope, seen)
    if not isinstance(inside, list) or not inside:
        raise BadInput(f"{word} takes a list of conditions")
    every = [compile_holds(one, uses, depth + 1) for one in inside]
    if word == "all":
        return lambda scope, seen: all(one(scope, seen) for one in every)
    return lambda scope, seen: any(one(scope, seen) for one in every)


def _something(text: str, uses: Uses) -> Holds:
    parts = parse(text)
    if not any(isinstance(part, Placeholder) for part in parts):
        raise BadInput("a condition without a placeholder is always the same; write {{text}}", where=shortened(text))
    uses.add(parts)
    read = value_of(parts)
    return lambda scope, seen: not is_nothing(read(scope))


def _comparison(written: dict[str, Json], uses: Uses) -> Holds:
    if extra := sorted(written.keys() - {"field", "op", "value"}):
        raise BadInput(f"a condition is {_SHAPES}", where=shortened(extra[0]))
    op = written.get("op", "")
    if not isinstance(op, str) or op not in _OPERATORS:
        raise BadInput(f"op is one of {', '.join(_OPERATORS)}", where=shortened(str(op)))
    read = _field(written.get("field"), uses)
    if op == "exists":
        return _existence(read, written.get("value", True))
    if "value" not in written:
        raise BadInput(f"{op} needs a value", where=shortened(str(written.get("field"))))
    if op == "matches":
        matches = pattern(written["value"])
        return lambda scope, seen: matches(read(scope, seen))
    return _compared(read, op, written["value"], uses)


def _existence(read: _ReadField, wanted: Json) -> Holds:
    if not isinstance(wanted, bool):
        raise BadInput("the value of exists is true or false, and true when left out")
    return lambda scope, seen: (read(scope, seen) not in (MISSING, None)) is wanted


def _compared(read: _ReadField, op: str, value: Json, uses: Uses) -> Holds:
    compare = OPERATORS[op]
    read_value = _filled(value, uses)
    is_template = isinstance(value, str) and read_value is not None
    if not is_template and (fault := value_fault(op, value)):
        raise BadInput(fault, where=shortened(str(value)))
    if read_value is None:
        return lambda scope, seen: compare(read(scope, seen), value)
    return lambda scope, seen: compare(read(scope, seen), read_value(scope))


def _filled(value: Json, uses: Uses) -> Read | None:
    """Make the function that fills a value, or the entries of a list of them; None for one without placeholders."""
    if isinstance(value, list):
        fills = [_filled(entry, uses) or _constant(entry) for entry in value]
        return lambda scope: [entry for fill in fills if (entry := fill(scope)) is not MISSING]
    parts = parse(value) if isinstance(value, str) else ()
    uses.add(parts)
    return value_of(parts) if any(isinstance(part, Placeholder) for part in parts) else None


def _constant(value: Json) -> Read:
    return lambda scope: value


def _field(written: Json, uses: Uses) -> _ReadField:
    if not isinstance(written, str) or not written:
        raise BadInput("field is a path such as item.id, or /pointer, header:NAME or status of the answer")
    if written.startswith(("/", "header:")) or written == "status":
        uses.asks_answer = True
        place = compile_place(written)
        return lambda scope, seen: MISSING if seen is None else place.pick(seen)
    read = read_written(written, uses)
    return lambda scope, seen: read(scope)


def is_nothing(value: Json | Missing) -> bool:
    """Whether a value counts as nothing: missing, null, false, "", [] or {}. Zero is something."""
    return value is MISSING or value is None or value is False or value in ("", [], {})
