import pytest

from habilis.errors import UnsafePath
from habilis.home.paths import checked_folder, checked_path, is_visible


@pytest.mark.parametrize(
    "path",
    [
        "config.yaml",
        "projects/p/connections/blog/connection.yaml",
        "projects/p/abilities/blog/templates/page.html",
        "projects/p/abilities/blog/data/countries.json",
        "projects/p/snapshots/blog/traffic/2026-11.jsonl",
        "projects/p/.abilities.json",
        "abilities/blog/.source",
        ".upstream/blog/SKILL.md",
        "tools/-x",
        "a b/caf\u00e9.md",
        "assets/\U0001f44b.md",
        "console.md",
        "environment.md",
    ],
)
def test_a_portable_path_is_used_as_it_is(path):
    assert checked_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "..", "/etc/passwd", "a/", "a//b", "../x", "a/../../x", "./x", "a/./b", "C:\\x", "..\\..\\x", "a\\b",
        "C:x", "a*", 'a"', "a|b", "a<b", "a?b",
        ".git/config", ".GIT/hooks/pre-commit", "git~1/config", "GIT~2/x", ".git /x", ".git./x", ".g\u200cit/config",
        "a/.git", ".gitmodules", "x/.gitattributes", ".gitignore", "\uff0egit/x",
        "a\nb", "a\0b", "a\x7fb", "a\u202eb", "a\u2028b", " a", "a ", "a.", "a./b", "CON", "con.yaml", "x/nul",
        "COM1.txt", "cafe\u0301", "\ud800", "a" * 241, "/".join(["ab"] * 25), "a/" * 239 + "abc",
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_home_or_is_not_portable_is_refused(path):
    with pytest.raises(UnsafePath):
        checked_path(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".ENV",
        "projects/p/.env",
        "projects/p/connections/blog/.env",
        "projects/p/connections/blog/.env.local",
        "projects/p/connections/blog/.env.habilis-tmp",
        "projects/p/connections/blog/activity.jsonl",
        "projects/p/connections/blog/data/cookies.json",
        "projects/p/connections/blog/data",
        ".state/locks/x.lock",
        "config.yaml.1234.habilis-tmp",
    ],
)
def test_what_is_private_is_never_part_of_a_revision(path):
    with pytest.raises(UnsafePath, match="private"):
        checked_path(path)


def test_the_refusal_shows_a_path_in_escaped_form():
    with pytest.raises(UnsafePath) as caught:
        checked_path("a\u202e\nb")

    assert caught.value.where == "a\\u202e\\nb"
    assert "\n" not in str(caught.value)


def test_the_top_is_a_folder():
    assert checked_folder("") == ""
    with pytest.raises(UnsafePath):
        checked_folder("..")


def test_a_listing_shows_only_what_may_be_read():
    assert is_visible("", "projects")
    assert is_visible("projects/p/connections/blog", "connection.yaml")
    assert not is_visible("projects/p/connections/blog", ".env")
    assert not is_visible("projects/p/connections/blog", "data")
    assert not is_visible("", ".git")
