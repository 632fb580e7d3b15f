"""What the conversations of signing in are tried with: an account's keys, hosts, and a service that answers by hand."""

import json
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.model import OAuth2Flow
from habilis.messages import Answer, Request
from habilis.names import KeyName
from habilis.templating import Made, Scope, compile_text, compile_url

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOKEN, REFRESH = KeyName("X_TOKEN"), KeyName("X_REFRESH")
KEYS = {"X_CLIENT_ID": "client-1", "X_CLIENT_SECRET": "s3:cr/et 1"}
BOUNDS = Bounds(hosts=AllowedHosts.of(("auth.example",), {}), private_hosts=frozenset(), is_read=False)


def scope(keys=KEYS, **arguments):
    return Scope(arguments=arguments, keys=keys, made=Made(now=NOW, call_id="c1"))


def oauth2(**fields):
    known = {
        "label": "Connect",
        "authorize_url": compile_url("https://auth.example/authorize"),
        "token_url": compile_url("https://auth.example/token"),
        "client_id": compile_text("${X_CLIENT_ID}"),
        "client_secret": compile_text("${X_CLIENT_SECRET}"),
        "scopes": ("a", "b"),
        "token_env": TOKEN,
        "refresh_env": REFRESH,
    }
    return OAuth2Flow(**{**known, **fields})


def answer(body, status=200, **headers):
    raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return Answer(status=status, headers={name.replace("_", "-"): text for name, text in headers.items()}, body=raw,
                  size=len(raw))  # fmt: skip


def converse(talk, *answers):
    """What the talk came to, and all that it asked for."""
    asked = []
    try:
        asked.append(next(talk))
        for one in answers:
            step = talk.throw if isinstance(one, Exception) else talk.send
            asked.append(step(one))
    except StopIteration as done:
        return done.value, asked
    raise AssertionError(f"the talk goes on: {asked[-1]}")


def first(talk) -> Request:
    request = next(talk)
    talk.close()
    return request


def form(request):
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=True))
