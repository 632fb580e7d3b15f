"""Whether a request is sent again, and how long to wait before it."""

from datetime import UTC, datetime
from math import isfinite
from typing import Final
from zlib import crc32

from habilis.errors import HabilisError, UpstreamProtocol, UpstreamTimeout, UpstreamUnavailable
from habilis.exchange.checking import proves_nothing_happened
from habilis.exchange.moments import read_moment
from habilis.manifest.model import RequestTemplate, RetryRule
from habilis.messages import Answer, Json, Request
from habilis.templating import MISSING, Missing, Place, Seen

MOST_S: Final = 90.0
"""Seconds after its first try within which a request may be sent again; the manifest's own waits come on top."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
"""Methods whose requests change nothing outside, whatever the call does."""

_DEFAULT = RetryRule()
_LONGEST_WAIT_S = 30.0
_NETWORK = (UpstreamUnavailable, UpstreamTimeout, UpstreamProtocol)

# Numbers of seconds from now stay below the first, moments in seconds below the second; between them lie 1,900 years.
_FIRST_MOMENT = 1e8
_FIRST_MOMENT_MS = 1e11


class Tries:
    """The tries of one request.

    A request that changes something is sent again only where that cannot do it twice: when no byte of it left, when
    the answer proves that nothing happened and the manifest wants it, or when the service knows it by its header.

    Attributes:
        told_s: How long the last answer asked to wait; None when it did not.
    """

    __slots__ = ("_has_key", "_has_rule", "_number", "_request", "_rule", "_seed", "told_s")

    def __init__(self, template: RequestTemplate, request: Request, *, seed: str) -> None:
        self._rule = template.retry or _DEFAULT
        self._has_rule = template.retry is not None
        self._has_key = template.idempotency is not None
        self._request = request
        self._seed = seed
        self._number = 1
        self.told_s: float | None = None

    def may_follow(self, status: int) -> bool:
        """Whether an answer of this status may be followed by another try."""
        return status in self._rule.statuses

    def wait_after_error(self, error: HabilisError, *, gone_s: float) -> float | None:
        """Seconds to wait before the next try; None when there is none.

        Args:
            error: What the request ended in, without an answer.
            gone_s: Seconds since the first try.
        """
        if not isinstance(error, _NETWORK) or not self._rule.on_network:
            return None
        is_proven_unsent = isinstance(error, UpstreamUnavailable) or not self._request.is_read
        is_harmless = self._has_rule or self._request.method in SAFE_METHODS or is_proven_unsent
        if not self._has_key and (error.outcome != "not_sent" or not is_harmless):
            return None
        return self._next(self._backoff_s(), gone_s)

    def wait_after_answer(self, answer: Answer, seen: Seen, *, now: datetime | None, gone_s: float) -> float | None:
        """Seconds to wait before the next try; None when this answer stands.

        Args:
            answer: One that another try may follow.
            seen: The same as places see it.
            now: When it came, with a time zone; None when nobody knows, and moments it names say nothing.
            gone_s: Seconds since the first try.
        """
        self.told_s = told_wait_s(self._rule, seen, now=now)
        is_free = self._request.is_read or self._has_key
        if not is_free and not (self._has_rule and proves_nothing_happened(answer.status)):
            return None
        return self._next(self._backoff_s() if self.told_s is None else self.told_s, gone_s)

    def _next(self, wait_s: float, gone_s: float) -> float | None:
        own_s = (self._rule.wait_s or 0.0) * (self._rule.tries - 1)
        if self._number >= self._rule.tries or gone_s + wait_s > MOST_S + own_s:
            return None
        self._number += 1
        return wait_s

    def _backoff_s(self) -> float:
        """The manifest's wait, else one of up to 1, 2, 4, … seconds; the same for the same call, other calls differ."""
        if self._rule.wait_s is not None:
            return self._rule.wait_s
        share = crc32(f"{self._seed} {self._request.where} {self._number}".encode()) / 2**32
        return share * min(_LONGEST_WAIT_S, 2.0 ** (self._number - 1))


def told_wait_s(rule: RetryRule, seen: Seen, *, now: datetime | None) -> float | None:
    """Seconds until the service wants to be asked again: the later of `reset` and Retry-After; None when it is silent.

    Source: RFC 9110 section 10.2.3.
    """
    told = [
        _seconds(seen.headers.get("retry-after", MISSING), "", now),
        MISSING if rule.reset is None else _seconds(rule.reset.pick(seen), rule.unit, now),
    ]
    return max((wait for wait in told if wait is not MISSING and wait > 0), default=None)


def seconds_at(place: Place, seen: Seen) -> float | None:
    """A number of seconds in an answer; None when none is there."""
    wait = _seconds(place.pick(seen), "seconds", None)
    return None if wait is MISSING else wait


def _seconds(value: Json | Missing, unit: str, now: datetime | None) -> float | Missing:
    number = _number(value)
    if number is None:
        return _until(read_moment(value), now) if isinstance(value, str) and unit in {"", "date"} else MISSING
    if unit == "seconds" or (not unit and number < _FIRST_MOMENT):
        return number
    is_ms = unit == "unix_ms" or (not unit and number >= _FIRST_MOMENT_MS)
    try:
        return _until(datetime.fromtimestamp(number / 1000 if is_ms else number, UTC), now)
    except (ValueError, OverflowError, OSError):
        return MISSING


def _number(value: Json | Missing) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _until(moment: datetime | None, now: datetime | None) -> float | Missing:
    return MISSING if moment is None or now is None else (moment - now).total_seconds()
