import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.templating import strategies

from habilis.errors import BadInput
from habilis.templating import MISSING, Pointer, pick

ANSWER = {
    "rows": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}, {"other": 3}],
    "a/b": "slash",
    "m~n": "tilde",
    "": "empty",
    "*": "star",
    "none": None,
    "text": "abc",
}


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", ANSWER),
        ("/rows/1/id", 2),
        ("/rows/*/id", [1, 2]),
        ("/rows/*/tags/*", ["a", "b"]),
        ("/rows/*/tags", [["a", "b"], []]),
        ("/rows/*", ANSWER["rows"]),
        ("/rows/*/nothing", []),
        ("/a~1b", "slash"),
        ("/m~0n", "tilde"),
        ("/", "empty"),
        ("/*", "star"),
        ("/none", None),
    ],
)
def test_pick_follows_a_pointer(pointer, expected):
    assert pick(ANSWER, pointer) == expected


@pytest.mark.parametrize(
    "pointer",
    [
        "/nothing",
        "/rows/3",
        "/rows/-",
        "/rows/-1",
        "/rows/01",
        "/rows/1_0",
        "/rows/\u0661",
        "/rows/" + "9" * 5000,
        "/text/0",
        "/none/x",
        "/nothing/*/id",
    ],
)
def test_what_is_not_there_is_missing_and_never_an_error(pointer):
    assert pick(ANSWER, pointer) is MISSING


@pytest.mark.parametrize("pointer", ["rows", "rows/0", "/a~2", "/a~", "#/rows"])
def test_a_malformed_pointer_is_refused(pointer):
    for make in (Pointer, lambda text: pick(ANSWER, text)):
        with pytest.raises(BadInput) as caught:
            make(pointer)
        assert caught.value.where == pointer


@given(strategies.json_values, st.lists(strategies.names.filter(lambda name: name != "*"), max_size=4))
def test_without_a_star_it_agrees_with_the_library(document, parts):
    pointer = jsonpointer.JsonPointer.from_parts(parts).path
    expected = jsonpointer.resolve_pointer(document, pointer, MISSING)

    found = pick(document, pointer)

    assert found is (MISSING if isinstance(expected, jsonpointer.EndOfList) else expected)


@given(strategies.json_values, st.lists(strategies.names, max_size=5))
def test_a_star_gives_one_flat_list(document, parts):
    pointer = jsonpointer.JsonPointer.from_parts(parts).path

    found = pick({"rows": [document, document]}, "/rows/*" + pointer)

    assert isinstance(found, list)


@pytest.mark.parametrize("pointer", ["", "/a", "/a/0", "/a/b", "/a/0/b", "/0", "/a/*/b", "/*", "/-", "/a/00"])
@pytest.mark.parametrize(
    "values",
    [
        [{"a": [{"b": 1}]}, {"a": [{"b": 2}, {"b": 3}]}],
        [{"a": {"b": 1}}, {"a": {"b": None}}],
        [{"a": {"0": 5, "b": 1}}, {"a": [6]}, {"b": 1}],
        [{"a": "text"}, {"a": ["x"]}, 7, None, [1]],
        [[1, 2], [3], []],
        [],
    ],
)
def test_many_values_are_looked_into_as_one_by_one(pointer, values):
    assert Pointer(pointer).pick_all(values) == [Pointer(pointer).pick(value) for value in values]
