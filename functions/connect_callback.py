"""The address that a service sends the browser back to at the end of a sign-in."""

import flask
import functions_framework

from habilis import web
from habilis.engine.connecting import CALLBACK_PATH, finish_sign_in
from habilis.engine.endings import Ending, find_ending, keep_ending
from habilis.engine.outside import Outside
from habilis.errors import HabilisError, NotFound, SignInStateInvalid
from habilis.home.store import Home


@functions_framework.http
def connect_callback(request: flask.Request) -> flask.Response:
    """GET /api/connect/callback?state=…: end the sign-in that waits under the state, without a token.

    The query holds keys, so the browser is sent on to /api/connect/callback/<id>, which tells how it ended.
    """
    shown = request.path.partition("/callback/")[2]
    if shown:
        return web.serve_public(request, lambda home, outside: _show(home, shown, outside))
    return web.serve_public(request, lambda home, outside: _finish(request, home, outside))


def _finish(request: flask.Request, home: Home, outside: Outside) -> flask.Response:
    try:
        connected = finish_sign_in(home, {name: request.args.getlist(name) for name in request.args}, outside)
        text = f"{connected.label} is signed in. You can close this page."
        ending = Ending(title="Connected", text=text, status=200)
    except SignInStateInvalid:
        raise  # nothing was waiting, so there is nothing to keep
    except HabilisError as error:
        title, text = web.error_words(web.report(error))
        ending = Ending(title=title, text=text, status=error.status)
    return web.redirect(f"{outside.public_url}{CALLBACK_PATH}/{keep_ending(home, ending, outside)}")


def _show(home: Home, name: str, outside: Outside) -> flask.Response:
    ending = find_ending(home, name, outside)
    if ending is None:
        raise NotFound("this page is gone", hint="list the accounts to see whether it is signed in")
    return web.page(ending.title, ending.text, status=ending.status)
