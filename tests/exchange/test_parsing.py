import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.exchange.parsing import parse_json, parse_large
from habilis.exchange.unreadable import Unreadable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
FILLING = b" " * 256 * 1024


def large(text):
    """The same JSON in a body large enough for the fast reader."""
    return text.encode() + FILLING


@given(VALUES)
def test_small_and_large_bodies_are_read_alike(value):
    text = json.dumps([value], ensure_ascii=False)

    assert parse_json(text) == [value]
    assert parse_large(large(text)) in ([value], None if "e" in text else [value])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1.0, -0.0, 1E5, 0.1, 1e99, 123456789012345678901234567890]",
         [1.0, -0.0, 100000.0, 0.1, 1e99, 123456789012345678901234567890]),
        ('["\\u00fc\\ud83d\\ude00"]', ["ü😀"]),
    ],
)  # fmt: skip
def test_odd_but_sound_json_is_read_alike(text, value):
    found = parse_large(large(text))

    assert found == parse_json(text) == value
    assert json.dumps(found) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[NaN]", ["NaN"]),
        ("[-Infinity]", ["-Infinity"]),
        ("[[1e400]]", [["1e400"]]),
        ("[-1e999]", ["-1e999"]),
        (f"[{'9' * 401}]", ["9" * 401]),
        (f"[{'9' * 5000}]", ["9" * 5000]),
        (f"[{'9' * 400}]", [int("9" * 400)]),
        ('["\\ud800"]', ["?"]),
        ("[1e0999, 1E+308, 1e-999, 1e100]", ["1e0999", 1e308, 0.0, 1e100]),
        ('["see 9e999", 1]', ["see 9e999", 1]),
        ("[" * 200 + "]" * 200, json.loads("[" * 200 + "]" * 200)),
    ],
)
def test_what_no_writer_could_write_is_text_however_large_the_body(text, value):
    assert parse_json(text) == value
    assert parse_large(large(text)) in (None, value)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 201 + "1" + "]" * 201,
        '{"a":' * 201 + "1" + "}" * 201,
        "[" * 100_000,
        "[1e400," + "[" * 201 + "]" * 202,
        "[1",
        "",
        "[1]]",
    ],
)
def test_what_is_no_json_or_too_deep_is_not_read(text):
    assert parse_large(large(text)) is None
    with pytest.raises(Unreadable) as caught:
        parse_json(text)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("body", [b"\xff\xfe[\x001\x00]\x00" + FILLING, b'["\xff"]' + FILLING, b"7" + FILLING, b"[1]"])
def test_other_bodies_are_left_to_the_careful_reader(body):
    assert parse_large(body) is None
