"""Keys that are proved when they are saved, and accounts that stay one person's."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.upstream import Upstream, answer

from habilis.engine.accounts import AccountOrder, add_account, allow_private, set_key, show_account
from habilis.engine.connecting import finish_sign_in, open_start, start_sign_in
from habilis.engine.installs import install, plan_install
from habilis.engine.verifying import KeyOrder, add_proven, save_key, verify_account
from habilis.errors import ArgsInvalid, FeatureDisabled, SecretMissing, SignInFailed, UpstreamError
from habilis.redaction import clean

MANIFEST = """\
id: club
name: Read the club
version: "1"
summary: Read the club.
auth:
  - { env: CLUB_SITE, label: Site, secret: false }
  - { env: CLUB_TOKEN, label: Token }
  - { env: CLUB_MAIL, label: Mail, format: email, optional: true, placeholder: ann@example.com, secret: false }
verify:
  request: { method: GET, url: "${CLUB_SITE}/check", headers: { Authorization: "Bearer ${CLUB_TOKEN}" } }
identity:
  request: { method: GET, url: "${CLUB_SITE}/me", headers: { Authorization: "Bearer ${CLUB_TOKEN}" } }
  id: /id
  label: /name
connect:
  label: Connect with the club
  flow: redirect
  needs: [CLUB_SITE]
  url: "${CLUB_SITE}/authorize"
  callback_params: [callback]
  returns: { CLUB_TOKEN: token }
hosts: ["${CLUB_SITE}"]
tools:
  - { name: read_club, request: { method: GET, url: "${CLUB_SITE}/club" } }
"""
ANNA, BEN = "token-of-anna-1", "token-of-ben-22"
PEOPLE = {ANNA: {"id": 1, "name": "Anna"}, BEN: {"id": 2, "name": "Ben"}}


@dataclass
class Club:
    """A service that knows two people by their tokens."""

    status: int = 200
    asked: list[str] = field(default_factory=list)
    lists: dict[str, list[object]] = field(default_factory=dict)

    def __call__(self, seen):
        self.asked.append(seen.target)
        who = PEOPLE.get(seen.headers.get("authorization", "").removeprefix("Bearer "))
        status = 401 if who is None else self.status
        said = self.lists.get(seen.target, who) if status == 200 else {"message": "this token is not known here"}
        return answer(status, body=json.dumps(said).encode(), headers=(("Content-Type", "application/json"),))


@pytest.fixture
def club(world, tmp_path: Path):
    folder = tmp_path / "club"
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    club = Club()
    with Upstream(club) as upstream:
        keys = {"CLUB_SITE": upstream.url()}
        order = AccountOrder(project="acme", ability="club", keys=keys)
        add_account(world.home, order, actor="user", now=world.clock())
        place = upstream.url().removeprefix("http://").strip("/")
        allow_private(world.home, "acme", "club", place, actor="tests")
        yield club


def save(world, value, name="CLUB_TOKEN"):
    order = KeyOrder(project="acme", account="club", name=name, value=value)
    return save_key(world.home, order, world.outside, actor="user")


def verify(world, account="club"):
    return verify_account(world.home, "acme", account, world.outside, actor="user")


def label(world):
    return show_account(world.home, "acme", "club").label


def stored(world):
    return (world.home.private / "projects/acme/connections/club/.env").read_text()


def record(world):
    return world.home.open().require("projects/acme/connections/club/connection.yaml").decode()


def test_a_right_key_is_saved_without_a_word_and_names_the_account(world, club):
    assert save(world, ANNA) == []

    assert club.asked == ["/check", "/me"]
    assert label(world) == "Anna"
    assert "identity:\n  id: '1'\n  label: Anna\n" in record(world)


def test_a_wrong_key_is_told_at_once_and_never_shown(world, club):
    (notice,) = save(world, "token-of-nobody-3")

    assert notice == "saved, but the service does not take it: answered 401: this token is not known here"
    assert "token-of-nobody-3" in stored(world)
    assert "identity" not in record(world)


def test_a_service_that_is_down_says_nothing_about_a_key(world, club):
    club.status = 503

    (notice,) = save(world, ANNA)

    assert notice.startswith("saved, but it could not be checked: answered 503")


def test_nothing_is_asked_while_a_required_key_is_missing(world, club):
    assert save(world, "ann@example.com", name="CLUB_MAIL") == []
    assert club.asked == []


def test_a_name_that_a_person_gave_stays(world, club):
    order = AccountOrder(project="acme", ability="club", id="mine", label="My own club")
    add_account(world.home, order, actor="user", now=world.clock())
    site = next(line for line in stored(world).splitlines() if line.startswith("CLUB_SITE")).partition("=")[2]
    for name, value in {"CLUB_SITE": site, "CLUB_TOKEN": ANNA}.items():
        set_key(world.home, "acme", "mine", name, value)
    allow_private(world.home, "acme", "mine", site.removeprefix("http://"), actor="tests")

    assert verify(world, "mine").identity == "Anna"
    assert show_account(world.home, "acme", "mine").label == "My own club"


def test_a_key_of_somebody_else_is_refused_with_both_names_and_not_stored(world, club):
    save(world, ANNA)

    with pytest.raises(SignInFailed) as caught:
        save(world, BEN)

    assert "'Ben'" in caught.value.message
    assert "'Anna'" in caught.value.message
    assert ANNA in stored(world)
    assert BEN not in stored(world)


def sign_in(world, token):
    """Go the way of the browser, which comes back with a token."""
    outside = replace(world.outside, public_url="https://habilis.example")
    start = start_sign_in(world.home, "acme", "club", outside).url.rpartition("/")[2]
    page, _ = open_start(world.home, start, outside, mark="m" * 43)
    callback = parse_qs(urlsplit(page).query)["callback"][0]
    state = parse_qs(urlsplit(callback).query)["state"][0]
    return finish_sign_in(world.home, {"state": [state], "token": [token]}, outside, mark="m" * 43)


def test_the_first_sign_in_names_the_account(world, club):
    assert sign_in(world, BEN).label == "Ben"
    assert "identity:\n  id: '2'\n  label: Ben\n" in record(world)


def test_a_sign_in_of_the_same_person_is_welcome(world, club):
    save(world, ANNA)

    assert sign_in(world, ANNA).label == "Anna"


def test_a_sign_in_of_somebody_else_is_refused_with_both_names_and_nothing_is_stored(world, club):
    save(world, ANNA)
    before = stored(world), record(world)

    with pytest.raises(SignInFailed) as caught:
        sign_in(world, BEN)

    assert caught.value.message == "these keys are those of 'Ben', and 'club' is the account of 'Anna'"
    assert caught.value.hint == "sign in as 'Anna', or add another account for 'Ben'"
    assert (stored(world), record(world)) == before


def test_nobody_gets_into_a_known_account_while_the_service_cannot_say_who_it_is(world, club):
    save(world, ANNA)
    club.status = 503

    with pytest.raises(SignInFailed, match="could not be checked whether this is 'Anna' again"):
        sign_in(world, BEN)

    assert BEN not in stored(world)


def test_an_account_is_verified_whenever_somebody_asks(world, club):
    set_key(world.home, "acme", "club", "CLUB_TOKEN", ANNA)

    verified = verify(world)

    assert (verified.account, verified.label, verified.identity) == ("club", "Anna", "Anna")


def test_the_service_s_words_are_the_error_of_a_verification_without_the_key(world, club):
    set_key(world.home, "acme", "club", "CLUB_TOKEN", "token-of-nobody-3")

    with pytest.raises(UpstreamError, match="this token is not known here") as caught:
        verify(world)

    assert "token-of-nobody-3" not in clean(str(caught.value))


def test_what_is_not_set_is_asked_for_and_nothing_is_sent(world, club):
    with pytest.raises(SecretMissing, match="lacks CLUB_TOKEN"):
        verify(world)

    assert club.asked == []


def test_an_ability_without_a_proof_says_so(world):
    world.add_account()

    with pytest.raises(FeatureDisabled, match="no ability of 'sample-blog' says how its keys are proved"):
        verify(world, "sample-blog")


@pytest.mark.parametrize("value", ["ann", "Ann <ann@example.com>", "ann@example.com, ben@example.com"])
def test_a_value_of_another_kind_is_refused_without_being_shown(world, club, value):
    with pytest.raises(ArgsInvalid) as caught:
        save(world, value, name="CLUB_MAIL")

    assert caught.value.message == "CLUB_MAIL does not look right"
    assert "CLUB_MAIL" not in stored(world)


def test_a_new_account_is_proved_with_the_keys_it_comes_with(world, club):
    order = AccountOrder(project="acme", ability="club", id="new", same_as="club", keys={"CLUB_TOKEN": "token-x-0001"})

    account, notices = add_proven(world.home, order, world.outside, actor="user")

    assert account == "new"
    # Its site is on this machine, and no operator has let this account call it.
    assert notices[0].startswith("saved, but it could not be checked: ")
