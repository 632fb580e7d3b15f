"""New tokens for accounts: got once however many calls want one, and stored before they are used.

A provider may take each refresh token once, and end the whole sign-in when it sees one again. So of all threads and
processes one asks, the others wait and use what it stored.
"""

import copy
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from habilis.engine.health import StoredWay, can_renew, clear_mark, end_of, mark, read_mark
from habilis.engine.outside import Outside
from habilis.engine.resolve import key_file, key_path, load_keys
from habilis.errors import (
    HabilisError,
    NeedsReconnect,
    NotFound,
    SecretMissing,
    SignInFailed,
    UpstreamFailed,
    UpstreamProtocol,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.exchange.fill import Bounds
from habilis.home.store import Home
from habilis.hosts import AllowedHosts
from habilis.manifest.model import (
    ClientCredentialsFlow,
    DeviceFlow,
    Manifest,
    OAuth2Flow,
    ServiceAccountFlow,
    SessionFlow,
)
from habilis.records import Account
from habilis.redaction import current
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet
from habilis.templating import Made, Scope

_K = TypeVar("_K")
_V = TypeVar("_V")

MARGIN = timedelta(seconds=60)
"""A token that has less than this left is renewed before it is used."""

MintedWay = ServiceAccountFlow | ClientCredentialsFlow
"""A way whose token is never stored."""

_PATIENCE_S = 45.0
_MOST_KEPT = 512
_LARGEST_FILE = 64 * 1024
_OUTAGES = (UpstreamTimeout, UpstreamProtocol, UpstreamUnavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose token is renewed, and by which way."""

    home: Home
    manifest: Manifest
    account: Account

    @property
    def lock(self) -> str:
        """Name of the lock that whoever changes the sign-in holds."""
        return f"sign-in-{self.account.project}-{self.account.id}"

    @property
    def place(self) -> str:
        """Where its keys lie."""
        return f"{self.home.private}/{self.account.folder}"

    def written_at(self) -> datetime:
        """When its keys were last written."""
        return datetime.fromtimestamp(key_path(self.home, self.account).stat().st_mtime, UTC)

    def said(self, message: str) -> str:
        """What happened to its sign-in, in words."""
        return f"the sign-in of {self.account.label or self.account.id!r} {message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """How the last try to renew a token ended, for those who waited for it."""

    at: float
    used: str
    error: HabilisError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Minted:
    token: str
    ends: datetime | None
    margin: timedelta


_failures: dict[str, _Failure] = {}
"""By the place of an account's keys."""

_unsaved: dict[str, tuple[str, dict[str, str]]] = {}
"""Tokens that the disk did not take, by the place of an account's keys, each with the token that they replace."""

_minted: dict[tuple[str, str], _Minted] = {}
"""By the place of an account's keys, and what they were."""


def renew_stored(holder: Holder, way: StoredWay, outside: Outside, *, used: str) -> dict[str, str]:
    """Get a new token in place of the one that was used, unless somebody did, and return all keys as they are stored.

    Raises:
        NeedsReconnect: The sign-in is over; the account is marked, and its keys stay as they are.
        UpstreamUnavailable: The provider has an outage.
        Busy: Another call has been at it for too long.
        HabilisError: The provider answered otherwise, or the keys could not be saved.
    """
    began = time.monotonic()
    with holder.home.hold(holder.lock, timeout_s=_PATIENCE_S):
        used_before, unsaved = _unsaved.pop(holder.place, ("", {}))
        if unsaved:
            _save(holder, way, unsaved, used=used_before)
        keys = load_keys(holder.home, holder.manifest, holder.account)
        if _is_new(way, keys, used, outside.now()):
            return keys
        failed = _failures.get(holder.place)
        if failed is not None and failed.at >= began and failed.used == used:
            raise copy.copy(failed.error)
        try:
            return _renewed(holder, way, outside, keys)
        except HabilisError as error:
            _remember(_failures, holder.place, _Failure(at=time.monotonic(), used=used, error=error))
            raise


def mint(holder: Holder, way: MintedWay, outside: Outside, keys: Mapping[str, str], *, used: str = "") -> str:
    """A token that is good for a while, other than the one that was used; it is kept in this process alone.

    Raises:
        SecretMissing: The file of the service account is not there.
        HabilisError: As `renew_stored`.
    """
    file = _key_file(way, keys) if isinstance(way, ServiceAccountFlow) else b""
    name = (holder.place, _content(holder.manifest, way, keys, file))
    found = _good(_minted.get(name), used, outside.now())
    if found:
        return found
    with holder.home.hold(holder.lock, timeout_s=_PATIENCE_S):
        found = _good(_minted.get(name), used, outside.now())
        if found:
            return found
        began = outside.now()
        tokens = _asked(holder, _minting(holder, way, outside, keys, file), outside)
        life = timedelta(0) if tokens.expires_at is None else tokens.expires_at - began
        # A token may live shorter than the margin: it is used all the same, for half its life.
        kept = _Minted(token=tokens.access, ends=tokens.expires_at, margin=min(MARGIN, life / 2))
        _remember(_minted, name, kept)
    return tokens.access


def _is_new(way: StoredWay, keys: Mapping[str, str], used: str, now: datetime) -> bool:
    """Whether somebody stored another token meanwhile that has not run out."""
    token, ends = keys.get(way.token_env, ""), end_of(way, keys)
    return bool(token) and token != used and (ends is None or ends > now)


def _renewed(holder: Holder, way: StoredWay, outside: Outside, keys: dict[str, str]) -> dict[str, str]:
    """Ask for a new token, store it and return all keys. The lock is held."""
    marked = read_mark(holder.home, holder.account)
    if marked is not None:
        raise _over(holder, marked.why)
    try:
        tokens = _asked(holder, _renewing(holder, way, outside, keys), outside)
    except NeedsReconnect as error:
        # A process on another machine, whose lock this one does not see, or a person may have been faster.
        now = load_keys(holder.home, holder.manifest, holder.account)
        if _is_new(way, now, keys.get(way.token_env, ""), outside.now()):
            return now
        if now.get(way.refresh_env) != keys.get(way.refresh_env):
            return _renewed(holder, way, outside, now)
        why = error.message.removeprefix("the sign-in is over: ")
        mark(holder.home, holder.account, why, now=outside.now())
        raise _over(holder, why) from None
    parts = [tokens.as_keys(way.token_env, way.refresh_env, stored=keys)]
    if not isinstance(way, SessionFlow):
        parts.append(tokens.scope_keys(way.token_env, way.scopes, stored=keys))
    saved = {str(name): value for part in parts for name, value in part.items()}
    _save(holder, way, saved, used=keys.get(way.token_env, ""))
    clear_mark(holder.home, holder.account.project, holder.account.id)
    return load_keys(holder.home, holder.manifest, holder.account)


def _renewing(holder: Holder, way: StoredWay, outside: Outside, keys: Mapping[str, str]) -> Talk[TokenSet]:
    from habilis.signin import cloud, session, tokens

    if not can_renew(way, keys):
        raise NeedsReconnect("the service no longer takes its token, and nothing renews it")
    scope, bounds = _scope(outside, keys), _bounds(holder, keys)
    match way:
        case SessionFlow():
            known = keys.get(way.token_env)
            return (session.renew if known else session.sign_in)(way, scope=scope, bounds=bounds)
        case OAuth2Flow() | DeviceFlow():
            return tokens.refresh(way, keys[way.refresh_env], scope=scope, bounds=bounds)
    if outside.relay is None:
        raise SignInFailed(
            holder.said("is renewed by a relay, and this engine has none"),
            hint="set HABILIS_RELAY_URL and HABILIS_RELAY_TOKEN",
        )
    return cloud.refresh(way, outside.relay, keys[way.refresh_env], now=outside.now())


def _minting(holder: Holder, way: MintedWay, outside: Outside, keys: Mapping[str, str], file: bytes) -> Talk[TokenSet]:
    from habilis.signin import assertion, tokens

    scope, bounds = _scope(outside, keys), _bounds(holder, keys)
    if isinstance(way, ServiceAccountFlow):
        return assertion.mint(way, file, scope=scope, bounds=bounds)
    return tokens.client_credentials(way, scope=scope, bounds=bounds)


def _asked(holder: Holder, talk: Talk[TokenSet], outside: Outside) -> TokenSet:
    """What the provider gave; of an outage, an error that says to try again, whatever it came from."""
    try:
        return outside.drive(talk)
    except _OUTAGES as error:
        raise UpstreamUnavailable(
            holder.said(f"could not be renewed: {error.message}"),
            where=error.where,
            hint="it is kept; try again in a minute",
        ) from error
    except UpstreamFailed as error:
        error.outcome = "not_sent"
        raise


def _save(holder: Holder, way: StoredWay, tokens: dict[str, str], *, used: str) -> None:
    """Store new tokens in place of the used one, all at once.

    Nothing is stored where a person signed in anew meanwhile, whose tokens are the ones that last, and NotFound raised
    where the account was removed.
    """
    if not key_path(holder.home, holder.account).exists():
        raise NotFound(f"the account {holder.account.id!r} was removed meanwhile")
    file = key_file(holder.home, holder.account)
    if file.load().get(way.token_env, "") != used:
        return
    try:
        file.set(tokens)
    except HabilisError:
        # The provider takes none but the new ones: they are not let go.
        _remember(_unsaved, holder.place, (used, tokens))
        raise


def _over(holder: Holder, why: str) -> NeedsReconnect:
    account = holder.account
    return NeedsReconnect(
        holder.said(f"has ended, and it has to be signed in again: {why}"),
        where=f"account '{account.id}'",
        hint=f"sign in again: habilis accounts connect {account.project} {account.id}",
    )


def _good(minted: _Minted | None, used: str, now: datetime) -> str:
    """The token that was minted, if it is good for another call; "" otherwise."""
    if minted is None or minted.token == used:
        return ""
    if minted.ends is not None and minted.ends - now <= minted.margin:
        return ""
    current().add("access_token", minted.token)
    return minted.token


def _key_file(way: ServiceAccountFlow, keys: Mapping[str, str]) -> bytes:
    """Content of the service account's file, which may be new each time."""
    path = Path(keys[way.key_file])
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_LARGEST_FILE + 1)
        fault = "it is not there"
    except OSError as error:
        fault = error.strerror or "unknown fault"
    raise SecretMissing(f"the file that {way.key_file} names cannot be read: {fault}", hint="set its whole path")


def _content(manifest: Manifest, way: MintedWay, keys: Mapping[str, str], file: bytes) -> str:
    """What a token was minted from, hashed; in memory only."""
    told = sorted((name, value) for name, value in keys.items() if name != way.token_env)
    return hashlib.sha256(repr((manifest.content_hash, way.token_env, told, file)).encode()).hexdigest()


def _scope(outside: Outside, keys: Mapping[str, str]) -> Scope:
    return Scope(arguments={}, keys=keys, made=Made(now=outside.now(), call_id=outside.token()))


def _bounds(holder: Holder, keys: Mapping[str, str]) -> Bounds:
    return Bounds(
        hosts=AllowedHosts.of(holder.manifest.hosts, keys), private_hosts=holder.account.private_hosts, is_read=False
    )


def _remember(kept: dict[_K, _V], name: _K, value: _V) -> None:
    """Keep one more, and let the oldest go."""
    kept[name] = value
    while len(kept) > _MOST_KEPT:
        kept.pop(next(iter(kept)), None)
