import pytest

from habilis.templating import apply_map

SIZES = {"orientation": {"landscape": "1536x1024", "portrait": "1024x1536", "*": "1024x1024"}}


@pytest.mark.parametrize(
    ("given", "expected"), [("landscape", "1536x1024"), ("square", "1024x1024"), ("", "1024x1024"), (None, "1024x1024")]
)
def test_an_argument_is_replaced_or_falls_back_to_the_star(given, expected):
    assert apply_map(SIZES, {"orientation": given, "n": 1}) == {"orientation": expected, "n": 1}


def test_an_argument_that_is_not_given_is_not_replaced():
    assert apply_map(SIZES, {"n": 1}) == {"n": 1}


def test_a_value_that_the_map_does_not_name_stays():
    assert apply_map({"status": {"live": "publish"}}, {"status": "draft"}) == {"status": "draft"}


@pytest.mark.parametrize(
    ("given", "name"),
    [(True, "true"), (False, "false"), (None, "null"), (2, "2"), (2.0, "2"), (0.5, "0.5"), ("a", "a")],
)
def test_a_value_is_named_as_yaml_and_json_write_it(given, name):
    assert apply_map({"a": {name: ["replaced"]}}, {"a": given}) == {"a": ["replaced"]}


def test_what_a_map_cannot_name_takes_the_star():
    assert apply_map({"a": {"*": "x"}}, {"a": [1]}) == {"a": "x"}
    assert apply_map({"a": {"*": "x"}}, {"a": float("nan")}) == {"a": "x"}


def test_the_given_arguments_stay_as_they_were():
    given = {"orientation": "landscape"}

    apply_map(SIZES, given)

    assert given == {"orientation": "landscape"}
