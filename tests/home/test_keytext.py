import io

import pytest
from dotenv import dotenv_values
from hypothesis import example, given
from hypothesis import strategies as st

from habilis.home.keytext import read_lines, values_of, with_keys, without_keys

names = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)
values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def keys_in(text):
    return values_of(read_lines(text))


def other_lines(text, keys):
    lines = [text[line.start : line.end].strip("\ufeff\r\n") for line in read_lines(text) if line.name not in keys]
    return [line for line in lines if line]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("A=", ""),
        ("A = 1 ", "1"),
        ("export A=1", "1"),
        ("\texport  A=1", "1"),
        ("A=a#b", "a#b"),
        ("A=a #b", "a"),
        ("A=a\t#b", "a"),
        ("A= # all of it", ""),
        ("A=#b", "#b"),
        ("A==x", "=x"),
        (r"A=C:\Users", r"C:\Users"),
        ("A=I'm", "I'm"),
        ("A=pa$HOMEword", "pa$HOMEword"),
        ("A='x' # tail", "x"),
        ("A='a # b'", "a # b"),
        (r"A='C:\'", "C:\\"),
        (r"A='it\'s'", "it's"),
        ("A='two\nlines'", "two\nlines"),
        (r'A="say \"hi\""', 'say "hi"'),
        (r'A="a\nb\r\tc"', "a\nb\r\tc"),
        (r'A="\d+"', r"\d+"),
        (r'A="C:\\"', "C:\\"),
        ('A="two\nlines"', "two\nlines"),
        ('A="${HOME}$(id)`id`"', "${HOME}$(id)`id`"),
        (r'A="\${HOME}"', "${HOME}"),
        ("A=1\r", "1"),
        ("A='1'\r", "1"),
    ],
)
def test_a_line_is_read_as_shells_and_dotenv_libraries_write_it(line, value):
    assert keys_in(f"# before\n{line}\nZ=after\n") == {"A": value, "Z": "after"}


@pytest.mark.parametrize(
    "line", ["A", "A B=1", "1A=1", "=1", "A='it", 'A="it', "A='x'y", 'A="x" y', r'A="C:\"', "A=\0", "A=\udcff", ": = x"]
)
def test_a_line_that_says_nothing_is_broken_and_takes_no_other_line_with_it(line):
    lines = read_lines(f"B=1\n{line}\nC=2\n")

    assert values_of(lines) == {"B": "1", "C": "2"}
    assert [found.number for found in lines if found.is_broken] == [2]


@given(st.text())
@example("A='it\nB='x'\n")
@example("\ufeff")
def test_the_lines_are_always_the_whole_text(text):
    lines = read_lines(text)

    assert "".join(text[line.start : line.end] for line in lines) == text


@given(st.dictionaries(names, values))
@example({"A": "\r"})
@example({"A": "a\x85b\u2028c\x0bd"})
def test_every_value_reads_back_as_it_was_set(keys):
    text = with_keys("", keys)

    assert text is not None
    assert keys_in(text) == keys


@given(st.text(), st.dictionaries(names, values, min_size=1))
@example("X='unclosed\n", {"B": " #x"})
@example("A=1\nA=2", {"A": "3"})
@example("\ufeffA=1", {"B": "2"})
@example("\ufeff", {"A": ""})
@example("A=1", {"A": "2"})
def test_setting_keys_leaves_every_other_line_as_it_was(text, keys):
    after = with_keys(text, keys)

    if after is not None:
        assert keys_in(after) == keys_in(text) | keys
        assert other_lines(after, keys) == other_lines(text, keys)


@given(st.dictionaries(names, values, min_size=1), st.data())
def test_removing_keys_leaves_every_other_line_as_it_was(keys, data):
    text = with_keys("# first\n", keys)
    gone = data.draw(st.frozensets(st.sampled_from(sorted(keys))))

    after = without_keys(text, gone)

    assert keys_in(after) == {name: value for name, value in keys.items() if name not in gone}
    assert after.startswith("# first\n")


@given(st.dictionaries(names, st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="$`"))))
def test_the_common_library_reads_what_is_written(keys):
    text = with_keys("", keys)

    assert dotenv_values(stream=io.StringIO(text), interpolate=False) == keys


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain-1.0/x", "plain-1.0/x"),
        ("", ""),
        ("two words", "'two words'"),
        ("pa$HOMEword", "'pa$HOMEword'"),
        ("I'm $5", r'''"I'm \$5"'''),
        ("C:\\", r'"C:\\"'),
        ("a\r\nb", r'"a\r\nb"'),
    ],
)
def test_a_value_is_written_in_the_plainest_way_that_keeps_it(value, written):
    assert with_keys("", {"A": value}) == f"A={written}\n"


def test_a_quote_that_was_left_open_cannot_swallow_a_new_key():
    text = "X='open\n"

    after = with_keys(text, {"B": " #x"})

    assert keys_in(after) == {"B": " #x"}
    assert after.startswith(text)


def test_two_open_quotes_that_would_swallow_a_key_either_way_are_told():
    assert with_keys("X='open\nY=\"open\n", {"B": " #x"}) is None
