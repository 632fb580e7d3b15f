"""A sign-in on another device: a code that a person types there, and asking until they have agreed.

Source: RFC 8628.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus

from habilis.errors import (
    BadInput,
    HabilisError,
    Refused,
    SignInDenied,
    SignInExpired,
    SignInFailed,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.exchange.fill import Bounds
from habilis.exchange.words import one_line, reason_of
from habilis.hosts import AllowedHosts, checked_url, origin_of
from habilis.manifest.model import DeviceFlow
from habilis.messages import Answer, Json, Pause
from habilis.redaction import current
from habilis.signin.client import Client, token_request
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet, fields_of, is_token, read_tokens, seconds_of
from habilis.templating import Scope, Seen

_WHERE = "the device address"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL_S = 5.0
_SLOWER_BY_S = 5.0
_LONGEST_WAIT_S = 1800.0
_SHORTEST_INTERVAL_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """A sign-in that waits for a person.

    Attributes:
        device_code: What is asked with; a secret.
        user_code: What the person types.
        page: Where they type it.
        whole_page: The same with the code in it; "" where there is none.
        interval_s: Seconds between two questions.
    """

    device_code: str = field(repr=False)
    user_code: str
    page: str
    whole_page: str = ""
    interval_s: float = _INTERVAL_S
    expires_at: datetime


def begin(flow: DeviceFlow, *, scope: Scope, bounds: Bounds) -> Talk[DeviceCode]:
    """Get a code for a person to type.

    Args:
        flow: As the manifest writes it.
        scope: The account's keys, and the time.
        bounds: What the sign-in may reach.

    Raises:
        SignInFailed: The provider refused, or its answer lacks something.
        UpstreamUnavailable: It has an outage.
        HabilisError: Whatever the request itself failed with.
    """
    fields = {"scope": " ".join(flow.scopes)}
    answer = yield token_request(Client.of(flow, scope), flow.device_url, fields, scope, bounds)
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    body = fields_of(answer)
    code, shown = body.get("device_code"), body.get("user_code")
    page = body.get("verification_uri") or body.get("verification_url")
    if answer.status >= HTTPStatus.BAD_REQUEST or not is_token(code) or not _is_line(shown):
        raise _refusal(answer, body)
    current().add("device_code", str(code))
    whole = body.get("verification_uri_complete")
    lives_s = min(seconds_of(body.get("expires_in")) or _LONGEST_WAIT_S, _LONGEST_WAIT_S)
    return DeviceCode(
        device_code=str(code),
        user_code=str(shown),
        page=_page(page, bounds),
        whole_page=_page(whole, bounds) if whole else "",
        interval_s=max(seconds_of(body.get("interval")) or _INTERVAL_S, _SHORTEST_INTERVAL_S),
        expires_at=scope.call().now + timedelta(seconds=lives_s),
    )


def wait(flow: DeviceFlow, code: DeviceCode, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Ask until the person has agreed.

    Raises:
        SignInDenied: They, or the provider, said no.
        SignInExpired: They took too long.
        SignInFailed: The provider answered with no token.
        HabilisError: Whatever a request failed with that another one would not mend.
    """
    client, now = Client.of(flow, scope), scope.call().now
    fields = {"grant_type": _GRANT, "device_code": code.device_code}
    interval_s, gone_s = code.interval_s, 0.0
    left_s = (code.expires_at - now).total_seconds()
    while gone_s + interval_s <= left_s:
        yield Pause(seconds=interval_s, where="the person's yes")
        gone_s += interval_s
        try:
            answer = yield token_request(client, flow.token_url, fields, scope, bounds)
            assert answer is not None  # noqa: S101 - who is sent a Request answers it
            told = fields_of(answer).get("error")
            if told == "slow_down":
                interval_s += _SLOWER_BY_S
            elif told != "authorization_pending":
                return _given(answer, str(told), now=now + timedelta(seconds=gone_s))
        except (UpstreamTimeout, UpstreamUnavailable):
            interval_s *= 2
    raise SignInExpired("nobody agreed in time", hint="start the sign-in again")


def _given(answer: Answer, told: str, *, now: datetime) -> TokenSet:
    if told == "access_denied":
        raise SignInDenied("the sign-in was refused on the service's page", hint="start again to try once more")
    if told == "expired_token":
        raise SignInExpired("nobody agreed in time", hint="start the sign-in again")
    return read_tokens(answer, now=now)


def _is_line(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 100 and value.isprintable()


def _page(value: Json, bounds: Bounds) -> str:
    """A page as a person may open it: https, or on a private host that the account's operator allowed."""
    try:
        _, host, port = origin_of(str(value))
        own = AllowedHosts.of([f"{host}:{port}"], {})
        return checked_url(str(value), own, where=_WHERE, private_hosts=bounds.private_hosts)
    except (Refused, BadInput):
        raise SignInFailed("answered with a page that no browser is sent to", where=_WHERE) from None


def _refusal(answer: Answer, body: dict[str, Json]) -> HabilisError:
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return UpstreamUnavailable(f"answered {answer.status}", where=_WHERE, hint="try again in a minute")
    described = body.get("error_description")
    reason = one_line(described) if isinstance(described, str) else ""
    reason = reason or reason_of(Seen(status=answer.status, headers=answer.headers, body=body))
    return SignInFailed(
        f"answered {answer.status}{f': {reason}' if reason else ' with no code'}",
        where=_WHERE,
        hint="check the application's id and addresses",
    )
