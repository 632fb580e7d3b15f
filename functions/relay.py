"""The relay: public, single-use addresses that send a browser on to the engine that registered them."""

import flask
import functions_framework

from habilis import web
from habilis.engine.broker import CALLBACK, return_id
from habilis.engine.outside import Outside
from habilis.engine.relays import RelayAddresses
from habilis.errors import NotFound, SignInExpired
from habilis.home.store import Home


@functions_framework.http
def relay(request: flask.Request) -> flask.Response:
    """POST /r {target}: an address for one browser. GET /r/<id>: there it goes, once; so do returns to the broker."""
    if request.method == "GET":
        return web.serve_public(request, lambda home, outside: _send_on(request, home, outside))
    return web.serve(request, _register)


def _register(desk: web.Desk) -> object:
    desk.require_route("POST")
    desk.caller.require("engine")
    desk.only("target")
    relay_id = desk.outside.token()
    RelayAddresses(desk.home).register(
        desk.text("target"), relay_id=relay_id, now=desk.outside.now(), origins=desk.origins
    )
    return web.Reply({"url": f"{desk.settings.own_relay_url}/r/{relay_id}"}, 201)


def _send_on(request: flask.Request, home: Home, outside: Outside) -> flask.Response:
    relay_id = request.path.rstrip("/").rpartition("/")[2]
    if request.path == CALLBACK:
        relay_id = return_id(request.args.getlist("state"))
    try:
        return web.redirect(RelayAddresses(home).take(relay_id, request.query_string, now=outside.now()))
    except (NotFound, SignInExpired) as error:
        # One page for both: whoever guesses learns nothing but the status.
        web.report(error)
        text = "It was used, ran out, or never was. Start the sign-in again."
        return web.page("This address leads nowhere", text, status=410 if isinstance(error, SignInExpired) else 404)
