import json
from datetime import timedelta

import pytest
from tests.signin.talks import BOUNDS, KEYS, NOW, REFRESH, TOKEN, answer, converse, first, form, oauth2, scope

from habilis.errors import HostNotAllowed, NeedsReconnect, SecretMissing, SignInFailed, UpstreamUnavailable
from habilis.manifest.model import ClientCredentialsFlow
from habilis.redaction import clean, recording
from habilis.signin.tokens import client_credentials, exchange_code, read_tokens, refresh
from habilis.templating import compile_text, compile_url

GOOD = {"access_token": "tok-1", "refresh_token": "ref-1", "token_type": "Bearer", "expires_in": 3600}


def exchanged(*answers, of=None, keys=KEYS):
    talk = exchange_code(
        of or oauth2(), "code-1", verifier="v" * 43, redirect_uri="https://here.example/cb", scope=scope(keys),
        bounds=BOUNDS,
    )  # fmt: skip
    return converse(talk, *answers) if answers else first(talk)


def refreshed(*answers, of=None, keys=KEYS):
    talk = refresh(of or oauth2(), "ref-0", scope=scope(keys), bounds=BOUNDS)
    return converse(talk, *answers) if answers else first(talk)


def read(body, status=200, **headers):
    return read_tokens(answer(body, status, **headers), now=NOW)


def test_a_code_is_exchanged_with_the_verifier_and_the_address_of_the_page():
    request = exchanged()

    assert (request.method, request.url) == ("POST", "https://auth.example/token")
    assert form(request) == {
        "grant_type": "authorization_code",
        "code": "code-1",
        "redirect_uri": "https://here.example/cb",
        "code_verifier": "v" * 43,
    }
    assert dict(request.headers)["Accept"] == "application/json"
    assert not request.is_read


def test_a_secret_goes_by_basic_with_its_parts_encoded_before_they_are_joined():
    assert exchanged().basic_auth == ("client-1", "s3%3Acr%2Fet%201")


def test_a_secret_goes_in_the_form_where_the_provider_wants_it_there():
    request = exchanged(of=oauth2(client_auth="post"))

    assert request.basic_auth is None
    assert {name: form(request)[name] for name in ("client_id", "client_secret")} == {
        "client_id": "client-1",
        "client_secret": "s3:cr/et 1",
    }


@pytest.mark.parametrize("auth", ["", "basic", "post"])
def test_a_client_without_a_secret_sends_no_empty_one(auth):
    request = refreshed(of=oauth2(client_auth=auth), keys={"X_CLIENT_ID": "client-1"})

    assert request.basic_auth is None
    assert form(request) == {"grant_type": "refresh_token", "refresh_token": "ref-0", "client_id": "client-1"}


@pytest.mark.parametrize("dialect", [{"client_auth": "json"}, {"client_auth": "post", "token_body": "json"}])
def test_a_provider_that_reads_json_gets_json(dialect):
    request = refreshed(of=oauth2(**dialect))

    assert dict(request.headers)["Content-Type"] == "application/json"
    assert json.loads(request.body) == {
        "grant_type": "refresh_token",
        "refresh_token": "ref-0",
        "client_id": "client-1",
        "client_secret": "s3:cr/et 1",
    }


def test_a_provider_that_calls_the_client_id_something_else_gets_that():
    request = refreshed(of=oauth2(client_auth="post", client_id_param="client_key"))

    assert form(request)["client_key"] == "client-1"
    assert "client_id" not in form(request)


def test_more_fields_go_with_the_request_they_are_for_and_those_that_nothing_fills_stay_away():
    params = {"audience": compile_text("https://api.example"), "tenant": compile_text("${X_TENANT}")}
    of = oauth2(token_params=params, refresh_params={"access": compile_text("offline")})

    assert form(exchanged(of=of)).keys() - {"grant_type", "code", "redirect_uri", "code_verifier"} == {"audience"}
    assert form(refreshed(of=of)) == {"grant_type": "refresh_token", "refresh_token": "ref-0", "access": "offline"}


def test_a_refresh_goes_to_an_address_of_its_own_where_there_is_one():
    of = oauth2(refresh_url=compile_url("https://auth.example/renew"))

    assert (exchanged(of=of).url, refreshed(of=of).url) == ("https://auth.example/token", "https://auth.example/renew")


def test_a_token_address_on_another_host_is_not_called():
    with pytest.raises(HostNotAllowed, match=r"evil\.test is not in hosts"):
        exchanged(of=oauth2(token_url=compile_url("https://evil.test/token")))


def test_a_client_without_an_id_is_no_client():
    with pytest.raises(SecretMissing, match="X_CLIENT_ID"):
        exchanged(keys={})


def test_an_application_gets_a_token_of_its_own():
    flow = ClientCredentialsFlow(
        label="App",
        token_url=compile_url("https://auth.example/token"),
        client_id=compile_text("${X_CLIENT_ID}"),
        client_secret=compile_text("${X_CLIENT_SECRET}"),
        scopes=("a", "b"),
        scope_separator=",",
        token_env=TOKEN,
    )

    tokens, (request,) = converse(client_credentials(flow, scope=scope(), bounds=BOUNDS), answer(GOOD))

    assert form(request) == {"grant_type": "client_credentials", "scope": "a,b"}
    assert tokens.access == "tok-1"


def test_what_a_provider_gave_becomes_keys():
    tokens, _ = exchanged(answer(GOOD))

    assert tokens.as_keys(TOKEN, REFRESH, stored={}) == {
        "X_TOKEN": "tok-1",
        "X_TOKEN_EXPIRES_AT": "2026-03-01T13:00:00Z",
        "X_REFRESH": "ref-1",
    }


@pytest.mark.parametrize("absent", [{}, {"refresh_token": None}, {"refresh_token": ""}])
def test_the_old_refresh_token_stays_where_there_is_no_new_one(absent):
    tokens, _ = refreshed(answer({"access_token": "tok-2", **absent}))

    assert tokens.as_keys(TOKEN, REFRESH, stored={"X_REFRESH": "ref-0"}) == {"X_TOKEN": "tok-2"}


@pytest.mark.parametrize("written", [3600, "3600", 3600.0, " 3600 ", "3600.0"])
def test_an_end_is_read_however_it_is_written(written):
    assert read({**GOOD, "expires_in": written}).expires_at == NOW + timedelta(hours=1)


@pytest.mark.parametrize("odd", [0, -1, None, 1e99, "never", "", True, [], "1e99", "-5", 10**12, 10**400])
def test_an_end_that_is_none_is_not_known(odd):
    tokens = read(json.dumps({**GOOD, "expires_in": odd}))

    assert tokens.expires_at is None
    assert "X_TOKEN_EXPIRES_AT" not in tokens.as_keys(TOKEN, REFRESH, stored={})


def test_an_end_that_is_no_longer_known_is_emptied():
    tokens = read({"access_token": "tok-2"})

    assert tokens.as_keys(TOKEN, REFRESH, stored={"X_TOKEN_EXPIRES_AT": "2026-01-01T00:00:00Z"}) == {
        "X_TOKEN": "tok-2",
        "X_TOKEN_EXPIRES_AT": "",
    }


def test_a_form_in_place_of_json_is_read():
    tokens = read("access_token=tok-9&scope=a%20b&expires_in=60", content_type="text/plain")

    assert (tokens.access, tokens.scopes, tokens.expires_at) == ("tok-9", {"a", "b"}, NOW + timedelta(minutes=1))


@pytest.mark.parametrize(
    "body",
    [
        "<html>sign in</html>", "", "[]", "null", "{}", {"error": "bad_verification_code"}, {"access_token": ""},
        {"access_token": ["a"]}, {"access_token": None}, {"access_token": "a\nb"}, {"access_token": "a b"},
        {"access_token": "é"}, {"access_token": "x" * 40_000}, {"errcode": 40029, "errmsg": "invalid code"},
        {"ok": False, "error": "invalid_code"}, {"access_token": "a", "error": "denied"},
        {"access_token": "a", "refresh_token": ["r"]}, {"access_token": "a", "refresh_token": "r\r\n"},
    ],
)  # fmt: skip
def test_a_good_status_alone_is_no_token(body):
    with pytest.raises(SignInFailed) as caught:
        read(body)

    assert type(caught.value) is SignInFailed


@pytest.mark.parametrize("code", ["invalid_grant", "bad_refresh_token"])
@pytest.mark.parametrize("status", [200, 400, 401])
def test_a_sign_in_that_is_over_is_told_apart(code, status):
    with pytest.raises(NeedsReconnect, match="Token has been revoked") as caught:
        refreshed(answer({"error": code, "error_description": "Token has been revoked"}, status))

    assert caught.value.hint == "sign the account in again"


def test_a_code_that_is_refused_is_no_account_that_needs_another_sign_in():
    with pytest.raises(SignInFailed, match="invalid_grant") as caught:
        exchanged(answer({"error": "invalid_grant"}, 400))

    assert type(caught.value) is SignInFailed


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_an_outage_ends_no_sign_in(status):
    with pytest.raises(UpstreamUnavailable) as caught:
        refreshed(answer("<html>slow</html>", status))

    assert caught.value.retryable


def test_a_provider_that_does_not_know_the_application_says_so():
    with pytest.raises(SignInFailed, match="answered 401: invalid_client: no such app"):
        read({"error": "invalid_client", "error_description": "no such app"}, 401)


def test_words_of_a_provider_are_one_short_line():
    with pytest.raises(SignInFailed) as caught:
        read({"error": "x", "error_description": "<script>\r\nSet-Cookie: x" + "y" * 500}, 400)

    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 230


def test_a_clock_that_is_off_is_measured():
    with pytest.raises(SignInFailed) as caught:
        read({"error": "invalid_request"}, 400, date="Sun, 01 Mar 2026 11:55:00 GMT")

    assert caught.value.hint == "this machine's clock is 300 s ahead of the service's; set it"


@pytest.mark.parametrize("date", ["", "soon", "Sun, 01 Mar 2026 12:00:30 GMT", "Sun, 01 Mar 2026 11:55:00 -0000"])
def test_a_clock_that_is_right_or_cannot_be_measured_is_not_blamed(date):
    with pytest.raises(SignInFailed) as caught:
        read({"error": "invalid_request"}, 400, date=date)

    assert "clock" not in caught.value.hint


@pytest.mark.parametrize(
    ("granted", "missing"),
    [("a", ["b", "c"]), ("a,b c", []), (["a", "c"], ["b"]), (None, []), ("", []), (7, []), ("a b c d", [])],
)
def test_scopes_that_were_not_granted_are_told(granted, missing):
    assert read({**GOOD, "scope": granted}).missing(("a", "b", "c")) == missing


def test_a_refresh_token_is_offline_access():
    assert read({**GOOD, "scope": "a"}).missing(("a", "offline_access")) == []
    assert read({"access_token": "t", "scope": "a"}).missing(("a", "offline_access")) == ["offline_access"]


def test_scopes_that_are_missing_are_kept_beside_the_token_and_go_when_they_are_granted():
    narrow, whole = read({**GOOD, "scope": "a"}), read({**GOOD, "scope": "a b"})

    assert narrow.scope_keys(TOKEN, ("a", "b"), stored={}) == {"X_TOKEN_MISSING_SCOPES": "b"}
    assert whole.scope_keys(TOKEN, ("a", "b"), stored={}) == {}
    assert whole.scope_keys(TOKEN, ("a", "b"), stored={"X_TOKEN_MISSING_SCOPES": "b"}) == {"X_TOKEN_MISSING_SCOPES": ""}


def test_tokens_are_masked_as_soon_as_they_are_read():
    with recording():
        tokens = read({"access_token": "canary-a-123456", "refresh_token": "canary-r-123456"})

        assert "canary" not in clean("canary-a-123456 canary-r-123456")
        assert "canary" not in repr(tokens)
