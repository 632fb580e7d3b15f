"""Arguments of a call, checked against the tool's input schema, with messages that a model can act on."""

import difflib
import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from habilis.errors import ArgsInvalid, HabilisError
from habilis.exchange.survey import Survey, survey
from habilis.exchange.whole import WholeNumbers
from habilis.manifest.model import Tool
from habilis.manifest.schemas import argument_names, validator_of
from habilis.messages import Json
from habilis.reading import path_text

if TYPE_CHECKING:
    import jsonschema_rs

_MOST_KEPT = 512
_MOST_FAULTS = 3
_MOST_COMPARED = 2_000
_PLAIN = frozenset({int, bool, type(None)})
_MOST_PLAIN = 64
_LONGEST_PLAIN = 100_000
_BRANCHES = re.compile(r'"(?:anyOf|oneOf)"')
_NOTHING_ODD = Survey(values=0, has_fractions=False)
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
        TooLarge: They are more, or longer, than any call needs.
        ArgsInvalid: Names the argument, what is expected and what was found, for the first three faults; never a value.
    """
    where = f"tool '{tool.name}'"
    rules = _rules_of(tool)
    try:
        found = _NOTHING_ODD if _is_plain(arguments) else survey(arguments)
    except HabilisError as error:
        error.where = where
        raise
    if rules.named is not None:
        _require_known(arguments, rules.named, also, where)
    unchecked = also - rules.declared
    checked = {name: value for name, value in arguments.items() if name not in unchecked}
    if not checked and rules.schema.keys() <= _ASKS_NOTHING:
        return dict(arguments)
    if found.has_fractions:
        checked = rules.whole.settle(checked)
    validator = rules.validator()
    if not validator.is_valid(checked):
        if found.values > _MOST_COMPARED and rules.has_branches:
            hint = f"with fewer than {_MOST_COMPARED:,} values the message says which"
            raise ArgsInvalid("the arguments hold what its input does not allow", where=where, hint=hint)
        errors = _errors(validator, checked, found.values)
        raise ArgsInvalid("; ".join(_explained(error, checked, rules.schema) for error in errors), where=where)
    return {**arguments, **checked}


class _Rules:
    """A tool's input schema, made ready once.

    Attributes:
        named: The arguments that it names; None when it takes any.
        declared: Those that it says something about.
        whole: Where it wants whole numbers.
    """

    def __init__(self, source: Mapping[str, Json]) -> None:
        self.source = source
        self._validator: jsonschema_rs.Validator | None = None
        self.schema = dict(source)
        self.whole = WholeNumbers(self.schema)
        self.named = argument_names(self.schema)
        properties = self.schema.get("properties")
        self.declared = self.named or frozenset(properties if isinstance(properties, dict) else ())

    @property
    def has_branches(self) -> bool:
        """Whether a value may have one of several forms: where it has none, the library tells of each why."""
        return _BRANCHES.search(json.dumps(self.schema)) is not None

    def validator(self) -> "jsonschema_rs.Validator":
        """Its validator, made when there is something to check: the library is not light."""
        if self._validator is None:
            self._validator = validator_of(self.schema)
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


def _is_plain(arguments: Mapping[str, Json]) -> bool:
    """Whether these are of the many that need no closer look: few, short, without fractions, depth or odd letters."""
    return len(arguments) <= _MOST_PLAIN and all(
        len(name) <= _LONGEST_PLAIN
        and name.isascii()
        and (type(value) in _PLAIN or (type(value) is str and len(value) <= _LONGEST_PLAIN and value.isascii()))
        for name, value in arguments.items()
    )


def _errors(
    validator: "jsonschema_rs.Validator", arguments: dict[str, Json], values: int
) -> "Iterable[jsonschema_rs.ValidationError]":
    """The library's first findings; of many values only the very first, since it looks for all at once."""
    import jsonschema_rs

    if values <= _MOST_COMPARED:
        return islice(validator.iter_errors(arguments), _MOST_FAULTS)
    try:
        validator.validate(arguments)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


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
