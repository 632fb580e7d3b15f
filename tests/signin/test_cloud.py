from types import SimpleNamespace

import pytest
from tests.signin.talks import NOW, REFRESH, TOKEN, answer, converse, first

from habilis.errors import FeatureDisabled, NeedsReconnect, SignInFailed, UpstreamError, UpstreamUnavailable
from habilis.manifest.model import CloudFlow
from habilis.reading import read_json
from habilis.redaction import clean, recording
from habilis.signin import cloud

FLOW = CloudFlow(label="Connect", provider="part", scopes=("a", "b"), token_env=TOKEN, refresh_env=REFRESH)
RELAY = SimpleNamespace(url="https://relay.example", token="engine-token-0123456789")
START = {"state": "s" * 43, "challenge": "c" * 43, "target": "http://127.0.0.1:8321/api/connect/callback"}
PAGE = {"url": "https://provider.example/auth?state=s", "issuer": "https://provider.example", "expires_at": "2026"}


def refused(code, status, message="the relay's words", hint=""):
    return answer({"error": {"code": code, "message": message, "hint": hint}}, status)


def order(request):
    return read_json(request.body, what="it")


def test_the_relay_is_asked_for_a_page_with_this_engines_token_and_no_secret_of_the_verifier():
    page, asked = converse(cloud.open_page(FLOW, RELAY, **START), answer(PAGE))

    assert (page.url, page.issuer) == (PAGE["url"], PAGE["issuer"])
    assert (asked[0].method, asked[0].url) == ("POST", "https://relay.example/broker/authorize")
    assert ("Authorization", "Bearer engine-token-0123456789") in asked[0].headers
    assert order(asked[0]) == {
        "provider": "part",
        "scope": "a b",
        "state": START["state"],
        "code_challenge": START["challenge"],
        "target": START["target"],
    }


def test_code_and_refresh_token_become_tokens_through_the_relay():
    given = answer({"access_token": "access-0123456789", "expires_in": 3600, "scope": "a"})

    exchanged, asked = converse(cloud.exchange_code(FLOW, RELAY, code="c", verifier="v" * 43, now=NOW), given)
    renewed, again = converse(cloud.refresh(FLOW, RELAY, "refresh-0123456789", now=NOW), given)

    assert (asked[0].url, order(asked[0])) == (
        "https://relay.example/broker/token",
        {"provider": "part", "code": "c", "code_verifier": "v" * 43},
    )
    assert (again[0].url, order(again[0])) == (
        "https://relay.example/broker/refresh",
        {"provider": "part", "refresh_token": "refresh-0123456789"},
    )
    assert exchanged == renewed
    assert exchanged.missing(FLOW.scopes) == ["b"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "http://provider.example/auth",
        "https://user@provider.example/auth",
        "",
        None,
        ["https://provider.example/auth"],
    ],
)
def test_a_page_that_no_browser_may_be_sent_to_is_refused(url):
    with pytest.raises(SignInFailed, match="the relay answered without a page"):
        converse(cloud.open_page(FLOW, RELAY, **START), answer({**PAGE, "url": url}))


@pytest.mark.parametrize(
    ("answered", "error"),
    [
        (refused("needs_reconnect", 409), NeedsReconnect),
        (refused("signin_failed", 400), SignInFailed),
        (refused("upstream_unavailable", 503), UpstreamUnavailable),
        (refused("upstream_timeout", 504), UpstreamUnavailable),
        (refused("engine_failed", 500), UpstreamUnavailable),
        (refused("forbidden", 403), FeatureDisabled),
        (refused("unauthenticated", 401), FeatureDisabled),
        (refused("not_found", 404), FeatureDisabled),
        (refused("args_invalid", 400), UpstreamError),
        (answer("<html>bad gateway</html>", 502), UpstreamUnavailable),
        (answer("<html>not here</html>", 404), FeatureDisabled),
        (answer({"error": "invalid_grant"}, 400), UpstreamError),
        (answer([1], 400), UpstreamError),
    ],
)
def test_what_the_relay_answers_is_told_as_what_it_means_here(answered, error):
    with pytest.raises(error) as caught:
        converse(cloud.refresh(FLOW, RELAY, "refresh-0123456789", now=NOW), answered)

    assert type(caught.value) is error
    assert caught.value.where == "the relay"


@pytest.mark.parametrize("body", [b"<html>", {"access_token": ""}, {"access_token": ["a"]}, b""])
def test_a_good_status_without_a_token_is_no_success(body):
    with pytest.raises(SignInFailed):
        converse(cloud.refresh(FLOW, RELAY, "refresh-0123456789", now=NOW), answer(body))


def test_what_passes_is_masked_in_everything_that_is_told():
    with recording():
        first(cloud.exchange_code(FLOW, RELAY, code="c", verifier="verifier-" + "v" * 40, now=NOW))

        told = clean(f"verifier-{'v' * 40} {RELAY.token}")

    assert told == "[redacted code_verifier] [redacted RELAY_TOKEN]"


def test_a_relay_on_this_machine_is_one_that_the_operator_meant():
    local = SimpleNamespace(url="http://127.0.0.1:9000", token="engine-token-0123456789")

    request = first(cloud.refresh(FLOW, local, "refresh-0123456789", now=NOW))

    assert request.private_hosts == frozenset({"127.0.0.1:9000"})
