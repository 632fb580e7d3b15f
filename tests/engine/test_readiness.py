"""When an account is ready: its required keys, and any one way to sign in."""

from pathlib import Path

import pytest

from habilis.engine.accounts import AccountOrder, add_account, set_key, show_account
from habilis.engine.calls import call_tool
from habilis.engine.installs import install, plan_install
from habilis.engine.offer import offer_tools
from habilis.engine.resolve import CallOrder
from habilis.errors import SecretMissing

MANIFEST = """\
id: figures
name: Read figures
version: "1"
summary: Read figures.
auth:
  - { env: PROPERTY, label: Property, placeholder: "123456", help: "Admin > Property settings", secret: false }
  - { env: FIGURES_TOKEN, label: Sign-in, optional: true }
  - { env: FIGURES_REFRESH, label: Renewal, optional: true }
  - { env: KEY_FILE, label: Service account key file, optional: true, secret: false }
connect:
  - label: Connect with Figures
    flow: cloud
    provider: figures
    scopes: [read]
    token_env: FIGURES_TOKEN
    refresh_env: FIGURES_REFRESH
  - flow: service_account
    key_file: KEY_FILE
    token_url: https://figures.example.com/token
    scopes: [read]
    token_env: FIGURES_TOKEN
hosts: [figures.example.com]
tools:
  - name: read_figures
    request:
      method: GET
      url: "https://figures.example.com/${PROPERTY|urlencode}"
      headers: { Authorization: "Bearer ${FIGURES_TOKEN}" }
"""


@pytest.fixture
def figures(world, tmp_path: Path):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    add_account(world.home, AccountOrder(project="acme", ability="figures"), actor="user", now=world.clock())
    return world


def view(world):
    return show_account(world.home, "acme", "figures")


def needs(world):
    return next(tool.needs for tool in offer_tools(world.home, "acme") if tool.ability == "figures")


def test_required_keys_come_first_then_any_one_way(figures):
    assert (view(figures).is_ready, view(figures).needs) == (False, "PROPERTY")
    assert needs(figures) == "the key PROPERTY"

    set_key(figures.home, "acme", "figures", "PROPERTY", "1")

    assert (view(figures).is_ready, needs(figures)) == (False, "a sign-in (Connect with Figures or Service account)")

    set_key(figures.home, "acme", "figures", "KEY_FILE", "/keys/figures.json")

    assert (view(figures).is_ready, view(figures).needs, needs(figures)) == (True, "", "")
    assert [(way.flow, way.is_set_up) for way in view(figures).ways] == [("cloud", False), ("service_account", True)]


def test_a_token_that_a_sign_in_keeps_is_no_field_of_a_form(figures):
    assert [key.name for key in view(figures).keys] == ["PROPERTY", "KEY_FILE"]


def test_a_field_tells_what_a_value_looks_like_and_where_to_get_it(figures):
    key = view(figures).keys[0]

    assert (key.placeholder, key.help, key.is_secret) == ("123456", "Admin > Property settings", False)


def test_a_call_through_an_account_that_is_not_signed_in_says_how_to_sign_in(figures):
    set_key(figures.home, "acme", "figures", "PROPERTY", "1")

    with pytest.raises(SecretMissing, match="is not signed in") as caught:
        call_tool(
            figures.home,
            CallOrder(project="acme", tool="read_figures", arguments={}),
            figures.outside,
            actor="agent",
        )

    assert caught.value.hint == "sign it in: habilis accounts connect acme figures"


def test_a_sign_in_that_is_renewed_is_not_shared_by_a_copy_of_the_keys(figures):
    for name in ("PROPERTY", "FIGURES_TOKEN", "FIGURES_REFRESH", "KEY_FILE"):
        set_key(figures.home, "acme", "figures", name, f"value-of-{name}")

    order = AccountOrder(project="acme", ability="figures", id="copy", same_as="figures")
    add_account(figures.home, order, actor="user", now=figures.clock())

    copied = (figures.home.private / "projects/acme/connections/copy/.env").read_text()
    assert copied == "PROPERTY=value-of-PROPERTY\nKEY_FILE=value-of-KEY_FILE\n"
