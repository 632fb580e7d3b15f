"""A service with its provider of tokens, that ends a sign-in when it sees a refresh token again, and an ability."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from tests.upstream import Upstream, answer

from habilis.engine.fresh import fresh_keys
from habilis.engine.outside import Outside
from habilis.engine.resolve import key_file
from habilis.exchange.fill import Bounds
from habilis.exchange.pages import read_pages
from habilis.hosts import AllowedHosts
from habilis.manifest.model import AuthKey, Manifest, OAuth2Flow, RequestTemplate
from habilis.names import AbilityId, AccountId, KeyName, ProjectSlug
from habilis.records import Account
from habilis.templating import Made, Scope, compile_text, compile_url

TOKEN, REFRESH, ENDS = KeyName("X_TOKEN"), KeyName("X_REFRESH"), "X_TOKEN_EXPIRES_AT"
PAST = "2026-11-30T11:59:00Z"


class Provider(Upstream):
    """The service and its provider.

    Attributes:
        access: The one token that is taken.
        refresh: The one refresh token that is taken, once.
        is_over: Whether it saw a refresh token again.
        asked: The fields of each request for tokens.
        answers: Said in place of the usual at the token address, once each: an answer, or a function of the fields.
        fields: Of a token answer, beside the tokens.
        rotates: Whether each refresh token is taken once, and another one given for it.
        wait_s: How long a token answer takes.
        count: How many tokens it gave.
    """

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.access, self.refresh = "access-0-of-the-account", "refresh-0-of-the-account"
        self.is_over = False
        self.asked: list[dict[str, str]] = []
        self.answers: list[bytes | Callable[[dict[str, str]], object]] = []
        self.fields: dict[str, object] = {"expires_in": 3600, "token_type": "bearer"}
        self.rotates = True
        self.count = 0
        self.wait_s = 0.0

    @property
    def used(self) -> list[str]:
        """The token of each request to the service."""
        headers = (seen.headers for seen in self.requests if seen.target != "/token")
        return [one["authorization"].removeprefix("Bearer ") for one in headers]

    def end_token(self) -> None:
        """Take the token no longer."""
        self.access = "none"

    def _reply(self, seen):
        if seen.target == "/token":
            return self._token(dict(parse_qsl(seen.body.decode())))
        token = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if token == self.access:
            return told(200, {"me": "ann"})
        return told(401, {"message": "the token has run out"})

    def _token(self, fields):
        self.asked.append(fields)
        if self.answers:
            said = self.answers.pop(0)
            return said(fields) if callable(said) else said
        if self.is_over or fields["refresh_token"] != self.refresh:
            self.is_over = True
            return told(400, {"error": "invalid_grant", "error_description": "seen before"})
        return self.renewed()

    def renewed(self):
        """New tokens, as an answer."""
        self.count += 1
        number = self.count
        self.access = f"access-{number}-of-the-account"
        given = {"access_token": self.access, **self.fields}
        if self.rotates:
            self.refresh = f"refresh-{number}-of-the-account"
            given["refresh_token"] = self.refresh
        said = told(200, given)
        return (self.wait_s, said) if self.wait_s else said


def told(status, data, **headers):
    pairs = (("Content-Type", "application/json"), *headers.items())
    return answer(status, body=json.dumps(data).encode(), headers=pairs)


def manifest_of(*ways, **fields):
    """The ability, signed in to by these ways; by OAuth where none is given."""
    site = AuthKey(env=KeyName("X_SITE"), label="Site", secret=False)
    token = AuthKey(env=TOKEN, label="Token", optional=True)
    return Manifest(
        id=AbilityId("notes"), name="Notes", version="0.1.0", summary="Notes.", service="notes", hosts=("${X_SITE}",),
        content_hash="0", auth=(site, token), ways=ways or (oauth2(**fields),),
    )  # fmt: skip


def oauth2(**fields):
    """The way to sign in by OAuth."""
    known = {
        "label": "Connect",
        "authorize_url": compile_url("${X_SITE}/authorize"),
        "token_url": compile_url("${X_SITE}/token"),
        "client_id": compile_text("client-1"),
        "token_env": TOKEN,
        "refresh_env": REFRESH,
    }
    return OAuth2Flow(**{**known, **fields})


def account_of(provider):
    """An account of the ability that may call the service."""
    return Account(
        id=AccountId("main"), project=ProjectSlug("acme"), label="Notes of Ann", ability="notes", service="notes",
        created_by="tests", created_at=datetime(2026, 11, 1, tzinfo=UTC),
        private_hosts=frozenset({provider.place}),
    )  # fmt: skip


def sign_in(home, provider, *, ends=PAST, **keys):
    """Store the tokens that the provider takes."""
    stored = {"X_SITE": provider.url(""), TOKEN: provider.access, REFRESH: provider.refresh, **keys}
    key_file(home, account_of(provider)).set({**stored, **({ENDS: ends} if ends else {})})


def stored_keys(home, provider):
    """What is stored, each key that is set."""
    return {name: value for name, value in key_file(home, account_of(provider)).load().items() if value}


def read_me(home, provider, outside, manifest=None):
    """Call the service once, as every call does."""
    manifest, account = manifest or manifest_of(), account_of(provider)
    live = fresh_keys(home, manifest, account, outside)
    hosts = AllowedHosts.of(manifest.hosts, live.keys)
    bounds = Bounds(hosts=hosts, private_hosts=account.private_hosts, is_read=True, sign_out=live.sign_out)
    template = RequestTemplate(
        method="GET",
        url=compile_url("${X_SITE}/me"),
        headers=(("Authorization", compile_text("Bearer ${X_TOKEN}")),),
    )
    scope = Scope(arguments={}, keys=live.keys, made=Made(now=outside.now(), call_id="call-1"))
    bodies = []
    outside.drive(read_pages(template, scope, bounds, where="me", take=bodies.append), renew=live.renew)
    return bodies[0]


def outside_of(transport):
    """The world as it is."""
    return Outside(transport=transport, now=lambda: datetime.now(UTC), sleep=time.sleep, token=lambda: "t" * 43)
