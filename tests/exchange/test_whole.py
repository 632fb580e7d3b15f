import json

import pytest

from habilis.exchange.whole import WholeNumbers


def with_whole_numbers(given, schema):
    return WholeNumbers(schema).settle(given)


def schema_of(**properties):
    return {"type": "object", "properties": properties}


def test_whole_numbers_are_taken_as_integers_at_any_depth():
    schema = schema_of(
        sizes={"type": "array", "items": {"type": "integer"}},
        box={"type": "object", "properties": {"w": {"type": "integer"}, "h": {"type": "number"}}},
        pair={"prefixItems": [{"type": "integer"}, {"type": "number"}], "items": {"type": "integer"}},
        named={"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
    )
    given = {
        "sizes": [1.0, 2],
        "box": {"w": 3.0, "h": 4.0, "other": 5.0},
        "pair": [1.0, 1.0, 1.0],
        "named": {"a": 1.0, "b": None},
    }

    checked = with_whole_numbers(given, schema)

    assert json.dumps(checked) == json.dumps(
        {
            "sizes": [1, 2],
            "box": {"w": 3, "h": 4.0, "other": 5.0},
            "pair": [1, 1.0, 1],
            "named": {"a": 1, "b": None},
        }
    )
    assert given["sizes"] == [1.0, 2]


@pytest.mark.parametrize(
    "rule",
    [
        {"$ref": "#/$defs/size"},
        {"allOf": [{"minimum": 1}, {"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/size"}]},
        {"if": {"minimum": 1}, "then": {"type": "integer"}},
    ],
)
def test_whole_numbers_are_taken_as_integers_through_references_and_branches(rule):
    schema = {"type": "object", "properties": {"n": rule}, "$defs": {"size": {"type": "integer"}}}

    checked = with_whole_numbers({"n": 5.0}, schema)

    assert json.dumps(checked) == '{"n": 5}'


def test_a_schema_that_refers_to_itself_is_followed_as_deep_as_the_arguments_go():
    node = {"type": "object", "properties": {"size": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"list": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}

    checked = with_whole_numbers({"list": {"next": {"next": {"size": 1.0}}}}, schema)

    assert json.dumps(checked) == '{"list": {"next": {"next": {"size": 1}}}}'


@pytest.mark.parametrize("given", [5.0, 5.5, 1e300])
def test_a_number_that_need_not_be_whole_stays_as_it_was_written(given):
    assert json.dumps(with_whole_numbers({"n": given}, schema_of(n={"type": "number"}))) == json.dumps({"n": given})


def test_a_float_past_exact_whole_numbers_is_not_spelt_out_in_figures():
    assert json.dumps(with_whole_numbers({"n": 1e300}, schema_of(n={"type": "integer"}))) == '{"n": 1e+300}'


@pytest.mark.parametrize("reference", ["#/$defs/none", "#size", "other.json", "https://example.com/x", 7])
def test_a_reference_that_leads_nowhere_here_changes_nothing(reference):
    assert json.dumps(with_whole_numbers({"n": 5.0}, schema_of(n={"$ref": reference}))) == '{"n": 5.0}'


def test_a_reference_in_a_circle_comes_to_an_end():
    schema = schema_of(n={"$ref": "#/$defs/a"}) | {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}

    assert with_whole_numbers({"n": 5.0}, schema) == {"n": 5.0}
