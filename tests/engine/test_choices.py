"""The values of a key, read from the service through the account."""

import json
from pathlib import Path

import pytest
from tests.upstream import Upstream, answer

from habilis.engine.accounts import AccountOrder, add_account, allow_private, set_key
from habilis.engine.choices import read_choices
from habilis.engine.installs import install, plan_install
from habilis.errors import NotFound, SecretMissing, UpstreamError
from habilis.redaction import clean

MANIFEST = """\
id: figures
name: Read figures
version: "1"
summary: Read figures.
auth:
  - { env: FIGURES_SITE, label: Site, secret: false }
  - { env: FIGURES_TOKEN, label: Token, optional: true }
  - { env: KEY_FILE, label: Key file, optional: true }
  - env: PROPERTY
    label: Property
    choices:
      request:
        method: GET
        url: "${FIGURES_SITE}/accounts"
        headers: { Authorization: "Bearer ${FIGURES_TOKEN}" }
        pages: { by: cursor, from: /next, into: "query:pageToken" }
      list: /accounts/*/properties/*
      value: /property
      label: /name
      strip: properties/
  - { env: EDITION, label: Edition, optional: true, options: [daily, weekly] }
connect:
  - { label: Connect with Figures, flow: cloud, provider: figures, scopes: [read], token_env: FIGURES_TOKEN }
hosts: ["${FIGURES_SITE}"]
tools:
  - { name: read_figures, request: { method: GET, url: "${FIGURES_SITE}/figures/${PROPERTY}" } }
"""
FIRST = {"accounts": [{"properties": [{"property": "properties/123456789", "name": "Shop"}]}], "next": "two"}
SECOND = {"accounts": [{"properties": [{"property": "properties/987654321"}]}]}


def said(body, status=200):
    return answer(status, body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),))


def furnish(world, tmp_path: Path, site: str = "https://figures.example.com", text: str = MANIFEST):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "extension.yaml").write_text(text, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    keys = {"FIGURES_SITE": site}
    add_account(world.home, AccountOrder(project="acme", ability="figures", keys=keys), actor="user", now=world.clock())


def signed_in(world, tmp_path, upstream, text=MANIFEST):
    furnish(world, tmp_path, upstream.url(), text)
    allow_private(world.home, "acme", "figures", upstream.url().removeprefix("http://").rstrip("/"), actor="tests")
    set_key(world.home, "acme", "figures", "FIGURES_TOKEN", "token-0123456789")


def read(world, name="PROPERTY", account="figures"):
    return read_choices(world.home, "acme", account, name, world.outside)


def test_every_page_is_read_with_the_account_s_own_keys_before_the_account_is_ready(world, tmp_path):
    with Upstream(said(FIRST), said(SECOND)) as upstream:
        signed_in(world, tmp_path, upstream)

        found = read(world)

        assert [seen.target for seen in upstream.requests] == ["/accounts", "/accounts?pageToken=two"]
        assert {seen.headers["authorization"] for seen in upstream.requests} == {"Bearer token-0123456789"}
    assert [(choice.value, choice.label) for choice in found.choices] == [
        ("123456789", "Shop"),
        ("987654321", "987654321"),
    ]
    assert (found.key, found.label, found.notes) == ("PROPERTY", "Property", ())


def test_a_value_that_was_picked_stays_readable_in_the_list(world, tmp_path):
    with Upstream(said(SECOND)) as upstream:
        signed_in(world, tmp_path, upstream)
        set_key(world.home, "acme", "figures", "PROPERTY", "987654321")

        found = read(world)

    assert clean([choice.value for choice in found.choices]) == ["987654321"]


def test_an_account_that_is_not_signed_in_is_told_so_and_nothing_is_sent(world, tmp_path):
    with Upstream() as upstream:
        furnish(world, tmp_path, upstream.url())

        with pytest.raises(SecretMissing, match="is not signed in"):
            read(world)

        assert upstream.connections == 0


def test_the_service_s_own_words_reach_the_person(world, tmp_path):
    with Upstream(said({"error": {"message": "The Admin API is switched off"}}, status=403)) as upstream:
        signed_in(world, tmp_path, upstream)

        with pytest.raises(UpstreamError, match="The Admin API is switched off") as caught:
            read(world)

    assert caught.value.where == "the choices of PROPERTY"


def test_what_has_no_list_is_not_found(world, tmp_path):
    furnish(world, tmp_path)

    for name, hint in [("EDITION", "it is one of daily, weekly"), ("FIGURES_SITE", "type it: habilis accounts set")]:
        with pytest.raises(NotFound) as caught:
            read(world, name)
        assert caught.value.hint == hint
    for name, account in [("NOBODY", "figures"), ("PROPERTY", "nobody")]:
        with pytest.raises(NotFound):
            read(world, name, account)


def test_a_key_that_depends_on_another_asks_for_that_first(world, tmp_path):
    text = MANIFEST.replace("      strip: properties/\n", "      strip: properties/\n      depends: [EDITION]\n")
    with Upstream(said(SECOND)) as upstream:
        signed_in(world, tmp_path, upstream, text)

        with pytest.raises(SecretMissing, match="what PROPERTY can be depends on EDITION") as caught:
            read(world)

        assert upstream.connections == 0
        set_key(world.home, "acme", "figures", "EDITION", "daily")
        assert [choice.value for choice in read(world).choices] == ["987654321"]
    assert caught.value.hint == "set it first: habilis accounts set acme figures EDITION"
