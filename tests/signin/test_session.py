import json
from datetime import timedelta

import pytest
from tests.signin.talks import BOUNDS, NOW, REFRESH, TOKEN, answer, converse, scope

from habilis.errors import NeedsReconnect, SignInFailed, UpstreamError, UpstreamUnavailable
from habilis.manifest.model import RequestTemplate, SessionFlow
from habilis.signin.session import moment, renew, sign_in
from habilis.templating import compile_json, compile_place, compile_text, compile_url

KEYS = {"X_USER": "anna", "X_PASSWORD": "p-123456", "X_TOKEN": "old", "X_REFRESH": "ref-0"}
GOOD = {"data": {"jwt": "tok-1", "refresh": "ref-1", "expires": 900_000}}
NO = answer({"message": "wrong password"}, 401)


def request(path, body, **fields):
    return RequestTemplate(
        method="POST", url=compile_url(f"https://auth.example/{path}"), json=compile_json(body), **fields
    )


FLOW = SessionFlow(
    label="Log in",
    request=request("login", {"user": "${X_USER}", "password": "${X_PASSWORD}"}),
    token=compile_place("/data/jwt"),
    token_env=TOKEN,
    refresh=compile_place("/data/refresh"),
    expires=compile_place("/data/expires"),
    expires_unit="milliseconds",
    refresh_env=REFRESH,
    refresh_request=request("renew", {}, headers=(("Authorization", compile_text("Bearer ${X_REFRESH}")),)),
)


def signed_in(*answers, flow=FLOW, keys=KEYS):
    return converse(sign_in(flow, scope=scope(keys), bounds=BOUNDS), *answers)


def renewed(*answers, flow=FLOW, keys=KEYS):
    return converse(renew(flow, scope=scope(keys), bounds=BOUNDS), *answers)


def test_a_session_is_signed_in_to_with_the_accounts_keys():
    tokens, (asked,) = signed_in(answer(GOOD))

    assert (asked.url, json.loads(asked.body)) == (
        "https://auth.example/login",
        {"user": "anna", "password": "p-123456"},
    )
    assert tokens.as_keys(TOKEN, REFRESH, stored={}) == {
        "X_TOKEN": "tok-1",
        "X_TOKEN_EXPIRES_AT": "2026-03-01T12:15:00Z",
        "X_REFRESH": "ref-1",
    }


@pytest.mark.parametrize("body", [{}, "ok", {"data": {"jwt": ""}}, {"data": {"jwt": ["a"]}}, {"data": {"jwt": "a\nb"}}])
def test_an_answer_without_a_token_is_no_sign_in(body):
    with pytest.raises(SignInFailed):
        signed_in(answer(body))


def test_a_wrong_password_is_told_in_the_services_words():
    with pytest.raises(UpstreamError, match="wrong password"):
        signed_in(NO)


def test_a_session_is_renewed_with_its_own_token():
    tokens, (asked,) = renewed(answer(GOOD))

    assert asked.url == "https://auth.example/renew"
    assert ("Authorization", "Bearer ref-0") in asked.headers
    assert tokens.access == "tok-1"


@pytest.mark.parametrize("refusal", [NO, answer({}, 200)])
def test_a_session_that_is_over_is_signed_in_to_again(refusal):
    tokens, asked = renewed(refusal, answer(GOOD))

    assert [one.url for one in asked] == ["https://auth.example/renew", "https://auth.example/login"]
    assert tokens.access == "tok-1"


@pytest.mark.parametrize(
    "flow", [FLOW, SessionFlow(label="L", request=FLOW.request, token=FLOW.token, token_env=TOKEN)]
)
def test_without_a_renewing_token_a_session_is_signed_in_to_again(flow):
    _, (asked,) = renewed(answer(GOOD), flow=flow, keys={**KEYS, "X_REFRESH": ""})

    assert asked.url == "https://auth.example/login"


def test_keys_that_are_no_longer_taken_need_another_sign_in():
    with pytest.raises(NeedsReconnect, match="wrong password"):
        renewed(NO, NO)


def test_an_outage_is_no_refusal():
    with pytest.raises(UpstreamUnavailable):
        renewed(*[UpstreamUnavailable("down"), None] * 2, UpstreamUnavailable("down"))


@pytest.mark.parametrize(
    ("value", "unit", "minutes"),
    [
        (900, "", 15), ("900", "", 15), (900.0, "seconds", 15), (900_000, "milliseconds", 15),
        (NOW.timestamp() + 900, "", 15), (int(NOW.timestamp() + 900), "unix", 15),
        ((NOW.timestamp() + 900) * 1000, "", 15), ("2026-03-01T12:15:00Z", "", 15), ("2026-03-01T12:15:00", "date", 15),
    ],
)  # fmt: skip
def test_an_end_is_understood_in_each_way_that_services_write_it(value, unit, minutes):
    assert moment(value, unit, now=NOW) == NOW + timedelta(minutes=minutes)


@pytest.mark.parametrize("value", [None, 0, -5, True, "", "soon", [], 10**30, NOW.timestamp() - 10, "1.2.3", "²"])
def test_an_end_that_is_none_is_not_known(value):
    assert moment(value, "", now=NOW) is None
