"""Signing in at a provider whose application is held elsewhere: the relay's broker adds its secret, and keeps nothing.

Source: docs/http.md, "The broker".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Protocol

from habilis.errors import (
    FeatureDisabled,
    HabilisError,
    NeedsReconnect,
    Refused,
    SignInFailed,
    UpstreamError,
    UpstreamUnavailable,
)
from habilis.exchange.bodies import read_body
from habilis.exchange.words import one_line
from habilis.hosts import kind_of, literal_of, origin_of
from habilis.manifest.model import CloudFlow
from habilis.messages import Answer, Json, Request
from habilis.redaction import current
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet, read_tokens

_WHERE = "the relay"
_TIMEOUT_S = 60.0
_LARGEST_BYTES = 1024 * 1024
_SAME_HERE: Mapping[str, type[HabilisError]] = {
    error.code: error for error in (NeedsReconnect, SignInFailed, UpstreamUnavailable)
}
"""What the relay says of a provider that means the same here."""


class Relay(Protocol):
    """Where the broker is, and this engine's token there."""

    @property
    def url(self) -> str:
        """Such as `https://relay.example`, no slash at the end."""

    @property
    def token(self) -> str:
        """Sent as a bearer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudPage:
    """A provider's page for one sign-in.

    Attributes:
        issuer: What `iss` of the return has to be, to the letter; "" where the provider sends none.
    """

    url: str
    issuer: str


def open_page(flow: CloudFlow, relay: Relay, *, state: str, challenge: str, target: str) -> Talk[CloudPage]:
    """Get the provider's page, with this sign-in's return registered at the relay.

    Args:
        flow: As the manifest writes it.
        relay: Where the broker is.
        state: A new secret; the return brings it back.
        challenge: Of the PKCE verifier, S256.
        target: This engine's callback, without a query.

    Raises:
        SignInFailed: The relay gives no page that a browser may be sent to.
        HabilisError: As `exchange_code`.
    """
    asked = {"scope": " ".join(flow.scopes), "state": state, "code_challenge": challenge, "target": target}
    body = read_body((yield from _ask(flow, relay, "authorize", asked)))
    url, issuer = (body.get("url"), body.get("issuer")) if isinstance(body, dict) else (None, None)
    if not isinstance(url, str) or not isinstance(issuer, str) or not _is_page(url):
        raise SignInFailed("the relay answered without a page", where=_WHERE, hint="tell who runs the relay")
    return CloudPage(url=url, issuer=issuer)


def exchange_code(flow: CloudFlow, relay: Relay, *, code: str, verifier: str, now: datetime) -> Talk[TokenSet]:
    """Exchange an authorization code for tokens.

    Args:
        flow: As the manifest writes it.
        relay: Where the broker is.
        code: From the callback.
        verifier: The PKCE verifier whose challenge the page was given.
        now: The time, with a zone.

    Raises:
        SignInFailed: The provider did not take it, or answered with no token.
        FeatureDisabled: The relay does not know this engine, the provider or a scope.
        UpstreamUnavailable: The provider, or the relay, has an outage.
        HabilisError: Whatever the request itself failed with.
    """
    current().add("code_verifier", verifier)
    answer = yield from _ask(flow, relay, "token", {"code": code, "code_verifier": verifier})
    return read_tokens(answer, now=now, where=_WHERE)


def refresh(flow: CloudFlow, relay: Relay, token: str, *, now: datetime) -> Talk[TokenSet]:
    """Get a new access token for a refresh token.

    Raises:
        NeedsReconnect: The provider says that the sign-in is over.
        HabilisError: As `exchange_code`.
    """
    return read_tokens((yield from _ask(flow, relay, "refresh", {"refresh_token": token})), now=now, where=_WHERE)


def relay_request(relay: Relay, path: str, order: Mapping[str, Json]) -> Request:
    """An order to the relay, ready to send."""
    current().add("RELAY_TOKEN", relay.token)
    _, host, port = origin_of(relay.url)
    return Request(
        where=_WHERE,
        method="POST",
        url=f"{relay.url}{path}",
        headers=(("Authorization", f"Bearer {relay.token}"), ("Content-Type", "application/json")),
        body=json.dumps(order).encode(),
        timeout_s=_TIMEOUT_S,
        private_hosts=frozenset({f"{host}:{port}"}),  # the operator named this relay; it may be on this machine
        is_read=False,
        largest_bytes=_LARGEST_BYTES,
    )


def _ask(flow: CloudFlow, relay: Relay, verb: str, fields: Mapping[str, str]) -> Talk[Answer]:
    """Send an order to the broker; its answer, when that is a good one."""
    answer = yield relay_request(relay, f"/broker/{verb}", {"provider": flow.provider, **fields})
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    if answer.status < HTTPStatus.BAD_REQUEST:
        return answer
    body = read_body(answer)
    error = body.get("error") if isinstance(body, dict) else None
    told = error if isinstance(error, dict) else {}
    code, message = str(told.get("code", "")), one_line(str(told.get("message", "")))
    hint = one_line(str(told.get("hint", "")))
    if code in _SAME_HERE:
        raise _SAME_HERE[code](message or f"answered {answer.status}", where=_WHERE, hint=hint)
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise UpstreamUnavailable(
            message or f"answered {answer.status}", where=_WHERE, hint="the sign-in is kept; try again in a minute"
        )
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}:
        raise FeatureDisabled(message or f"answered {answer.status}", where=_WHERE, hint=hint)
    raise UpstreamError(message or f"answered {answer.status}", where=_WHERE, hint=hint)


def _is_page(url: str) -> bool:
    """Whether a browser may be sent there: https, or a provider on this machine or network, in a rehearsal."""
    try:
        scheme, host, _ = origin_of(url)
    except Refused:
        return False
    literal = literal_of(host)
    return scheme == "https" or host == "localhost" or (literal is not None and kind_of(literal) == "private")
