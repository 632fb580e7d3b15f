"""House rules that a file can break: size, shape, names, error codes, and words that must not be published."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import habilis.errors
from habilis.errors import HabilisError

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "shared" / "habilis"
FUNCTIONS = sorted((ROOT / "functions").glob("*.py"))

NO_MODULE = {
    "abilities": "folders of abilities that tests install",
    "bench": "the scripts under bench/",
    "flows": "stories over many modules, from an empty home on",
    "functions": "the handlers, through functions-framework",
    "parts": "starters of real counterparts",
}
"""Test folders that stand for no module of the package, and what they hold."""

# Brackets keep this file from holding what it forbids.
FORBIDDEN = {
    "a package registry's host": re.compile(r"\b(pypi|pythonhosted|npmjs|debian|crates|rubygems)[.](org|com|io)\b"),
    "a path of somebody's machine": re.compile(r"(?<![\w.*])/(work|farm|root|Users/\w+|home/\w+|opt/pypi|opt/wheels)/"),
    "an unfinished mark": re.compile(r"\bT[O]DO\b|F[I]XME|NotImplemented[E]rror"),
}


@pytest.mark.parametrize("folder", ["shared", "functions"])
def test_no_file_is_longer_than_400_lines(folder):
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py")}

    assert {str(path): count for path, count in lines.items() if count > 400} == {}


@pytest.mark.parametrize("path", FUNCTIONS, ids=lambda path: path.stem)
def test_a_handler_is_one_short_file_with_one_decorated_function_of_its_name(path):
    text = path.read_text(encoding="utf-8")

    decorated = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.decorator_list]

    assert [function.name for function in decorated] == [path.stem]
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("path", FUNCTIONS, ids=lambda path: path.stem)
def test_a_handler_is_not_named_as_a_module_of_the_standard_library(path):
    # functions-framework loads it as a module of that very name.
    assert path.stem not in sys.stdlib_module_names


def test_every_error_has_a_code_of_its_own():
    codes = [error.code for error in _errors()]

    assert sorted(codes) == sorted(set(codes))


def test_every_error_is_drawn_in_the_tree_at_the_top_of_its_file():
    drawn = set(re.findall(r"\b[A-Z]\w+", habilis.errors.__doc__))

    assert {error.__name__ for error in _errors()} <= drawn


def test_the_error_codes_are_those_of_the_documentation():
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    section = re.search(r"^## Errors$(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE).group(1)

    documented = set(re.findall(r"^\|\s*`(\w+)`\s*\|", section, re.MULTILINE))

    assert documented == {error.code for error in _errors()}


def test_every_folder_of_tests_stands_for_a_module():
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}

    modules = {path.stem for path in PACKAGE.iterdir()}

    assert folders - modules - NO_MODULE.keys() == set()


def test_the_lock_for_tests_holds_the_lock_for_running():
    # scripts/setup relies on it: a demo after a test run installs nothing.
    to_run, to_test = (
        set(re.findall(r"^\S+==\S+", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "requirements-dev.lock")
    )

    assert to_run - to_test == set()


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_holds_what_the_project_asks_for(lock):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(project["optional-dependencies"]["dev"] if "dev" in lock else ())]
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))

    names = {re.match(r"[\w.-]+", requirement).group().lower() for requirement in asked}

    assert names - pinned == set()


@pytest.mark.part("git")
@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in listed.split("\0") if name}

    found = {name: found.group() for name, text in texts.items() if (found := FORBIDDEN[what].search(text))}

    assert found == {}


def _errors() -> list[type[HabilisError]]:
    """Return every class of the tree, the root included."""
    found = [HabilisError]
    for error in found:
        found.extend(error.__subclasses__())
    return found
