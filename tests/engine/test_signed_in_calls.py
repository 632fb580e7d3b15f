import base64
import json
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.engine.provider import ENDS, REFRESH, TOKEN, Provider, told

from habilis.engine.accounts import AccountOrder, add_account, allow_private, remove_account, show_account
from habilis.engine.actions import activity_log
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.installs import install, plan_install
from habilis.engine.keeping import KeptAlive, keep_alive
from habilis.engine.offer import offer_tools
from habilis.engine.resolve import CallOrder, key_file, key_path
from habilis.engine.workspace import open_workspace
from habilis.errors import NeedsReconnect, SecretMissing, SignInFailed
from habilis.records import stamp

MANIFEST = """\
id: notes
name: Notes
version: 0.1.0
summary: Keeps notes.
transport: http
auth:
  - {{ env: X_SITE, label: Site, secret: false }}
  - {{ env: X_TOKEN, label: Token, optional: true }}
{auth}
hosts: ["${{X_SITE}}"]
connect:
{connect}
defaults: {{ base: "${{X_SITE}}", headers: {{ Authorization: "Bearer ${{X_TOKEN}}" }} }}
tools:
  - name: add_note
    label: Adding
    description: Adds a note.
    role: manage
    input: {{ type: object, properties: {{ text: {{ type: string }} }}, required: [text] }}
    request: {{ method: POST, url: /notes, json: {{ text: "{{{{text}}}}" }} }}
"""
OAUTH2 = """\
  flow: oauth2
  label: Connect
  authorize_url: "${X_SITE}/authorize"
  token_url: "${X_SITE}/token"
  client_id: client-1
  token_env: X_TOKEN
  refresh_env: X_REFRESH
"""
SERVICE_ACCOUNT = """\
  flow: service_account
  label: Service account
  key_file: X_KEY_FILE
  token_url: "${X_SITE}/token"
  scopes: [notes]
  token_env: X_TOKEN
"""
CLIENT_CREDENTIALS = """\
  flow: client_credentials
  label: Application
  token_url: "${X_SITE}/token"
  client_id: "${X_ID}"
  client_secret: "${X_SECRET}"
  token_env: X_TOKEN
"""
SESSION = """\
  flow: session
  label: User and password
  request: { method: POST, url: "${X_SITE}/token", form: { user: "${X_ID}", password: "${X_SECRET}" } }
  token: /access_token
  refresh: /refresh_token
  expires: /expires_in
  token_env: X_TOKEN
  refresh_env: X_REFRESH
  refresh_request: { method: POST, url: "${X_SITE}/token", form: { refresh_token: "${X_REFRESH}" } }
"""


def keys_of(*names):
    return "\n".join(f"  - {{ env: {name}, label: {name}, optional: true }}" for name in names)


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def notes(world, provider, tmp_path):
    """Install the ability with a way to sign in, and add an account with these keys."""

    def make(connect, auth="", **keys):
        folder = tmp_path / "notes"
        folder.mkdir()
        (folder / "extension.yaml").write_text(MANIFEST.format(connect=connect, auth=auth))
        install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
        order = AccountOrder(project="acme", ability="notes", keys={"X_SITE": provider.url(""), **keys})
        account = add_account(world.home, order, actor="tests", now=world.clock())
        allow_private(world.home, "acme", account.id, provider.place, actor="tests")
        return open_workspace(world.home, world.home.open(), "acme").accounts[account.id]

    return make


@pytest.fixture
def signed_in(world, provider, notes):
    """An account that is signed in by OAuth, its token run out so many seconds ago."""

    def make(ago_s=60):
        account = notes(OAUTH2)
        ends = stamp(world.clock() - timedelta(seconds=ago_s))
        key_file(world.home, account).set({TOKEN: provider.access, REFRESH: provider.refresh, ENDS: ends})
        return account

    return make


def add_note(world):
    order = CallOrder(project="acme", tool="add_note", arguments={"text": "hello"})
    return call_tool(world.home, order, world.outside, actor="agent")


def log_of(world, account):
    return activity_log(world.home, account).entries()


def test_an_action_goes_out_with_a_token_that_was_renewed_for_it(world, provider, signed_in):
    account = signed_in()

    assert add_note(world).text

    assert provider.used == ["access-1-of-the-account"]
    assert key_file(world.home, account).load()[REFRESH] == "refresh-1-of-the-account"


def test_the_body_of_an_action_is_sent_unchanged_with_the_token_that_was_renewed_on_the_way(world, provider, signed_in):
    account = signed_in(ago_s=-3600)
    provider.end_token()

    add_note(world)

    sent = [
        (seen.headers["authorization"], json.loads(seen.body)) for seen in provider.requests if seen.target != "/token"
    ]
    assert sent == [
        ("Bearer access-0-of-the-account", {"text": "hello"}),
        ("Bearer access-1-of-the-account", {"text": "hello"}),
    ]
    (action,) = log_of(world, account)
    assert action.outcome == "done"


def test_an_account_that_has_to_be_signed_in_again_says_so_wherever_it_is_shown(world, provider, signed_in):
    account = signed_in()
    provider.is_over = True

    with pytest.raises(NeedsReconnect, match="signed in again"):
        add_note(world)

    health = show_account(world.home, "acme", account.id).health
    (tool,) = [tool for tool in offer_tools(world.home, "acme") if tool.name == "add_note"]
    assert (health.state, health.since) == ("needs_sign_in", "2026-11-30T12:00:00Z")
    assert health.why in tool.needs
    assert tool.needs.startswith("a new sign-in: invalid_grant")
    assert provider.used == []


def test_what_was_known_of_a_sign_in_goes_with_the_account(world, provider, signed_in):
    account = signed_in()
    provider.is_over = True
    with pytest.raises(NeedsReconnect):
        add_note(world)

    remove_account(world.home, "acme", account.id, actor="tests")

    left = [path for path in world.home.private.rglob(f"{account.id}*") if ".git" not in path.parts]
    assert [path for path in left if path.suffix == ".json"] == []


def test_a_rehearsal_gets_no_token(world, provider, notes):
    notes(CLIENT_CREDENTIALS, keys_of("X_ID", "X_SECRET"), X_ID="id-1", X_SECRET="secret-of-the-app")
    order = CallOrder(project="acme", tool="add_note", arguments={"text": "hello"})

    (request,) = rehearse_call(world.home, order, world.outside)

    assert request["headers"]["Authorization"] == "Bearer <X_TOKEN>"
    assert provider.connections == 0


def test_a_rehearsal_masks_the_token_that_is_there(world, provider, signed_in):
    signed_in()
    order = CallOrder(project="acme", tool="add_note", arguments={"text": "hello"})

    (request,) = rehearse_call(world.home, order, world.outside)

    assert provider.access not in str(request)
    assert provider.connections == 0


def test_an_applications_own_token_is_kept_in_memory_for_as_long_as_it_lasts(world, provider, notes):
    account = notes(CLIENT_CREDENTIALS, keys_of("X_ID", "X_SECRET"), X_ID="id-1", X_SECRET="secret-of-the-app")
    provider.answers = [lambda _: provider.renewed()] * 3
    provider.rotates = False

    add_note(world)
    add_note(world)
    world.clock.move(timedelta(seconds=3590))
    add_note(world)

    assert provider.used == ["access-1-of-the-account", "access-1-of-the-account", "access-2-of-the-account"]
    assert [asked["grant_type"] for asked in provider.asked] == ["client_credentials"] * 2
    assert "access-" not in key_path(world.home, account).read_text()


def test_an_applications_token_that_is_not_taken_is_got_anew_once(world, provider, notes):
    notes(CLIENT_CREDENTIALS, keys_of("X_ID", "X_SECRET"), X_ID="id-1", X_SECRET="secret-of-the-app")
    provider.answers = [lambda _: provider.renewed()] * 2
    provider.rotates = False
    add_note(world)
    provider.end_token()

    add_note(world)

    assert provider.used[1:] == ["access-1-of-the-account", "access-2-of-the-account"]
    assert len(provider.asked) == 2


def test_another_secret_gets_another_token(world, provider, notes):
    account = notes(CLIENT_CREDENTIALS, keys_of("X_ID", "X_SECRET"), X_ID="id-1", X_SECRET="secret-of-the-app")
    provider.answers = [lambda _: provider.renewed()] * 2
    provider.rotates = False
    add_note(world)

    key_file(world.home, account).set({"X_SECRET": "another-secret"})
    add_note(world)

    secrets = [
        base64.b64decode(seen.headers["authorization"].removeprefix("Basic "))
        for seen in provider.requests
        if seen.target == "/token"
    ]
    assert secrets == [b"id-1:secret-of-the-app", b"id-1:another-secret"]


@pytest.fixture
def key_json(tmp_path):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    path = tmp_path / "service-account.json"
    path.write_text(json.dumps({"client_email": "robot@notes.example", "private_key": pem}))
    return path


def test_a_service_accounts_token_is_minted_kept_in_memory_and_minted_again(world, provider, notes, key_json):
    account = notes(SERVICE_ACCOUNT, keys_of("X_KEY_FILE"), X_KEY_FILE=str(key_json))
    provider.answers = [lambda _: provider.renewed()] * 3
    provider.rotates = False

    add_note(world)
    add_note(world)
    world.clock.move(timedelta(seconds=3590))
    add_note(world)

    assert provider.used == ["access-1-of-the-account", "access-1-of-the-account", "access-2-of-the-account"]
    assert "access-" not in key_path(world.home, account).read_text()


def test_a_service_accounts_file_that_is_not_there_is_told(world, provider, notes, tmp_path):
    notes(SERVICE_ACCOUNT, keys_of("X_KEY_FILE"), X_KEY_FILE=str(tmp_path / "missing.json"))

    with pytest.raises(SecretMissing, match="X_KEY_FILE names cannot be read"):
        add_note(world)

    assert provider.connections == 0


def test_a_clock_that_is_off_is_told_with_how_far_where_a_statement_is_refused(world, provider, notes, key_json):
    account = notes(SERVICE_ACCOUNT, keys_of("X_KEY_FILE"), X_KEY_FILE=str(key_json))
    refusal = {"error": "invalid_grant", "error_description": "Token used too early"}
    provider.answers = [told(400, refusal, Date="Mon, 30 Nov 2026 11:55:00 GMT")]

    with pytest.raises(SignInFailed, match="Token used too early") as caught:
        add_note(world)

    assert "300 s ahead" in caught.value.hint
    assert show_account(world.home, "acme", account.id).health.state == "ok"


def test_a_session_is_begun_kept_and_renewed(world, provider, notes):
    account = notes(SESSION, keys_of("X_ID", "X_SECRET"), X_ID="ann", X_SECRET="password-of-ann")
    provider.answers = [lambda _: provider.renewed()] * 2

    add_note(world)
    add_note(world)
    world.clock.move(timedelta(seconds=3590))
    add_note(world)

    assert provider.asked == [
        {"user": "ann", "password": "password-of-ann"},
        {"refresh_token": "refresh-1-of-the-account"},
    ]
    assert key_file(world.home, account).load()[TOKEN] == "access-2-of-the-account"


def test_the_daily_job_renews_what_would_lapse_and_nothing_else(world, provider, signed_in):
    account = signed_in(ago_s=-86_400)

    assert keep_alive(world.home, world.outside) == [KeptAlive(project="acme", account=account.id)]

    assert key_file(world.home, account).load()[REFRESH] == "refresh-1-of-the-account"
    provider.fields = {"expires_in": 60 * 86_400}
    world.clock.move(timedelta(hours=1))
    keep_alive(world.home, world.outside)
    assert keep_alive(world.home, world.outside, project="acme") == []


def test_the_daily_job_tells_which_account_has_to_be_signed_in_again(world, provider, signed_in):
    account = signed_in()
    provider.is_over = True

    (kept,) = keep_alive(world.home, world.outside)

    assert (kept.account, "has to be signed in again" in kept.fault) == (account.id, True)
    assert show_account(world.home, "acme", account.id).health.state == "needs_sign_in"


def test_the_daily_job_renews_a_token_of_unknown_end_once_a_week(world, provider, signed_in):
    account = signed_in()
    key_file(world.home, account).remove([ENDS])
    world.clock.moment = world.clock.moment.fromtimestamp(
        key_path(world.home, account).stat().st_mtime, world.clock.moment.tzinfo
    )

    before = keep_alive(world.home, world.outside)
    world.clock.move(timedelta(days=8))

    assert before == []
    assert keep_alive(world.home, world.outside) == [KeptAlive(project="acme", account=account.id)]
