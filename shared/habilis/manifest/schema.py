"""The JSON Schema of `extension.yaml` for editors: completion, descriptions, and faults as one types.

It says what a file may look like; rules across fields are the engine's alone. The file beside this one is made with
`python -c "from habilis.manifest.schema import schema_text; print(schema_text(), end='')"`.
"""

import json
from typing import Any

_TITLE = "Habilis extension.yaml"
_OPS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "exists", "matches"]
_CONDITION: dict[str, Any] = {"$ref": "#/$defs/Condition"}
_CONDITIONS = {
    "description": "True or false of what is known: a template, a comparison, or several of them.",
    "type": ["string", "object"],
    "properties": {
        "field": {"description": "A path, a pointer into the answer, `status` or `header:NAME`.", "type": "string"},
        "op": {"description": "How it is compared.", "enum": _OPS},
        "value": {"description": "What it is compared with."},
        "all": {"description": "True when every one is.", "type": "array", "items": _CONDITION},
        "any": {"description": "True when one is.", "type": "array", "items": _CONDITION},
        "not": {"description": "True when this is not.", **_CONDITION},
    },
    "additionalProperties": False,
}
_HOSTS = {
    "if": {"properties": {"transport": {"const": "smtp"}}, "required": ["transport"]},
    "else": {"required": ["hosts"]},
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what may be written in an `extension.yaml`."""
    from habilis.manifest.shape import ManifestShape

    made = ManifestShape.model_json_schema(by_alias=True)
    _polish(made)
    made["$defs"]["Condition"] = _CONDITIONS
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": _TITLE, **made, **_HOSTS}


def _polish(schema: object) -> None:
    """Close mappings whose names follow a pattern, lead to conditions, and drop titles: they repeat fields' names."""
    if isinstance(schema, list):
        for entry in schema:
            _polish(entry)
    if not isinstance(schema, dict):
        return
    if schema.get("format") == "condition":
        del schema["format"]
        schema.update(_CONDITION)
    if "patternProperties" in schema:
        schema["additionalProperties"] = False
    if isinstance(schema.get("title"), str):
        del schema["title"]
    for inside in schema.values():
        _polish(inside)


def schema_text() -> str:
    """The text of `extension.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
