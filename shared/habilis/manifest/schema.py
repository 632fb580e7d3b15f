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
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": _TITLE}


def schema_text() -> str:
    """The text of `extension.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
