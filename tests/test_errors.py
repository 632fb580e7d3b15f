import importlib
import pkgutil
import re

import pytest

import habilis.errors
from habilis.errors import ArgsInvalid, HabilisError, ManifestInvalid, OutcomeUnknown, Problem

OUTCOMES = {"refused", "not_sent", "done", "partial", "unknown"}


def all_errors():
    """Return every class of the tree, the root included, wherever in the package it is written."""
    for module in pkgutil.iter_modules(habilis.errors.__path__):
        importlib.import_module(f"habilis.errors.{module.name}")
    found = [HabilisError]
    for error in found:
        found.extend(error.__subclasses__())
    return found


def drawn_tree():
    """Return what the tree at the top of the package says: class name to its parent's name and its status."""
    drawn, family, family_status = {}, "", 0
    for line in habilis.errors.__doc__.splitlines():
        if top := re.match(r"    [├└]── (\w+).*?(\d{3})$", line):
            family, family_status = top[1], int(top[2])
            drawn[family] = ("HabilisError", family_status)
        elif re.match(r"    [│ ]   [├└]── ", line):
            for name, status in re.findall(r"(\w+)(?: \((\d{3})\))?", line):
                drawn[name] = (family, int(status) if status else family_status)
    return drawn


def problem(**changes):
    place = {"file": "extension.yaml", "line": 3, "column": 5, "path": "tools[0].name", "message": "missing"}
    return Problem(**(place | changes))


def test_no_two_errors_share_a_code():
    codes = [error.code for error in all_errors()]

    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.__name__)
def test_a_code_is_one_lower_case_word_that_the_class_itself_sets(error):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code)
    assert "code" in vars(error)


def test_the_tree_draws_every_error_under_its_family_with_its_status():
    meant = {error.__name__: (error.__bases__[0].__name__, error.status) for error in all_errors()[1:]}

    assert drawn_tree() == meant


def test_the_package_offers_every_error_by_name():
    missing = {error.__name__ for error in all_errors()} - set(habilis.errors.__all__)

    assert missing == set()
    assert all(hasattr(habilis.errors, name) for name in habilis.errors.__all__)


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.__name__)
def test_every_error_says_what_became_of_the_order(error):
    assert error.outcome in OUTCOMES
    assert isinstance(error.retryable, bool)


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.__name__)
def test_what_may_have_happened_is_never_offered_for_another_try(error):
    assert not (error.outcome == "unknown" and error.retryable)


@pytest.mark.parametrize(
    ("where", "hint", "text"),
    [
        ("", "", "it is missing"),
        ("tool 'post'", "", "tool 'post': it is missing"),
        ("", "give it", "it is missing (give it)"),
        ("tool 'post'", "give it", "tool 'post': it is missing (give it)"),
    ],
)
def test_an_error_as_text_is_place_message_and_what_to_do(where, hint, text):
    assert str(ArgsInvalid("it is missing", where=where, hint=hint)) == text


def test_a_message_of_300_characters_stays_whole():
    assert ArgsInvalid("x" * 300).message == "x" * 300


def test_a_longer_message_is_cut_wherever_it_can_be_read():
    error = ArgsInvalid("x" * 301)

    assert error.message == "x" * 299 + "…"
    assert error.args == (error.message,)
    assert "x" * 300 not in repr(error) + str(error)


def test_an_error_starts_with_what_its_class_says_and_takes_what_its_place_knows():
    plain, known = OutcomeUnknown("who knows"), OutcomeUnknown("who knows", retryable=True, outcome="done")

    assert (plain.retryable, plain.outcome, plain.error_id) == (False, "unknown", "")
    assert (known.retryable, known.outcome) == (True, "done")
    assert OutcomeUnknown.outcome == "unknown"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tools[0].name", "extension.yaml:3:5 tools[0].name: missing"),
        ("", "extension.yaml:3:5: missing"),
    ],
)
def test_a_problem_as_text_is_file_line_column_path_and_fault(path, text):
    assert str(problem(path=path)) == text


def test_an_invalid_file_tells_its_first_fault_and_how_many_more_there_are():
    error = ManifestInvalid([problem(), problem(line=9), problem(line=12)])

    assert str(error) == "extension.yaml:3:5: tools[0].name: missing (and 2 more)"
    assert [fault.line for fault in error.problems] == [3, 9, 12]


def test_an_invalid_file_with_one_fault_of_the_whole_counts_none():
    error = ManifestInvalid([problem(path="", message="the file is empty")])

    assert str(error) == "extension.yaml:3:5: the file is empty"
