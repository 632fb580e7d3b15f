import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ArgsInvalid
from habilis.exchange.arguments import check_arguments
from habilis.manifest.model import RequestTemplate, Step, Tool
from habilis.names import ToolName
from habilis.templating import compile_url

CANARY = "kanarie-8f2c1d"


def tool(schema):
    request = RequestTemplate(method="POST", url=compile_url("https://api.example.com/"))
    return Tool(
        name=ToolName("post"),
        label="Posting",
        description="Post.",
        input=schema,
        steps=(Step(name="", request=request),),
    )


def tool_with(required=(), **properties):
    return tool({"type": "object", "properties": properties, "required": list(required)})


def refusal(of, arguments, **options):
    with pytest.raises(ArgsInvalid) as caught:
        check_arguments(of, arguments, **options)
    assert caught.value.where == "tool 'post'"
    assert caught.value.__cause__ is None
    return caught.value


def test_good_arguments_come_back_as_they_were_given():
    of = tool_with(["title"], title={"type": "string"}, tags={"type": "array"}, count={"type": "integer"})
    arguments = {"title": "Héllo 🙂", "tags": ["a", None, {"b": 1.5}], "count": 3}

    assert check_arguments(of, arguments) == arguments


@pytest.mark.parametrize(("given", "taken"), [(5, 5), (5.0, 5), (-0.0, 0), (-3.0, -3), (1e20, 10**20)])
def test_a_whole_number_is_taken_as_an_integer(given, taken):
    checked = check_arguments(tool_with(n={"type": "integer"}), {"n": given})

    assert checked == {"n": taken}
    assert type(checked["n"]) is int
    assert json.dumps(checked) == json.dumps({"n": taken})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("5", "text"),
        (5.5, "a number"),
        (True, "true or false"),
        (False, "true or false"),
        (None, "nothing"),
        ([5], "a list"),
        ({"n": 5}, "fields"),
        (CANARY, "text"),
    ],
)
def test_what_is_no_integer_is_refused_by_path_expectation_and_type(given, found):
    error = refusal(tool_with(n={"type": "integer"}), {"n": given})

    assert error.message == f"n: expected a whole number, got {found}"


@pytest.mark.parametrize("given", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("kind", ["integer", "number", "string"])
def test_a_number_without_end_is_refused_whatever_the_schema_says(given, kind):
    error = refusal(tool_with(n={"type": kind}), {"n": given})

    assert error.message == "n: expected a finite number, got none"


@pytest.mark.parametrize("kind", ["string", "integer"])
@pytest.mark.parametrize("given", ["\ud800", "a\udfffb", CANARY + "\udc80"])
def test_half_a_character_is_refused_and_never_crashes(given, kind):
    error = refusal(tool_with(text={"type": kind}), {"text": given})

    assert error.message == "text: expected text, got half of a character (a lone surrogate)"
    assert error.__context__ is None


def test_half_a_character_is_found_at_any_depth():
    error = refusal(tool_with(meta={"type": "object"}), {"meta": {"rows": [{"name": "ok"}, {"name": "\ud83d"}]}})

    assert error.message.startswith("meta.rows[1].name: expected text, got half of a character")


def test_a_name_with_half_a_character_is_shown_escaped():
    error = refusal(tool_with(meta={"type": "object"}), {"meta": {"\udc80": 1}})

    assert error.message == r"meta['\udc80']: a name holds half of a character (a lone surrogate)"


@pytest.mark.parametrize("text", ["🙂", "\U0010ffff", "\x00", "\u2028", ""])
def test_whole_characters_of_any_kind_pass(text):
    assert check_arguments(tool_with(text={"type": "string"}), {"text": text}) == {"text": text}


def nested(levels, end=1):
    value = end
    for _ in range(levels):
        value = {"a": value}
    return value


def test_arguments_64_levels_deep_pass_and_deeper_ones_are_refused():
    of = tool_with(meta={})

    assert check_arguments(of, {"meta": nested(63)}) == {"meta": nested(63)}
    assert refusal(of, {"meta": nested(64)}).message == "meta: nested deeper than 64 levels"
    assert refusal(of, {"meta": nested(900)}).message == "meta: nested deeper than 64 levels"


@pytest.mark.parametrize("schema", [{"type": "object"}, {}])
def test_a_tool_without_input_takes_no_arguments(schema):
    assert check_arguments(tool(schema), {}) == {}
    assert refusal(tool(schema), {"a": 1}).hint == "it takes no arguments"


def test_a_missing_argument_is_named():
    of = tool_with(["title", "html"], title={"type": "string"}, html={"type": "string"})

    assert refusal(of, {"title": "x"}).message == "the argument html is missing"
    assert refusal(of, {}).message == "the argument title is missing; the argument html is missing"


def test_a_missing_argument_is_named_by_its_path():
    of = tool_with(rows={"type": "array", "items": {"type": "object", "required": ["id"]}})

    error = refusal(of, {"rows": [{"id": 1}, {}]})

    assert error.message == "the argument rows[1].id is missing"


def test_what_another_argument_asks_for_is_named():
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}}

    assert refusal(tool(schema), {"a": 1}).message == "the argument b is missing"


def test_an_argument_too_many_is_told_which_one_was_meant():
    error = refusal(tool_with(title={"type": "string"}, html={"type": "string"}), {"titel": "x"})

    assert (error.message, error.hint) == ("there is no argument titel", "did you mean 'title'?")


def test_an_argument_like_no_other_is_told_what_there_is():
    error = refusal(tool_with(title={"type": "string"}, html={"type": "string"}), {"connection": "x"})

    assert (error.message, error.hint) == ("there is no argument connection", "it takes html, title")


def test_a_name_of_any_length_makes_a_short_message():
    error = refusal(tool_with(title={"type": "string"}), {"x\n" * 500_000: 1})

    assert len(error.message) < 120
    assert "\n" not in error.message


def test_a_field_too_many_inside_is_named():
    of = tool_with(meta={"type": "object", "properties": {"a": {}}, "additionalProperties": False})

    assert refusal(of, {"meta": {"a": 1, "zz": 2}}).message == "there is no argument meta.zz"


def test_a_schema_that_takes_any_name_is_taken_by_its_word():
    of = tool({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}})

    assert check_arguments(of, {"a": "x", "b": 2.0}) == {"a": "x", "b": 2}
    assert refusal(of, {"b": "x"}).message == "b: expected a whole number, got text"


def test_an_argument_that_only_a_branch_names_is_known():
    schema = {"type": "object", "allOf": [{"properties": {"size": {"type": "integer"}}}]}

    assert check_arguments(tool(schema), {"size": 5.0}) == {"size": 5}
    assert refusal(tool(schema), {"size": "x"}).message == "size: expected a whole number, got text"


def test_what_the_engine_fills_in_passes_unchecked_where_the_schema_does_not_name_it():
    of = tool_with(title={"type": "string"})
    given = {"title": "x", "html": "<p>x</p>", "page": 7}

    assert check_arguments(of, given, also=frozenset({"html", "page"})) == given


def test_what_the_engine_fills_in_is_checked_where_the_schema_names_it():
    of = tool_with(html={"type": "string"})

    error = refusal(of, {"html": 7}, also=frozenset({"html"}))

    assert error.message == "html: expected text, got a whole number"


@pytest.mark.parametrize("additional", [True, {"type": "integer"}])
def test_what_the_engine_fills_in_is_held_to_no_rule_for_other_names(additional):
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": additional}
    given = {"title": "x", "html": "<p>x</p>"}

    assert check_arguments(tool(schema), given, also=frozenset({"html", "title"})) == given
    assert refusal(tool(schema), {"title": 1}, also=frozenset({"html", "title"})).message.startswith("title: expected")


def test_what_the_engine_fills_in_holds_no_half_character_either():
    error = refusal(tool_with(), {"html": "\ud800"}, also=frozenset({"html"}))

    assert error.message.startswith("html: expected text")


@pytest.mark.parametrize(
    ("rule", "given", "expected"),
    [
        ({"type": ["integer", "null"]}, "x", "a whole number or nothing, got text"),
        ({"enum": ["draft", "live", 3, None]}, "x", "one of draft, live, 3, null, got text"),
        ({"const": "yes"}, "no", "yes, got text"),
        ({"const": 4}, 5, "4, got a whole number"),
        ({"minLength": 3}, "ab", "at least 3 characters, got text"),
        ({"maxLength": 3}, "abcd", "at most 3 characters, got text"),
        ({"minItems": 1}, [], "at least 1 entries, got a list"),
        ({"maxItems": 0}, [1], "at most 0 entries, got a list"),
        ({"minProperties": 1}, {}, "at least 1 fields, got fields"),
        ({"maxProperties": 0}, {"a": 1}, "at most 0 fields, got fields"),
        ({"minimum": 1.5}, 1, "at least 1.5, got a whole number"),
        ({"maximum": 9}, 10, "at most 9, got a whole number"),
        ({"exclusiveMinimum": 0}, 0, "more than 0, got a whole number"),
        ({"exclusiveMaximum": 0}, 0.5, "less than 0, got a number"),
        ({"multipleOf": 5}, 7, "a multiple of 5, got a whole number"),
        ({"pattern": "^[a-z]+$"}, "A", "text that matches ^[a-z]+$, got text"),
        ({"format": "email"}, "me", "text of the format email, got text"),
        ({"format": "date"}, "2026-02-30", "text of the format date, got text"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, [], "text or a whole number, got a list"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "text or nothing, got a whole number"),
        ({"oneOf": [{"minLength": 1}, {"type": "string"}]}, "x", "one of its forms, not several at once, got text"),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "one of the forms it may have, got fields"),
        (
            {"anyOf": [{"properties": {"z": {"type": "string"}}}, {"type": "integer"}]},
            {"z": 1},
            "one of the forms it may have, got fields",
        ),
        ({"uniqueItems": True}, [1, 1], "what its rule uniqueItems allows, got a list"),
        ({"not": {"type": "string"}}, "x", "what its rule not allows, got text"),
    ],
)
def test_every_rule_that_is_broken_is_told_in_words(rule, given, expected):
    assert refusal(tool_with(a=rule), {"a": given}).message == f"a: expected {expected}"


def test_a_fault_is_placed_through_lists_fields_and_references():
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
        "$defs": {"row": {"properties": {"size": {"properties": {"width": {"enum": [1, 2]}}}}}},
    }

    error = refusal(tool(schema), {"rows": [{}, {"size": {"width": 3}}]})

    assert error.message == "rows[1].size.width: expected one of 1, 2, got a whole number"


def test_three_faults_are_told_at_once_and_no_more():
    of = tool_with(**{name: {"type": "integer"} for name in "abcde"})

    error = refusal(of, dict.fromkeys("abcde", "x"))

    assert error.message == "; ".join(f"{name}: expected a whole number, got text" for name in "abc")


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "integer"},
        {"enum": ["draft"]},
        {"const": "draft"},
        {"pattern": "^[0-9]+$"},
        {"format": "uri"},
        {"maxLength": 2},
        {"not": {"type": "string"}},
        {"anyOf": [{"type": "integer"}, {"maxLength": 1}]},
        {"type": "object", "propertyNames": {"maxLength": 1}},
        False,
    ],
)
def test_a_value_is_in_no_message(rule):
    error = refusal(tool_with(a=rule), {"a": CANARY})

    assert CANARY not in f"{error!r} {error} {error.hint} {error.args} {error.__context__!r}"


def test_a_value_deep_inside_is_in_no_message():
    of = tool_with(a={"items": {"properties": {"b": {"type": "integer"}}}})

    error = refusal(of, {"a": [{"b": CANARY}, {"b": [CANARY]}]})

    assert CANARY not in f"{error!r} {error} {error.hint} {error.__context__!r}"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(a*)*b", r"^(\w+\s?)*$"])
@pytest.mark.parametrize("length", [40, 1_000_000])
def test_a_pattern_made_to_hang_is_answered_within_a_second(pattern, length):
    of = tool_with(text={"type": "string", "pattern": pattern})
    started = time.monotonic()

    error = refusal(of, {"text": "a" * length + "!"})

    assert time.monotonic() - started < 1
    assert error.message == f"text: expected text that matches {pattern}, got text"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_arguments_pass_or_get_our_error_and_what_passes_can_be_sent(value):
    of = tool_with(a={"type": ["integer", "array", "object", "string"], "items": {"type": "integer"}})

    try:
        checked = check_arguments(of, {"a": value})
    except ArgsInvalid:
        return

    assert json.dumps(checked, ensure_ascii=False, allow_nan=False).encode()
    assert checked == {"a": value}
