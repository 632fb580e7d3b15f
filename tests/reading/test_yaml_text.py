import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ManifestInvalid
from habilis.reading import parse_yaml, read_yaml

FILE = "extension.yaml"


def problems(text: bytes) -> list[str]:
    """Return the faults of a text as people see them."""
    with pytest.raises(ManifestInvalid) as caught:
        read_yaml(text, FILE)
    return [str(problem) for problem in caught.value.problems]


def only_problem(text: bytes) -> str:
    (found,) = problems(text)
    return found


def test_a_document_knows_where_each_part_is_written():
    document = read_yaml(b"id: x\ntools:\n  - name: reply\n    request: { url: 'https://h/' }\n", FILE)

    assert document.data == {"id": "x", "tools": [{"name": "reply", "request": {"url": "https://h/"}}]}
    assert document.place(("id",)) == (1, 5)
    assert document.place(("tools", 0, "name")) == (3, 11)
    assert document.place(("tools", 0, "request", "url")) == (4, 21)


def test_a_missing_part_is_placed_at_the_part_that_would_hold_it():
    document = read_yaml(b"id: x\ntools:\n  - name: reply\n", FILE)

    assert document.place(("tools", 0, "request", "url")) == (3, 5)
    assert document.place(("nothing",)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "value", "raw"),
    [
        (b"version: 1.10", 1.1, "1.10"),
        (b"version: NO", False, "NO"),
        (b"version: on", True, "on"),
        (b"version: 22:22", 1342, "22:22"),
        (b"version: 01234", 668, "01234"),
        (b"version: 1_000", 1000, "1_000"),
        (b"version: 0x1F", 31, "0x1F"),
        (b"version: ~", None, "~"),
        (b"version:", None, ""),
        (b"version: 1e3", "1e3", "1e3"),
        (b"version: 2024-02-30", "2024-02-30", "2024-02-30"),
        (b"version: '1.10'", "1.10", "1.10"),
    ],
)
def test_a_scalar_is_read_as_yaml_1_1_reads_it_and_kept_as_written(text, value, raw):
    document = read_yaml(text, FILE)

    assert document.data["version"] == value
    assert type(document.data["version"]) is type(value)
    assert document.raw(("version",)) == raw


def test_a_field_s_name_has_a_place_of_its_own():
    document = read_yaml(b"tools:\n  - { hots: [x] }\n", FILE)

    assert document.key_place(("tools", 0, "hots")) == (2, 7)
    assert document.key_place(("tools", 0)) == (2, 5)


def test_names_of_fields_stay_as_written():
    assert read_yaml(b"on: 1\nno: 2\n1.10: 3\n'<<': 4\n", FILE).data == {"on": 1, "no": 2, "1.10": 3, "<<": 4}


def test_a_mapping_has_no_raw_text():
    document = read_yaml(b"a: { b: 1 }", FILE)

    assert document.raw(("a",)) == ""
    assert document.raw(("a", "c")) == ""


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter():
    document = read_yaml(b"\xef\xbb\xbfa: 1\r\nb:\r\n  c: x\r\n", FILE)

    assert document.data == {"a": 1, "b": {"c": "x"}}
    assert document.place(("b", "c")) == (3, 6)


def test_duplicate_fields_are_all_told_with_the_line_of_the_first():
    text = b"id: a\nid: b\ntools:\n  - { name: x, name: y }\n"

    assert problems(text) == [
        "extension.yaml:2:1 id: 'id' is given twice, first in line 1",
        "extension.yaml:4:16 tools[0].name: 'name' is given twice, first in line 4",
    ]


def test_parse_yaml_reads_past_duplicates_so_that_all_faults_can_come_in_one_answer():
    document, found = parse_yaml(b"id: a\nid: b\nurl: {{x}}\n", FILE)

    assert document.data == {"id": "a", "url": "{{x}}"}
    assert [problem.line for problem in found] == [2, 3]


@pytest.mark.parametrize(
    ("text", "place"),
    [(b"url: {{x}}", "1:6 url"), (b"a: { title: {{title|draft}}, n: 1 }", "1:13 a.title"), (b"a: [{{x}}]", "1:5 a[0]")],
)
def test_an_unquoted_placeholder_is_told_to_be_quoted(text, place):
    found = only_problem(text)

    assert found.startswith(f"extension.yaml:{place}: '{{{{")
    assert "must be quoted" in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"description: When asked: write", "1:24: no valid YAML; text with a colon and a blank"),
        (b"a: 1\nurl: x {{y}}: z", "2:13: no valid YAML; text with {{...}} must be quoted"),
        (b"a:\n\tb: 1", "2:1 a: no valid YAML; indent with blanks, not tabs"),
        (b"a: @x", "1:4 a: no valid YAML from here on"),
    ],
)
def test_a_syntax_error_says_what_to_do(text, expected):
    assert only_problem(text).startswith(f"extension.yaml:{expected}")


def test_a_syntax_error_never_quotes_the_text():
    (found,) = problems(b'token: "sk-very-secret\nb: `sk-other\n')

    assert "sk-" not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a: &a [*a]", "1:8 a[0]: aliases (*name) are not allowed"),
        (b"a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]", "2:8 b[0]: aliases"),
        (b"a:\n  <<: { b: 1 }", "2:3 a: merge keys (<<) are not allowed"),
        (b"a: !!python/object/apply:os.system [id]", "1:4 a: tags (!name) are not allowed"),
        (b"a: !foo x", "1:4 a: tags"),
        (b"a: !!str 1", "1:4 a: tags"),
        (b"a: 1\n---\nb: 2", "2:1: a second document begins here"),
        (b"? [a, b]\n: c", "1:1: the name of a field must be plain text"),
        (b"a: " + b"9" * 5000, "1:4 a: this number has too many digits"),
        (b"a: .inf", "1:4 a: this number is not finite"),
        (b"a: 1.0e+400", "1:4 a: this number is not finite"),
        (b"a: 0x_", "1:4 a: this number cannot be read"),
        (b"", "1:1: the file is empty"),
        (b"# only a comment\n", "1:1: the file is empty"),
        (b"- a\n- b\n", "1:1: expected fields (name: value), found a list"),
        (b"hello", "1:1: expected fields (name: value), found a single value"),
        (b"a: x\nb: \0", "2:4: the character U+0000 is not allowed"),
        (b"a: \x1b[2J", "1:4: the character U+001B is not allowed"),
        ("a: 1".encode("utf-16"), "1:1: the file is not UTF-8"),
        ("a: 1".encode("utf-16-le"), "1:2: the character U+0000 is not allowed"),
        (b"a: 1\nb: \xff", "2:1: the file is not UTF-8"),
    ],
)
def test_what_can_surprise_is_refused(text, expected):
    assert problems(text)[-1].startswith(f"extension.yaml:{expected}")


def test_bytes_are_taken_where_they_are_asked_for_and_told_from_text():
    text = b"picture: !!binary |\n  R0lG\nname: R0lG\n"

    document = read_yaml(text, FILE, with_bytes=True)

    assert document.data == {"picture": "R0lG\n", "name": "R0lG"}
    assert [document.is_binary((name,)) for name in ("picture", "name", "other")] == [True, False, False]


@pytest.mark.parametrize("text", [b"a: !!binary [x]", b"a: !foo x", b"? !!binary x\n: 1"])
def test_no_other_tag_is_taken_with_them(text):
    with pytest.raises(ManifestInvalid, match="tags"):
        read_yaml(text, FILE, with_bytes=True)


def nine_levels_of_aliases() -> bytes:
    lines = ["a: &a [x, x, x]"]
    lines += [f"{name}: &{name} [*{chr(ord(name) - 1)}, *{chr(ord(name) - 1)}]" for name in "bcdefghi"]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (nine_levels_of_aliases(), "aliases"),
        (b"a: " + b"[" * 2000, "nested deeper than 40 levels"),
        (b"a: " + b"[" * 41 + b"]" * 41, "nested deeper than 40 levels"),
        (b"a: [" + b"1, " * 130_000 + b"1]", "the file is larger than 256 KiB"),
        (b"a: [" + b"1," * 120_000 + b"1]", "more than 50,000 values in one file"),
    ],
)
def test_what_would_grow_without_bounds_is_refused_in_half_a_second(text, expected):
    took = []
    for _ in range(2):
        began = time.process_time()
        found = problems(text)
        took.append(time.process_time() - began)

    assert expected in found[-1]
    assert min(took) < 0.5


def test_forty_levels_are_read():
    text = b"a: " + b"[" * 39 + b"]" * 39

    assert list(read_yaml(text, FILE).data) == ["a"]


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,?~0123456789.\n\t <é😀", max_size=60))
def test_no_text_makes_reading_fail_otherwise_than_by_our_error(text):
    fault = None
    try:
        read_yaml(text.encode(), FILE)
    except ManifestInvalid as error:
        fault = error

    if fault is not None:
        assert all(problem.line >= 1 and problem.column >= 1 for problem in fault.problems)
        assert (fault.__cause__, fault.__context__) == (None, None)
