import json
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.engine.provider import (
    ENDS,
    REFRESH,
    TOKEN,
    Provider,
    account_of,
    manifest_of,
    read_me,
    sign_in,
    stored_keys,
    told,
)
from tests.upstream import CLOSE, answer

from habilis.engine.health import read_health
from habilis.engine.outside import Relay
from habilis.engine.resolve import load_keys
from habilis.errors import (
    NeedsReconnect,
    ResponseTooLarge,
    SignInFailed,
    UpstreamError,
    UpstreamUnavailable,
)
from habilis.manifest.model import CloudFlow
from habilis.records import stamp
from habilis.templating import compile_condition, compile_text

ME = {"me": "ann"}
OVER = told(400, {"error": "invalid_grant", "error_description": "Refresh token expired"})


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def call(world, provider):
    """Make a call through the account."""
    return lambda manifest=None: read_me(world.home, provider, world.outside, manifest)


def health(world, provider, manifest=None):
    manifest, account = manifest or manifest_of(), account_of(provider)
    return read_health(world.home, manifest, account, load_keys(world.home, manifest, account), now=world.clock())


def in_s(world, seconds):
    return stamp(world.clock() + timedelta(seconds=seconds))


def test_a_token_that_has_run_out_is_renewed_and_stored_before_it_is_used(world, provider, call):
    sign_in(world.home, provider)
    at_use = []
    usual = provider._reply
    provider._script = [lambda seen: (at_use.append(stored_keys(world.home, provider)), usual(seen))[1]]

    assert call() == ME

    assert provider.used == ["access-1-of-the-account"]
    assert at_use[1] == stored_keys(world.home, provider)
    assert at_use[1][TOKEN] == "access-1-of-the-account"
    assert at_use[1][REFRESH] == "refresh-1-of-the-account"
    assert at_use[1][ENDS] == in_s(world, 3600)


@pytest.mark.parametrize(("left_s", "renewals"), [(3600, 0), (61, 0), (59, 1), (10, 1), (-5, 1)])
def test_a_token_is_renewed_a_minute_before_its_end(world, provider, call, left_s, renewals):
    sign_in(world.home, provider, ends=in_s(world, left_s))

    assert call() == ME

    assert len(provider.asked) == renewals


def test_two_calls_about_the_end_of_a_token_renew_it_once(world, provider, call):
    sign_in(world.home, provider, ends=in_s(world, 3600))
    world.clock.move(timedelta(seconds=3590))
    call()
    world.clock.move(timedelta(seconds=15))

    call()

    assert len(provider.asked) == 1


@pytest.mark.parametrize("ends", ["", "None", "0", "soon", "2026-11-30T11:00:00"])
def test_an_end_that_nobody_knows_is_no_end_and_no_for_ever(world, provider, call, ends):
    sign_in(world.home, provider, ends=ends)
    call()
    before = len(provider.asked)
    provider.end_token()

    assert call() == ME

    assert (before, len(provider.asked)) == (0, 1)
    assert provider.used[-2:] == ["access-0-of-the-account", "access-1-of-the-account"]


@pytest.mark.parametrize("life", [None, 0, -1, 1e99, "null", "soon", [3600]])
def test_an_odd_life_of_a_token_is_no_end(world, provider, call, life):
    provider.fields = {} if life is None else {"expires_in": life}
    sign_in(world.home, provider)

    assert call() == call() == ME

    assert ENDS not in stored_keys(world.home, provider)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("life", ["3600", 3600.0])
def test_a_life_in_another_type_is_understood(world, provider, call, life):
    provider.fields = {"expires_in": life}
    sign_in(world.home, provider)

    call()

    assert stored_keys(world.home, provider)[ENDS] == in_s(world, 3600)


def test_a_refresh_token_that_no_new_one_replaces_is_kept(world, provider, call):
    provider.rotates = False
    sign_in(world.home, provider)

    call()

    assert stored_keys(world.home, provider)[REFRESH] == "refresh-0-of-the-account"


def test_a_public_client_sends_no_empty_secret(world, provider, call):
    sign_in(world.home, provider)

    call(manifest_of(client_secret=compile_text("${X_CLIENT_SECRET}")))

    (seen,) = [seen for seen in provider.requests if seen.target == "/token"]
    assert provider.asked == [
        {"grant_type": "refresh_token", "refresh_token": "refresh-0-of-the-account", "client_id": "client-1"}
    ]
    assert "authorization" not in seen.headers


def test_a_sign_in_that_is_over_marks_the_account_once_and_keeps_its_keys(world, provider, call):
    sign_in(world.home, provider)
    before = stored_keys(world.home, provider)
    provider.answers = [OVER]

    with pytest.raises(
        NeedsReconnect, match=r"'Notes of Ann' has ended.*signed in again.*Refresh token expired"
    ) as caught:
        call()
    with pytest.raises(NeedsReconnect, match="Refresh token expired"):
        call()

    assert caught.value.hint == "sign in again: habilis accounts connect acme main"
    assert len(provider.asked) == 1
    assert provider.used == []
    assert stored_keys(world.home, provider) == before
    found = health(world, provider)
    assert (found.state, found.since) == ("needs_sign_in", "2026-11-30T12:00:00Z")
    assert "Refresh token expired" in found.why


def test_an_account_that_was_signed_in_again_is_well_at_once(world, provider, call):
    sign_in(world.home, provider)
    provider.answers = [OVER]
    with pytest.raises(NeedsReconnect):
        call()

    sign_in(world.home, provider, ends=in_s(world, 3600))

    assert health(world, provider).state == "ok"
    assert call() == ME


def test_a_sign_in_that_another_machine_renewed_is_not_over(world, provider, call):
    sign_in(world.home, provider)

    def faster(fields):
        provider.access, provider.refresh = "access-of-another-machine", "refresh-of-another-machine"
        sign_in(world.home, provider, ends=in_s(world, 3600))
        return OVER

    provider.answers = [faster]

    assert call() == ME

    assert len(provider.asked) == 1
    assert health(world, provider).state == "ok"


def test_a_refresh_token_that_another_machine_got_is_tried_once(world, provider, call):
    sign_in(world.home, provider)

    def faster(fields):
        provider.refresh = "refresh-of-another-machine"
        sign_in(world.home, provider)
        return OVER

    provider.answers = [faster]

    assert call() == ME

    assert [asked["refresh_token"] for asked in provider.asked] == [
        "refresh-0-of-the-account",
        "refresh-of-another-machine",
    ]


OUTAGES = [answer(500), answer(503), told(429, {}), (CLOSE,), told(200, {"error": "bad_verification_code"})]


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_while_the_token_is_good_signs_nobody_out(world, provider, call, outage):
    sign_in(world.home, provider, ends=in_s(world, 30))
    before = stored_keys(world.home, provider)
    provider.answers = [outage]

    assert call() == ME

    assert provider.used == ["access-0-of-the-account"]
    assert stored_keys(world.home, provider) == before
    assert health(world, provider).state == "ok"


@pytest.mark.parametrize("outage", OUTAGES[:4])
def test_an_outage_after_the_token_has_run_out_is_told_as_one_that_passes(world, provider, call, outage):
    sign_in(world.home, provider)
    before = stored_keys(world.home, provider)
    provider.answers = [outage]

    with pytest.raises(UpstreamUnavailable, match="'Notes of Ann' could not be renewed") as caught:
        call()

    assert caught.value.retryable
    assert caught.value.outcome == "not_sent"
    assert stored_keys(world.home, provider) == before
    assert health(world, provider).state == "ok"
    assert call() == ME


@pytest.mark.parametrize(
    "said",
    [
        answer(200, body=b"<html>Sign in</html>", headers=(("Content-Type", "text/html"),)),
        told(200, {"error": "bad_verification_code"}),
        told(200, {"access_token": ""}),
        told(200, {"access_token": ["a"]}),
        told(200, {"access_token": "a\nb"}),
        told(400, {"error": "invalid_client"}),
    ],
)
def test_an_answer_without_a_token_changes_nothing(world, provider, call, said):
    sign_in(world.home, provider)
    before = stored_keys(world.home, provider)
    provider.answers = [said]

    with pytest.raises(SignInFailed):
        call()

    assert stored_keys(world.home, provider) == before
    assert health(world, provider).state == "ok"


def test_an_answer_of_five_megabytes_changes_nothing(world, provider, call):
    sign_in(world.home, provider)
    before = stored_keys(world.home, provider)
    provider.answers = [told(200, {"access_token": "a" * 5_000_000})]

    with pytest.raises(ResponseTooLarge) as caught:
        call()

    assert caught.value.outcome == "not_sent"
    assert stored_keys(world.home, provider) == before


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_clock_that_is_off_by_five_minutes_stops_nothing(world, provider, call, minutes):
    world.clock.move(timedelta(minutes=minutes))
    sign_in(world.home, provider, ends=in_s(world, -1))
    call()
    world.clock.move(timedelta(seconds=3590))
    provider.end_token()

    assert call() == ME

    assert len(provider.asked) == 2


def test_a_new_token_that_is_not_taken_either_is_reported(world, provider, call):
    sign_in(world.home, provider, ends=in_s(world, 3600))
    usual = provider.renewed

    def renewed():
        said = usual()
        provider.end_token()
        return said

    provider.renewed = renewed
    provider.end_token()

    with pytest.raises(UpstreamError, match="answered 401: the token has run out"):
        call()

    assert len(provider.asked) == 1
    assert health(world, provider).state == "ok"


def test_a_403_is_taken_for_an_old_token_once_where_the_manifest_says_so(world, provider, call):
    sign_in(world.home, provider, ends=in_s(world, 3600))
    usual = provider._reply
    provider._script = [lambda seen: usual(seen) if seen.target == "/token" else told(403, {"message": "not yours"})]
    sign = compile_condition({"field": "status", "op": "eq", "value": 403})

    with pytest.raises(UpstreamError, match="not yours"):
        call(manifest_of(expired=sign))

    assert len(provider.asked) == 1
    assert provider.used == ["access-0-of-the-account", "access-1-of-the-account"]


def test_a_token_that_nothing_renews_is_used_until_the_service_says_no(world, provider, call):
    manifest = manifest_of(refresh_env="")
    sign_in(world.home, provider)
    assert call(manifest) == ME
    provider.end_token()

    with pytest.raises(NeedsReconnect, match="nothing renews it"):
        call(manifest)

    assert provider.asked == []
    assert health(world, provider, manifest).state == "needs_sign_in"


@pytest.mark.parametrize(
    ("days", "state", "since"),
    [(30, "ok", ""), (5, "expiring", "2026-12-05T12:00:00Z"), (-1, "needs_sign_in", "2026-11-29T12:00:00Z")],
)
def test_the_end_of_a_sign_in_that_nothing_renews_is_told_in_time(world, provider, days, state, since):
    sign_in(world.home, provider, ends=in_s(world, days * 86_400))

    found = health(world, provider, manifest_of(refresh_env=""))

    assert (found.state, found.since) == (state, since)
    assert (found.why == "") is (state == "ok")


@pytest.fixture
def through_relay(world, provider):
    """Make a call through an account that a relay signs in."""
    way = CloudFlow(label="Connect", provider="google", scopes=("a",), token_env=TOKEN, refresh_env=REFRESH)
    relay = Relay(url=provider.url(""), token="token-of-this-engine")
    return lambda **fields: read_me(
        world.home, provider, replace(world.outside, **{"relay": relay, **fields}), manifest_of(way)
    )


def test_a_relay_renews_what_it_signed_in(world, provider, through_relay):
    sign_in(world.home, provider)
    usual = provider._reply
    orders = []

    def reply(seen):
        if seen.target != "/broker/refresh":
            return usual(seen)
        orders.append((seen.headers["authorization"], json.loads(seen.body)))
        return provider.renewed()

    provider._script = [reply]

    assert through_relay() == ME

    order = {"provider": "google", "refresh_token": "refresh-0-of-the-account"}
    assert orders == [("Bearer token-of-this-engine", order)]
    assert stored_keys(world.home, provider)[REFRESH] == provider.refresh != "refresh-0-of-the-account"


def test_an_engine_without_a_relay_says_what_it_lacks_and_signs_nobody_out(world, provider, through_relay):
    sign_in(world.home, provider)

    with pytest.raises(SignInFailed, match="this engine has none"):
        through_relay(relay=None)

    assert health(world, provider).state == "ok"
