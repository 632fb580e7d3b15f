"""The page of the format and the table of functions say the same."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from habilis.templating import Made, Scope, compile_json
from habilis.templating.comparing import OPERATORS
from habilis.templating.functions.dates import FUNCTIONS as DATES
from habilis.templating.functions.table import FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("#### Functions") : PAGE.index("### Pointers")]
EXAMPLES = re.findall(r"\| `([^|]+)` is `([^|]+)` \|$", SECTION, re.MULTILINE)


def test_the_page_lists_every_function_as_it_is_written():
    listed = set(re.findall(r"`([a-z_0-9]+\([^)]*\))`(?:,| \|)", SECTION))

    assert {function.signature for function in FUNCTIONS.values()} <= listed


@pytest.mark.parametrize(("call", "expected"), EXAMPLES)
def test_an_example_of_the_page_gives_what_it_says(call, expected):
    scope = Scope({}, {}, Made(now=datetime(2026, 11, 30, tzinfo=UTC), call_id="call-1"))

    assert compile_json("{{" + call + "}}").fill(scope) == json.loads(expected)


def test_nearly_every_row_has_an_example():
    rows = re.findall(r"^\| `", SECTION, re.MULTILINE)

    assert len(rows) - len(EXAMPLES) == 2


def test_the_page_names_every_operator_and_every_directive_of_dates():
    check_format = DATES["date"].checks[1]
    (listed,) = re.findall(r"A format knows `([^`]+)`", SECTION)

    assert all(f"`{op}`" in PAGE for op in (*OPERATORS, "exists", "matches"))
    assert check_format(listed) == ""
    assert sorted(check_format("%!").rpartition("it knows ")[2].split()) == sorted(listed.split())
