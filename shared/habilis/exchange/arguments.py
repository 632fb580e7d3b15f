"""Arguments of a call, checked against the tool's input schema, with messages that a model can act on."""

import difflib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from habilis.errors import ArgsInvalid
from habilis.exchange.whole import with_whole_numbers
from habilis.manifest.model import Tool
from habilis.manifest.schemas import argument_names
from habilis.messages import Json
from habilis.reading import path_text

if TYPE_CHECKING:
    import jsonschema_rs

_DEEPEST = 64
_MOST_KEPT = 512
_WHOLE = frozenset({int, bool, type(None)})
_MOST_FAULTS = 3
_LONGEST_NAME = 64
_ASKS_NOTHING = frozenset({"type", "properties", "additionalProperties", "title", "description", "$schema", "$defs"})
"""Fields of a schema that no empty set of arguments can break."""

_TYPES = {
    "integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false",
    "array": "a list", "object": "fields", "null": "nothing",
}  # fmt: skip
_LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "pattern": "text that matches {}",
    "format": "text of the format {}",
    "const": "{}",
}


def check_arguments(
    tool: Tool, arguments: Mapping[str, Json], *, also: frozenset[str] = frozenset()
) -> dict[str, Json]:
    """Check the arguments and return them, whole floats made integers where the schema wants integers.

    Args:
        tool: Whose `input` is the schema. An argument that it does not name is refused, unless it says
            `additionalProperties`.
        arguments: As the caller gave them.
        also: Names that the engine itself fills in (a publish's arguments); they are passed on unchecked when the
            schema does not name them.

    Raises:
        ArgsInvalid: Names the argument, what is expected and what was found, for the first three faults; never a value.
    """
    where = f"tool '{tool.name}'"
    rules = _rules_of(tool)
    if rules.named is not None:
        _require_known(arguments, rules.named, also, where)
    is_plain = all(map(_is_plain, arguments.values()))
    if not is_plain and (fault := _unsound(dict(arguments), ())):
        raise ArgsInvalid(fault, where=where)
    unchecked = also - rules.declared
    checked = {name: value for name, value in arguments.items() if name not in unchecked}
    if not checked and rules.schema.keys() <= _ASKS_NOTHING:
        return dict(arguments)
    if not is_plain:
        checked = with_whole_numbers(checked, rules.schema)
    validator = rules.validator()
    if not validator.is_valid(checked):
        errors = islice(validator.iter_errors(checked), _MOST_FAULTS)
        faults = [_explained(error, checked, rules.schema) for error in errors]
        raise ArgsInvalid("; ".join(faults), where=where)
    return {**arguments, **checked}


class _Rules:
    """A tool's input schema, made ready once.

    Attributes:
        named: The arguments that it names; None when it takes any.
        declared: Those that it says something about.
    """

    def __init__(self, source: Mapping[str, Json]) -> None:
        self.source = source
        self._validator: jsonschema_rs.Validator | None = None
        self.schema = dict(source)
        self.named = argument_names(self.schema)
        properties = self.schema.get("properties")
        self.declared = self.named or frozenset(properties if isinstance(properties, dict) else ())

    def validator(self) -> "jsonschema_rs.Validator":
        """Its validator, made when there is something to check: the library is not light."""
        if self._validator is None:
            import jsonschema_rs

            self._validator = jsonschema_rs.validator_for(self.schema, offline=True, validate_formats=True, mask="***")
        return self._validator


_kept_rules: OrderedDict[int, _Rules] = OrderedDict()
"""By identity of the schema, which each entry keeps alive: a manifest is made once for its content."""


def _rules_of(tool: Tool) -> _Rules:
    rules = _kept_rules.get(id(tool.input))
    if rules is None or rules.source is not tool.input:
        rules = _kept_rules[id(tool.input)] = _Rules(tool.input)
        while len(_kept_rules) > _MOST_KEPT:
            _kept_rules.popitem(last=False)
    return rules


def _require_known(arguments: Mapping[str, Json], named: frozenset[str], also: frozenset[str], where: str) -> None:
    known = named | also
    unknown = next((name for name in arguments if name not in known), None)
    if unknown is None:
        return
    close = difflib.get_close_matches(unknown[:_LONGEST_NAME], named, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(sorted(named)) or 'no arguments'}"
    raise ArgsInvalid(f"there is no argument {_shown((unknown,))}", where=where, hint=hint)


def _is_plain(value: Json) -> bool:
    """Whether a value is one of the many that need no closer look: no fraction, no depth, no odd character."""
    kind = type(value)
    if kind is str:
        return value.isascii()  # type: ignore[union-attr]  # told by its type
    if kind is list:
        return all(type(entry) in _WHOLE or (type(entry) is str and entry.isascii()) for entry in value)  # type: ignore[union-attr]
    return kind in _WHOLE


def _unsound(value: Json, path: tuple[str | int, ...]) -> str:
    """What no JSON text can carry, or no engine should follow; "" when all is well."""
    if isinstance(value, str):
        is_odd = not _is_encodable(value)
        return f"{_shown(path)}: expected text, got half of a character (a lone surrogate)" if is_odd else ""
    if isinstance(value, float):
        return "" if abs(value) < float("inf") else f"{_shown(path)}: expected a finite number, got none"
    if isinstance(value, dict):
        if odd := next((name for name in value if not _is_encodable(name)), None):
            return f"{_shown((*path, odd))}: a name holds half of a character (a lone surrogate)"
        inside: Iterable[tuple[str | int, Json]] = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    else:
        return ""
    if len(path) >= _DEEPEST:
        return f"{_shown(path[:1])}: nested deeper than {_DEEPEST} levels"
    return next((fault for step, entry in inside if (fault := _unsound(entry, (*path, step)))), "")


def _is_encodable(text: str) -> bool:
    # Told apart here, so that no library error, which holds the text, hangs on ours.
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _explained(error: "jsonschema_rs.ValidationError", arguments: Json, schema: Mapping[str, Json]) -> str:
    """The library's finding in our words: its own text may quote the value."""
    path = tuple(error.instance_path)
    details = error.kind.as_dict()
    if error.kind.name == "required":
        return f"the argument {_shown((*path, details['property']))} is missing"
    if error.kind.name in {"additionalProperties", "unevaluatedProperties"}:
        return f"there is no argument {_shown((*path, details['unexpected'][0]))}"
    rule = _at(schema, error.schema_path)
    return f"{_shown(path)}: expected {_expected(error, rule)}, got {_kind(_at(arguments, path))}"


def _expected(error: "jsonschema_rs.ValidationError", rule: Json) -> str:
    keyword = error.kind.name
    if keyword == "type":
        return _either(rule if isinstance(rule, list) else [rule])
    if keyword == "enum" and isinstance(rule, list):
        return f"one of {', '.join(map(_written, rule))}"
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(_written(rule))
    if keyword in {"anyOf", "oneOf"}:
        branches = error.kind.as_dict()["context"]
        types = [found.kind.as_dict()["types"] for branch in branches for found in branch if found.kind.name == "type"]
        is_at_top = all(found.instance_path == error.instance_path for branch in branches for found in branch)
        if is_at_top and len(types) == len(branches):
            return _either([name for names in types for name in names])
        return "one of the forms it may have" if any(branches) else "one of its forms, not several at once"
    return f"what its rule {keyword} allows"


def _either(types: Sequence[Json]) -> str:
    return " or ".join(dict.fromkeys(_TYPES.get(str(name), str(name)) for name in types))


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(path: tuple[str | int, ...]) -> str:
    return path_text(path) or "the arguments"


def _at(document: object, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - whatever lies there
    value: Any = document
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def _kind(value: Json) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return _TYPES[names.get(type(value), "null")]
