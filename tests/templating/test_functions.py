"""What each function gives; how calls are written is in test_grammar."""

import base64
import hashlib
import hmac
import json
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.templating import strategies

from habilis.errors import ArgsInvalid, EngineFailed, HabilisError, SecretMissing
from habilis.templating import MISSING, FileValue, Made, Scope, compile_json, compile_text
from habilis.templating.functions.table import FUNCTIONS

NOW = datetime(2026, 11, 30, 23, 5, 9, 123456, tzinfo=timezone(timedelta(hours=1)))


def call(expression, **values):
    keys = {name: value for name, value in values.items() if name.isupper()}
    made = Made(now=NOW, call_id="call-1")
    return compile_json("{{" + expression + "}}").fill(Scope(values, keys, made))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("lower(x)", "äb c"),
        ("upper(x)", "ÄB C"),
        ("trim(y)", "a b"),
        ("lower(n)", "5"),
        ("upper(yes)", "TRUE"),
        ("replace(x, 'B', n)", "Ä5 c"),
        ("replace(x, 'B', '')", "Ä c"),
        ("split(x, ' ')", ["ÄB", "c"]),
        ("split('', ',')", [""]),
        ("join(list, ', ')", 'a, 1, true, {"b":1}, '),
        ("join(empty, ',')", ""),
        ("join('a', ',')", "a"),
        ("first(list)", "a"),
        ("last(list)", None),
        ("last(split(uri, '/'))", "3k4duaz5vfs2b"),
        ("first(empty)", MISSING),
        ("last(empty)", MISSING),
        ("count(list)", 5),
        ("count(empty)", 0),
        ("count(gone)", 0),
        ("count(null)", 0),
        ("flatten(nested)", [1, [2], 3, "a"]),
        ("flatten('a')", ["a"]),
        ("flatten(nested, empty, list)", [1, [2], 3, "a", "a", 1, True, {"b": 1}, None]),
        ("flatten(list, gone)", MISSING),
        ("json(list)", '["a",1,true,{"b":1},null]'),
        ("json(x)", '"ÄB c"'),
        ("json(null)", "null"),
        ("json(gone)", MISSING),
        ("base64(x)", "w4RCIGM="),
        ("hash('')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("hash(x, 'md5')", hashlib.md5("ÄB c".encode()).hexdigest()),
    ],
)
def test_a_function_gives(expression, expected):
    values = {
        "x": "ÄB c", "y": " \n a b\t", "n": 5.0, "yes": True, "list": ["a", 1, True, {"b": 1}, None], "empty": [],
        "nested": [[1, [2]], 3, [], ["a"]], "null": None, "uri": "at://did:plc:x/app.bsky.feed.post/3k4duaz5vfs2b",
    }  # fmt: skip

    assert call(expression, **values) == expected


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_of_something_missing_or_null_is_missing(name):
    function = FUNCTIONS[name]
    if function.is_of_call or function.takes_nothing:
        return
    others = {"hmac": ", SECRET", "pick": ", '*'", "chunks": ", 1", "cut": ", 1"}
    more = others.get(name, ", 'a'" * (function.least - 1))

    assert call(f"{name}(gone{more})", SECRET="s") is MISSING
    assert call(f"{name}(null{more})", SECRET="s", null=None) is MISSING
    assert call(f"{name}(gone{more})|5", SECRET="s") == 5


def test_every_missing_value_makes_the_outcome_missing():
    assert call("replace(x, 'a', gone)", x="a") is MISSING
    assert call("date(x, '%Y', zone)", x="2026-01-01") is MISSING


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("lower(list)", "lower(): expected text, found a list"),
        ("hash(file)", "hash(): expected text, found a file"),
        ("base64(file)", "base64(): expected text, found a file"),
        ("strip_html(object)", "strip_html(): expected text, found an object"),
        ("first(text)", "first(): expected a list, found text"),
        ("count(object)", "count(): expected a list, found an object"),
        ("join(n, ',')", "join(): expected a list, found a number"),
        ("join(list, list)", "join(): expected text, found a list"),
        ("flatten(yes)", "flatten(): expected a list, found true or false"),
        ("chunks(object, 5)", "chunks(): expected a file, found an object"),
        ("pick(file, '*')", "pick(): expected a list, found a file"),
        ("cut(text, text)", "cut(): expected how much may stay, as a number"),
        ("cut(text, yes)", "cut(): expected how much may stay, as a number"),
        ("cut(text, 1, text)", "cut(): expected one of graphemes, chars, utf16, bytes"),
        ("split(text, empty)", "split(): expected a text that is not empty"),
        ("date(text)", "date(): expected a date, such as 2026-11-30, 2026-11-30T09:00:00Z or UNIX seconds"),
        ("unix(list)", "unix(): expected a date, such as 2026-11-30, 2026-11-30T09:00:00Z or UNIX seconds"),
        ("unix(yes)", "unix(): expected a date, such as 2026-11-30, 2026-11-30T09:00:00Z or UNIX seconds"),
        ("date(n, text, text)", "date(): expected a time zone, such as UTC or Europe/Berlin"),
        ("date(n, '%Y', text)", "date(): expected a time zone, such as UTC or Europe/Berlin"),
        ("hash(odd)", "hash(): the text holds half of a character (a lone surrogate)"),
        ("base64(odd)", "base64(): the text holds half of a character (a lone surrogate)"),
        ("facets(link)", "facets(): the text holds half of a character (a lone surrogate)"),
        ("json(nan)", "json(): JSON cannot carry this value"),
    ],
)
def test_what_a_function_is_not_made_for_is_refused_and_not_shown(expression, message):
    values = {
        "list": [1], "object": {"a": 1}, "text": "private text", "n": 5, "yes": True, "odd": "\ud800", "empty": "",
        "nan": float("nan"), "file": FileValue({"name": "a", "size": 1}, path="/a"), "link": "\ud800 https://e.example",
    }  # fmt: skip

    with pytest.raises(ArgsInvalid) as caught:
        call(expression, **values)

    assert caught.value.message == message
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_escaping_puts_a_backslash_before_each_of_the_characters():
    text = r"A (b) [c] {d} <e> #f *g* _h_ ~i~ @j | k \ l"

    filled = call(r"""escape(text, '\\|{}@[]()<>#*_~')""", text=text)

    assert filled == r"A \(b\) \[c\] \{d\} \<e\> \#f \*g\* \_h\_ \~i\~ \@j \| k \\ l"


def test_a_text_cannot_grow_without_end():
    doubled = "replace(" * 8 + "x" + ", 'a', '" + "a" * 100 + "')" + (", 'a', '" + "a" * 100 + "')") * 7

    with pytest.raises(ArgsInvalid, match=r"replace\(\): the text would be longer than 20,000,000 characters"):
        call(doubled, x="a" * 100)
    with pytest.raises(ArgsInvalid, match=r"join\(\): the text would be longer than 20,000,000 characters"):
        call("join(list, x)", list=[""] * 10_000, x="a" * 10_000)


def test_an_hmac_is_keyed_with_the_key_that_is_named_and_never_shows_it():
    expected = hmac.digest(b"sk-secret", "ü".encode(), "sha256").hex()

    assert call("hmac(text, SECRET)", text="ü", SECRET="sk-secret") == expected
    assert call("hmac(text, SECRET, 'sha1')", text="ü", SECRET="k") == hmac.digest(b"k", "ü".encode(), "sha1").hex()
    with pytest.raises(SecretMissing, match="SECRET is not set"):
        call("hmac(text, SECRET)", text="x", SECRET="")
    with pytest.raises(ArgsInvalid) as caught:
        call("hmac(text, SECRET)", text=["x"], SECRET="sk-secret")
    assert "sk-secret" not in repr(caught.value) + str(caught.value)


def test_an_argument_of_a_key_s_name_is_no_key():
    with pytest.raises(SecretMissing):
        compile_text("{{hmac(text, SECRET)}}").fill(Scope({"text": "x", "SECRET": "chosen by the caller"}, {}))


def test_a_call_s_own_values_are_fixed_for_the_call():
    assert call("now()") == "2026-11-30T22:05:09Z"
    assert call("call_id()") == "call-1"
    assert call("date(now(), '%Y-%m-%d', 'Asia/Tokyo')") == "2026-12-01"


def test_each_id_is_another_and_the_same_when_the_call_is_made_again():
    template = compile_json(["{{uuid()}}", "{{uuid()}}"])

    first, again, other = (
        template.fill(Scope({}, {}, Made(now=NOW, call_id=call_id))) for call_id in ("call-1", "call-1", "call-2")
    )

    assert first == again
    assert len({*first, *other}) == 4
    assert all(one[14] == "4" and one[19] in "89ab" and len(one) == 36 for one in first)


@pytest.mark.parametrize("name", ["now", "uuid", "call_id"])
def test_outside_a_call_there_are_no_such_values(name, scope):
    with pytest.raises(EngineFailed, match="have a value inside a call only"):
        compile_text("{{" + name + "()}}").fill(scope())


@pytest.mark.parametrize(
    ("value", "form", "zone", "expected"),
    [
        ("2026-11-30", "%Y%m%d", "UTC", "20261130"),
        ("20261130", "%d.%m.%y", "America/New_York", "30.11.26"),
        (20261130, "%Y-%m-%d", "UTC", "2026-11-30"),
        ("2026-11-01T00:30:00+07:00", "%Y-%m-%d", "UTC", "2026-10-31"),
        ("2026-11-01T00:30:00+07:00", "%Y-%m-%dT%H:%M:%S%:z", "Asia/Bangkok", "2026-11-01T00:30:00+07:00"),
        ("2026-11-01T09:00", "%H:%M %z", "Europe/Berlin", "09:00 +0100"),
        ("2026-07-01T09:00", "%s", "Europe/Berlin", "1782889200"),
        (1754002980, "%Y-%m-%dT%H:%M:%SZ", "UTC", "2025-07-31T23:03:00Z"),
        (1754002980.75, "%Y", "UTC", "2025"),
        ("1754002980123", "%S.%L %f", "UTC", "00.123 123000"),
        (1754002980123456, "%f", "UTC", "123456"),
        ("Mon, 30 Nov 2026 22:05:09 GMT", "%a, %d %b %Y %H:%M:%S GMT", "UTC", "Mon, 30 Nov 2026 22:05:09 GMT"),
        ("2026-11-30T00:05:00Z", "%A %B %j %I %p %%", "UTC", "Monday November 334 12 AM %"),
        ("2026-11-30T12:00:00Z", "%z%:z", "America/St_Johns", "-0330-03:30"),
        (-1, "%Y %s", "UTC", "1969 -1"),
        ("0001-01-01", "%Y", "UTC", "0001"),
    ],
)
def test_a_date_is_written_as_the_format_says(value, form, zone, expected):
    assert call(f"date(value, '{form}', '{zone}')", value=value) == expected


def test_a_date_is_a_day_in_utc_unless_said_otherwise():
    assert call("date(value)", value="2026-11-30T23:30:00-05:00") == "2026-12-01"
    assert call("unix(value)", value="2026-11-30T22:05:09.9Z") == 1796076309
    assert call("unix(value)", value="2026-11-30") == 1795996800
    assert call("unix(now())") == 1796076309


@pytest.mark.parametrize("value", ["0001-01-01", "9999-12-31T23:59:59"])
def test_a_date_beyond_the_calendar_is_refused(value):
    with pytest.raises(ArgsInvalid, match="expected a date"):
        call("date(value, '%Y', 'UTC')", value=value + ("T00:00:00+23:00" if "T" not in value else "-23:00"))


def test_dates_do_not_depend_on_the_machine_s_zone(monkeypatch):
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        assert call("date(value, '%Y-%m-%dT%H:%M')", value="2026-11-01T00:30:00") == "2026-11-01T00:30"
        assert call("unix(value)", value="2026-11-01T00:30:00") == 1793493000
    finally:
        monkeypatch.undo()
        time.tzset()


FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@pytest.mark.parametrize(
    ("text", "most", "unit", "expected"),
    [
        ("one two three", 13, "graphemes", "one two three"),
        ("one two three", 12, "graphemes", "one two"),
        ("one two three", 8, "graphemes", "one two"),
        ("one two three", 7, "graphemes", "one two"),
        ("one two three", 6, "graphemes", "one"),
        ("a considerable", 12, "graphemes", "a considerab"),
        ("considerable", 4, "graphemes", "cons"),
        ("one \n two", 5, "graphemes", "one"),
        ("one", 0, "graphemes", ""),
        ("", 5, "graphemes", ""),
        (" one", 2, "graphemes", " o"),
        (FAMILY * 3, 2, "graphemes", FAMILY * 2),
        ("e\u0301" * 3, 2, "graphemes", "e\u0301" * 2),
        (FAMILY * 3, 8, "chars", FAMILY),
        (FAMILY * 3, 24, "bytes", ""),
        (FAMILY * 3, 25, "bytes", FAMILY),
        ("👋👋", 3, "utf16", "👋"),
        ("日本語日本語", 10, "bytes", "日本語"),
        ("日 本語日本語", 19, "bytes", "日 本語日本語"),
        ("日 本語日本語", 16, "bytes", "日 本語日本"),
        ("a\r\nb", 2, "graphemes", "a"),
        ("\ud800\ud800", 3, "bytes", "\ud800"),
    ],
)
def test_a_text_is_cut_at_a_word_and_never_inside_a_character(text, most, unit, expected):
    assert call(f"cut(text, {most}, '{unit}')", text=text) == expected


def test_graphemes_are_what_is_counted_unless_said_otherwise():
    assert call("cut(text, 2)", text="é" * 3) == "éé"
    assert call("cut(text, most)", text="abc", most=2.0) == "ab"


@given(st.text() | strategies.odd_texts, st.integers(0, 12), st.sampled_from(["graphemes", "chars", "utf16", "bytes"]))
def test_a_cut_text_is_its_beginning_and_fits(text, most, unit):
    cut = call(f"cut(text, {most}, '{unit}')", text=text)

    sizes = {
        "graphemes": 0,
        "chars": len(cut),
        "utf16": len(cut.encode("utf-16-le", "surrogatepass")) // 2,
        "bytes": len(cut.encode("utf-8", "surrogatepass")),
    }
    assert text.startswith(cut)
    assert sizes[unit] <= most


def test_the_places_of_a_facet_are_bytes_not_characters():
    assert call("facets(text)", text="This is a test 🇬🇧 https://www.example.com @ä.b.example") == [
        {
            "kind": "link",
            "start": 24,
            "end": 47,
            "text": "https://www.example.com",
            "uri": "https://www.example.com",
        },
    ]
    assert call("facets(text)", text="ü @b.example.") == [
        {"kind": "mention", "start": 3, "end": 13, "text": "@b.example", "handle": "b.example"}
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.example/x?y=1#z, it is so.", ["https://a.example/x?y=1#z"]),
        ("See (http://b.example/(c)).", ["http://b.example/(c)"]),
        ("[HTTPS://B.EXAMPLE/]", ["HTTPS://B.EXAMPLE/"]),
        ("“https://a.example”…", ["https://a.example"]),
        ("<https://a.example>", ["https://a.example"]),
        ("hi @alice.example! @bob @c.d.example.", ["@alice.example", "@c.d.example"]),
        ("mail me@example.com or https://x.example/@user.name", ["https://x.example/@user.name"]),
        ("https:// and @a. and xhttps://y.example", []),
        ("", []),
    ],
)
def test_links_and_mentions_are_found_without_what_stands_around_them(text, expected):
    assert [one["text"] for one in call("facets(text)", text=text)] == expected


@given(
    st.lists(st.sampled_from(["https://e.example/", "@a.example", "🇬🇧", "é", " ", ")", "(", ".", "/x"])).map("".join)
)
def test_the_bytes_of_a_facet_are_its_text(text):
    for one in call("facets(text)", text=text):
        assert text.encode()[one["start"] : one["end"]].decode() == one["text"]


def picture(name, mime="image/png", **facts):
    return FileValue({"name": name, "mime": mime, "size": 10, **facts}, path=f"/{name}")


def test_files_are_picked_by_type_and_stay_files():
    files = [picture("a"), picture("b", "video/mp4"), picture("c", "image/JPEG; q=1"), {"name": "d"}]

    def picked(rest):
        return [one["name"] for one in call(f"pick(files, {rest})", files=files)]

    assert picked("'image/*'") == ["a", "c"]
    assert picked("'image/*', 1") == ["a"]
    assert picked("'image/jpeg, video/*'") == ["b", "c"]
    assert picked("'*'") == picked("'*/*'") == ["a", "b", "c"]
    assert picked("'audio/*'") == picked("'image/*', 0") == []
    assert call("first(pick(files, 'video/*'))", files=files) is files[1]
    assert call("first(pick(files, 'video/*')).name", files=files) == "b"


def test_a_file_is_parted_without_reading_it():
    file = FileValue(
        {"name": "v", "mime": "video/mp4", "size": 25, "sha256": "x", "base64": "y", "alt": "A"}, path="/v"
    )

    parts = call("chunks(file, 10)", file=file)

    assert [(part.path, part.offset, part.size) for part in parts] == [("/v", 0, 10), ("/v", 10, 10), ("/v", 20, 5)]
    assert parts[1] == {"name": "v", "mime": "video/mp4", "alt": "A", "size": 10, "start": 10, "end": 19, "total": 25}
    assert [part.offset for part in call("chunks(file, 10)", file=parts[1])] == [10]
    assert [part.size for part in call("chunks(file, 25)", file=file)] == [25]


def test_an_empty_file_is_one_part_and_too_many_parts_are_refused():
    assert [part.size for part in call("chunks(file, 10)", file=FileValue({"size": 0}, path="/v"))] == [0]
    with pytest.raises(ArgsInvalid, match="more than 10,000 parts"):
        call("chunks(file, 1)", file=FileValue({"size": 10_001}, path="/v"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "https://e" + ")" * 200_000,
        "@a." * 100_000,
        "@" * 200_000,
        "<" * 200_000,
        "<!--" * 50_000,
        "<pre>" + " " * 200_000,
        "<a href='https://e'>" * 20_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("name", ["facets", "strip_html"])
def test_no_text_takes_long(name, text):
    start = time.perf_counter()
    call(f"{name}(text)", text=text)
    took = time.perf_counter() - start

    assert took < 2


@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(strategies.json_values, min_size=3, max_size=3))
def test_functions_raise_nothing_but_our_errors_and_give_json(name, given_values):
    function = FUNCTIONS[name]
    names = ["a", "SECRET" if name == "hmac" else "b", "c"][: len(function.checks)]

    with suppress(HabilisError):
        filled = call(f"{name}({', '.join(names)})", **dict(zip("abc", given_values, strict=True)), SECRET="s")
        assert filled is MISSING or json.dumps(filled)


def test_base64_can_be_read_again():
    assert base64.b64decode(call("base64(x)", x="ü€")).decode() == "ü€"


def test_the_time_of_a_call_has_a_zone():
    assert call("date(now(), '%z')") == "+0000"
    assert Made(now=NOW, call_id="x").now.astimezone(UTC).hour == 22
