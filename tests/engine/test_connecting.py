from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from habilis.engine.accounts import AccountOrder, add_account, list_accounts, remove_account
from habilis.engine.connecting import finish_sign_in, start_sign_in
from habilis.engine.installs import install, plan_install
from habilis.errors import (
    FeatureDisabled,
    HabilisError,
    NotFound,
    SecretMissing,
    SignInDenied,
    SignInExpired,
    SignInFailed,
    SignInStateInvalid,
)

HERE = "https://habilis.example"


@pytest.fixture
def public(world):
    """The world of an engine that browsers reach over https."""
    world.outside = replace(world.outside, public_url=HERE)
    return world


def begin(world, account="sample-blog"):
    """Start a sign-in and return the page's address and the state of its callback."""
    started = start_sign_in(world.home, "acme", account, world.outside)
    callback = parse_qs(urlsplit(started.url).query).get("callback", [""])[0]
    return started, parse_qs(urlsplit(callback).query).get("state", [""])[0]


def add(world, **fields):
    keys = {"SAMPLE_SITE": world.service.url}
    order = replace(AccountOrder(project="acme", ability="sample-blog", keys=keys), **fields)
    account = add_account(world.home, order, actor="user", now=world.clock())
    from habilis.engine.accounts import allow_private

    allow_private(world.home, "acme", account.id, world.service.host, actor="user")
    return account


def answer(world, state, **more):
    return {"state": [state], "site": [world.service.url], "token": ["tok-0123456789"], **more}


def has_token(world, account="sample-blog"):
    (view,) = (view for view in list_accounts(world.home, "acme") if view.id == account)
    return next(key.is_set for key in view.keys if key.name == "SAMPLE_TOKEN")


def test_the_page_is_the_services_and_carries_the_callback(public):
    add(public)

    started, state = begin(public)

    assert started.url.startswith(f"{public.service.url}/connect?app=Habilis&app_id=")
    assert parse_qs(urlsplit(started.url).query)["callback"] == [f"{HERE}/api/connect/callback?state={state}"]
    assert started.returns_by_itself


def test_a_return_stores_the_keys_on_the_account_that_was_begun(public):
    add(public)
    _, state = begin(public)

    connected = finish_sign_in(public.home, answer(public, state), public.outside)

    assert (connected.project, connected.account) == ("acme", "sample-blog")
    assert has_token(public)


@pytest.mark.parametrize("query", [{}, {"state": [""]}, {"state": ["unknown"]}, {"state": ["a", "b"]}])
def test_a_return_without_a_waiting_state_stores_nothing(public, query):
    add(public)
    begin(public)

    with pytest.raises(SignInStateInvalid):
        finish_sign_in(public.home, {**answer(public, ""), **query} if query else {}, public.outside)

    assert not has_token(public)


def test_a_state_is_used_once_even_at_the_same_instant(public):
    add(public)
    _, state = begin(public)

    def finish(_):
        try:
            return finish_sign_in(public.home, answer(public, state), public.outside).account
        except HabilisError as error:
            return error.code

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(finish, range(8)))

    assert outcomes == ["sample-blog", *["signin_state_invalid"] * 7]


def test_a_return_after_ten_minutes_is_late_and_its_state_is_gone(public):
    add(public)
    _, state = begin(public)
    public.clock.move(timedelta(minutes=10, seconds=1))

    with pytest.raises(SignInExpired):
        finish_sign_in(public.home, answer(public, state), public.outside)
    with pytest.raises(SignInStateInvalid):
        finish_sign_in(public.home, answer(public, state), public.outside)

    assert not has_token(public)


def test_a_return_for_an_account_made_anew_under_the_same_id_stores_nothing(public):
    add(public)
    _, state = begin(public)
    remove_account(public.home, "acme", "sample-blog", actor="user")
    public.clock.move(timedelta(seconds=1))
    add(public)

    with pytest.raises(SignInFailed, match="cancelled"):
        finish_sign_in(public.home, answer(public, state), public.outside)

    assert not has_token(public)


def test_parameters_that_name_another_account_or_page_are_ignored(public):
    add(public)
    add(public, id="other")
    _, state = begin(public)

    connected = finish_sign_in(
        public.home, answer(public, state, connection=["other"], project=["b"], redirect=["https://evil.test"]),
        public.outside,
    )  # fmt: skip

    assert connected.account == "sample-blog"
    assert not has_token(public, "other")


def test_a_refusal_stores_nothing(public):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInDenied):
        finish_sign_in(public.home, answer(public, state, approved=["no"]), public.outside)

    assert not has_token(public)


@pytest.mark.parametrize("token", [[], [""], ["one", "two"], ["x" * 100_000]])
def test_a_return_that_lacks_a_value_or_has_it_twice_stores_nothing(public, token):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInFailed):
        finish_sign_in(public.home, answer(public, state, token=token), public.outside)

    assert not has_token(public)


def test_a_service_that_answers_for_another_site_stores_nothing(public):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInFailed, match="another site"):
        finish_sign_in(public.home, answer(public, state, site=["https://evil.test"]), public.outside)

    assert not has_token(public)


def test_an_account_removed_meanwhile_does_not_come_back(public):
    add(public)
    _, state = begin(public)
    remove_account(public.home, "acme", "sample-blog", actor="user")

    with pytest.raises(SignInFailed, match="cancelled"):
        finish_sign_in(public.home, answer(public, state), public.outside)

    assert not (public.home.private / "projects/acme/connections/sample-blog").exists()


def test_the_sign_in_asks_first_for_what_its_page_needs(public):
    add(public, keys={})

    with pytest.raises(SecretMissing, match="SAMPLE_SITE"):
        begin(public)


def test_without_a_way_back_over_https_the_page_opens_with_no_callback(world):
    world.outside = replace(world.outside, public_url="http://127.0.0.1:9")
    add(world)

    started, _ = begin(world)

    assert "callback" not in started.url
    assert not started.returns_by_itself


def test_an_account_that_is_not_there_cannot_be_signed_in(public):
    with pytest.raises(NotFound, match="no account 'nobody'"):
        begin(public, "nobody")


READER = """\
id: reader
name: Read numbers
version: "0.1.0"
summary: Reads.
auth:
  - { env: READER_TOKEN, optional: true }
  - { env: READER_KEY_FILE, optional: true }
connect:
  - { label: Connect, flow: cloud, provider: google, scopes: [read], token_env: READER_TOKEN }
  - flow: service_account
    key_file: READER_KEY_FILE
    token_url: https://api.example.com/token
    scopes: [read]
    token_env: READER_TOKEN
hosts: [api.example.com]
"""


def test_a_way_to_sign_in_that_comes_later_is_said_to_be_one(world, tmp_path):
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "extension.yaml").write_text(READER, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    order = AccountOrder(project="acme", ability="reader", keys={})
    add_account(world.home, order, actor="tests", now=world.clock())

    with pytest.raises(FeatureDisabled, match="signs in by cloud or service_account; this version"):
        start_sign_in(world.home, "acme", "reader", world.outside)
