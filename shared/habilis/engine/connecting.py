"""Signing an account in with the browser: the page it opens, the single-use wait, the callback that ends it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from habilis.engine.accounts import check_keys
from habilis.engine.outside import Outside, Relay
from habilis.engine.resolve import find_manifest, key_file, load_keys
from habilis.engine.workspace import open_workspace
from habilis.errors import (
    BadInput,
    FeatureDisabled,
    NotFound,
    SecretMissing,
    SignInExpired,
    SignInFailed,
    SignInStateInvalid,
    UpstreamError,
)
from habilis.home.store import Home
from habilis.home.waiting import Waiting
from habilis.manifest.model import RedirectFlow
from habilis.messages import Json, Request
from habilis.records import stamp
from habilis.redaction import current
from habilis.signin.redirect import page_address, read_return

CALLBACK_PATH = "/api/connect/callback"
APP_ID = "5b0a3a5e-8f0c-4f0e-9d5b-6d1f7a0c2b11"
"""Names this application to services that ask for a UUID; the same for every installation."""

_WAITS_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A sign-in that waits for its return.

    Attributes:
        url: The page that the person opens.
        returns_by_itself: False when the service has nowhere to send the browser: the person pastes what it shows.
    """

    url: str
    returns_by_itself: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A sign-in that came to its end: the account that now holds the keys."""

    project: str
    account: str
    label: str


def start_sign_in(home: Home, project: str, account: str, outside: Outside) -> Started:
    """Begin a sign-in for an account and return the page to open.

    Raises:
        NotFound: No such account, or its ability offers no sign-in.
        FeatureDisabled: Its ability offers only ways that come later.
        SecretMissing: Something that the page's address needs is not set yet.
    """
    workspace = open_workspace(home, home.open(), project)
    found = workspace.accounts.get(account)
    if found is None:
        raise NotFound(f"there is no account {account!r}", hint=f"add it first: habilis accounts add {project} ABILITY")
    manifest = find_manifest(workspace, found.ability)
    flow = manifest.connect
    if flow is None and manifest.ways:
        flows = " or ".join(way.flow for way in manifest.ways)
        raise FeatureDisabled(
            f"{manifest.id!r} signs in by {flows}; this version of Habilis signs in by redirect only",
            hint="set its keys one by one: habilis accounts set",
        )
    if flow is None:
        raise NotFound(f"{manifest.id!r} offers no sign-in", hint="set its keys one by one: habilis accounts set")
    keys = load_keys(home, manifest, found)
    missing = [name for name in flow.needs if not keys.get(name)]
    if missing:
        raise SecretMissing(
            f"the sign-in needs {', '.join(missing)} first",
            hint=f"set it: habilis accounts set {project} {account} {missing[0]}",
        )
    state = outside.token()
    expires_at = outside.now() + _WAITS_FOR
    callback = _callback(flow, state, outside)
    if callback:
        record = {
            "project": project,
            "account": account,
            "since": stamp(found.created_at),
            "ability": manifest.id,
            "expires_at": stamp(expires_at),
        }
        # Kept past its time, so that a late return is told that it is late and not that it never was.
        _waiting(home).put(state, record, expires_at + _WAITS_FOR)
    # Some services take a name once per person, so each sign-in has its own; people find it again in their lists there.
    # The end tells apart two that begin within one second.
    name = f"Habilis: {project}/{account}, {outside.now():%Y-%m-%d %H:%M:%S} {outside.token()[:6]}"
    application: dict[str, Json] = {"app_id": APP_ID, "app_name": name}
    url = page_address(
        flow, manifest, keys, application=application, callback=callback, private_hosts=found.private_hosts
    )
    return Started(url=url, returns_by_itself=bool(callback), expires_at=expires_at)


def finish_sign_in(home: Home, query: Mapping[str, Sequence[str]], outside: Outside) -> Connected:
    """End a sign-in with what the browser came back with, and store the keys, all or none.

    Raises:
        SignInStateInvalid: No sign-in waits for this return, or it was used before.
        SignInExpired: It came too late.
        SignInDenied, SignInFailed: The service said no, or did not bring all that it should.
    """
    states = query.get("state", ())
    record = _waiting(home).take(states[0], now=outside.now()) if len(states) == 1 and states[0] else None
    if record is None:
        raise SignInStateInvalid("no sign-in is waiting for this answer", hint="start the sign-in again")
    if outside.now() > datetime.fromisoformat(str(record["expires_at"])):
        raise SignInExpired("the sign-in took longer than ten minutes", hint="start it again")
    project, account = str(record["project"]), str(record["account"])
    try:
        workspace = open_workspace(home, home.open(), project)
        found = workspace.accounts.get(account)
    except NotFound:
        found = None
    # One that was made anew under the same id is another account, perhaps of another service.
    if found is None or stamp(found.created_at) != record.get("since"):
        raise SignInFailed("this sign-in was cancelled: its account is gone", hint="add the account again")
    manifest = find_manifest(workspace, str(record["ability"]))
    if manifest.connect is None:
        raise SignInFailed("the ability no longer offers this sign-in", hint="set its keys one by one")
    keys = load_keys(home, manifest, found)
    returned = read_return(manifest.connect, manifest, query, keys)
    for name, value in returned.items():
        current().add(name, value)
    try:
        checked = check_keys(manifest, {str(name): value for name, value in returned.items()})
    except BadInput as error:
        raise SignInFailed(f"the service came back with a value that does not fit: {error.message}") from error
    key_file(home, found).set(checked)
    return Connected(project=project, account=account, label=found.label)


def _callback(flow: RedirectFlow, state: str, outside: Outside) -> str:
    """Where the service sends the browser: here, by a relay, or nowhere when it accepts neither."""
    if not outside.public_url:
        return ""
    own = f"{outside.public_url}{CALLBACK_PATH}?state={state}"
    if not flow.needs_https or own.startswith("https://"):
        return own
    return _register(outside.relay, own, outside) if outside.relay else ""


def _register(relay: Relay, target: str, outside: Outside) -> str:
    """Register a single-use address at the relay."""
    host = relay.url.split("://", 1)[-1]
    current().add("RELAY_TOKEN", relay.token)
    answer = outside.transport.send(
        Request(
            where="the relay",
            method="POST",
            url=f"{relay.url}/r",
            headers=(("Authorization", f"Bearer {relay.token}"), ("Content-Type", "application/json")),
            body=json.dumps({"target": target}).encode(),
            private_hosts=frozenset({host}),  # the operator named this relay; it may be on this machine
        )
    )
    try:
        return str(json.loads(answer.body)["url"])
    except (ValueError, KeyError, TypeError):
        raise UpstreamError(f"the relay answered {answer.status} without an address", where=host) from None


def _waiting(home: Home) -> Waiting:
    return Waiting(home.private / ".state" / "sign-ins")
