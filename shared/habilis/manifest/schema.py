"""The JSON Schema of `extension.yaml` for editors: completion, descriptions, and faults as one types.

It says what a file may look like; rules across fields are the engine's alone. The file beside this one is made with
`python -c "from habilis.manifest.schema import schema_text; print(schema_text(), end='')"`.
"""

import json
from typing import Any

_TITLE = "Habilis extension.yaml"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what may be written in an `extension.yaml`."""
    from habilis.manifest.shape import ManifestShape

    made = ManifestShape.model_json_schema(by_alias=True)
    _polish(made)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": _TITLE, **made}


def _polish(schema: object) -> None:
    """Close mappings whose names follow a pattern, and drop titles: they repeat the names of fields."""
    if isinstance(schema, list):
        for entry in schema:
            _polish(entry)
    if not isinstance(schema, dict):
        return
    if "patternProperties" in schema:
        schema["additionalProperties"] = False
    if isinstance(schema.get("title"), str):
        del schema["title"]
    for inside in schema.values():
        _polish(inside)


def schema_text() -> str:
    """The text of `extension.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
