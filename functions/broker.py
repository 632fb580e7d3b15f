"""The broker: signs in for other engines at providers whose applications have a secret, which is kept here."""

import os

import flask
import functions_framework

from habilis import web
from habilis.engine.broker import Asked, Broker
from habilis.engine.providers import find_provider
from habilis.engine.relays import RelayAddresses


@functions_framework.http
def broker(request: flask.Request) -> flask.Response:
    """POST /broker/authorize: the provider's page. POST /broker/token and /broker/refresh: what the provider gives."""
    verbs = {"authorize": _authorize, "token": _token, "refresh": _refresh}
    return web.serve(request, verbs.get(request.path.rpartition("/")[2], _nothing))


def _authorize(desk: web.Desk) -> object:
    broker = _broker(desk, "scope", "state", "code_challenge", "target")
    asked = Asked(
        scope=desk.text("scope"),
        state=desk.text("state"),
        challenge=desk.text("code_challenge"),
        target=desk.text("target"),
    )
    return broker.open_page(asked, RelayAddresses(desk.home), desk.origins)


def _token(desk: web.Desk) -> object:
    broker = _broker(desk, "code", "code_verifier")
    return web.Reply(broker.exchange(desk.text("code"), desk.text("code_verifier")), 200, holds_keys=True)


def _refresh(desk: web.Desk) -> object:
    return web.Reply(_broker(desk, "refresh_token").refresh(desk.text("refresh_token")), 200, holds_keys=True)


def _nothing(desk: web.Desk) -> object:
    raise desk.no_address()


def _broker(desk: web.Desk, *fields: str) -> Broker:
    """The broker for the provider that the order names."""
    desk.require_route("POST")
    desk.caller.require("engine")
    desk.only("provider", *fields)
    provider = find_provider(desk.settings.providers, desk.text("provider"), os.environ)
    return Broker(provider=provider, own_url=desk.settings.own_relay_url, outside=desk.outside)
