import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.exchange.bodies import read_body
from habilis.messages import Answer


def answer(body, content_type="application/json"):
    return Answer(status=200, headers={"content-type": content_type} if content_type else {}, body=body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"id": 5, "on": true}', {"id": 5, "on": True}),
        (b" [1, 2.5, null] \n", [1, 2.5, None]),
        (b'"text"', "text"),
        (b"0", 0),
        (b"null", None),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": "\\ud83d\\ude42"}', {"a": "🙂"}),
        ("﻿[1]".encode(), [1]),
    ],
)
def test_json_is_read_as_values(body, value):
    assert read_body(answer(body)) == value


@pytest.mark.parametrize("content_type", ["", "text/plain", "text/html", "application/octet-stream"])
def test_json_is_read_whatever_the_service_calls_it(content_type):
    assert read_body(answer(b'{"id": 5}', content_type)) == {"id": 5}


def test_an_empty_body_is_none():
    assert read_body(answer(b"")) is None


@pytest.mark.parametrize(
    "body", [b"created", b"{", b'{"a": 1} trailing', b"<html>", b"  ", b"'a'", b"{'a': 1}", b"NUL"]
)
def test_what_is_no_json_is_read_as_text(body):
    assert read_body(answer(body)) == body.decode()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("text", ['{"title": "Žluťoučký 🙂"}', "created: Žluťoučký"])
def test_every_unicode_encoding_is_recognised_by_its_bytes(encoding, text):
    expected = json.loads(text) if text.startswith("{") else text

    assert read_body(answer(text.encode(encoding), "")) == expected


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/plain; charset=ISO-8859-2", "iso-8859-2"),
        ('text/plain; charset="windows-1250"; x=y', "cp1250"),
        ("application/json;charset=latin2", None),
        ("text/plain; charset=utf-16", "utf-16-le"),
    ],
)
def test_an_older_encoding_is_read_where_the_service_names_it(content_type, encoding):
    text = "Žluťoučký kůň"

    if encoding is None:
        assert "\ufffd" in read_body(answer(text.encode("latin2"), content_type))
    else:
        assert read_body(answer(text.encode(encoding), content_type)) == text


def test_good_utf_8_is_read_as_such_even_where_the_service_names_another():
    assert read_body(answer('{"a": "é"}'.encode(), "application/json; charset=iso-8859-1")) == {"a": "é"}


@pytest.mark.parametrize(
    "charset",
    ["nonsense", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "zip", "base64", ""],
)
def test_an_encoding_that_is_none_of_text_is_passed_over(charset):
    assert read_body(answer(b"caf\xe9", f"text/plain; charset={charset}")) == "caf\ufffd"


def test_bytes_that_are_no_characters_leave_the_rest_of_the_json_readable():
    body = read_body(answer(b'{"title": "caf\xe9", "link": "https://blog.example/1"}'))

    assert body == {"title": "caf\ufffd", "link": "https://blog.example/1"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("1e400", "1e400"),
        ("-1e400", "-1e400"),
        ("9" * 5000, "9" * 5000),
        ("-" + "9" * 399, -int("9" * 399)),
        ("1e308", 1e308),
        ("1e-400", 0.0),
    ],
)
def test_a_number_beyond_all_bounds_is_the_text_that_stands_there(written, value):
    assert read_body(answer(f'{{"n": {written}, "link": 1}}'.encode())) == {"n": value, "link": 1}


@pytest.mark.parametrize("body", [b'"a\\ud800b"', b'{"a\\udfff": ["\\ud83d x"]}'])
def test_half_a_character_is_a_question_mark(body):
    value = read_body(answer(body))

    assert json.dumps(value, ensure_ascii=False).encode()
    assert "?" in str(value)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_past_200_levels_stays_text(opening, closing):
    at_limit = (opening * 200 + "1" + closing * 200).encode()
    beyond = (opening * 201 + "1" + closing * 201).encode()
    far_beyond = (opening * 100_000 + "1" + closing * 100_000).encode()

    assert read_body(answer(at_limit)) == json.loads(at_limit)
    assert read_body(answer(beyond)) == beyond.decode()
    assert read_body(answer(far_beyond)) == far_beyond.decode()


@pytest.mark.parametrize(
    "body", [b'"' + b"[" * 500 + b'"', b'{"a": "' + b"{" * 500 + b'"}', b"[[1]," * 150 + b"2" + b"]" * 150]
)
def test_brackets_alone_make_nothing_deep(body):
    assert read_body(answer(body)) == json.loads(body)


@given(
    st.binary(max_size=40), st.sampled_from(["", "application/json", "text/plain; charset=utf-16", "x; charset=gbk"])
)
def test_any_bytes_give_something_that_can_be_written_as_json(body, content_type):
    value = read_body(answer(body, content_type))

    assert json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) == value


ROWS = [{"name": "Tea", "price": "3"}, {"name": "Müsli", "price": "4"}]
TABLE = "name;price\nTea;3\nMüsli;4\n"


@pytest.mark.parametrize(
    ("content_type", "body", "value"),
    [
        ("text/csv; charset=utf-8", TABLE.encode(), ROWS),
        ("text/csv", TABLE.encode("utf-8-sig"), ROWS),
        ("text/csv; charset=windows-1252", TABLE.encode("cp1252"), ROWS),
        ("text/tab-separated-values", b"a,b\tc\n1\t2\n", [{"a,b": "1", "c": "2"}]),
        ("text/csv", b'{"message": "No such report"}', {"message": "No such report"}),
        ("application/x-ndjson", b'{"a": 1}\n\n{"a": 2}\r\n', [{"a": 1}, {"a": 2}]),
        ("application/jsonl", '{"a": "x\u2028y"}'.encode(), [{"a": "x\u2028y"}]),
        ("application/xml", b"<a><b>1</b></a>", {"a": {"b": "1"}}),
        ("text/xml; charset=utf-16", "<a>é</a>".encode("utf-16"), {"a": "é"}),
        ("application/atom+xml", "<?xml version='1.0' encoding='ISO-8859-2'?><a>ž</a>".encode("latin2"), {"a": "ž"}),
        ("application/problem+json", b'{"title": "No"}', {"title": "No"}),
        ("text/html", b"<a><b>1</b></a>", "<a><b>1</b></a>"),
        ("application/xhtml+xml", b"<a/>", "<a/>"),
        ("image/svg+xml", b"<svg/>", "<svg/>"),
    ],
)
def test_a_body_is_read_as_what_its_content_type_says(content_type, body, value):
    assert read_body(answer(body, content_type)) == value


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("text/csv", b'a,b\n1,"x'), ("application/xml", b"<a><b></a>"), ("application/jsonl", b'{"a": 1}\n{"a"')],
)
def test_a_body_that_is_not_what_its_content_type_says_is_text(content_type, body):
    assert read_body(answer(body, content_type)) == body.decode()


@pytest.mark.parametrize(
    ("decode", "body", "value"),
    [
        ("json", b"[1]", [1]),
        ("jsonl", b"[1]\n2\n", [[1], 2]),
        ("csv", TABLE.encode(), ROWS),
        ("xml", b"<a>1</a>", {"a": "1"}),
        ("text", b'{"a": 1}', '{"a": 1}'),
        ("bytes", b"\x89PNG\0", "iVBORwA="),
        ("bytes", b'{"a": 1}', "eyJhIjogMX0="),
    ],
)
def test_the_manifest_may_say_what_a_body_is_whatever_it_is_called(decode, body, value):
    assert read_body(answer(body, "application/octet-stream"), decode) == value


@pytest.mark.parametrize(
    ("decode", "body", "value"),
    [("json", b"[1]", [1]), ("jsonl", b"1\n2", [1, 2]), ("csv", TABLE.encode(), ROWS), ("text", b"[1]", "[1]")],
)
def test_a_body_that_is_a_gzip_file_is_unpacked_where_the_manifest_says_what_is_in_it(decode, body, value):
    packed = answer(gzip.compress(body), "application/gzip")

    assert read_body(packed, decode) == value
    assert read_body(packed) is None


@pytest.mark.parametrize("decode", ["json", "jsonl", "csv", "xml", "text", "bytes"])
def test_an_error_is_read_as_what_it_is_whatever_a_good_answer_would_be(decode):
    error = Answer(status=400, headers={"content-type": "application/json"}, body=b'{"message": "No"}')

    assert read_body(error, decode) == {"message": "No"}


@pytest.mark.parametrize(
    "body", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"PK\3\4", b"%PDF-1.7", bytes(range(256)), b"\0\0\xff\xff\xfe"]
)
def test_a_file_is_read_as_nothing(body):
    assert read_body(answer(body, "application/octet-stream")) is None
    assert read_body(answer(body, "application/octet-stream"), "json") is None


def test_a_body_that_lies_in_a_file_is_read_where_all_of_it_is_at_hand():
    whole = Answer(status=200, headers={}, body=b'{"a": 1}', file="/tmp/x", size=8)
    cut = Answer(status=200, headers={}, body=b"[1, 2]", file="/tmp/x", size=9)

    assert read_body(whole) == {"a": 1}
    assert read_body(cut) is None
