import socket

import pytest
from tests.manifest.samples import changed, fault, faults, loaded

PROPERTIES = """\
      properties:
        title: { type: string }
        html: { type: string }
        status: { type: string }
      required: [title]
"""
INPUT = f"    input:\n      type: object\n{PROPERTIES}"


def with_status(schema: str) -> str:
    return changed("        status: { type: string }\n", f"        status: {schema}\n")


@pytest.mark.parametrize(
    "reference",
    ["http://127.0.0.1:{port}/x", "http://127.0.0.1:{port}/x#/a", "file:///etc/passwd", "other.json", "urn:x:y"],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_schema_that_refers_to_anywhere_else_is_refused_and_nothing_is_fetched(reference, keyword):
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        target = reference.format(port=canary.getsockname()[1])

        found = fault(with_status(f'{{ {keyword}: "{target}" }}'))

        assert found.endswith("a schema may refer to itself only (#/$defs/…); nothing is fetched")
        with pytest.raises(BlockingIOError):
            canary.accept()


def test_a_schema_named_by_an_address_of_its_own_making_is_refused_and_nothing_is_fetched():
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        address = f"http://127.0.0.1:{canary.getsockname()[1]}/schema"

        found = fault(changed("    input:\n", f'    input:\n      $schema: "{address}"\n'))

        assert found.endswith("expected JSON Schema draft 2020-12 or draft 7; leave `$schema` out")
        with pytest.raises(BlockingIOError):
            canary.accept()


def test_a_base_address_does_not_lead_references_outside():
    text = changed("    input:\n", '    input:\n      $id: "http://127.0.0.1:9/"\n')

    found = faults(text.replace("        status: { type: string }\n", '        status: { $ref: "other" }\n'))

    assert len(found) == 1
    assert "nothing is fetched" in found[0]


def test_a_schema_may_refer_to_its_own_definitions():
    text = with_status('{ $ref: "#/$defs/status" }').replace(
        "      required: [title]\n", "      required: [title]\n      $defs: { status: { enum: [draft, publish] } }\n"
    )

    assert loaded(text).tools[0].input["$defs"] == {"status": {"enum": ["draft", "publish"]}}
    assert "a `$ref` in it leads nowhere" in fault(with_status('{ $ref: "#/$defs/status" }'))


def test_a_property_or_a_value_may_be_called_like_a_reference():
    loaded(
        changed(
            "        status: { type: string }\n",
            "        status: { const: { $ref: x } }\n        $ref: { type: string }\n",
        )
    )


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        ("{ type: strin }", "status.type", "expected object, array, string, number, integer, boolean or null"),
        ("{ minLength: x }", "status.minLength", "not valid in a JSON Schema"),
        ("{ enum: draft }", "status.enum", "not valid in a JSON Schema"),
        ("5", "status", "not valid in a JSON Schema"),
        ('{ pattern: "(" }', "status.pattern", "no regular expression that can be used"),
        ("{ pattern: '^(?!-)a' }", "status.pattern", "there are no (?=…), (?<…)"),
        ("{ pattern: '(a|aa)+\\1' }", "status.pattern", "no regular expression that can be used"),
        ("{ pattern: 'a{1,1000}{1,100}b' }", "status.pattern", "no repetitions of thousands"),
        ("{ patternProperties: { '(?=a)': {} } }", "status.patternProperties['(?=a)']", "no regular expression"),
    ],
)
def test_a_fault_of_a_schema_has_its_place_and_our_words(schema, path, expected):
    found = fault(with_status(schema))

    assert f" tools[0].input.properties.{path}: " in found
    assert expected in found


def test_every_fault_of_a_schema_is_told():
    text = with_status("{ type: strin }").replace("html: { type: string }", "html: { minLength: x }")

    assert len(faults(text)) == 2


@pytest.mark.parametrize("schema", ["{ type: string }", "{}", "{ type: [object, 'null'] }"])
def test_arguments_are_an_object(schema):
    found = faults(changed(INPUT, f"    input: {schema}\n"))

    assert "expected `type: object`: a tool's arguments are named" in found[0]


def test_a_schema_of_the_older_draft_is_read_as_such():
    text = changed("    input:\n", '    input:\n      $schema: "http://json-schema.org/draft-07/schema#"\n')

    loaded(text)
    assert "not valid in a JSON Schema" in fault(
        text.replace("html: { type: string }", "html: { exclusiveMinimum: x }")
    )


def test_what_is_required_is_an_argument():
    text = changed("required: [title]", "required: [titel]")

    assert fault(text).endswith("no argument has this name, so no call could give it; did you mean 'title'?")
