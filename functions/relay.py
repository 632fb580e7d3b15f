"""The relay: a public, single-use address that sends a browser on to an engine."""

import os

import flask
import functions_framework

from habilis import web
from habilis.engine.outside import Outside
from habilis.engine.relays import register_target, take_target, waiting_targets
from habilis.home.store import Home


@functions_framework.http
def relay(request: flask.Request) -> flask.Response:
    """POST /r {target}: an address for one browser. GET /r/<id>: there it goes, once."""
    if request.method == "POST":
        return web.serve(request, _register)
    relay_id = request.path.rstrip("/").rsplit("/", 1)[-1]

    def send_on(home: Home, outside: Outside) -> flask.Response:
        query = request.query_string.decode("ascii", errors="replace")
        return web.redirect(take_target(waiting_targets(home), relay_id, query, now=outside.now()))

    return web.serve_public(request, send_on)


def _register(desk: web.Desk) -> object:
    desk.caller.require("operator")
    desk.only("target")
    relay_id = register_target(
        waiting_targets(desk.home),
        desk.text("target"),
        relay_id=desk.outside.token(),
        now=desk.outside.now(),
        origins=frozenset(os.environ.get("HABILIS_RELAY_ORIGINS", "").split()),
    )
    return web.Reply({"url": f"{desk.outside.public_url}/r/{relay_id}"}, 201)
