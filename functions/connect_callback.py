"""The address that a service sends the browser back to at the end of a sign-in."""

import flask
import functions_framework

from habilis import web
from habilis.engine.connecting import finish_sign_in
from habilis.engine.outside import Outside
from habilis.home.store import Home


@functions_framework.http
def connect_callback(request: flask.Request) -> flask.Response:
    """GET /api/connect/callback?state=…: end the sign-in that waits under the state. It needs no token."""

    def finish(home: Home, outside: Outside) -> flask.Response:
        query = {name: request.args.getlist(name) for name in request.args}
        connected = finish_sign_in(home, query, outside)
        return web.page("Connected", f"{connected.label} is signed in. You can close this page.")

    return web.serve_public(request, finish)
