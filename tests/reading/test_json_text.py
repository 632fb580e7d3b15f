import json
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import habilis
from habilis.errors import ArgsInvalid, TooLarge
from habilis.reading import read_json

WHAT = "the arguments"
SOURCES = Path(habilis.__file__).parents[1]


def fault(text: bytes) -> str:
    with pytest.raises(ArgsInvalid) as caught:
        read_json(text, what=WHAT)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": 1, "a": 2}', "the arguments: 'a' is given twice in one object"),
        (b'{"b": [{"c": 1, "d": 2, "c": 3}]}', "the arguments: 'c' is given twice in one object"),
        (b'{"a": NaN}', "the arguments: NaN is no JSON number"),
        (b'{"a": -Infinity}', "the arguments: -Infinity is no JSON number"),
        (b'{"a": 1e400}', "the arguments: a number that is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "the arguments: a number with too many digits"),
        (b'{"a": "\\ud800"}', "the arguments: half of a character (a lone surrogate) in a text"),
        (b'{"\\udc00": 1}', "the arguments: half of a character (a lone surrogate) in a text"),
        (b'{"a": \n "x" "y"}', "the arguments: no valid JSON at line 2, column 6"),
        (b"", "the arguments: no valid JSON at line 1, column 1"),
        (b'{"a": "\xff"}', "the arguments: not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "the arguments: not UTF-8"),
        (b"[" * 65 + b"]" * 65, "the arguments: nested deeper than 64 levels"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "the arguments: nested deeper than 64 levels"),
    ],
)
def test_what_python_would_take_and_json_forbids_is_refused(text, expected):
    assert fault(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": 5.0, "b": true}', {"a": 5.0, "b": True}),
        (b'\xef\xbb\xbf{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
        (b'"[[[' + b"[" * 100 + b'"', "[[[" + "[" * 100),
        (b"-0.0", -0.0),
    ],
)
def test_good_json_is_read(text, expected):
    assert read_json(text, what=WHAT) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": "' + b"x" * 20_000_000 + b'"}',
        b"[" + b"1," * 1_000_000 + b"1]",
        b"{" + b",".join(b'"k%d": 1' % number for number in range(100_000)) + b"}",
        b"[" * 500_000,
    ],
    ids=["20 MB of text", "a million entries", "a hundred thousand keys", "half a million levels"],
)
def test_too_much_is_refused_quickly_and_without_memory(text):
    tracemalloc.start()
    began = time.process_time()

    with pytest.raises((TooLarge, ArgsInvalid)):
        read_json(text, what=WHAT, largest=1024 * 1024)

    took, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 0.1
    assert peak < 50_000_000


def test_the_size_is_refused_before_anything_is_read():
    with pytest.raises(TooLarge, match="the arguments: larger than 10 bytes"):
        read_json(b"not json at all", what=WHAT, largest=10)


def test_a_fault_never_quotes_the_text():
    assert "sk-secret" not in fault(b'{"token": "sk-secret" oops}')


def test_many_duplicate_keys_are_told_quickly():
    text = b"{" + b",".join(b'"k%d": 1' % (number % 60_000) for number in range(60_001)) + b"}"
    began = time.process_time()

    assert "is given twice" in fault(text)

    assert time.process_time() - began < 0.5


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
))  # fmt: skip
def test_every_json_value_reads_as_json_reads_it(value):
    text = json.dumps(value)

    assert read_json(text.encode(), what=WHAT) == json.loads(text)


@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,0123456789.eE+-\\uDd8cntrfls \n', max_size=80).map(str.encode)
)
def test_no_bytes_make_reading_fail_otherwise_than_by_our_error(text):
    value = None
    with suppress(ArgsInvalid):
        value = read_json(text, what=WHAT)

    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def test_reading_needs_no_yaml():
    script = "import sys, habilis.reading; habilis.reading.read_json(b'1', what='x'); assert 'yaml' not in sys.modules"

    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": str(SOURCES)})
