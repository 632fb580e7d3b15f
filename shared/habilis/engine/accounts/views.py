"""Accounts as people see them: which keys are set, never what they are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from habilis.engine.accounts.finding import no_account
from habilis.engine.health import WELL, Health, worst_health
from habilis.engine.resolve import key_file, wanting
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import HabilisError
from habilis.home.store import Home
from habilis.manifest.model import Manifest
from habilis.messages import Json
from habilis.records import Account, stamp
from habilis.signin.ways import asked_keys, is_set_up


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """A key that a person sets: what a form asks for it with, and whether it is set; never its value or a part of it.

    Attributes:
        help: Where to get it.
        placeholder: What a value looks like.
        options: The only values; empty for any.
        format: What it is: url, host, email or int; "" for any text.
        is_secret: Whether a form hides what is typed.
        has_choices: Whether its values can be read from the service.
    """

    name: str
    label: str
    help: str
    placeholder: str
    options: tuple[str, ...]
    format: str
    is_set: bool
    is_optional: bool
    is_secret: bool
    is_multiline: bool
    has_choices: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WayState:
    """A way to sign in.

    Attributes:
        label: The text of its button, or how it is named beside others.
        needs: Keys that are asked for first.
        is_set_up: Whether the account has gone it.
    """

    flow: str
    label: str
    needs: tuple[str, ...]
    is_set_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountView:
    """An account as people see it.

    Attributes:
        keys: What the abilities of its service ask for; what a sign-in keeps by itself is not among them.
        ways: How it can be signed in, the best first; empty where keys are all there is.
        used_by: Ids of the abilities that use it.
        is_ready: Whether every required key is set, and one way to sign in where there are ways.
        needs: What it lacks before it is ready, in words; "" for nothing.
        health: How its sign-in is.
        fault: Why its record or its keys cannot be read; "" when they can.
    """

    id: str
    label: str
    service: str
    ability: str
    is_default: bool
    kind: str
    destination: Mapping[str, Json]
    private_hosts: tuple[str, ...]
    keys: tuple[KeyState, ...]
    used_by: tuple[str, ...]
    is_ready: bool
    ways: tuple[WayState, ...] = ()
    needs: str = ""
    health: Health = WELL
    created_by: str = ""
    created_at: str = ""
    publications: tuple[Mapping[str, str], ...] = ()
    fault: str = ""


def list_accounts(home: Home, project: str) -> list[AccountView]:
    """The project's accounts, those that need attention included."""
    workspace = open_workspace(home, home.open(), project)
    views = [_view(home, workspace, account) for account in workspace.accounts.values()]
    broken = [
        AccountView(
            id=name, label=name, service="", ability="", is_default=False, kind="", destination={}, private_hosts=(),
            keys=(), used_by=(), is_ready=False, fault=str(fault),
        )
        for name, fault in workspace.faults.items()
    ]  # fmt: skip
    return sorted(views + broken, key=lambda view: (view.service, not view.is_default, view.id))


def show_account(home: Home, project: str, account: str) -> AccountView:
    """One of the project's accounts, also one that needs attention; NotFound otherwise."""
    view = next((view for view in list_accounts(home, project) if view.id == account), None)
    if view is None:
        raise no_account(project, account)
    return view


def _view(home: Home, workspace: Workspace, account: Account) -> AccountView:
    manifests = workspace.manifests_of(account.service)
    stored, fault = _stored(home, account)
    lacks = next(filter(None, (wanting(manifest, stored) for manifest in manifests)), "")
    return AccountView(
        id=account.id,
        label=account.label,
        service=account.service,
        ability=account.ability,
        is_default=account.is_default,
        kind=account.kind,
        destination=account.destination,
        private_hosts=tuple(sorted(account.private_hosts)),
        keys=tuple(_keys(manifests, stored)),
        used_by=tuple(manifest.id for manifest in manifests),
        is_ready=bool(manifests) and not fault and not lacks,
        ways=tuple(_ways(manifests, stored)),
        needs="" if fault else lacks,
        health=worst_health(home, manifests, account, stored),
        created_by=account.created_by,
        created_at=stamp(account.created_at),
        publications=tuple(
            {"asset": entry.asset, "link": entry.link, "at": stamp(entry.at)} for entry in account.publications
        ),
        fault=fault,
    )


def _keys(manifests: list[Manifest], stored: Mapping[str, str]) -> Iterable[KeyState]:
    kept = {name for manifest in manifests for name in manifest.kept_keys}
    # Abilities that share a service agree on its keys: the first one that declares a key says how it is asked for, and
    # it is asked for as long as one of them needs it.
    required = {name for manifest in manifests for name in manifest.required_keys}
    declared = {key.env: key for manifest in reversed(manifests) for key in reversed(manifest.auth)}
    for key in reversed(declared.values()):
        if key.env not in kept:
            yield KeyState(
                name=key.env,
                label=key.label,
                help=key.help,
                placeholder=key.placeholder,
                options=key.options,
                format=key.format,
                is_set=bool(stored.get(key.env)),
                is_optional=key.env not in required,
                is_secret=key.secret,
                is_multiline=key.multiline,
                has_choices=key.choices is not None,
            )


def _ways(manifests: list[Manifest], stored: Mapping[str, str]) -> Iterable[WayState]:
    ways = {
        (way.flow, way.label): (way, manifest) for manifest in reversed(manifests) for way in reversed(manifest.ways)
    }
    for way, manifest in reversed(ways.values()):
        yield WayState(
            flow=way.flow,
            label=way.label,
            needs=asked_keys(way),
            is_set_up=is_set_up(way, manifest, stored),
        )


def _stored(home: Home, account: Account) -> tuple[Mapping[str, str], str]:
    """The account's keys, and why they cannot be read; "" when they can."""
    try:
        return key_file(home, account).load(), ""
    except HabilisError as error:
        return {}, str(error)
