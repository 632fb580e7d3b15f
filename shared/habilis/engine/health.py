"""How the sign-ins of accounts are: good, about to end, or over until a person signs in again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from habilis.engine.resolve import key_path
from habilis.home.durable import make_folders, replace_file
from habilis.home.store import Home
from habilis.home.story import utc_now
from habilis.manifest.model import CloudFlow, DeviceFlow, Manifest, OAuth2Flow, SessionFlow, Way, expiry_key
from habilis.records import Account, stamp
from habilis.signin.ways import way_in_use

State = Literal["ok", "expiring", "needs_sign_in"]
_ORDER: tuple[State, ...] = ("ok", "expiring", "needs_sign_in")
_WARNED_BEFORE = timedelta(days=7)

StoredWay = OAuth2Flow | CloudFlow | DeviceFlow | SessionFlow
"""A way whose token is among the account's keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How an account's sign-in is.

    Attributes:
        state: `expiring` where it ends within a week and nothing renews it.
        since: When it ended, or ends, in RFC 3339; "" where it is well.
        why: In words; "" where it is well.
    """

    state: State = "ok"
    since: str = ""
    why: str = ""


WELL = Health()
"""Nothing is to be said of it."""


def read_health(home: Home, manifest: Manifest, account: Account, keys: Mapping[str, str], *, now: datetime) -> Health:
    """How the account's sign-in is, by its keys and by what happened last; sends nothing."""
    way = way_in_use(manifest, keys) if manifest.kept_keys else None
    if way is None:
        return WELL
    marked = read_mark(home, account)
    if marked is not None:
        return marked
    ends = end_of(way, keys)
    if ends is None or can_renew(way, keys):
        return WELL
    if ends <= now:
        return Health(state="needs_sign_in", since=stamp(ends), why="its sign-in has run out")
    if ends - now <= _WARNED_BEFORE:
        return Health(state="expiring", since=stamp(ends), why=f"its sign-in ends on {ends:%Y-%m-%d}; sign in again")
    return WELL


def worst_health(home: Home, manifests: Iterable[Manifest], account: Account, keys: Mapping[str, str]) -> Health:
    """How the account's sign-in is now, for the ability of its service that is worst off."""
    now = utc_now()
    found = (read_health(home, manifest, account, keys, now=now) for manifest in manifests)
    return max(found, key=lambda health: _ORDER.index(health.state), default=WELL)


def end_of(way: Way, keys: Mapping[str, str]) -> datetime | None:
    """When the stored token runs out; None when nobody knows."""
    if not isinstance(way, StoredWay):
        return None
    try:
        ends = datetime.fromisoformat(keys.get(expiry_key(way.token_env), ""))
    except ValueError:
        return None
    return ends if ends.tzinfo else None


def can_renew(way: Way, keys: Mapping[str, str]) -> bool:
    """Whether a new token can be had without a person."""
    match way:
        case OAuth2Flow() | DeviceFlow() | CloudFlow():
            return bool(keys.get(way.refresh_env))
    return isinstance(way, SessionFlow)


def read_mark(home: Home, account: Account) -> Health | None:
    """What says that the account has to be signed in again; None when nothing does, or its keys changed since."""
    try:
        told = json.loads(_file(home, account.project, account.id).read_bytes())
        if told["keys"] == _version(home, account):
            return Health(state="needs_sign_in", since=str(told["since"]), why=str(told["why"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def mark(home: Home, account: Account, why: str, *, now: datetime) -> None:
    """Write down that the account has to be signed in again: it counts until its keys change."""
    file = _file(home, account.project, account.id)
    make_folders(file.parent, mode=0o700)
    told = {"since": stamp(now), "why": why, "keys": _version(home, account)}
    replace_file(file, json.dumps(told).encode(), mode=0o600)


def clear_mark(home: Home, project: str, account: str) -> None:
    """Forget that an account had to be signed in again."""
    _file(home, project, account).unlink(missing_ok=True)


def _version(home: Home, account: Account) -> str:
    """What differs once the account's keys were written, and tells nothing of them; "" where it has none."""
    try:
        found = key_path(home, account).stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_ino}-{found.st_size}"


def _file(home: Home, project: str, account: str) -> Path:
    return home.private / ".state" / "health" / project / f"{account}.json"
