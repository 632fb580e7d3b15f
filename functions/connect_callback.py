"""Both ends of a sign-in in a browser: the page that it starts at, and where the service sends the browser back to."""

import flask
import functions_framework

from habilis import web
from habilis.engine.connecting import CALLBACK_PATH, START_PATH, finish_sign_in, open_start
from habilis.engine.endings import Ending, find_ending, keep_ending
from habilis.engine.outside import Outside
from habilis.errors import HabilisError, NotFound, SignInStateInvalid
from habilis.home.store import Home
from habilis.web.marks import mark_of, marked


@functions_framework.http
def connect_callback(request: flask.Request) -> flask.Response:
    """Serve a browser without a token, at both ends of a sign-in.

    GET /api/connect/start/<id> marks the browser with a cookie and sends it on to the service's page.
    GET /api/connect/callback?state=… ends the sign-in that waits under the state; only the marked browser may.
    The query holds keys, so the browser is sent on to /api/connect/callback/<id>, which tells how it ended.
    """
    start, shown = (request.path.partition(f"{path}/")[2] for path in (START_PATH, CALLBACK_PATH))
    if start:
        return web.serve_public(request, lambda home, outside: _start(request, start, home, outside))
    if shown:
        return web.serve_public(request, lambda home, outside: _show(home, shown, outside))
    return web.serve_public(request, lambda home, outside: _finish(request, home, outside))


def _start(request: flask.Request, start: str, home: Home, outside: Outside) -> flask.Response:
    page, mark = open_start(home, start, outside, mark=mark_of(request, outside))
    return marked(web.redirect(page), mark, outside)


def _finish(request: flask.Request, home: Home, outside: Outside) -> flask.Response:
    query = {name: request.args.getlist(name) for name in request.args}
    try:
        connected = finish_sign_in(home, query, outside, mark=mark_of(request, outside))
        ending = Ending(title="Connected", text=f"{connected.said} You can close this page.", status=200)
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
