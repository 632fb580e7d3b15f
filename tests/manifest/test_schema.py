import json
from pathlib import Path

import jsonschema_rs
import pytest
from tests.manifest.samples import PRESS, changed
from tests.manifest.test_plain import EVERYTHING
from tests.manifest.test_ways import EVERY_WAY

from habilis import manifest
from habilis.manifest.schema import json_schema, schema_text
from habilis.marketplace import index, shipped
from habilis.reading import parse_yaml

SHIPPED = [str(entry["id"]) for entry in index() if entry["path"]]


def is_valid(text: str) -> bool:
    return jsonschema_rs.validator_for(json_schema(), offline=True).is_valid(parse_yaml(text.encode(), "x")[0].data)


def test_the_schema_beside_the_code_is_current():
    kept = Path(manifest.__file__).with_name("extension.schema.json").read_text(encoding="utf-8")

    assert kept == schema_text(), 'run: python -c "from habilis.manifest.schema import schema_text; ..."'


def test_the_schema_is_valid_and_describes_every_field():
    schema = json.loads(schema_text())

    jsonschema_rs.Draft202012Validator(schema, offline=True)
    shapes = [schema, *schema["$defs"].values()]
    assert all("description" in field for shape in shapes for field in shape["properties"].values())
    assert all(shape["additionalProperties"] is False for shape in shapes)


@pytest.mark.parametrize("text", [PRESS, EVERYTHING, *EVERY_WAY])
def test_an_editor_takes_what_the_engine_takes(text):
    assert is_valid(text)


@pytest.mark.parametrize("ability", SHIPPED)
def test_an_editor_takes_the_abilities_that_are_shipped(ability):
    folder = shipped(ability)
    assert folder is not None

    assert is_valid((folder / "extension.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hosts:", "hots:"),
        ("method: POST", "method: post"),
        ("timeout_s: 60", "timeout_s: 301"),
        ("name: list_articles", "name: List Articles"),
        ("env: PRESS_TOKEN", "env: press_token"),
        ('version: "0.1.0"', "version: 1.10"),
        ("Authorization:", '"X Y":'),
        ("  traffic:", "  Web Traffic:"),
        ("    result: { text: /link }", "    steps: []"),
    ],
)
def test_an_editor_marks_what_the_engine_refuses(old, new):
    assert not is_valid(changed(old, new))
