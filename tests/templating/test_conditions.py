import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.templating import strategies

from habilis.errors import BadInput
from habilis.templating import Scope, Seen, compile_condition, is_nothing

ANSWER = Seen(
    status=201,
    headers={"x-total": "12", "content-type": "application/json"},
    body={"state": "ready", "errors": [], "n": 3, "tags": ["a", 1, True], "deep": {"id": None}},
)


def holds(field, op, *value, seen=ANSWER, **arguments):
    condition = {"field": field, "op": op} | ({"value": value[0]} if value else {})
    return compile_condition(condition).holds(Scope(arguments, {}), seen)


@pytest.mark.parametrize("value", [None, False, "", [], {}])
def test_nothing_is_nothing(value, scope):
    assert is_nothing(value)
    assert not compile_condition("{{a}}").holds(scope(a=value))


@pytest.mark.parametrize("value", [0, 0.0, " ", "false", [None], {"a": None}, True, -1])
def test_everything_else_is_something_also_zero(value, scope):
    assert compile_condition("{{a}}").holds(scope(a=value))


def test_a_template_holds_where_it_fills_to_something(scope):
    assert not compile_condition("{{a}}").holds(scope())
    assert compile_condition("{{a|x}}").holds(scope())
    assert not compile_condition("{{a}}{{b}}").holds(scope())
    assert compile_condition("{{a}}{{b}}").holds(scope(b="x"))
    assert compile_condition("${KEY}").holds(scope(KEY="k"))
    assert not compile_condition("{{first(files)}}").holds(scope(files=[]))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        ("1", 1),
        (1, " 1 "),
        ("1.50", 1.5),
        ("a", "a"),
        (None, None),
        (True, True),
        ([1, "a"], ["1", "a"]),
        ({"a": [1]}, {"a": [1.0]}),
        (9007199254740993, "9007199254740993"),
    ],
)
def test_equal_values_are_equal(left, right):
    assert holds("a", "eq", right, a=left)
    assert not holds("a", "ne", right, a=left)
    assert holds("a", "in", [0, right], a=left)
    assert holds("a", "contains", "{{b}}", a=[left], b=right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (0, False),
        ("true", True),
        ("1", "1.0"),
        ("", None),
        (0, None),
        ([], None),
        (["a"], "a"),
        ([1], [True]),
        ("1_0", 10),
        ("\u0661", 1),
        (9007199254740993, "9007199254740992"),
        ({"a": 1}, {"a": 1, "b": None}),
    ],
)
def test_unequal_values_are_unequal(left, right):
    assert holds("a", "ne", right, a=left)
    assert not holds("a", "eq", right, a=left)
    assert not holds("a", "in", [right], a=left)


def test_missing_is_as_null():
    assert holds("gone", "eq", None)
    assert holds("gone", "ne", 1)
    assert not holds("gone", "in", [1, 2])
    assert not holds("gone", "contains", "a")
    assert not holds("gone", "matches", ".*")
    for op in ("gt", "gte", "lt", "lte"):
        assert not holds("gone", op, 0)
        assert not holds("a", op, 0, a=None)


@pytest.mark.parametrize(
    ("left", "right"),
    [(2, 10), ("2", 10), (2, "10"), ("2026-11-01", "2026-11-30"), ("10", "2"), (1.5, 2), ("a", "b"), (-1, "0")],
)
def test_less_is_less(left, right):
    ordered = [(op, holds("a", op, right, a=left)) for op in ("lt", "lte", "gt", "gte")]
    turned = [(op, holds("a", op, left, a=right)) for op in ("lt", "lte", "gt", "gte")]

    assert ordered == [("lt", True), ("lte", True), ("gt", False), ("gte", False)]
    assert turned == [("lt", False), ("lte", False), ("gt", True), ("gte", True)]


@pytest.mark.parametrize(("left", "right"), [("x", 1), ([1], 1), ({}, 1), (True, 0), (float("nan"), 1), (None, 1)])
def test_what_has_no_order_is_neither_less_nor_greater(left, right):
    assert not any(holds("a", op, right, a=left) for op in ("lt", "lte", "gt", "gte"))


def test_contains_looks_into_text_lists_and_the_names_of_objects():
    assert holds("a", "contains", "b", a="abc")
    assert holds("a", "contains", "b", a={"b": None})
    assert not holds("a", "contains", "b", a={"c": "b"})
    assert not holds("a", "contains", 1, a="1")
    assert not holds("a", "contains", "1", a=1)


def test_exists_is_there_and_not_null():
    assert holds("a", "exists", a="")
    assert holds("a", "exists", True, a=False)
    assert not holds("a", "exists", a=None)
    assert holds("a", "exists", False)
    assert not holds("a", "exists", False, a=0)


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("/state", "eq", "ready", True),
        ("/errors/0", "exists", False, True),
        ("/n", "gte", 3, True),
        ("/tags", "contains", 1, True),
        ("/deep/id", "exists", True, False),
        ("/gone/on", "eq", None, True),
        ("status", "eq", 201, True),
        ("status", "in", [200, 202], False),
        ("header:X-Total", "gt", 9, True),
        ("header:x-gone", "exists", True, False),
        ("{{status}}", "eq", "draft", True),
        ("count(files)", "eq", 2, True),
        ("files.*.mime", "contains", "image/png", True),
        ("/state", "eq", "{{wanted}}", True),
        ("/n", "eq", "{{number}}", True),
        ("/state", "in", ["done", "{{wanted}}"], True),
        ("/state", "in", ["done", "{{gone}}"], False),
        ("/gone", "in", ["done", "{{gone}}"], False),
        ("/tags", "eq", ["a", "{{one}}", True], True),
    ],
)
def test_a_field_is_a_place_in_the_answer_or_an_expression(field, op, value, expected):
    arguments = {"status": "draft", "files": [{"mime": "image/png"}, {}], "wanted": "ready", "number": 3, "one": 1}

    assert holds(field, op, value, **arguments) is expected


def test_without_an_answer_nothing_is_found_in_it():
    assert not holds("/state", "exists", seen=None)
    assert not holds("status", "eq", 200, seen=None)


def test_conditions_are_joined(scope):
    yes, no = "{{a}}", {"field": "a", "op": "eq", "value": 2}
    table = {
        True: [{"all": [yes, yes]}, {"any": [no, yes]}, {"not": no}, {"not": {"all": [yes, no]}}],
        False: [{"all": [yes, no]}, {"any": [no, no]}, {"not": yes}, {"any": [{"not": yes}, {"all": [no]}]}],
    }

    for expected, conditions in table.items():
        for condition in conditions:
            assert compile_condition(condition).holds(scope(a=1)) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^https://", "https://x", True),
        ("b+", "abc", True),
        ("^b", "abc", False),
        ("(?i)ERROR", "an error", True),
        (r"\d{3}$", "413", True),
        ("é", "caf\u00e9", True),
        ("x", "\ud800x", True),
        ("1", 1, False),
        ("null", None, False),
    ],
)
def test_a_pattern_is_found_anywhere_in_a_text(pattern, text, expected):
    assert holds("a", "matches", pattern, a=text) is expected


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)*b", "(.*)(.*)(.*)(.*)x"])
def test_no_pattern_takes_long(pattern):
    condition = compile_condition({"field": "a", "op": "matches", "value": pattern})

    start = time.perf_counter()
    held = condition.holds(Scope({"a": "a" * 50_000 + "!"}, {}))
    took = time.perf_counter() - start

    assert not held
    assert took < 1


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (None, "a condition is"),
        (True, "a condition is"),
        ([], "a condition is"),
        ({}, "a condition is"),
        ("", "a condition without a placeholder is always the same"),
        ("text", "a condition without a placeholder is always the same"),
        ({"all": []}, "all takes a list of conditions"),
        ({"any": "{{a}}"}, "any takes a list of conditions"),
        ({"all": ["{{a}}"], "any": ["{{b}}"]}, "a condition is"),
        ({"none": ["{{a}}"]}, "a condition is"),
        ({"not": ["{{a}}"]}, "a condition is"),
        ({"field": "a"}, "op is one of eq, ne, gt"),
        ({"field": "a", "op": "equals", "value": 1}, "op is one of eq, ne, gt"),
        ({"field": "a", "op": ["eq"], "value": 1}, "op is one of eq, ne, gt"),
        ({"op": "eq", "value": 1}, "field is a path"),
        ({"field": "", "op": "eq", "value": 1}, "field is a path"),
        ({"field": 5, "op": "eq", "value": 1}, "field is a path"),
        ({"field": "a b", "op": "eq", "value": 1}, "a path such as item.id"),
        ({"field": "header:", "op": "exists"}, "a place is a pointer"),
        ({"field": "/a~2", "op": "exists"}, "a pointer is empty or starts with"),
        ({"field": "a", "op": "eq"}, "eq needs a value"),
        ({"field": "a", "op": "eq", "value": 1, "is": 2}, "a condition is"),
        ({"field": "a", "op": "exists", "value": "yes"}, "the value of exists is true or false"),
        ({"field": "a", "op": "in", "value": "draft"}, "in takes a list"),
        ({"field": "a", "op": "gt", "value": [1]}, "gt takes a number or a text"),
        ({"field": "a", "op": "lte", "value": True}, "lte takes a number or a text"),
        ({"field": "a", "op": "contains", "value": None}, "contains takes"),
        ({"field": "a", "op": "matches", "value": "("}, "the pattern of matches is no regular expression"),
        ({"field": "a", "op": "matches", "value": "(a)\\1"}, "the pattern of matches is no regular expression"),
        ({"field": "a", "op": "matches", "value": "a{999}{999}"}, "the pattern of matches is no regular expression"),
        ({"field": "a", "op": "matches", "value": "a" * 1001}, "matches takes a pattern of at most 1000 characters"),
        ({"field": "a", "op": "matches", "value": 5}, "matches takes a pattern"),
        ({"field": "a", "op": "eq", "value": "{{b"}, "the placeholder is not closed"),
    ],
)
def test_what_is_no_condition_is_refused_when_compiled(condition, message):
    with pytest.raises(BadInput) as caught:
        compile_condition(condition)

    assert caught.value.message.startswith(message)


def test_a_condition_of_endless_depth_is_refused():
    condition = "{{a}}"
    for _ in range(100):
        condition = {"not": condition}

    with pytest.raises(BadInput, match="conditions stand in each other at most 16 deep"):
        compile_condition(condition)


def test_a_condition_knows_what_it_uses_and_is_compiled_again_from_its_source():
    source = {"all": ["{{a.b}} ${K}", {"field": "count(c)", "op": "gt", "value": "{{d}}"}, {"not": "{{e|1}}"}]}

    condition = compile_condition(source)

    assert condition.paths == {("a", "b"), ("c",), ("d",), ("e",)}
    assert condition.arguments == {"a", "c", "d", "e"}
    assert condition.keys == {"K": False}
    assert not condition.asks_answer
    assert compile_condition({"any": [{"field": "status", "op": "exists"}]}).asks_answer
    assert compile_condition(json.loads(json.dumps(condition.source))) == condition


@given(
    strategies.json_values,
    strategies.json_values,
    st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte", "contains", "in"]),
)
def test_any_two_values_can_be_compared(left, right, op):
    condition = compile_condition({"field": "a", "op": op, "value": "{{b}}"})

    assert condition.holds(Scope({"a": left, "b": right}, {})) in {True, False}


@given(strategies.json_values, strategies.json_values)
def test_values_compare_alike_in_both_directions(left, right):
    def is_so(op, a, b):
        return compile_condition({"field": "a", "op": op, "value": "{{b}}"}).holds(Scope({"a": a, "b": b}, {}))

    assert is_so("eq", left, right) == is_so("eq", right, left)
    assert is_so("ne", left, right) != is_so("eq", left, right)
    assert is_so("gt", left, right) == is_so("lt", right, left)
    assert is_so("gte", left, right) == is_so("lte", right, left)
