import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import BadInput
from habilis.home.paths import checked_path
from habilis.names import (
    RESERVED_IDS,
    RESERVED_KEYS,
    ability_id,
    account_id,
    asset_ref,
    key_name,
    project_slug,
    source_name,
    tool_name,
)

DASHED = [ability_id, project_slug, account_id]
UNDERSCORED = [tool_name, source_name]
NEVER_A_NAME = [
    "", ".", "..", "a/b", "a\\b", "A", "aB", "-rf", "1a", "a b", " a", "a ", "a\n", "\na", "a\0", "a.b", ".git", "é",
    "\u0430cme", "a\u200db", "\uff41", "a:b", "~a", "$(id)", "{{a}}",
]  # fmt: skip


@pytest.mark.parametrize("checker", DASHED)
@pytest.mark.parametrize("text", ["a", "wordpress", "lp-product-ad-images", "a1", "a-", "a--b", "a" * 63])
def test_an_id_is_lower_case_letters_figures_and_dashes_from_a_letter(checker, text):
    assert checker(text) == text


@pytest.mark.parametrize("checker", DASHED)
@pytest.mark.parametrize("text", [*NEVER_A_NAME, "a_b", "a" * 64, "a" * 200])
def test_anything_else_is_no_id(checker, text):
    with pytest.raises(BadInput) as caught:
        checker(text)

    assert caught.value.hint == "use a-z, 0-9 and dashes, from a letter: ^[a-z][a-z0-9-]{0,62}$"


@pytest.mark.parametrize("checker", DASHED)
@pytest.mark.parametrize("text", ["con", "nul", "com1", "lpt9", "git", "kiqr-render", "habilis-render"])
def test_a_reserved_name_is_refused_as_that(checker, text):
    with pytest.raises(BadInput, match=f"'{text}' is a reserved name"):
        checker(text)


def test_letters_that_only_look_like_latin_ones_are_shown_for_what_they_are():
    with pytest.raises(BadInput) as caught:
        ability_id("\u0430cme")

    assert r"\u0430cme" in caught.value.message


@pytest.mark.parametrize("checker", [*DASHED, *UNDERSCORED, key_name, asset_ref])
def test_a_long_text_is_not_repeated_in_the_message(checker):
    with pytest.raises(BadInput) as caught:
        checker("x" * 5000)

    assert len(caught.value.message) < 100


@given(st.from_regex(r"[a-z][a-z0-9-]{0,62}", fullmatch=True) | st.sampled_from(sorted(RESERVED_IDS)))
def test_every_id_is_a_folder_that_a_home_may_hold(text):
    try:
        name = ability_id(text)
    except BadInput:
        return

    assert checked_path(f"abilities/{name}/SKILL.md")


@given(st.text(max_size=70))
def test_a_text_that_passes_is_plain_ascii_without_anything_a_shell_or_path_reads(text):
    for checker in (*DASHED, *UNDERSCORED):
        try:
            name = checker(text)
        except BadInput:
            continue
        assert name == text
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("checker", UNDERSCORED)
@pytest.mark.parametrize("text", ["a", "publish_article", "a_", "a1", "a" * 64, "con"])
def test_a_tool_is_lower_case_letters_figures_and_underscores_from_a_letter(checker, text):
    assert checker(text) == text


@pytest.mark.parametrize("checker", UNDERSCORED)
@pytest.mark.parametrize("text", [*NEVER_A_NAME, "a-b", "_a", "Publish", "pubIish", "a" * 65, "a" * 200])
def test_anything_else_is_no_tool(checker, text):
    with pytest.raises(BadInput) as caught:
        checker(text)

    assert caught.value.hint == "use a-z, 0-9 and _, from a letter: ^[a-z][a-z0-9_]{0,63}$"


@pytest.mark.parametrize("text", ["A", "WP_SITE", "GA4_TOKEN", "X_", "PATHS", "LD", "GITHUB_TOKEN", "A" * 64])
def test_a_key_is_capitals_figures_and_underscores_from_a_letter(text):
    assert key_name(text) == text


@pytest.mark.parametrize(
    "text", ["", "A B", "A=B", "a", "no", "1A", "_A", "A-B", "A.B", "A\n", "${A}", "\u0410", "A" * 65]
)
def test_anything_else_is_no_key(text):
    with pytest.raises(BadInput, match="is no key name"):
        key_name(text)


@pytest.mark.parametrize(
    "text", [*sorted(RESERVED_KEYS), "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "GIT_SSH_COMMAND", "HABILIS_TOKENS"]
)
def test_a_key_never_steers_how_a_program_starts(text):
    with pytest.raises(BadInput, match="changes how programs start"):
        key_name(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("article/hello-world", ("article", "hello-world")),
        ("post/2026-11-30", ("post", "2026-11-30")),
        ("a/" + "b" * 63, ("a", "b" * 63)),
    ],
)
def test_an_asset_is_a_type_and_an_id(text, parts):
    assert asset_ref(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "", "article", "/", "article/", "/hello", "a/b/c", "a/../b", "../a", "article/Hello", "article/-x", "a/b\n",
        "article/con", "aux/hello", "article/.env", "article/" + "b" * 64,
    ],
)  # fmt: skip
def test_anything_else_is_no_asset(text):
    with pytest.raises(BadInput) as caught:
        asset_ref(text)

    assert caught.value.hint == "name it <type>/<id>, as article/hello-world"


@given(st.from_regex(r"[a-z0-9-]{1,6}/[a-z0-9-]{1,6}", fullmatch=True))
def test_every_asset_is_a_folder_that_a_home_may_hold(text):
    try:
        kind, name = asset_ref(text)
    except BadInput:
        return

    assert checked_path(f"projects/acme/assets/{kind}/{name}/asset.md")
