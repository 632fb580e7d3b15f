"""The mark that a browser keeps from the beginning of a sign-in to its end: a cookie that no script can read."""

import flask

from habilis.engine.outside import Outside

_KEPT_FOR_S = 20 * 60


def mark_of(request: flask.Request, outside: Outside) -> str:
    """What a browser keeps since it began a sign-in here; "" for nothing."""
    return request.cookies.get(_cookie(outside), "")


def marked(reply: flask.Response, mark: str, outside: Outside) -> flask.Response:
    """Let a browser keep a mark by which the end of its sign-in knows it."""
    is_secure = outside.public_url.startswith("https://")
    # Lax: the service's page sends the browser back from another site.
    reply.set_cookie(_cookie(outside), mark, max_age=_KEPT_FOR_S, secure=is_secure, httponly=True, samesite="Lax")
    return reply


def _cookie(outside: Outside) -> str:
    """Name of the cookie; with this start, which takes https, no other host can set it."""
    return f"{'__Host-' if outside.public_url.startswith('https://') else ''}habilis-sign-in"
