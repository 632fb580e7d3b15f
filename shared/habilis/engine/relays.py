"""The relay: a public, single-use address that sends a browser on to the engine that registered it.

Source: seed format "Signing in": a single-use relay at `/r/<id>` that sends the browser straight on.
"""

from datetime import datetime, timedelta
from urllib.parse import urlsplit

from habilis.errors import BadInput, NotFound
from habilis.home.store import Home
from habilis.home.waiting import Waiting

_WAITS_FOR = timedelta(minutes=10)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def register_target(waiting: Waiting, target: str, *, relay_id: str, now: datetime, origins: frozenset[str]) -> str:
    """Store where a browser is to be sent, under a new id, for ten minutes; returns the id.

    Args:
        waiting: Where single-use records wait.
        target: The engine's callback address.
        relay_id: A new secret.
        now: The time, with a zone.
        origins: The registered https origins of this engine; loopback is always good.

    Raises:
        BadInput: The target is neither loopback nor one of `origins`.
    """
    try:
        parts = urlsplit(target)
        origin, host = f"{parts.scheme}://{parts.netloc}", parts.hostname
    except ValueError:
        origin, host, parts = "", None, urlsplit("")
    is_loopback = parts.scheme in {"http", "https"} and host in _LOOPBACK and "@" not in parts.netloc
    if not is_loopback and not (parts.scheme == "https" and origin in origins):
        raise BadInput("the relay sends browsers on to loopback or to this engine's own https address only")
    waiting.put(relay_id, {"target": target}, now + _WAITS_FOR)
    return relay_id


def take_target(waiting: Waiting, relay_id: str, query: str, *, now: datetime) -> str:
    """Where to send the browser, once; the service's own parameters are added.

    Raises:
        NotFound: Never registered, used, or out of time.
    """
    record = waiting.take(relay_id, now=now)
    if record is None:
        raise NotFound("this address was used, ran out, or never was", hint="start the sign-in again")
    target = str(record["target"])
    if not query:
        return target
    return target + ("&" if "?" in target else "?") + query


def waiting_targets(home: Home) -> Waiting:
    """Where the relay's single-use records wait."""
    return Waiting(home.private / ".state" / "relay")
