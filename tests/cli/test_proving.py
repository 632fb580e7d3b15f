"""Keys that a service takes or not, as the command line tells it."""

import pytest
from tests.engine.test_verifying import ANNA, MANIFEST, Club
from tests.upstream import Upstream

CHOICES = """\
  - env: CLUB_TEAM
    label: Team
    optional: true
    choices:
      request: { method: GET, url: "${CLUB_SITE}/teams", headers: { Authorization: "Bearer ${CLUB_TOKEN}" } }
      list: ""
      value: /id
      label: /name
"""


@pytest.fixture
def club(shell, tmp_path):
    folder = tmp_path / "club"
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST.replace("verify:", f"{CHOICES}verify:", 1), encoding="utf-8")
    shell.ok("abilities", "install", folder)
    club = Club()
    with Upstream(club) as upstream:
        shell.ok("accounts", "add", "acme", "club", "--keys", "-", stdin=f"CLUB_SITE={upstream.url()}\n".encode())
        shell.ok("accounts", "allow-private", "acme", "club", upstream.url().removeprefix("http://").strip("/"))
        yield club


def set_token(shell, value):
    return shell.run("accounts", "set", "acme", "club", "CLUB_TOKEN", stdin=value.encode())


def test_a_wrong_key_is_told_when_it_is_set_and_again_when_it_is_verified(shell, club):
    told = set_token(shell, "token-of-nobody-3")
    again = shell.run("accounts", "verify", "acme", "club")

    assert told.code == 0
    assert "note: saved, but the service does not take it: answered 401: this token is not known here" in told.err
    assert again.code == 1
    assert "this token is not known here" in again.err
    assert "token-of-nobody-3" not in told.out + told.err + again.out + again.err


def test_a_right_key_is_verified_with_whose_it_is(shell, club):
    assert set_token(shell, ANNA).err == ""

    assert (
        shell.ok("accounts", "verify", "acme", "club").out
        == "The service takes the keys of club. They are those of Anna.\n"
    )


def test_choices_are_listed_in_columns(shell, club):
    set_token(shell, ANNA)
    club.lists["/teams"] = [{"id": "t1", "name": "First team"}, {"id": "t22"}]

    assert shell.ok("accounts", "choices", "acme", "club", "CLUB_TEAM").out == "t1   First team\nt22\n"


def test_a_dry_run_asks_no_service(shell, club):
    shell.ok("accounts", "set", "acme", "club", "CLUB_TOKEN", "--dry-run", stdin=ANNA.encode())

    assert club.asked == []
