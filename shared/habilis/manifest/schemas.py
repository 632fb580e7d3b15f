"""Rules of a tool's `input`: a JSON Schema that is valid, says `type: object`, and refers to nothing outside itself.

The validator's own check of a schema follows an unknown `$schema` over the network; here nothing is ever fetched.

Source: JSON Schema draft 2020-12 and draft 7.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from habilis.manifest.faults import Faults, Part, as_yaml_read, suggestion
from habilis.messages import Json

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema": "http://json-schema.org/draft-07/schema",
}
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_HOLDS_DATA = frozenset({"const", "enum", "default", "examples"})
_HOLDS_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LARGEST_PATTERN_BYTES = 1024 * 1024
_PATTERNS = "there are no (?=…), (?<…) and \\1, and no repetitions of thousands"
_TYPES = "object, array, string, number, integer, boolean or null"
_JSON_SCALAR = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?|true|True|TRUE|false|False|FALSE")


def check_input(part: Part, faults: Faults) -> None:
    """Note what is wrong with a tool's `input`."""
    schema = part.value
    if not isinstance(schema, dict) or check_as_written(part, faults):
        return
    if schema.get("type") != "object":
        faults.add((*part.path, "type"), "expected `type: object`: a tool's arguments are named")
        part = Part(value={**schema, "type": "object"}, path=part.path)
    before = len(faults.found)
    _check_draft(part, faults)
    _check_references(part, faults)
    if len(faults.found) == before:
        _check_validity(part, faults)
    _check_required(part, faults)


def _check_required(part: Part, faults: Faults) -> None:
    names = argument_names(part.value)
    for required in part.at("required").texts():
        name = required.text() or ""
        if names is not None and name not in names:
            message = f"no argument has this name, so no call could give it{suggestion(name, names)}"
            faults.add(required.path, message)


def check_as_written(part: Part, faults: Faults) -> bool:
    """Note what YAML 1.1 reads otherwise than it looks (`on`, `01234`, `22:22`); whether there was any."""
    before = len(faults.found)
    _check_scalars(part, faults)
    return len(faults.found) > before


def _check_scalars(part: Part, faults: Faults) -> None:
    for inside in (*part.fields().values(), *part.entries()):
        _check_scalars(inside, faults)
    if isinstance(part.value, bool | int | float):
        raw = faults.document.raw(part.path)
        if not _JSON_SCALAR.fullmatch(raw):
            faults.add(part.path, as_yaml_read(part.value, raw))


def argument_names(schema: Json) -> frozenset[str] | None:
    """The arguments that a schema names; None when it takes any name, or is no schema."""
    if not isinstance(schema, dict) or "$ref" in schema or schema.get("additionalProperties", False) is not False:
        return None
    properties = schema.get("properties", {})
    names = set(properties) if isinstance(properties, dict) else set()
    branches: list[Json] = [schema[one] for one in ("if", "then", "else") if one in schema]
    for one in ("allOf", "anyOf", "oneOf"):
        inside = schema.get(one)
        branches.extend(inside if isinstance(inside, list) else [])
    for branch in branches:
        inner = argument_names(branch) if isinstance(branch, dict) else frozenset[str]()
        if inner is None:
            return None
        names |= inner
    return frozenset(names)


def _check_draft(part: Part, faults: Faults) -> None:
    named = part.at("$schema")
    if named.value is not None and (named.text() or "").rstrip("#") not in _DRAFTS:
        faults.add(named.path, "expected JSON Schema draft 2020-12 or draft 7; leave `$schema` out")


def _check_references(part: Part, faults: Faults) -> None:
    """Note every reference that leaves the schema; nothing is fetched to describe an argument."""
    for entry in part.entries():
        _check_references(entry, faults)
    for name, inside in part.fields().items():
        if name in _REFERENCES and isinstance(inside.value, str) and not inside.value.startswith("#"):
            faults.add(inside.path, "a schema may refer to itself only (#/$defs/…); nothing is fetched")
        elif name in _HOLDS_NAMES:
            for named in inside.fields().values():
                _check_references(named, faults)
        elif name not in _HOLDS_DATA:
            _check_references(inside, faults)


def _check_validity(part: Part, faults: Faults) -> None:
    from jsonschema_rs import ValidationError

    assert isinstance(part.value, dict)  # noqa: S101 -- check_input looked
    draft = _DRAFTS.get((part.at("$schema").text() or "").rstrip("#"), _NEWEST)
    wrong = {tuple(error.instance_path) for error in _draft_validator(draft).iter_errors(part.value)}
    for path in wrong:
        expected = f"; expected {_TYPES}" if path[-1:] == ("type",) else ""
        faults.add((*part.path, *path), f"not valid in a JSON Schema{expected}")
    if wrong:
        return
    try:
        validator_of(part.value)
    except ValidationError as error:
        place = tuple(error.instance_path)
        what = f"no regular expression that can be used; {_PATTERNS}" if place else "a `$ref` in it leads nowhere"
        faults.add((*part.path, *place), what)


def validator_of(schema: dict[str, Json]) -> "Validator":
    """What checks values against a schema.

    Its patterns are matched in a time that grows with the text alone, whatever they are: so they have no look-around
    and no back-references, and are small once their repetitions are written out. It fetches nothing, and quotes no
    value in what it finds.
    """
    from jsonschema_rs import RegexOptions, validator_for

    return validator_for(
        schema,
        offline=True,
        validate_formats=True,
        mask="***",
        pattern_options=RegexOptions(size_limit=_LARGEST_PATTERN_BYTES),
    )


@lru_cache(maxsize=2)
def _draft_validator(draft: str) -> "Validator":
    from jsonschema_rs import validator_for

    return validator_for({"$schema": draft, "$ref": draft}, offline=True)
