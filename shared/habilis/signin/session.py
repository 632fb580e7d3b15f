"""A session: signed in to by a request, renewed by another, its token kept until it runs out."""

from datetime import UTC, datetime, timedelta

from habilis.errors import NeedsReconnect, SignInFailed, UpstreamError
from habilis.exchange.asking import ask
from habilis.exchange.fill import Bounds
from habilis.exchange.sending import Course
from habilis.manifest.model import ExpiryUnit, RequestTemplate, SessionFlow
from habilis.messages import Json
from habilis.redaction import current
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet, is_token, number_of, seconds_of
from habilis.templating import MISSING, Place, Scope, Seen

_WHERE = "the sign-in"
_FACTORS = {"seconds": 1.0, "milliseconds": 0.001, "unix": 1.0, "unix_ms": 0.001}
_FIRST_UNIX_S = 1e9
_FIRST_UNIX_MS = 1e12


def sign_in(flow: SessionFlow, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Sign in with the account's keys.

    Args:
        flow: As the manifest writes it.
        scope: The account's keys, and the time.
        bounds: What the sign-in may reach.

    Raises:
        SignInFailed: The answer holds no token.
        UpstreamError: The service said no, in its own words.
        HabilisError: Whatever the request itself failed with.
    """
    return (yield from _tokens(flow, flow.request, scope, bounds))


def renew(flow: SessionFlow, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Get a new token: by the renewing request where there is one, else, or where that is refused, by signing in.

    Raises:
        NeedsReconnect: The service no longer takes the account's keys.
        HabilisError: As `sign_in`.
    """
    if flow.refresh_request is not None and scope.keys.get(flow.refresh_env):
        try:
            return (yield from _tokens(flow, flow.refresh_request, scope, bounds))
        except (UpstreamError, SignInFailed) as error:
            if error.retryable:
                raise
    try:
        return (yield from _tokens(flow, flow.request, scope, bounds))
    except UpstreamError as error:
        if error.retryable or error.outcome == "unknown":
            raise
        raise NeedsReconnect(
            f"the service no longer takes the account's keys: {error.message}", hint="set them again, or sign in again"
        ) from None


def moment(value: Json, unit: ExpiryUnit, *, now: datetime) -> datetime | None:
    """When a token runs out, by what an answer says of it; None where it says nothing that can be understood."""
    number = number_of(value)
    if unit == "date" or (unit == "" and number is None):
        return _date(value)
    if number is None:
        return None
    if unit == "":
        unit = "unix_ms" if number >= _FIRST_UNIX_MS else "unix" if number >= _FIRST_UNIX_S else "seconds"
    seconds = number * _FACTORS[unit] - (now.timestamp() if unit.startswith("unix") else 0)
    left = seconds_of(seconds)
    return None if left is None else now + timedelta(seconds=left)


def _tokens(flow: SessionFlow, template: RequestTemplate, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    now = scope.call().now
    answer, seen = yield from ask(template, scope, Course(bounds, scope.made), where=_WHERE)
    token = flow.token.pick(seen)
    if not is_token(token):
        raise SignInFailed(f"answered {answer.status} with no token", where=_WHERE, hint="check the account's keys")
    refreshing = _picked(flow.refresh, seen)
    current().add("token", str(token))
    if is_token(refreshing):
        current().add("refresh_token", str(refreshing))
    return TokenSet(
        access=str(token),
        refresh=str(refreshing) if is_token(refreshing) else "",
        expires_at=moment(_picked(flow.expires, seen), flow.expires_unit, now=now),
        seen=seen,
    )


def _picked(place: Place | None, seen: Seen) -> Json:
    found = MISSING if place is None else place.pick(seen)
    return None if found is MISSING else found


def _date(value: Json) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
