"""Whole numbers as services want them: JSON has one kind of number, so 5.0 is a good integer, and is sent as 5."""

from collections.abc import Mapping

from habilis.messages import Json
from habilis.templating import MISSING, pick

_LARGEST = 1e21
"""From here on a float stands for no exact whole number, and is written with an exponent."""

_BRANCHES = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")

_Rules = list[dict[str, Json]]


def with_whole_numbers(arguments: dict[str, Json], schema: dict[str, Json]) -> dict[str, Json]:
    """The arguments, each whole float made an integer where the schema, at any depth, says `integer`."""
    if not _holds_float(arguments):
        return arguments
    rules = _all_of([schema], schema)
    return {name: _settled(value, _inside(rules, name, schema), schema) for name, value in arguments.items()}


def _holds_float(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_float, value))
    return isinstance(value, float)


def _settled(value: Json, rules: _Rules, root: dict[str, Json]) -> Json:
    if not rules:
        return value
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < _LARGEST
        return int(value) if is_whole and any(_wants_integer(rule) for rule in rules) else value
    if isinstance(value, list):
        return [_settled(entry, _inside(rules, step, root), root) for step, entry in enumerate(value)]
    if isinstance(value, dict):
        return {name: _settled(entry, _inside(rules, name, root), root) for name, entry in value.items()}
    return value


def _wants_integer(rule: Mapping[str, Json]) -> bool:
    types = rule.get("type")
    return types == "integer" or (isinstance(types, list) and "integer" in types)


def _inside(rules: _Rules, step: str | int, root: dict[str, Json]) -> _Rules:
    """The rules for a field or an entry of what `rules` hold for."""
    found: list[Json] = []
    for rule in rules:
        if isinstance(step, str):
            named, others = rule.get("properties"), rule.get("additionalProperties")
            found.append(named[step] if isinstance(named, dict) and step in named else others)
        else:
            first, others = rule.get("prefixItems"), rule.get("items")
            found.append(first[step] if isinstance(first, list) and step < len(first) else others)
    return _all_of(found, root)


def _all_of(schemas: list[Json], root: dict[str, Json]) -> _Rules:
    """The schemas with what they refer to and branch into, each once."""
    found: _Rules = []
    waiting = list(schemas)
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict) or any(schema is other for other in found):
            continue
        found.append(schema)
        waiting += [schema.get(name) for name in _SINGLE]
        for name in _BRANCHES:
            branches = schema.get(name)
            waiting += branches if isinstance(branches, list) else []
        reference = schema.get("$ref")
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            target = pick(root, reference[1:])
            waiting.append(None if target is MISSING else target)
    return found
