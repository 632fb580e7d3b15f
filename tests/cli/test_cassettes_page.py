"""The page about cassettes: its ability, its cassette, and what it says the command prints."""

import re
from pathlib import Path

import pytest

from habilis.cassettes import FAULTS
from habilis.cassettes.read import CASE_FIELDS, EXPECT_FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "cassettes.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```yaml (ability|cassette)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
PASSES, FAILS, IS_CUT = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "cassettes").mkdir(parents=True)
    (folder / "extension.yaml").write_text(BLOCKS["ability"])
    (folder / "cassettes" / "write.yaml").write_text(BLOCKS["cassette"])
    return folder


def test_the_example_passes_as_the_page_says(shell, notes):
    assert shell.ok("abilities", "test", notes).out == PASSES


def test_a_difference_is_told_as_the_page_says(shell, notes):
    cassette = notes / "cassettes" / "write.yaml"
    cassette.write_text(cassette.read_text().replace('"text": "Hello"', '"text": "Hi"'))

    assert shell.run("abilities", "test", notes).out == FAILS


def test_a_fault_is_told_as_the_page_says(shell, notes):
    assert shell.ok("abilities", "test", notes, "--fault", "cut-body").out == IS_CUT


def test_every_field_of_a_case_and_every_fault_stands_on_the_page():
    missing = [name for name in (*CASE_FIELDS, *EXPECT_FIELDS, *FAULTS) if f"`{name}`" not in PAGE]

    assert missing == []
