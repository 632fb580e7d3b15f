"""A wiki that is edited in four requests: a session of cookies and tokens for one call, and errors inside a 200."""

import json

import httpx
import pytest

from habilis.errors import UpstreamError

TEXT = "== Grüße ==\nA page & more, written at once. 🙂"


@pytest.fixture
def editor(studio, mediawiki):
    """The studio, with a bot of the real wiki."""
    keys = {"MW_SITE": mediawiki.url, "MW_USER": mediawiki.user, "MW_PASSWORD": mediawiki.password}
    return studio, studio.add("mediawiki", keys, private=mediawiki.url)


def read(mediawiki, title: str) -> str:
    page = {"action": "parse", "page": title, "prop": "wikitext", "format": "json", "formatversion": "2"}
    return httpx.get(mediawiki.api, params=page, timeout=60, trust_env=False).json()["parse"]["wikitext"]


def test_a_page_is_written_in_a_session_that_lives_for_one_call(editor, mediawiki):
    studio, account = editor

    done = studio.call("edit_page", title="Grüße & more", text=TEXT, summary="From a test")

    assert read(mediawiki, "Grüße & more") == TEXT
    assert httpx.get(done.link, timeout=60, trust_env=False).status_code == 200
    (action,) = studio.actions(account)
    assert (action.outcome, action.action.target) == ("done", "Grüße & more")
    assert [step.step for step in action.steps] == ["login", "edit"]


def test_a_second_call_signs_in_anew(editor, mediawiki):
    studio, _ = editor

    for number in (1, 2):
        studio.call("edit_page", title=f"Page {number}", text=f"Number {number}")

    assert [read(mediawiki, f"Page {number}") for number in (1, 2)] == ["Number 1", "Number 2"]


def test_a_no_inside_a_200_is_an_error_in_the_abilitys_words_and_says_what_was_done(editor):
    studio, account = editor
    studio.call("edit_page", title="Only once", text="First")

    with pytest.raises(UpstreamError) as caught:
        studio.call("edit_page", title="only once", text="Second", only_new=True)

    error = caught.value
    assert error.message == "answered 200 with an error: there is a page only once already; done before: login"
    assert error.where == "step 'edit'"
    assert (error.outcome, studio.actions(account)[0].outcome) == ("partial", "partial")


def test_a_wrong_password_ends_the_call_at_its_step_in_the_wikis_words(studio, mediawiki):
    keys = {"MW_SITE": mediawiki.url, "MW_USER": mediawiki.user, "MW_PASSWORD": "0" * 32}
    studio.add("mediawiki", keys, private=mediawiki.url)

    with pytest.raises(UpstreamError) as caught:
        studio.call("edit_page", title="Nobody's", text="x")

    assert caught.value.where == "step 'login'"
    assert "Incorrect username or password" in caught.value.message
    assert caught.value.outcome == "not_sent"


def test_a_list_is_read_to_its_end_page_by_page(editor):
    studio, _ = editor
    titles = [f"Listed {letter}" for letter in "ABC"]
    for title in titles:
        studio.call("edit_page", title=title, text="x")

    listed = studio.call("list_pages", prefix="Listed ")

    assert json.loads(listed.text) == titles
