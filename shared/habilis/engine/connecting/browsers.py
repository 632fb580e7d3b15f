"""Signing in over HTTP: a start page that marks the browser, and a return that only that browser may bring.

Whoever gets hold of the address of a return, with a code of their own account in it, could otherwise make somebody
else's browser end the sign-in. What is pasted needs no mark: whoever pastes has a token.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qs, urlsplit

from habilis.engine.connecting.beginning import begin
from habilis.engine.connecting.finishing import Connected, finish
from habilis.engine.connecting.pending import WAITS_FOR, Pending
from habilis.engine.outside import Outside
from habilis.errors import BadInput, NotFound, SignInFailed, SignInStateInvalid
from habilis.home.store import Home
from habilis.home.waiting import Waiting
from habilis.messages import Json

START_PATH = "/api/connect/start"
_MARK = re.compile(r"[A-Za-z0-9_-]{43,64}")
_LONGEST_PASTED = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A sign-in that waits for its return.

    Attributes:
        url: The page that the person opens.
        returns_by_itself: False when the service has nowhere to send the browser: the person pastes what it shows, or
            the address that the browser ends at.
    """

    url: str
    returns_by_itself: bool
    expires_at: datetime


def start_sign_in(home: Home, project: str, account: str, outside: Outside, *, flow: str = "") -> Started:
    """Begin a sign-in for an account and return the page to open; raises as `begin`.

    The page is one of this engine's own where browsers reach it, from where the browser is sent on.
    """
    pending = begin(home, project, account, outside, flow=flow)
    kept_until = pending.expires_at + WAITS_FOR  # so that a late return is told that it is late
    if pending.redirect_uri:
        _waiting(home).put(pending.state, {"pending": pending.as_record(), "browser": ""}, kept_until)
    if not (outside.public_url and pending.redirect_uri):
        return Started(url=pending.page, returns_by_itself=False, expires_at=pending.expires_at)
    start = outside.token()
    _starts(home).put(start, {"state": pending.state}, pending.expires_at)
    url = f"{outside.public_url}{START_PATH}/{start}"
    return Started(url=url, returns_by_itself=True, expires_at=pending.expires_at)


def connect(
    home: Home, project: str, account: str, outside: Outside, *, flow: str = "", address: str = ""
) -> Started | Connected:
    """Begin a sign-in; or end the one that waits, with the address where the browser ended."""
    if address:
        return finish_pasted(home, project, account, address, outside)
    return start_sign_in(home, project, account, outside, flow=flow)


def open_start(home: Home, start: str, outside: Outside, *, mark: str) -> tuple[str, str]:
    """The service's page for a browser, once, and the mark that the browser keeps.

    Args:
        home: Where the sign-in waits.
        start: The id in the address of the start page.
        outside: The world.
        mark: What the browser kept from an earlier sign-in; "" for none.

    Raises:
        NotFound: No sign-in starts here, or it was started before.
    """
    now = outside.now()
    found = _starts(home).take(start, now=now)
    state = str(found["state"]) if found else ""
    record = _waiting(home).peek(state, now=now) if state else None
    if record is None:
        raise NotFound("this sign-in was opened before, ran out, or never was", hint="start it again")
    mark = mark if _MARK.fullmatch(mark) else outside.token()
    pending = _pending(record)
    _waiting(home).put(state, {**record, "browser": _hash(mark)}, pending.expires_at + WAITS_FOR)
    return pending.page, mark


def finish_sign_in(home: Home, query: Mapping[str, Sequence[str]], outside: Outside, *, mark: str) -> Connected:
    """End a sign-in with what a browser came back with.

    Args:
        home: Where the sign-in waits.
        query: The return's parameters, each with every value it came with.
        outside: The world.
        mark: What the browser keeps; "" for nothing.

    Raises:
        SignInStateInvalid: No sign-in waits for this return, or it was used before.
        SignInFailed: Another browser began it.
        HabilisError: As `finish`.
    """
    record = _take(home, query, outside)
    if not record["browser"] or not compare_digest(str(record["browser"]), _hash(mark)):
        raise SignInFailed("this sign-in was begun in another browser", hint="start it again in this one")
    return finish(home, _pending(record), query, outside)


def finish_pasted(home: Home, project: str, account: str, address: str, outside: Outside) -> Connected:
    """End a sign-in of an account with the address that the browser ended at, as a person pasted it.

    Raises:
        BadInput: It is no address with a query.
        SignInStateInvalid: No sign-in of this account waits for it, or it was used before.
        HabilisError: As `finish`.
    """
    query = pasted_query(address)
    record = _take(home, query, outside)
    pending = _pending(record)
    if (pending.project, pending.account) != (project, account):
        raise SignInStateInvalid(
            "no sign-in of this account is waiting for this answer", hint="start the sign-in again"
        )
    return finish(home, pending, query, outside)


def pasted_query(address: str) -> dict[str, list[str]]:
    """The parameters of an address that a person pasted; BadInput where it has none."""
    fault = len(address) > _LONGEST_PASTED
    query: dict[str, list[str]] = {}
    if not fault:
        try:
            query = parse_qs(urlsplit(address.strip()).query, keep_blank_values=True, max_num_fields=100)
        except ValueError:
            fault = True
    if fault or not query:
        raise BadInput(
            "this is no address that a sign-in ends at",
            hint="paste the whole of the browser's address bar, from http to its end",
        )
    return query


def _take(home: Home, query: Mapping[str, Sequence[str]], outside: Outside) -> dict[str, Json]:
    states = query.get("state", ())
    record = _waiting(home).take(states[0], now=outside.now()) if len(states) == 1 and states[0] else None
    if record is None:
        raise SignInStateInvalid("no sign-in is waiting for this answer", hint="start the sign-in again")
    return record


def _pending(record: Mapping[str, Json]) -> Pending:
    kept = record["pending"]
    return Pending.of_record(kept if isinstance(kept, dict) else {})


def _hash(mark: str) -> str:
    return sha256(mark.encode()).hexdigest()


def _waiting(home: Home) -> Waiting:
    return Waiting(home.private / ".state" / "sign-ins")


def _starts(home: Home) -> Waiting:
    return Waiting(home.private / ".state" / "sign-in-starts")
