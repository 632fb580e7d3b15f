import json
import sys
import threading
import webbrowser
from datetime import UTC, datetime
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import click
import pytest
from tests.engine.authority import TOKENS, Provider, furnish
from tests.upstream import answer

from habilis.home.worktree import WorkTreeHome

CONNECT = ("accounts", "connect", "acme", "notes")
BROWSER = """\
import sys, urllib.request
from pathlib import Path
with urllib.request.urlopen(sys.argv[1], timeout=20) as page:
    Path(sys.argv[2]).write_text(page.url + "\\n" + page.read().decode())
"""
SESSION = """\
flow: session
request:
  method: POST
  url: "${NOTES_SITE}/login"
  json: { user: "${NOTES_USER}", password: "${NOTES_PASSWORD}" }
token: /jwt
token_env: NOTES_TOKEN
"""
CREDENTIALS = """\
flow: client_credentials
token_url: "${NOTES_SITE}/token"
client_id: app-1
client_secret: "${NOTES_PASSWORD}"
token_env: NOTES_TOKEN
"""
DEVICE = """\
label: Connect
flow: device
needs: [NOTES_SITE]
device_url: "${NOTES_SITE}/device"
token_url: "${NOTES_SITE}/token"
client_id: app-1
token_env: NOTES_TOKEN
"""


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def notes(shell, provider, tmp_path):
    """The shell, with an account of the provider that nobody has signed in yet."""
    return sign_up(shell, provider, tmp_path)


def sign_up(shell, provider, tmp_path, **fields):
    home = WorkTreeHome(shell.folder)
    furnish(home, tmp_path / "notes", provider, now=datetime.now(UTC), **fields)
    home.close()
    return shell


@pytest.fixture
def browser(monkeypatch, tmp_path):
    """A browser that follows where it is sent; the file that it leaves says where that ended and what it read."""
    script, left = tmp_path / "browser.py", tmp_path / "page.txt"
    script.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s {left}")
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    monkeypatch.setattr(webbrowser, "_browsers", {})
    return left


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.setenv("BROWSER", "")
    monkeypatch.setattr(webbrowser, "_tryorder", [])


def page_of(outcome):
    """The address that a command printed for the person to open."""
    return next(line.strip() for line in outcome.err.splitlines() if line.strip().startswith("http"))


def test_a_browser_opens_and_comes_back_to_this_machine(notes, browser):
    outcome = notes.ok(*CONNECT)

    url, _, text = browser.read_text().partition("\n")
    assert "Notes is signed in." in outcome.out
    assert f"NOTES_TOKEN={TOKENS['access_token']}\n" in notes.key_text("notes")
    assert text == "Notes is signed in. You can close this page."
    assert (urlsplit(url).hostname, urlsplit(url).query) == ("127.0.0.1", "")
    assert TOKENS["access_token"] not in outcome.out + outcome.err


def test_the_browser_is_told_what_went_wrong(notes, browser, provider):
    provider.replies["/token"] = {"error": "invalid_grant"}

    outcome = notes.run(*CONNECT)

    assert outcome.code == 1
    assert "invalid_grant" in outcome.err
    assert browser.read_text().partition("\n")[2] == "Refused the code: invalid_grant. See the terminal."
    assert "NOTES_TOKEN" not in notes.key_text("notes")


def test_an_account_is_added_where_an_ability_is_named(notes, browser):
    notes.ok("accounts", "rm", "acme", "notes", "--yes")

    outcome = notes.run(*CONNECT)

    assert "Added the account notes to acme." in outcome.err
    assert "the sign-in needs NOTES_SITE first" in outcome.err


def test_what_is_neither_an_account_nor_an_ability_is_not_found(notes):
    assert "neither an account nor an ability 'nobody'" in notes.run("accounts", "connect", "acme", "nobody").err


def test_an_ability_of_typed_keys_has_no_sign_in_and_gets_no_account(notes, tmp_path):
    outcome = notes.run("accounts", "connect", "acme", "notes", "--way", "redirect")

    assert "offers no sign-in by 'redirect'" in outcome.err


def test_a_dry_run_sends_nothing(notes, provider):
    outcome = notes.ok(*CONNECT, "--dry-run")

    assert "notes would be signed in by oauth2; a dry run" in outcome.out
    assert provider.seen("/authorize") == []


class Stay(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def test_without_a_browser_the_address_where_it_ended_is_pasted(notes, provider, monkeypatch):
    said, tell = [], click.echo

    def paste(*_, **__):
        (page,) = (line.strip() for text in said for line in text.splitlines() if line.strip().startswith("http"))
        return "http://127.0.0.1:9/api/connect/callback?" + urlencode(provider.agree(page), doseq=True)

    monkeypatch.setattr(click, "echo", lambda text="", **more: (said.append(str(text)), tell(text, **more)))
    monkeypatch.setattr(click, "prompt", paste)

    notes.ok(*CONNECT, "--no-browser")

    assert f"NOTES_TOKEN={TOKENS['access_token']}\n" in notes.key_text("notes")


@pytest.mark.parametrize(
    ("pasted", "complaint"),
    [
        ("https://evil.test/?code=c&state=other", "this address belongs to another sign-in"),
        ("https://evil.test/?code=c", "this address belongs to another sign-in"),
        ("https://evil.test/?code=c&state=a&state=b", "this address belongs to another sign-in"),
        ("nothing", "this is no address that a sign-in ends at"),
    ],
)
def test_an_address_of_something_else_ends_nothing(notes, provider, pasted, complaint):
    outcome = notes.run(*CONNECT, "--no-browser", stdin=f"{pasted}\n".encode())

    assert complaint in outcome.err
    assert provider.seen("/token") == []


@pytest.mark.usefixtures("no_browser")
def test_where_there_is_no_browser_the_page_is_printed_and_the_port_listens(notes, provider, monkeypatch):
    """A person opens the printed page elsewhere; strangers who call the port meanwhile end nothing."""
    seen = {}

    def person(page):
        here = f"http://{urlsplit(page).query.partition('redirect_uri=http%3A%2F%2F')[2].partition('%2Fapi')[0]}"
        here = here.replace("%3A", ":")
        for path in ("/", "/api/connect/callback?code=x&state=y", "/api/connect/callback?code=x"):
            try:
                build_opener(Stay).open(f"{here}{path}", timeout=10)
            except OSError as error:
                seen[path] = error.code
        build_opener().open(page, timeout=20).read()

    tell = click.echo

    def echo(text="", **more):
        tell(text, **more)
        if "Open this page" in str(text):
            page = next(line.strip() for line in str(text).splitlines() if line.strip().startswith("http"))
            threading.Thread(target=person, args=(page,), daemon=True).start()

    monkeypatch.setattr(click, "echo", echo)

    notes.ok(*CONNECT)

    assert seen == {
        "/": 404,
        "/api/connect/callback?code=x&state=y": 400,
        "/api/connect/callback?code=x": 400,
    }
    assert f"NOTES_TOKEN={TOKENS['access_token']}\n" in notes.key_text("notes")


def test_a_port_that_another_program_has_is_told(notes, provider):
    outcome = notes.run(*CONNECT, "--port", urlsplit(provider.url).port)

    assert "cannot be listened on" in outcome.err


def test_keys_alone_are_tried_once(shell, provider, tmp_path):
    sign_up(shell, provider, tmp_path, flow=SESSION)
    for name, value in (("NOTES_USER", b"anna"), ("NOTES_PASSWORD", b"p-123456")):
        shell.ok("accounts", "set", "acme", "notes", name, stdin=value)
    provider.replies["/login"] = answer(401, body=b'{"message":"wrong password"}')
    wrong = shell.run(*CONNECT)
    provider.replies["/login"] = {"jwt": "ses-0123456789"}

    right = shell.ok(*CONNECT)

    assert "wrong password" in wrong.err
    assert "Notes is signed in." in right.out
    assert "NOTES_TOKEN=ses-0123456789\n" in shell.key_text("notes")
    assert json.loads(provider.seen("/login")[0].body) == {"user": "anna", "password": "p-123456"}


def test_keys_whose_token_is_never_stored_are_tried_and_nothing_is_stored(shell, provider, tmp_path):
    sign_up(shell, provider, tmp_path, flow=CREDENTIALS)
    shell.ok("accounts", "set", "acme", "notes", "NOTES_PASSWORD", stdin=b"s-123456")
    before = shell.key_text("notes")
    provider.replies["/token"] = {"error": "invalid_client", "error_description": "no such app"}
    wrong = shell.run(*CONNECT)
    provider.replies["/token"] = TOKENS

    right = shell.ok(*CONNECT)

    assert "invalid_client: no such app" in wrong.err
    assert "Notes is signed in." in right.out
    assert shell.key_text("notes") == before


def test_a_code_is_shown_for_another_device(shell, provider, tmp_path):
    sign_up(shell, provider, tmp_path, flow=DEVICE)
    provider.replies["/device"] = {
        "device_code": "dev-0123456789",
        "user_code": "ABCD-EFGH",
        "verification_uri": f"{provider.url}/activate",
        "interval": 1,
    }
    provider.replies["/token"] = TOKENS

    outcome = shell.ok(*CONNECT, "--no-browser")

    assert "Your code: ABCD-EFGH" in outcome.err
    assert page_of(outcome) == f"{provider.url}/activate"
    assert f"NOTES_TOKEN={TOKENS['access_token']}\n" in shell.key_text("notes")
