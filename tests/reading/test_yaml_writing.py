import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import BadInput
from habilis.reading import read_yaml, write_yaml

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.sampled_from(["y", "No", "1e3", "2024-02-30", "0x_", "~", "=", "<<", "01", "12:30", " a", "a ", "a: b", "- x"])
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)
records = st.dictionaries(names, values, max_size=5)


@given(records)
def test_what_is_written_reads_back_the_same(record):
    assert read_yaml(write_yaml(record), "record.yaml").data == record


@given(records)
def test_other_readers_see_the_same_texts(record):
    def as_text(value):
        """Put what is no text out of the way: only texts must not be taken for something else."""
        if isinstance(value, dict):
            return {name: as_text(entry) for name, entry in value.items()}
        return [as_text(entry) for entry in value] if isinstance(value, list) else str(value)

    texts = as_text(record)

    assert yaml.safe_load(write_yaml(texts)) == texts


def test_a_record_is_blocks_in_the_order_given():
    record = {"label": "Büro 🎉", "default": True, "hosts": ["a", {"b": 1}], "notes": "one\ntwo\n", "none": {}}

    assert write_yaml(record).decode() == (
        "label: Büro 🎉\ndefault: true\nhosts:\n- a\n- b: 1\nnotes: |\n  one\n  two\nnone: {}\n"
    )


@pytest.mark.parametrize(
    "text", ["1e3", "0o17", "y", "N", "2024-02-30", "12:30:45", "1.10", "010", "~", "null", "=", "on"]
)
def test_text_that_a_reader_could_take_for_something_else_is_quoted(text):
    assert write_yaml({"a": text}) == f"a: '{text}'\n".encode()


def test_one_value_in_two_places_is_written_twice():
    shared = ["x"]

    assert b"&" not in write_yaml({"a": shared, "b": shared})


def test_long_text_stays_on_one_line():
    assert write_yaml({"a": "word " * 100 + "end"}).count(b"\n") == 1


def test_half_of_a_character_is_refused_and_its_text_kept_back():
    with pytest.raises(BadInput) as caught:
        write_yaml({"a": "secret \ud800"})

    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
