import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from habilis.engine.accounts import AccountOrder, add_account, list_accounts, remove_account
from habilis.engine.connecting import finish_sign_in, open_start, start_sign_in
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
MARK = "m" * 43


@pytest.fixture
def public(world):
    """The world of an engine that browsers reach over https."""
    world.outside = replace(world.outside, public_url=HERE)
    return world


def begin(world, account="sample-blog"):
    """Start a sign-in in this browser and return the service's page and the state of its callback."""
    started = start_sign_in(world.home, "acme", account, world.outside)
    start = started.url.rpartition("/")[2]
    page, _ = open_start(world.home, start, world.outside, mark=MARK)
    callback = parse_qs(urlsplit(page).query)["callback"][0]
    return page, parse_qs(urlsplit(callback).query)["state"][0]


def finish(world, query, *, mark=MARK):
    return finish_sign_in(world.home, query, world.outside, mark=mark)


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


def test_a_sign_in_starts_at_a_page_of_our_own_and_goes_on_to_the_services_with_the_callback(public):
    add(public)

    started = start_sign_in(public.home, "acme", "sample-blog", public.outside)
    page, state = begin(public)

    assert started.url.startswith(f"{HERE}/api/connect/start/")
    assert started.returns_by_itself
    assert page.startswith(f"{public.service.url}/connect?app=Habilis&app_id=")
    assert parse_qs(urlsplit(page).query)["callback"] == [f"{HERE}/api/connect/callback?state={state}"]


def test_a_start_page_is_opened_once(public):
    add(public)
    started = start_sign_in(public.home, "acme", "sample-blog", public.outside)
    start = started.url.rpartition("/")[2]
    open_start(public.home, start, public.outside, mark=MARK)

    with pytest.raises(NotFound, match="opened before"):
        open_start(public.home, start, public.outside, mark=MARK)


def test_a_browser_keeps_one_mark_for_all_of_its_sign_ins(public):
    add(public)
    first, second = (
        start_sign_in(public.home, "acme", "sample-blog", public.outside).url.rpartition("/")[2] for _ in range(2)
    )

    _, mark = open_start(public.home, first, public.outside, mark="")
    _, again = open_start(public.home, second, public.outside, mark=mark)

    assert len(mark) >= 43
    assert again == mark


@pytest.mark.parametrize("mark", ["", "x" * 43])
def test_another_browser_does_not_end_a_sign_in(public, mark):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInFailed, match="another browser"):
        finish(public, answer(public, state), mark=mark)

    assert not has_token(public)


def test_a_sign_in_whose_page_no_browser_opened_is_ended_by_none(public):
    add(public)
    start_sign_in(public.home, "acme", "sample-blog", public.outside)
    (record,) = (public.home.private / ".state" / "sign-ins").iterdir()
    state = json.loads(record.read_bytes())["data"]["pending"]["state"]

    with pytest.raises(SignInFailed, match="another browser"):
        finish(public, answer(public, state), mark="")


def test_a_return_stores_the_keys_on_the_account_that_was_begun(public):
    add(public)
    _, state = begin(public)

    connected = finish(public, answer(public, state))

    assert (connected.project, connected.account) == ("acme", "sample-blog")
    assert has_token(public)


@pytest.mark.parametrize("query", [{}, {"state": [""]}, {"state": ["unknown"]}, {"state": ["a", "b"]}])
def test_a_return_without_a_waiting_state_stores_nothing(public, query):
    add(public)
    begin(public)

    with pytest.raises(SignInStateInvalid):
        finish(public, {**answer(public, ""), **query} if query else {})

    assert not has_token(public)


def test_a_state_is_used_once_even_at_the_same_instant(public):
    add(public)
    _, state = begin(public)

    def end(_):
        try:
            return finish(public, answer(public, state)).account
        except HabilisError as error:
            return error.code

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(end, range(8)))

    assert outcomes == ["sample-blog", *["signin_state_invalid"] * 7]


def test_a_return_after_ten_minutes_is_late_and_its_state_is_gone(public):
    add(public)
    _, state = begin(public)
    public.clock.move(timedelta(minutes=10, seconds=1))

    with pytest.raises(SignInExpired):
        finish(public, answer(public, state))
    with pytest.raises(SignInStateInvalid):
        finish(public, answer(public, state))

    assert not has_token(public)


def test_a_return_for_an_account_made_anew_under_the_same_id_stores_nothing(public):
    add(public)
    _, state = begin(public)
    remove_account(public.home, "acme", "sample-blog", actor="user")
    public.clock.move(timedelta(seconds=1))
    add(public)

    with pytest.raises(SignInFailed, match="cancelled"):
        finish(public, answer(public, state))

    assert not has_token(public)


def test_parameters_that_name_another_account_or_page_are_ignored(public):
    add(public)
    add(public, id="other")
    _, state = begin(public)

    connected = finish(
        public, answer(public, state, connection=["other"], project=["b"], redirect=["https://evil.test"])
    )

    assert connected.account == "sample-blog"
    assert not has_token(public, "other")


def test_a_refusal_stores_nothing(public):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInDenied):
        finish(public, answer(public, state, approved=["no"]))

    assert not has_token(public)


@pytest.mark.parametrize("token", [[], [""], ["one", "two"], ["x" * 100_000]])
def test_a_return_that_lacks_a_value_or_has_it_twice_stores_nothing(public, token):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInFailed):
        finish(public, answer(public, state, token=token))

    assert not has_token(public)


def test_a_service_that_answers_for_another_site_stores_nothing(public):
    add(public)
    _, state = begin(public)

    with pytest.raises(SignInFailed, match="another site"):
        finish(public, answer(public, state, site=["https://evil.test"]))

    assert not has_token(public)


def test_an_account_removed_meanwhile_does_not_come_back(public):
    add(public)
    _, state = begin(public)
    remove_account(public.home, "acme", "sample-blog", actor="user")

    with pytest.raises(SignInFailed, match="cancelled"):
        finish(public, answer(public, state))

    assert not (public.home.private / "projects/acme/connections/sample-blog").exists()


def test_the_sign_in_asks_first_for_what_its_page_needs(public):
    add(public, keys={})

    with pytest.raises(SecretMissing, match="SAMPLE_SITE"):
        begin(public)


def test_without_a_way_back_over_https_the_page_opens_with_no_callback(world):
    world.outside = replace(world.outside, public_url="http://127.0.0.1:9")
    add(world)

    started = start_sign_in(world.home, "acme", "sample-blog", world.outside)

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


def test_a_way_through_a_relay_needs_one(world, tmp_path):
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "extension.yaml").write_text(READER, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    order = AccountOrder(project="acme", ability="reader", keys={})
    add_account(world.home, order, actor="tests", now=world.clock())

    with pytest.raises(FeatureDisabled, match="signing in at google goes through a relay"):
        start_sign_in(world.home, "acme", "reader", world.outside)
