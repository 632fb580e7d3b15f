"""The broker before a real provider: its tokens reach the engine, its secret stays, nothing of either is kept."""

import base64
import hashlib
import json
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.functions.site import error

CALLBACK = "http://127.0.0.1:8321/api/connect/callback"
RELAY = "https://habilis.example"
STATE = "s" * 43
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
ORDER = {"provider": "part", "state": STATE, "code_challenge": CHALLENGE, "target": CALLBACK}


@pytest.fixture
def provider(site, oidc, monkeypatch):
    """The provider as the relay's operators set it up, by JSON; what a test changes of it counts at once."""
    client = oidc.register(f"{RELAY}/broker/callback", token_endpoint_auth_method="client_secret_basic")
    monkeypatch.setenv("PART_SECRET", client["client_secret"])
    config = {
        "authorize_url": oidc.authorize_url,
        "token_url": oidc.token_url,
        "issuer": oidc.issuer,
        "client_id": client["client_id"],
        "client_secret_env": "PART_SECRET",
        "client_auth": "basic",
        "scopes": ["openid", "notes.read"],
        "params": {"prompt": "consent", "access_type": "offline"},
        "private_hosts": [urlsplit(oidc.issuer).netloc],
    }

    def configure(**changed):
        found = {name: value for name, value in {**config, **changed}.items() if value is not None}
        monkeypatch.setenv("HABILIS_PROVIDERS", json.dumps({"part": found}))
        return found

    configure()
    return configure


def ask(site, verb, role="engine", **order):
    return site.send("broker", "POST", f"/broker/{verb}", order, role=role)


def sign_in(site, oidc, scope="openid notes.read", **order):
    """Go through the provider's page and the relay; returns where the browser ends, at the engine."""
    page = ask(site, "authorize", **{**ORDER, "scope": scope, **order})
    assert page.status_code == 200, page.text
    back = urlsplit(oidc.sign_in(page.json["url"], RELAY))
    return site.browse("relay", f"{back.path}?{back.query}")


def code_of(reply):
    return dict(parse_qsl(urlsplit(reply.headers["Location"]).query))["code"]


def test_the_page_asks_for_a_code_with_the_engines_challenge_and_state(site, oidc, provider):
    reply = ask(site, "authorize", scope="openid notes.read", **ORDER)

    url = urlsplit(reply.json["url"])
    assert (reply.status_code, reply.json["issuer"]) == (200, oidc.issuer)
    assert f"{url.scheme}://{url.netloc}{url.path}" == oidc.authorize_url
    assert dict(parse_qsl(url.query)) == {
        "prompt": "consent",
        "access_type": "offline",
        "response_type": "code",
        "client_id": provider()["client_id"],
        "redirect_uri": f"{RELAY}/broker/callback",
        "scope": "openid notes.read",
        "state": STATE,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }


@pytest.mark.parametrize("auth", ["client_secret_basic", "client_secret_post"])
def test_a_code_comes_back_through_the_relay_and_becomes_tokens_that_renew(site, oidc, provider, monkeypatch, auth):
    client = oidc.register(f"{RELAY}/broker/callback", token_endpoint_auth_method=auth)
    monkeypatch.setenv("PART_SECRET", client["client_secret"])
    provider(client_id=client["client_id"], client_auth=auth.removeprefix("client_secret_"))

    reply = sign_in(site, oidc)
    back = dict(parse_qsl(urlsplit(reply.headers["Location"]).query))
    tokens = ask(site, "token", provider="part", code=back["code"], code_verifier=VERIFIER)
    renewed = ask(site, "refresh", provider="part", refresh_token=tokens.json["refresh_token"])

    assert (reply.status_code, reply.headers["Location"].partition("?")[0]) == (303, CALLBACK)
    assert back == {"code": back["code"], "state": STATE, "iss": oidc.issuer}
    assert (tokens.status_code, renewed.status_code) == (200, 200)
    assert tokens.json.keys() == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert (tokens.json["expires_in"], tokens.json["scope"]) == (3600, "openid notes.read")
    assert renewed.json["refresh_token"] not in {"", tokens.json["refresh_token"]}
    assert renewed.json["access_token"] not in {"", tokens.json["access_token"]}


def test_a_refresh_token_that_a_provider_gives_again_is_handed_on_whole(site, oidc, provider, monkeypatch):
    client = oidc.register(f"{RELAY}/broker/callback", keeps_refresh=True)
    monkeypatch.setenv("PART_SECRET", client["client_secret"])
    provider(client_id=client["client_id"])
    code = code_of(sign_in(site, oidc))
    token = ask(site, "token", provider="part", code=code, code_verifier=VERIFIER).json["refresh_token"]

    renewed = ask(site, "refresh", provider="part", refresh_token=token)

    assert renewed.json["refresh_token"] == token


def test_a_token_that_was_used_up_says_that_the_account_has_to_sign_in_again(site, oidc, provider):
    code = code_of(sign_in(site, oidc))
    tokens = ask(site, "token", provider="part", code=code, code_verifier=VERIFIER)
    ask(site, "refresh", provider="part", refresh_token=tokens.json["refresh_token"])

    reply = ask(site, "refresh", provider="part", refresh_token=tokens.json["refresh_token"])

    assert (reply.status_code, error(reply)["code"]) == (409, "needs_reconnect")
    assert tokens.json["refresh_token"] not in reply.text


@pytest.mark.parametrize("wrong", ["code", "verifier"])
def test_a_wrong_code_or_verifier_gives_no_tokens(site, oidc, provider, wrong):
    code = code_of(sign_in(site, oidc))
    order = {"code": code, "code_verifier": VERIFIER}
    order |= {"code": "another-code-0123456789"} if wrong == "code" else {"code_verifier": "w" * 43}

    reply = ask(site, "token", provider="part", **order)

    assert (reply.status_code, error(reply)["code"]) == (400, "signin_failed")
    assert "access_token" not in reply.text


def test_a_wrong_secret_is_no_fault_of_the_account(site, oidc, provider, monkeypatch):
    monkeypatch.setenv("PART_SECRET", "another-secret-0123456789")

    reply = ask(site, "refresh", provider="part", refresh_token="refresh-0123456789")

    assert (reply.status_code, error(reply)["code"]) == (400, "signin_failed")
    assert "another-secret-0123456789" not in reply.text


def test_a_refusal_comes_back_to_the_engine(site, oidc, provider, monkeypatch):
    client = oidc.register(f"{RELAY}/broker/callback", denies=True)
    monkeypatch.setenv("PART_SECRET", client["client_secret"])
    provider(client_id=client["client_id"])

    reply = sign_in(site, oidc)

    back = dict(parse_qsl(urlsplit(reply.headers["Location"]).query))
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", STATE, oidc.issuer)


def test_nothing_of_a_sign_in_is_kept_or_logged(site, oidc, provider, capfd):
    reply = sign_in(site, oidc)
    back = urlsplit(reply.headers["Location"])
    code = code_of(reply)
    tokens = ask(site, "token", provider="part", code=code, code_verifier=VERIFIER).json
    renewed = ask(site, "refresh", provider="part", refresh_token=tokens["refresh_token"]).json
    ask(site, "refresh", provider="part", refresh_token=tokens["refresh_token"])
    ask(site, "token", provider="part", code=code, code_verifier=VERIFIER)
    site.browse("relay", f"/broker/callback?{back.query}")

    left = "".join(f"{name}{data.decode('utf-8', 'replace')}" for name, data in site.files().items())
    seen = left + "".join(capfd.readouterr())
    secrets = {code, VERIFIER, STATE, tokens["access_token"], tokens["refresh_token"], renewed["access_token"]}
    assert [secret for secret in secrets if secret in seen] == []


def test_a_return_is_sent_on_once_within_ten_minutes_and_only_for_its_own_state(site, oidc, provider):
    def browse(query):
        return site.browse("relay", f"/broker/callback?{query}").status_code

    ask(site, "authorize", scope="openid", **ORDER)
    ask(site, "authorize", scope="openid", **{**ORDER, "state": "t" * 43})

    assert browse("code=c") == browse(f"state={'u' * 43}&code=c") == 404
    assert browse(f"state={STATE}&state={STATE}&code=c") == 404
    assert site.browse("relay", f"/r/{STATE}?code=c").status_code == 404
    assert [browse(f"state={STATE}&code=c") for _ in range(2)] == [303, 410]
    site.move_clock(timedelta(minutes=10, seconds=1))
    assert browse(f"state={'t' * 43}&code=c") == 410


@pytest.mark.parametrize("scope", ["openid notes.write", "everything"])
def test_scopes_that_the_provider_is_not_set_up_for_are_refused(site, provider, scope):
    before = site.files()

    reply = ask(site, "authorize", scope=scope, **ORDER)

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")
    assert site.files() == before


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"target": "https://evil.test/cb"}, "bad_input"),
        ({"target": "http://127.0.0.1.evil.test/"}, "bad_input"),
        ({"target": "javascript:alert(1)"}, "bad_input"),
        ({"target": "https://relayed.example/cb"}, "bad_input"),
        ({"state": ""}, "args_invalid"),
        ({"state": "short"}, "args_invalid"),
        ({"state": "s" * 42 + "&"}, "args_invalid"),
        ({"state": "s" * 129}, "args_invalid"),
        ({"code_challenge": "c" * 42}, "args_invalid"),
        ({"code_challenge": ""}, "args_invalid"),
        ({"redirect_uri": "https://evil.test/"}, "args_invalid"),
        ({"scope": None}, "args_invalid"),
        ({"provider": None}, "args_invalid"),
    ],
)
def test_an_order_that_is_not_a_sign_in_of_the_engine_is_refused(site, provider, changed, code):
    before = site.files()

    reply = ask(site, "authorize", **{"scope": "openid", **ORDER, **changed})

    assert (reply.status_code, error(reply)["code"]) == (400, code)
    assert site.files() == before


@pytest.mark.parametrize(
    ("verb", "order"),
    [
        ("token", {"code": "", "code_verifier": VERIFIER}),
        ("token", {"code": "c" * 100_000, "code_verifier": VERIFIER}),
        ("token", {"code": "code-0123456789", "code_verifier": "short"}),
        ("token", {"code": ["code-0123456789"], "code_verifier": VERIFIER}),
        ("refresh", {"refresh_token": ""}),
        ("refresh", {}),
        ("refresh", {"refresh_token": "refresh-0123456789", "scope": "everything"}),
    ],
)
def test_an_order_that_could_not_work_reaches_no_provider(site, oidc, provider, verb, order):
    client = provider()["client_id"]

    reply = ask(site, verb, provider="part", **order)

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")
    assert oidc.events(client) == []


def test_a_provider_that_is_not_set_up_is_not_found(site, provider):
    reply = ask(site, "refresh", provider="other", refresh_token="refresh-0123456789")

    assert (reply.status_code, error(reply)["code"]) == (404, "not_found")


def test_other_addresses_and_methods_are_nothing(site, provider):
    for method, path in (("POST", "/broker/revoke"), ("POST", "/broker"), ("GET", "/broker/token")):
        assert site.send("broker", method, path, role="engine").status_code == 404


@contextmanager
def answering(status, body=b"", **headers):
    """A token address that answers each request alike; yields its address and the paths that were asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def at(url, oidc):
    """Settings of a provider whose token address is this one."""
    return {"token_url": f"{url}/token", "private_hosts": [urlsplit(oidc.issuer).netloc, urlsplit(url).netloc]}


def test_a_token_address_that_redirects_is_not_followed(site, oidc, provider):
    with answering(302, Location="/elsewhere") as (url, asked):
        provider(**at(url, oidc))

        reply = ask(site, "refresh", provider="part", refresh_token="refresh-0123456789")

    assert (reply.status_code, error(reply)["code"]) == (502, "redirect_refused")
    assert asked == ["/token"]


@pytest.mark.parametrize(
    "body", [b"<html>sorry</html>", b'{"access_token": ""}', b'{"access_token": ["a"]}', b'{"error": "bad_code"}', b""]
)
def test_a_good_status_without_a_token_is_no_success(site, oidc, provider, body):
    with answering(200, body) as (url, _):
        provider(**at(url, oidc))

        reply = ask(site, "token", provider="part", code="code-0123456789", code_verifier=VERIFIER)

    assert (reply.status_code, error(reply)["code"]) == (400, "signin_failed")


def test_no_more_of_an_answer_is_passed_on_than_what_a_sign_in_needs(site, oidc, provider):
    body = json.dumps({"access_token": "access-0123456789", "id_token": "eyJ", "client_secret": "s"}).encode()
    with answering(200, body, **{"Content-Type": "application/json"}) as (url, _):
        provider(**at(url, oidc))

        reply = ask(site, "token", provider="part", code="code-0123456789", code_verifier=VERIFIER)

    assert reply.json == {"access_token": "access-0123456789"}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_outage_of_a_provider_is_told_from_a_refusal(site, oidc, provider, status):
    with answering(status, b'{"error": "invalid_grant"}') as (url, _):
        provider(**at(url, oidc))

        reply = ask(site, "refresh", provider="part", refresh_token="refresh-0123456789")

    assert (reply.status_code, error(reply)["code"], error(reply)["retryable"]) == (503, "upstream_unavailable", True)


def test_a_provider_that_is_down_is_told_as_such(site, oidc, provider):
    provider(**at("http://127.0.0.1:9", oidc))

    reply = ask(site, "refresh", provider="part", refresh_token="refresh-0123456789")

    assert (reply.status_code, error(reply)["code"], error(reply)["retryable"]) == (503, "upstream_unavailable", True)
