import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.engine.authority import FLOW, TOKENS, Provider, furnish
from tests.upstream import answer

from habilis.engine.accounts import remove_account
from habilis.engine.connecting import begin, finish
from habilis.errors import HabilisError, RedirectRefused, SignInDenied, SignInExpired, SignInFailed
from habilis.home.keyfile import KeyFile

HERE = "https://habilis.example"


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def notes(world, provider, tmp_path):
    """The world with an account of the provider; its ability's flow can be written anew."""
    world.outside = replace(world.outside, public_url=HERE)
    furnish(world.home, tmp_path / "notes", provider, now=world.clock())
    return world


def rewrite(world, more="", *, flow=FLOW):
    """Let the ability's way to sign in say more, or something else."""
    manifest = world.home.private / "abilities/notes/extension.yaml"
    head, _, tail = manifest.read_text(encoding="utf-8").partition("connect:\n")
    hosts = tail[tail.index("hosts:") :]
    indented = "".join(f"  {line}\n" for line in (flow + more).splitlines())
    manifest.write_text(f"{head}connect:\n{indented}{hosts}", encoding="utf-8")


def start(world):
    return begin(world.home, "acme", "notes", world.outside)


def end(world, pending, query):
    return finish(world.home, pending, query, world.outside)


def keys(world):
    return dict(KeyFile(world.home.private / "projects/acme/connections/notes/.env").load())


def form(request):
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


def test_a_sign_in_stores_the_tokens_and_when_they_run_out(notes, provider):
    pending = start(notes)

    connected = end(notes, pending, provider.agree(pending.page))

    assert (connected.project, connected.account, connected.notes) == ("acme", "notes", ())
    assert keys(notes) == {
        "NOTES_SITE": provider.url,
        "NOTES_TOKEN": TOKENS["access_token"],
        "NOTES_TOKEN_EXPIRES_AT": "2026-11-30T13:00:00Z",
        "NOTES_REFRESH": TOKENS["refresh_token"],
    }


def test_every_page_has_a_challenge_and_no_verifier_comes_twice(notes):
    begun = [start(notes) for _ in range(50)]

    queries = [parse_qs(urlsplit(pending.page).query) for pending in begun]
    assert {query["code_challenge_method"][0] for query in queries} == {"S256"}
    assert len({query["code_challenge"][0] for query in queries}) == 50
    assert len({pending.verifier for pending in begun}) == 50
    assert min(len(pending.verifier) for pending in begun) >= 43


def test_a_provider_that_refuses_pkce_gets_none(notes, provider):
    rewrite(notes, 'pkce: false\nclient_secret: "${NOTES_PASSWORD}"\n')
    provider.replies["/token"] = TOKENS

    pending = start(notes)
    end(notes, pending, provider.agree(pending.page))

    assert "code_challenge" not in pending.page
    assert "code_verifier" not in form(provider.seen("/token")[0])


def test_a_code_of_another_sign_in_is_refused_by_the_provider_and_nothing_is_stored(notes, provider):
    mine, theirs = start(notes), start(notes)
    stolen = provider.agree(theirs.page)["code"]

    with pytest.raises(SignInFailed, match="invalid_grant"):
        end(notes, mine, {**provider.agree(mine.page), "code": stolen})

    assert keys(notes) == {"NOTES_SITE": provider.url}


def test_a_return_after_ten_minutes_is_late(notes, provider):
    pending = start(notes)
    notes.clock.move(timedelta(minutes=10, seconds=1))

    with pytest.raises(SignInExpired):
        end(notes, pending, provider.agree(pending.page))

    assert provider.seen("/token") == []


@pytest.mark.parametrize("iss", [None, "https://a.test", "https://h.example/"])
def test_another_issuer_gets_no_code(notes, provider, iss):
    rewrite(notes, "issuer: https://h.example\n")
    pending = start(notes)

    with pytest.raises(SignInFailed, match="another provider"):
        end(notes, pending, provider.agree(pending.page, **({"iss": iss} if iss else {})))

    assert provider.seen("/token") == []


def test_the_issuer_that_was_asked_may_answer(notes, provider):
    rewrite(notes, "issuer: https://h.example\n")
    pending = start(notes)

    end(notes, pending, provider.agree(pending.page, iss="https://h.example"))

    assert keys(notes)["NOTES_TOKEN"] == TOKENS["access_token"]


@pytest.mark.parametrize(
    "query",
    [
        {"code": ["c-1", "c-2"]}, {"code": ["c-1"], "error": ["access_denied"]}, {"code": ["x" * 100_000]},
        {"code": [""]}, {},
    ],
)  # fmt: skip
def test_an_odd_return_reaches_no_token_address(notes, provider, query):
    pending = start(notes)

    with pytest.raises(SignInFailed):
        end(notes, pending, {"state": [pending.state], **query})

    assert provider.seen("/token") == []
    assert keys(notes) == {"NOTES_SITE": provider.url}


def test_a_no_leaves_the_keys_as_they_were(notes, provider):
    first = start(notes)
    end(notes, first, provider.agree(first.page))
    before = keys(notes)
    pending = start(notes)

    with pytest.raises(SignInDenied):
        end(notes, pending, {"state": [pending.state], "error": ["access_denied"]})

    assert keys(notes) == before


@pytest.mark.parametrize(
    "reply",
    [
        answer(200, body=b"<html>"), answer(200, body=b'{"error":"bad_verification_code"}'),
        answer(200, body=b'{"access_token":""}'), answer(200, body=b'{"access_token":["a"]}'),
        answer(200, body=b'{"access_token":"a\\nb"}'), answer(200, body=b"x" * 5_000_000), answer(500),
        answer(302, headers=(("Location", "https://evil.test/"),)),
    ],
)  # fmt: skip
def test_an_answer_without_a_token_leaves_the_keys_as_they_were(notes, provider, reply):
    first = start(notes)
    end(notes, first, provider.agree(first.page))
    before, provider.replies["/token"] = keys(notes), reply
    pending = start(notes)

    with pytest.raises(HabilisError):
        end(notes, pending, provider.agree(pending.page))

    assert keys(notes) == before


def test_a_token_address_that_sends_on_is_not_followed(notes, provider):
    provider.replies["/token"] = answer(302, headers=(("Location", f"{provider.url}/elsewhere"),))
    pending = start(notes)

    with pytest.raises(RedirectRefused):
        end(notes, pending, provider.agree(pending.page))

    assert provider.seen("/elsewhere") == []


def test_an_account_removed_while_the_code_is_exchanged_does_not_come_back(notes, provider):
    pending = start(notes)

    def remove(seen):
        remove_account(notes.home, "acme", "notes", actor="tests")
        return TOKENS

    provider._tokens = remove

    with pytest.raises(SignInFailed, match="cancelled"):
        end(notes, pending, provider.agree(pending.page))

    assert not (notes.home.private / "projects/acme/connections/notes").exists()


def test_fewer_permissions_than_asked_for_are_told_and_kept_until_they_are_granted(notes, provider):
    provider.replies["/token"] = {**TOKENS, "scope": "read"}
    pending = start(notes)

    connected = end(notes, pending, provider.agree(pending.page))
    narrow = keys(notes)["NOTES_TOKEN_MISSING_SCOPES"]
    provider.replies["/token"] = {**TOKENS, "scope": "read write"}
    again = start(notes)
    whole = end(notes, again, provider.agree(again.page))

    assert connected.notes == ("fewer permissions than were asked for: write missing",)
    assert narrow == "write"
    assert whole.notes == ()
    assert not keys(notes)["NOTES_TOKEN_MISSING_SCOPES"]


def test_values_are_learned_from_the_callback_and_the_token_answer_all_or_none(notes, provider):
    rewrite(notes, "returns: { NOTES_TEAM: 'callback:team', NOTES_USER: 'token:/user/id' }\n")
    provider.replies["/token"] = {**TOKENS, "user": {"id": 17}}
    lacking, pending = start(notes), start(notes)

    with pytest.raises(SignInFailed, match="'team'"):
        end(notes, lacking, provider.agree(lacking.page))
    between = keys(notes)
    end(notes, pending, provider.agree(pending.page, team="blue"))

    assert between == {"NOTES_SITE": provider.url}
    assert (keys(notes)["NOTES_TEAM"], keys(notes)["NOTES_USER"]) == ("blue", "17")


def test_values_are_learned_by_a_request_with_the_new_token(notes, provider):
    rewrite(
        notes,
        "afterwards:\n"
        '  request: { method: GET, url: "${NOTES_SITE}/me", headers: { Authorization: "Bearer ${NOTES_TOKEN}" } }\n'
        "  returns: { NOTES_TEAM: /teams/0 }\n",
    )
    provider.replies["/me"] = {"teams": ["blue"]}
    pending = start(notes)

    end(notes, pending, provider.agree(pending.page))

    assert keys(notes)["NOTES_TEAM"] == "blue"
    assert provider.seen("/me")[0].headers["authorization"] == f"Bearer {TOKENS['access_token']}"


REGISTERING = FLOW.replace("client_id: app-1\n", 'client_id: "${NOTES_ID}"\n') + (
    "register:\n"
    '  url: "${NOTES_SITE}/register"\n'
    '  body: { client_name: "{{app_name}}", redirect_uris: ["{{redirect_uri}}"] }\n'
    "  client_id: /client_id\n"
    "  client_id_env: NOTES_ID\n"
)


def test_an_application_registers_once_for_each_callback(notes, provider):
    rewrite(notes, flow=REGISTERING)
    provider.replies["/register"] = {"client_id": "new-1"}
    pending = start(notes)
    before = keys(notes)
    end(notes, pending, provider.agree(pending.page))

    start(notes)
    once = len(provider.seen("/register"))
    begin(notes.home, "acme", "notes", replace(notes.outside, public_url="https://moved.example"))

    assert before == {"NOTES_SITE": provider.url}  # what is in use stays until the new sign-in is whole
    assert keys(notes)["NOTES_ID"] == "new-1"
    assert form(provider.seen("/token")[0])["client_id"] == "new-1"
    assert json.loads(provider.seen("/register")[0].body)["redirect_uris"] == [f"{HERE}/api/connect/callback"]
    assert (once, len(provider.seen("/register"))) == (1, 2)


def test_of_two_ends_at_once_each_stores_a_whole_set(notes, provider):
    begun = [start(notes) for _ in range(8)]
    returns = [provider.agree(pending.page) for pending in begun]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: end(notes, *pair), zip(begun, returns, strict=True)))

    assert keys(notes).keys() == {"NOTES_SITE", "NOTES_TOKEN", "NOTES_TOKEN_EXPIRES_AT", "NOTES_REFRESH"}


def test_nothing_of_a_sign_in_is_shown_by_what_waits(notes):
    pending = start(notes)

    assert pending.state not in repr(pending)
    assert pending.verifier not in repr(pending)
