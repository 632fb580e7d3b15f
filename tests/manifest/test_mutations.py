import contextlib
import re

from hypothesis import given, settings
from hypothesis import strategies as some
from tests.manifest.samples import PRESS
from tests.manifest.test_plain import EVERYTHING
from tests.manifest.test_ways import EVERY_WAY

from habilis.errors import ManifestInvalid
from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest
from habilis.marketplace import shipped
from habilis.skill import Skill, load_skill


def _text(ability: str, file: str) -> str:
    folder = shipped(ability)
    assert folder is not None
    return (folder / file).read_text(encoding="utf-8")


MANIFESTS = [
    *(_text(name, "extension.yaml") for name in ("wordpress", "mastodon", "fal-image", "search-console", "smtp-mail")),
    PRESS,
    EVERYTHING,
    *EVERY_WAY,
]
SKILLS = [_text("wordpress", "SKILL.md"), _text("plausible", "SKILL.md")]
ODD = [
    "", "null", "~", "true", "no", "3", "-1", "1.10", "1e9", "01234", "22:22", "[]", "{}", "[a, [b]]", "{a: {b: c}}",
    '""', "'", '"', "{{x}}", '"{{x}}"', '"{{x"', '"${X}"', '"${x}"', "${WP_SITE}", "*a", "&a b", "!t x", "<<", "- x",
    "? x", "a: b: c", "\t", "\x00", "\ufeff", "\u202e", "\ud7ff", "\U0001f4a9", "---", "...", "#", "|", ">", "9" * 500,
    "x" * 2000, "/", "/-", "~2",
    "https://evil.test/", "file:///etc/passwd", "__proto__", "$ref", "0x1F", ".inf", ".nan",
    "2024-02-30", "steps", "connection", "oauth2", "command", '"a\\nb"', '"\\x1b[2J"', '"\\u2028"',
]  # fmt: skip
TOKEN = re.compile(r"[\w./${}-]+|\S")


@some.composite
def mutated(draw: some.DrawFn, texts: list[str]) -> str:
    """Draw a real text with a few of its lines and words dropped, doubled, moved, indented or replaced."""
    lines = draw(some.sampled_from(texts)).split("\n")
    for _ in range(draw(some.integers(1, 4))):
        number = draw(some.integers(0, len(lines) - 1))
        line = lines[number]
        change = draw(
            some.sampled_from(["drop", "double", "swap", "indent", "dedent", "word", "word", "word", "cut", "add"])
        )
        if change == "drop" and len(lines) > 1:
            del lines[number]
        elif change == "double":
            lines.insert(number, line)
        elif change == "swap":
            other = draw(some.integers(0, len(lines) - 1))
            lines[number], lines[other] = lines[other], lines[number]
        elif change == "indent":
            lines[number] = "  " + line
        elif change == "dedent":
            lines[number] = line.removeprefix("  ")
        elif change == "cut":
            lines[number] = line[: draw(some.integers(0, len(line)))]
        elif change == "add":
            lines.insert(number, draw(some.sampled_from(ODD)))
        elif words := list(TOKEN.finditer(line)):
            word = draw(some.sampled_from(words))
            lines[number] = line[: word.start()] + draw(some.sampled_from(ODD)) + line[word.end() :]
    return "\n".join(lines)


def check_problems(error: ManifestInvalid, text: str) -> None:
    last = text.count("\n") + 1
    assert error.problems
    for problem in error.problems:
        assert 1 <= problem.line <= last
        assert problem.column >= 1
        assert problem.message
        assert str(problem).isprintable()
        assert "pydantic" not in problem.message
    assert list(error.problems) == sorted(error.problems, key=lambda one: (one.line, one.column))
    assert error.__cause__ is None


@settings(max_examples=300, deadline=None)
@given(text=mutated(MANIFESTS))
def test_a_changed_manifest_is_read_or_refused_with_places_and_nothing_else(text):
    try:
        manifest = load_manifest(text.encode("utf-8", "surrogatepass"), folder="press")
    except ManifestInvalid as error:
        check_problems(error, text)
    else:
        assert isinstance(manifest, Manifest)


@settings(max_examples=100, deadline=None)
@given(text=mutated(SKILLS))
def test_changed_instructions_are_read_or_refused_with_places_and_nothing_else(text):
    try:
        skill = load_skill(text.encode("utf-8", "surrogatepass"))
    except ManifestInvalid as error:
        check_problems(error, text)
    else:
        assert isinstance(skill, Skill)


@settings(max_examples=100, deadline=None)
@given(raw=some.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_nothing_else(raw):
    with contextlib.suppress(ManifestInvalid):
        load_manifest(raw, folder="press")
    with contextlib.suppress(ManifestInvalid):
        load_skill(b"---\n" + raw + b"\n---\n")
