"""The relay: a public, single-use address that sends a browser on to the engine that registered it.

Source: docs/http.md, `/r/{id}`.
"""

import re
from datetime import datetime, timedelta
from urllib.parse import quote_from_bytes

from habilis.errors import BadInput, Busy, NotFound, SignInExpired
from habilis.home.store import Home
from habilis.home.waiting import Waiting
from habilis.records import stamp

MOST_WAITING = 500
_WAITS_FOR = timedelta(minutes=10)
_REMEMBERED_FOR = timedelta(hours=1)
_AGAIN = "start the sign-in again"

# Written out rather than parsed: where a parser and a browser read an address differently, this reads nothing. After
# the origin come printable ASCII characters without `#`, which would hide the parameters, and `\`, a browser's `/`.
_TARGET = re.compile(
    r"(?:https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?|(?P<origin>https://[a-z0-9.-]+(?::\d{1,5})?))"
    r"/[!-\"$-\[\]-~]*"
)
_UNTOUCHED = "!$&'()*+,;=:@/?%"
"""What stays as it came in a query; `%` among it, for its escapes are the service's own."""


class RelayAddresses:
    """The addresses that wait in one home, and those that were used, which are remembered for an hour."""

    def __init__(self, home: Home) -> None:
        self._waiting = Waiting(home.private / ".state" / "relay")
        self._used = Waiting(home.private / ".state" / "relay-used")

    def register(self, target: str, *, relay_id: str, now: datetime, origins: frozenset[str]) -> datetime:
        """Store where a browser is to be sent, under a new id, for ten minutes; returns until when.

        Args:
            target: The engine's callback address.
            relay_id: A new secret.
            now: The time, with a zone.
            origins: The engine's own https origins; loopback is always good.

        Raises:
            BadInput: The target is neither on loopback nor on one of `origins`.
            Busy: Too many addresses wait.
        """
        match = _TARGET.fullmatch(target)
        if match is None or (match["origin"] is not None and match["origin"] not in origins):
            raise BadInput(
                "the relay sends browsers on to loopback, or to an https origin of the engine that asks, only",
                hint="who runs the relay gives the engine a token: habilis tokens new engine --origin https://…",
            )
        self._used.list(now=now)  # listing sweeps what is over
        if len(self._waiting.list(now=now)) >= MOST_WAITING:
            raise Busy("too many sign-ins wait at the relay", hint="try again in ten minutes")
        until = now + _WAITS_FOR
        self._waiting.put(relay_id, {"target": target, "until": stamp(until)}, now + _REMEMBERED_FOR)
        return until

    def take(self, relay_id: str, query: bytes, *, now: datetime) -> str:
        """Where to send the browser, once; the service's own parameters are added.

        Raises:
            NotFound: It was never registered.
            SignInExpired: It was used, or waited longer than ten minutes.
        """
        record = self._waiting.take(relay_id, now=now)
        if record is None:
            if self._used.peek(relay_id, now=now) is not None:
                raise SignInExpired("this address was used before", hint=_AGAIN)
            raise NotFound("there is no such address", hint=_AGAIN)
        self._used.put(relay_id, {}, now + _REMEMBERED_FOR)
        if now > datetime.fromisoformat(str(record["until"])):
            raise SignInExpired("this address waited longer than ten minutes", hint=_AGAIN)
        target = str(record["target"])
        added = quote_from_bytes(query, safe=_UNTOUCHED)
        return target + ("&" if "?" in target else "?") + added if added else target
