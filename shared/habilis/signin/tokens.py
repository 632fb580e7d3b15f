"""Tokens of an OAuth provider: asked for, and read from whatever it answers.

Source: RFC 6749 sections 4 to 6.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import parse_qsl

from habilis.errors import HabilisError, NeedsReconnect, SignInFailed, UpstreamUnavailable
from habilis.exchange.bodies import read_body
from habilis.exchange.fill import Bounds
from habilis.exchange.words import one_line, reason_of
from habilis.manifest.model import ClientCredentialsFlow, DeviceFlow, OAuth2Flow, expiry_key, missing_scopes_key
from habilis.messages import Answer, Json
from habilis.names import KeyName
from habilis.records import stamp
from habilis.redaction import current
from habilis.signin.client import TOKEN_ADDRESS, Client, filled_all, token_request
from habilis.signin.talk import Talk
from habilis.templating import Scope, Seen

_LONGEST_TOKEN = 32 * 1024
_LONGEST_LIFE_S = 10 * 366 * 86_400
_LATER = frozenset({408, 425, 429})
_GONE = frozenset({"invalid_grant", "bad_refresh_token", "invalid_refresh_token", "refresh_token_expired"})
"""Codes by which providers say that a sign-in is over for good."""

_OVER = "the sign-in is over: "
_TOKEN = re.compile(r"[!-~]+")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_LARGEST_NUMBER = 1e15
_FORM = re.compile(r"[\w.-]+=[^\s<>{}]*")
_NOTICED_SKEW_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSet:
    """What a provider gave.

    Attributes:
        refresh: The refresh token; "" when it gave none.
        expires_at: When the access token runs out; None when nobody knows.
        scopes: What was granted; None when the provider did not say.
        seen: The whole answer, for values that are learned from it.
    """

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: datetime | None = None
    scopes: frozenset[str] | None = None
    seen: Seen = field(repr=False)

    def missing(self, asked: tuple[str, ...]) -> list[str]:
        """Scopes that were asked for and not granted, in the order they were asked for."""
        if self.scopes is None:
            return []
        # Providers grant this one by giving a refresh token, and few of them name it.
        granted = self.scopes | ({"offline_access"} if self.refresh else set())
        return [scope for scope in asked if scope not in granted]

    def as_keys(self, token_env: KeyName, refresh_env: str, *, stored: Mapping[str, str]) -> dict[KeyName, str]:
        """The keys to save, all at once.

        Args:
            token_env: The key that takes the access token.
            refresh_env: The key that takes the refresh token; "" for none. It stays as it is without a new one.
            stored: The account's keys so far. An end that is no longer known is emptied, which counts as not set.
        """
        ends = expiry_key(token_env)
        keys = {token_env: self.access}
        if self.expires_at is not None:
            keys[ends] = stamp(self.expires_at)
        elif stored.get(ends):
            keys[ends] = ""
        if refresh_env and self.refresh:
            keys[KeyName(refresh_env)] = self.refresh
        return keys

    def scope_keys(
        self, token_env: KeyName, asked: tuple[str, ...], *, stored: Mapping[str, str]
    ) -> dict[KeyName, str]:
        """The key to save beside them that tells what the token lacks; nothing where it lacks nothing and never did."""
        name, missing = missing_scopes_key(token_env), " ".join(self.missing(asked))
        return {name: missing} if missing or stored.get(name) else {}


def exchange_code(
    flow: OAuth2Flow, code: str, *, verifier: str, redirect_uri: str, scope: Scope, bounds: Bounds
) -> Talk[TokenSet]:
    """Exchange an authorization code for tokens.

    Args:
        flow: As the manifest writes it.
        code: From the callback.
        verifier: The PKCE verifier whose challenge the page was given; "" for a provider that takes none.
        redirect_uri: As the page was given it.
        scope: The account's keys, and the time.
        bounds: What the sign-in may reach.

    Raises:
        SignInFailed: The provider did not take it, or answered with no token.
        UpstreamUnavailable: It has an outage.
        HabilisError: Whatever the request itself failed with.
    """
    fields = {
        **filled_all(flow.token_params, scope),
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    request = token_request(Client.of(flow, scope), flow.token_url, fields, scope, bounds)
    answer = yield request
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    try:
        return read_tokens(answer, now=scope.call().now)
    except NeedsReconnect as error:
        # Providers say of a code, too, that it counts no more; but no account was signed in yet.
        said = error.message.removeprefix(_OVER)
        raise SignInFailed(f"refused the code: {said}", where=error.where, hint="start the sign-in again") from None


def refresh(flow: OAuth2Flow | DeviceFlow, token: str, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Get a new access token for a refresh token.

    Args:
        flow: As the manifest writes it.
        token: The refresh token.
        scope: The account's keys, and the time.
        bounds: What the sign-in may reach.

    Raises:
        NeedsReconnect: The provider says that the sign-in is over.
        SignInFailed: It refused for another reason, or answered with no token.
        UpstreamUnavailable: It has an outage.
        HabilisError: Whatever the request itself failed with.
    """
    url, more = flow.token_url, dict[str, str]()
    if isinstance(flow, OAuth2Flow):
        url, more = flow.refresh_url or url, filled_all(flow.refresh_params, scope)
    fields = {**more, "grant_type": "refresh_token", "refresh_token": token}
    answer = yield token_request(Client.of(flow, scope), url, fields, scope, bounds)
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    return read_tokens(answer, now=scope.call().now)


def client_credentials(flow: ClientCredentialsFlow, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Get a token for the application itself; raises as `refresh`."""
    fields = {
        **filled_all(flow.token_params, scope),
        "grant_type": "client_credentials",
        "scope": flow.scope_separator.join(flow.scopes),
    }
    answer = yield token_request(Client.of(flow, scope), flow.token_url, fields, scope, bounds)
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    return read_tokens(answer, now=scope.call().now)


def read_tokens(answer: Answer, *, now: datetime, where: str = TOKEN_ADDRESS) -> TokenSet:
    """Read what a token address answered; its tokens are masked from here on.

    Args:
        answer: Of any status and type; some providers say no with 200, and some write a form in place of JSON.
        now: When it was asked.
        where: What was asked, for messages.

    Raises:
        NeedsReconnect: The provider says that the sign-in is over.
        SignInFailed: It refused for another reason, or this holds no token.
        UpstreamUnavailable: It has an outage, or asks for a pause.
    """
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in _LATER:
        raise UpstreamUnavailable(
            f"answered {answer.status}", where=where, hint="the sign-in is kept; try again in a minute"
        )
    body = fields_of(answer)
    seen = Seen(status=answer.status, headers=answer.headers, body=body)
    access = body.get("access_token")
    if answer.status >= HTTPStatus.BAD_REQUEST or body.get("error") or not is_token(access):
        raise _refusal(seen, now=now, where=where)
    refreshing = body.get("refresh_token")
    if refreshing is not None and refreshing != "" and not is_token(refreshing):
        raise SignInFailed("answered with a refresh token that is none", where=where, hint="start the sign-in again")
    tokens = TokenSet(
        access=str(access),
        refresh=str(refreshing or ""),
        expires_at=_end_of(body.get("expires_in"), now),
        scopes=_scopes(body.get("scope")),
        seen=seen,
    )
    current().add("access_token", tokens.access)
    current().add("refresh_token", tokens.refresh)
    return tokens


def fields_of(answer: Answer) -> dict[str, Json]:
    """The fields of an answer in JSON or, as some providers do, in the form of a query; {} for anything else."""
    body = read_body(answer)
    if isinstance(body, str) and _FORM.match(body):
        return dict(parse_qsl(body, max_num_fields=100))
    return body if isinstance(body, dict) else {}


def is_token(value: object) -> bool:
    """Whether a value can be a token: one word of printable ASCII that fits into a header."""
    return isinstance(value, str) and len(value) <= _LONGEST_TOKEN and _TOKEN.fullmatch(value) is not None


def number_of(value: Json) -> float | None:
    """A finite number, also one written as text; None for anything else."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST_NUMBER else None


def seconds_of(value: Json) -> float | None:
    """How long from now; None for what is no number, for 0 and less, and beyond ten years."""
    number = number_of(value)
    return number if number is not None and 0 < number <= _LONGEST_LIFE_S else None


def skew_hint(headers: Mapping[str, str], now: datetime) -> str:
    """What a person should know of this machine's clock, measured by an answer's date; "" when it runs well."""
    try:
        there = parsedate_to_datetime(headers["date"])
        skew_s = (now - there).total_seconds()
    except (KeyError, ValueError, TypeError):
        return ""
    if abs(skew_s) < _NOTICED_SKEW_S:
        return ""
    return (
        f"this machine's clock is {abs(skew_s):,.0f} s {'ahead of' if skew_s > 0 else 'behind'} the service's; set it"
    )


def _end_of(value: Json, now: datetime) -> datetime | None:
    seconds = seconds_of(value)
    return None if seconds is None else now + timedelta(seconds=seconds)


def _scopes(value: Json) -> frozenset[str] | None:
    if isinstance(value, str):
        return frozenset(re.split(r"[\s,]+", value.strip())) - {""} or None
    if isinstance(value, list):
        return frozenset(str(one) for one in value) or None
    return None


def _refusal(seen: Seen, *, now: datetime, where: str) -> HabilisError:
    body = seen.body if isinstance(seen.body, dict) else {}
    code = body.get("error")
    reason = _words(body, code) or reason_of(seen)
    if isinstance(code, str) and code in _GONE:
        return NeedsReconnect(f"{_OVER}{reason}", where=where, hint="sign the account in again")
    said = f": {reason}" if reason else " with no token"
    hint = skew_hint(seen.headers, now) or "check the application's id, secret and addresses, or sign in again"
    return SignInFailed(f"answered {seen.status}{said}", where=where, hint=hint)


def _words(body: Mapping[str, Json], code: Json) -> str:
    """The provider's own words by the RFC's fields."""
    described = body.get("error_description")
    parts = [part for part in (code, described) if isinstance(part, str) and part]
    return one_line(": ".join(parts))
