import json

import pytest

from habilis.cli.text import columns, document, lines_of, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Grüße, 世界", "Grüße, 世界"),
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("\x1b[2J", "\\x1b[2J"),
        ("label\nERROR fake", "label\\nERROR fake"),
        ("a\rb\tc", "a\\rb\\tc"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("half \ud83d", "half \\ud83d"),
        ("tag \U000e0041", "tag \\U000e0041"),
    ],
)
def test_text_of_others_is_one_line_that_steers_nothing(text, shown):
    assert one_line(text) == shown


def test_text_of_several_lines_keeps_them():
    assert lines_of("one\r\n\ttwo\n\nthree\x1b") == ["one", "    two", "", "three\\x1b"]


def test_rows_stand_in_columns_whatever_their_cells_hold():
    assert columns([("a", "b\nc", "d"), ("long", "", "e")]) == ["a     b\\nc  d", "long        e"]
    assert columns([]) == []


@pytest.mark.parametrize("text", ["\x9b31m", "a\u202eb", "\ud83d", "\U000e0041", "\x1b[2J", "é\u2028", "\x7f", "\xad"])
def test_a_document_steers_no_terminal_and_reads_back_the_same(text):
    shown = document({text: [text]})

    assert json.loads(shown) == {text: [text]}
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_document_keeps_letters_of_every_language():
    assert "Grüße" in document({"text": "Grüße"})
