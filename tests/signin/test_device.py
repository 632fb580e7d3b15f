from datetime import timedelta
from urllib.parse import parse_qs

import pytest
from tests.signin.talks import BOUNDS, NOW, REFRESH, TOKEN, answer, converse, form, scope

from habilis.errors import SignInDenied, SignInExpired, SignInFailed, UpstreamTimeout, UpstreamUnavailable
from habilis.manifest.model import DeviceFlow
from habilis.messages import Pause
from habilis.signin.device import DeviceCode, begin, wait
from habilis.templating import compile_text, compile_url

FLOW = DeviceFlow(
    label="Connect",
    device_url=compile_url("https://auth.example/device"),
    token_url=compile_url("https://auth.example/token"),
    client_id=compile_text("${X_CLIENT_ID}"),
    scopes=("a", "b"),
    token_env=TOKEN,
    refresh_env=REFRESH,
)
GIVEN = {
    "device_code": "dev-1",
    "user_code": "ABCD-EFGH",
    "verification_uri": "https://auth.example/activate",
    "verification_uri_complete": "https://auth.example/activate?code=ABCD-EFGH",
    "expires_in": 600,
    "interval": 7,
}
CODE = DeviceCode(
    device_code="dev-1", user_code="A", page="https://auth.example/a", expires_at=NOW + timedelta(seconds=60)
)
PENDING, SLOWER = answer({"error": "authorization_pending"}, 400), answer({"error": "slow_down"}, 400)
GOOD = answer({"access_token": "tok-1", "refresh_token": "ref-1", "expires_in": 60})


def begun(body, status=200):
    return converse(begin(FLOW, scope=scope(), bounds=BOUNDS), answer(body, status))


def waited(*steps):
    """Each step is an answer to a question; the waits before it are passed."""
    return converse(wait(FLOW, CODE, scope=scope(), bounds=BOUNDS), *(one for step in steps for one in (None, step)))


def test_a_code_is_asked_for_with_the_scopes():
    code, (request,) = begun(GIVEN)

    assert request.url == "https://auth.example/device"
    assert form(request) == {"scope": "a b", "client_id": "client-1"}
    assert code == DeviceCode(
        device_code="dev-1",
        user_code="ABCD-EFGH",
        page="https://auth.example/activate",
        whole_page="https://auth.example/activate?code=ABCD-EFGH",
        interval_s=7,
        expires_at=NOW + timedelta(minutes=10),
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"device_code": ""}, {"device_code": ["a"]}, {"user_code": None},
        {"user_code": "A\nB"}, {"user_code": "x" * 101},
        {"verification_uri": None}, {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "http://auth.example/a"}, {"verification_uri": "file:///etc/passwd"},
        {"verification_uri_complete": "https://u:p@auth.example/a"},
    ],
)  # fmt: skip
def test_a_code_that_lacks_something_or_leads_elsewhere_is_none(odd):
    with pytest.raises(SignInFailed):
        begun({**GIVEN, **odd})


def test_a_provider_that_gives_no_code_says_why():
    with pytest.raises(SignInFailed, match="answered 400: no such app"):
        begun({"error": "invalid_client", "error_description": "no such app"}, 400)


def test_an_outage_is_told_as_one():
    with pytest.raises(UpstreamUnavailable):
        begun("<html>", 503)


def test_it_is_asked_until_the_person_has_agreed():
    tokens, asked = waited(PENDING, PENDING, GOOD)

    assert tokens.access == "tok-1"
    assert [one.seconds for one in asked if isinstance(one, Pause)] == [5, 5, 5]
    assert parse_qs(asked[1].body.decode())["device_code"] == ["dev-1"]


def test_a_provider_that_is_asked_too_often_is_asked_less_often():
    _, asked = waited(SLOWER, SLOWER, GOOD)

    assert [one.seconds for one in asked if isinstance(one, Pause)] == [5, 10, 15]


@pytest.mark.parametrize("fault", [UpstreamUnavailable("down"), UpstreamTimeout("slow")])
def test_a_blip_is_waited_out(fault):
    tokens, asked = waited(fault, GOOD)

    assert tokens.access == "tok-1"
    assert [one.seconds for one in asked if isinstance(one, Pause)] == [5, 10]


def test_a_no_is_a_no():
    with pytest.raises(SignInDenied):
        waited(answer({"error": "access_denied"}, 400))


def test_a_code_that_ran_out_at_the_provider_is_late():
    with pytest.raises(SignInExpired):
        waited(answer({"error": "expired_token"}, 400))


def test_nobody_is_waited_for_longer_than_the_code_lives():
    with pytest.raises(SignInExpired):
        waited(*[PENDING] * 12)


def test_any_other_answer_ends_it():
    with pytest.raises(SignInFailed):
        waited(answer({"error": "invalid_client"}, 401))
