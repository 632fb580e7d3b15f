import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.templating import strategies

from habilis.errors import BadInput, HabilisError
from habilis.templating import MISSING, Scope, compile_json


@pytest.mark.parametrize("value", [7, 7.5, True, False, None, "", "7", [], [1, "2"], {}, {"a": None}])
def test_a_whole_placeholder_keeps_the_type_of_its_value(value, scope):
    filled = compile_json({"field": "{{value}}", "list": ["{{value}}"]}).fill(scope(value=value))

    assert filled == {"field": value, "list": [value]}
    assert type(filled["field"]) is type(value)


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        ("1600", 1600),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ('"1600"', "1600"),
        ("draft", "draft"),
        ("01600", "01600"),
        ("", ""),
        ("[]", "[]"),
        ("[1]", "[1]"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_the_default_of_a_whole_placeholder_is_the_json_scalar_that_it_is(default, expected, scope):
    filled = compile_json({"a": "{{width|" + default + "}}", "b": ["{{width.x|" + default + "}}"]}).fill(scope())

    assert filled == {"a": expected, "b": [expected]}
    assert type(filled["a"]) is type(filled["b"][0]) is type(expected)


def test_a_default_inside_text_is_its_text(scope):
    assert compile_json('w={{width|"1600"}}').fill(scope()) == 'w="1600"'


def test_a_given_null_or_empty_value_is_given(scope):
    template = compile_json({"a": "{{a|x}}", "b": "{{b|x}}"})

    assert template.fill(scope(a=None, b="")) == {"a": None, "b": ""}


def test_what_is_missing_leaves_its_field_or_entry_out(scope):
    template = compile_json(
        {
            "title": "{{title}}",
            "text": "{{text}}",
            "token": "${TOKEN}",
            "deep": {"x": "{{a.b.c}}"},
            "list": [1, "{{text}}", 2],
            "n": 3,
        }
    )

    assert template.fill(scope(title="T", a={"b": {}})) == {"title": "T", "deep": {}, "list": [1, 2], "n": 3}


def test_a_template_that_is_one_placeholder_may_be_missing(scope):
    assert compile_json("{{body}}").fill(scope()) is MISSING
    assert compile_json("${BODY}").fill(scope()) is MISSING


def test_fields_keep_their_order(scope):
    template = compile_json({"z": "{{a}}", "y": 1, "x": {"k": "{{b}}"}, "w": "t {{c}}", "v": "${K}", "u": "{{gone}}"})

    assert list(template.fill(scope(a=1, b=2, c=3, K="k"))) == ["z", "y", "x", "w", "v"]


def test_steps_results_are_reached_by_path(scope):
    register = [{"id": "a", "n": 1}, {"id": "b"}, {"n": 3}]
    template = compile_json(
        {
            "first": "{{register.0.id}}",
            "ids": "{{register.*.id}}",
            "numbers": "{{register.*.n}}",
            "beyond": "{{register.9.id}}",
            "odd": "{{register.00.id}}",
            "none": "{{nothing.*.id}}",
            "empty": "{{empty.*.id}}",
        }
    )

    assert template.fill(scope(register=register, empty=[])) == {
        "first": "a",
        "ids": ["a", "b"],
        "numbers": [1, 3],
        "empty": [],
    }


def test_a_key_is_text_and_so_is_its_default(scope):
    template = compile_json({"port": "${PORT|587}"})

    assert template.fill(scope()) == {"port": "587"}
    assert template.fill(scope(PORT="25")) == {"port": "25"}


def test_an_empty_key_counts_as_not_set(scope):
    template = compile_json({"a": "${FROM|me}", "b": "${FROM}", "c": "x ${FROM|y}", "d": "${FROM|urlencode}"})

    assert template.fill(scope(FROM="")) == {"a": "me", "c": "x y"}


@pytest.mark.parametrize("written", ["${SITE|urlencode|http://d/}", "${SITE|http://d/|urlencode}"])
def test_an_encoded_key_may_have_a_default(written, scope):
    template = compile_json([written, "at " + written])

    assert template.fill(scope()) == ["http%3A%2F%2Fd%2F", "at http%3A%2F%2Fd%2F"]
    assert template.fill(scope(SITE="a b")) == ["a%20b", "at a%20b"]


def test_values_are_never_filled_again(scope):
    # What an argument, an earlier answer or a key holds is content: it reads no keys.
    template = compile_json({"title": "{{title}}", "text": "<p>{{title}}</p>", "key": "${NOTE}", "deep": "{{saved.0}}"})
    evil = "${PASSWORD} {{html}}"

    filled = template.fill(scope(title=evil, saved=[evil], html="H", PASSWORD="hunter2-long", NOTE=evil))

    assert filled == {"title": evil, "text": f"<p>{evil}</p>", "key": evil, "deep": evil}


def test_a_filled_body_is_made_anew_each_time(scope):
    template = compile_json({"a": {"fixed": [1, {"b": 2}]}, "c": "{{c}}"})

    first = template.fill(scope(c=1))
    first["a"]["fixed"][1]["b"] = 99

    assert template.fill(scope(c=1)) == {"a": {"fixed": [1, {"b": 2}]}, "c": 1}


def test_a_template_is_compiled_again_from_its_source():
    source = {"a": ["{{x|1}}", {"b": "${K}"}], "n": None}

    template = compile_json(source)

    assert template.source == source
    assert compile_json(json.loads(json.dumps(template.source))) == template


def test_a_template_of_endless_depth_is_refused():
    value = "{{x}}"
    for _ in range(1000):
        value = [value]

    with pytest.raises(BadInput, match="nested deeper than 64 levels"):
        compile_json(value)


@given(strategies.templates, strategies.arguments, strategies.keys)
def test_compiling_and_filling_raise_nothing_but_our_errors(template, arguments, keys):
    with suppress(HabilisError):
        filled = compile_json(template).fill(Scope(arguments, keys))
        made = list if isinstance(template, dict) and "$each" in template else type(template)
        assert filled is MISSING or isinstance(filled, made) or isinstance(template, str)


CANARY = "sk-canary-0123456789"
FILLS = ["{{a}}", "x{{a}}y", "{{a.b}}", "{{first(a)}}", "{{json(a)}}", "{{lower(a)}}", "{{replace(a, 'x', '${A}')}}"]


WRITTEN_LIKE_PLACEHOLDERS = st.sampled_from(["${A}", "{{first(b)}}", "{{hmac(b, A)}} ${A|urlencode}"])


@given(strategies.json_values | WRITTEN_LIKE_PLACEHOLDERS)
def test_no_value_is_ever_filled_itself(value):
    try:
        filled = compile_json(FILLS).fill(Scope({"a": value, "b": [CANARY]}, {"A": CANARY}))
    except HabilisError:
        return

    assert CANARY not in json.dumps(filled)


@given(strategies.odd_texts | WRITTEN_LIKE_PLACEHOLDERS)
def test_no_entry_of_a_list_is_ever_filled_itself(text):
    template = compile_json({"$each": "split(a, ' ')", "$do": "{{item}}"})

    filled = template.fill(Scope({"a": text, "b": [CANARY]}, {"A": CANARY}))

    assert " ".join(filled) == text


@given(st.lists(strategies.json_values, max_size=4))
def test_entries_of_a_list_keep_their_types(values):
    template = compile_json({"$each": "a", "$do": {"value": "{{item}}", "first": "{{first(item)|none}}"}})
    wanted = [value if isinstance(value, list) else [value] for value in values]

    filled = template.fill(Scope({"a": wanted}, {}))

    assert all(one["value"] is value for one, value in zip(filled, wanted, strict=True))
    assert all(
        one["first"] is value[0] if value else one["first"] == "none" for one, value in zip(filled, wanted, strict=True)
    )


@given(strategies.json_values)
def test_any_value_comes_through_a_whole_placeholder_untouched(value):
    filled = compile_json({"a": "{{a}}", "b": ["{{a}}"]}).fill(Scope({"a": value}, {}))

    assert filled["a"] is value
    assert filled["b"][0] is value


@given(st.lists(strategies.texts.filter(lambda text: "{" not in text), min_size=3, max_size=3), strategies.odd_texts)
def test_text_around_placeholders_and_the_value_stay_as_they_are(around, value):
    before, between, after = (text.replace("$", "") for text in around)

    filled = compile_json(f"{before}{{{{a}}}}{between}${{A}}{after}x").fill(Scope({"a": value}, {"A": value}))

    assert filled == f"{before}{value}{between}{value}{after}x"


@pytest.mark.parametrize("value", [math.nan, math.inf, [math.nan], 10**5000], ids=["nan", "inf", "in a list", "long"])
def test_what_json_cannot_carry_has_no_place_in_text(value, scope):
    with pytest.raises(HabilisError, match="a: JSON cannot carry this value"):
        compile_json("x {{a}}").fill(scope(a=value))
