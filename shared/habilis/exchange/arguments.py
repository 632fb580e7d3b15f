"""Arguments of a call, checked against the tool's input schema, with messages that a model can act on."""

import difflib
import functools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from habilis.errors import ArgsInvalid
from habilis.manifest.model import Tool
from habilis.messages import Json

if TYPE_CHECKING:
    import jsonschema_rs

_TYPE_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "fields",
}


def check_arguments(
    tool: Tool, arguments: Mapping[str, Json], *, also: frozenset[str] = frozenset()
) -> dict[str, Json]:
    """Check the arguments and return them, whole floats made integers where the schema wants integers.

    Args:
        tool: Whose `input` is the schema.
        arguments: As the caller gave them.
        also: Names that the engine itself fills in (a publish's arguments); they are passed on unchecked when the
            schema does not name them.

    Raises:
        ArgsInvalid: Names the argument, what is expected and what was found; never the value.
    """
    known = _properties(tool)
    for name in arguments:
        if name not in known and name not in also:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(known) or 'no arguments'}"
            raise ArgsInvalid(f"there is no argument {name!r}", where=f"tool '{tool.name}'", hint=hint)
    given = {name: _as_declared(value, known.get(name)) for name, value in arguments.items()}
    named = {name: value for name, value in given.items() if name in known}
    if not named and not tool.input.get("required"):
        return given
    first = next(iter(_validator(json.dumps(tool.input, sort_keys=True)).iter_errors(named)), None)
    if first is not None:
        raise _explained(first, named, tool)
    return given


def _properties(tool: Tool) -> Mapping[str, Json]:
    properties = tool.input.get("properties", {})
    return properties if isinstance(properties, dict) else {}


def _as_declared(value: Json, schema: Json) -> Json:
    """JSON has one kind of number: 5.0 is a good integer, and services want it written 5."""
    if isinstance(value, float) and value.is_integer() and isinstance(schema, dict) and schema.get("type") == "integer":
        return int(value)
    return value


@functools.lru_cache(maxsize=512)
def _validator(schema: str) -> "jsonschema_rs.Validator":
    import jsonschema_rs

    return jsonschema_rs.validator_for(json.loads(schema), offline=True, validate_formats=True, mask="***")


def _explained(error: "jsonschema_rs.ValidationError", arguments: Json, tool: Tool) -> ArgsInvalid:
    """The library's finding in our words: its own text may quote the value."""
    path = list(error.instance_path)
    name = ".".join(str(part) for part in path)
    where = f"tool '{tool.name}'"
    keyword = error.kind.name
    rule = _at(tool.input, error.schema_path)
    found = _at(arguments, path)
    if keyword == "required":
        missing = _first_missing(_at(tool.input, error.schema_path[:-1]), found)
        return ArgsInvalid(f"the argument {'.'.join(filter(None, (name, missing)))!r} is missing", where=where)
    if keyword == "type":
        return ArgsInvalid(f"{name}: expected {_types(rule)}, got {_kind(found)}", where=where)
    if keyword == "enum" and isinstance(rule, list):
        return ArgsInvalid(f"{name}: expected one of {', '.join(map(str, rule))}", where=where)
    shown = f" {rule}" if isinstance(rule, (int, float, str)) else ""
    return ArgsInvalid(f"{name or 'the arguments'}: breaks the rule {keyword}{shown}", where=where)


def _first_missing(schema: Json, found: Json) -> str:
    required = schema.get("required", []) if isinstance(schema, dict) else []
    names = required if isinstance(required, list) else []
    present = found if isinstance(found, dict) else {}
    return next((str(name) for name in names if name not in present), "")


def _at(document: object, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - whatever lies there
    value: Any = document
    for part in path:
        if isinstance(value, dict):
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def _types(rule: Json) -> str:
    names = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}
    names |= {"array": "a list", "object": "fields", "null": "nothing"}
    wanted = rule if isinstance(rule, list) else [rule]
    return " or ".join(names.get(str(name), str(name)) for name in wanted)


def _kind(value: Json) -> str:
    return "nothing" if value is None else _TYPE_NAMES[type(value)]
