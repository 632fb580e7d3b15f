import time
import tracemalloc

import pytest

from habilis.errors import ArgsInvalid, TooLarge
from habilis.exchange.arguments import check_arguments
from habilis.exchange.survey import Survey, survey
from habilis.manifest.model import Tool
from habilis.names import ToolName


def tool(schema):
    return Tool(name=ToolName("post"), label="", description="", input=schema, steps=())


def tool_with(**properties):
    return tool({"type": "object", "properties": properties})


def refusal(of, arguments):
    with pytest.raises(ArgsInvalid) as caught:
        check_arguments(of, arguments)
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ({}, Survey(values=1, has_fractions=False)),
        ({"a": 1, "b": ["x", None, True]}, Survey(values=6, has_fractions=False)),
        ({"a": [1, 2.0]}, Survey(values=4, has_fractions=True)),
        ({"a": {"b": [{"c": 1.5}, "é"]}}, Survey(values=6, has_fractions=True)),
    ],
)
def test_values_are_counted_and_fractions_seen_at_any_depth(arguments, seen):
    assert survey(arguments) == seen


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("around", [lambda value: value, lambda value: [1, value], lambda value: ["x", {"b": value}]])
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(value, around):
    with pytest.raises(ArgsInvalid, match="expected a finite number, got none"):
        survey({"a": around(value)})


def in_an_array(value, count):
    return tool_with(a={"type": "array", "items": {"type": "integer"}}), {"a": [value] * count}


@pytest.mark.parametrize(
    ("of", "given"),
    [
        (tool_with(a={"type": "string"}), {"a": "x" * 20_000_000}),
        (tool_with(a={"type": "string"}), {"a": "🙂" * 20_000_000}),
        (tool_with(a={"type": "string"}), {"x" * 20_000_000: 1}),
        in_an_array(1, 1_000_000),
        in_an_array(1.0, 1_000_000),
        in_an_array(1.0, 500_000),
        in_an_array("x", 1_000_000),
        (tool_with(a={"type": "object"}), {"a": {f"k{number}": 1 for number in range(100_000)}}),
        (tool({"type": "object", "additionalProperties": True}), {f"k{number}": 1 for number in range(100_000)}),
        (tool_with(a={}), {f"k{number}": 1 for number in range(100_000)}),
        (tool_with(a={}), {"a": [["x"] * 1000 for _ in range(1000)]}),
    ],
    ids=[f"case{number}" for number in range(11)],
)
def test_more_than_any_call_needs_is_refused_at_once_and_without_a_copy(of, given):
    tracemalloc.start()
    started = time.monotonic()

    with pytest.raises(TooLarge) as caught:
        check_arguments(of, given)

    took_s, peak = time.monotonic() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert took_s < 0.5  # with every allocation traced; a tenth of it otherwise
    assert peak < 20 * 1024 * 1024
    assert caught.value.where == "tool 'post'"
    assert len(str(caught.value)) < 200


def test_arguments_ten_thousand_levels_deep_are_refused_at_once():
    value = 1
    for _ in range(10_000):
        value = [value]
    started = time.monotonic()

    error = refusal(tool_with(a={}), {"a": value})

    assert error.message == "a: nested deeper than 64 levels"
    assert time.monotonic() - started < 0.1


@pytest.mark.parametrize("value", [1, 1.0, 1.5])
def test_a_list_of_as_many_numbers_as_a_call_may_hold_is_checked_in_no_time(value):
    of = tool_with(a={"type": "array", "items": {"type": "number", "multipleOf": 0.5}})
    given = {"a": [value] * 99_998}
    started = time.monotonic()

    checked = check_arguments(of, given)

    assert time.monotonic() - started < 0.5
    assert checked == given


def test_as_many_characters_as_a_call_may_hold_pass_and_one_more_does_not():
    of = tool_with(a={"type": "string"})
    text = "é" * (10 * 1024 * 1024 - 1)

    assert check_arguments(of, {"a": text}) == {"a": text}
    with pytest.raises(TooLarge, match="more than 10,485,760 characters"):
        check_arguments(of, {"a": f"{text}x"})


def test_of_many_values_the_first_fault_is_told_and_found_at_once():
    of, given = in_an_array("x", 99_990)
    started = time.monotonic()

    error = refusal(of, given)

    assert time.monotonic() - started < 0.5
    assert error.message == "a[0]: expected a whole number, got text"


def test_of_many_values_that_fit_none_of_several_forms_it_is_told_how_to_learn_which():
    forms = [{"type": "array", "items": {"type": name}} for name in ("integer", "null")]
    started = time.monotonic()

    error = refusal(tool_with(a={"anyOf": forms}), {"a": ["x"] * 99_990})

    assert time.monotonic() - started < 0.5
    assert error.message == "the arguments hold what its input does not allow"
    assert error.hint == "with fewer than 2,000 values the message says which"


def test_half_a_character_is_found_wherever_it_stands_in_a_long_text():
    error = refusal(tool_with(a={"type": "array"}), {"a": ["x", "é" * 200_000 + "\ud800"]})

    assert error.message == "a[1]: expected text, got half of a character (a lone surrogate)"
