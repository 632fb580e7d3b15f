"""Accounts of a project: added, given keys, chosen as default, removed. A channel is an account with a kind."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count

from habilis.engine.resolve import find_manifest, key_file, missing_keys
from habilis.engine.workspace import Workspace, open_workspace, read_document
from habilis.errors import (
    ArgsInvalid,
    BadInput,
    Collision,
    HabilisError,
    ManifestInvalid,
    NotFound,
    SecretMalformed,
    SecretStoreError,
)
from habilis.home.store import Home, Revision
from habilis.hosts import opt_in_host, site_address
from habilis.manifest.model import AuthKey, Manifest
from habilis.messages import Json
from habilis.names import AccountId, ProjectSlug, account_id
from habilis.records import Account, account_folder, read_account, stamp, write_account
from habilis.redaction import SHORTEST_SECRET

_PRIVATE = (".env", "activity.jsonl", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOrder:
    """A new account, as a caller asks for it.

    Attributes:
        id: "" to derive one from the ability's id.
        kind: The channel kind; "" for a plain account.
        keys: Values by key name; any of them may come later.
    """

    project: str
    ability: str
    id: str = ""
    label: str = ""
    kind: str = ""
    destination: Mapping[str, Json] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """Whether a key is set; never its value, its length or a part of it."""

    name: str
    label: str
    help: str
    is_set: bool
    is_optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountView:
    """An account as people see it.

    Attributes:
        keys: What the abilities of its service ask for.
        used_by: Ids of the abilities that use it.
        is_ready: Whether every required key is set.
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
    publications: tuple[Mapping[str, str], ...] = ()
    fault: str = ""


def add_account(home: Home, order: AccountOrder, *, actor: str, now: datetime) -> Account:
    """Add an account and store the keys that came with it.

    Raises:
        NotFound: No such project or ability.
        Collision: The project has an account of that id.
        BadInput: The kind is none of the ability's, a key is none it declares, or a value does not fit.
    """
    workspace = open_workspace(home, home.open(), order.project)
    manifest = find_manifest(workspace, order.ability)
    _check_kind(manifest, order)
    keys = check_keys(manifest, order.keys)
    made: list[Account] = []

    def change(revision: Revision) -> dict[str, bytes | None]:
        current = open_workspace(home, revision, order.project)
        account = Account(
            id=_new_id(home, current, order, manifest),
            project=workspace.project.slug,
            label=order.label or manifest.name,
            ability=manifest.id,
            service=manifest.service,
            created_by=actor,
            created_at=now,
            is_default=not current.accounts_of(manifest.service),
            kind=order.kind,
            destination=order.destination,
        )
        made[:] = [account]
        return {account.path: write_account(account)}

    home.commit(
        change, subject=f"Add an account of {manifest.service} to {order.project}", action="account add", actor=actor
    )
    (account,) = made
    if keys:
        key_file(home, account).set(keys)
    return account


def set_key(home: Home, project: str, account: str, name: str, value: str, *, dry_run: bool = False) -> list[str]:
    """Store one key of an account; it is in force from the next call on. A dry run checks it and stores nothing.

    Returns:
        What the person should know of the value, as `key_notices`.

    Raises:
        NotFound: No such account.
        ArgsInvalid: The account's abilities declare no key of that name.
        BadInput, SecretMalformed: The value does not fit.
    """
    workspace, found = _find(home, project, account)
    manifests = workspace.manifests_of(found.service)
    declared = {str(key.env): manifest for manifest in manifests for key in manifest.auth}
    if name not in declared:
        raise ArgsInvalid(f"no ability of {found.service!r} declares a key {name!r}", hint=_known(declared))
    checked = check_keys(declared[name], {name: value})
    if not dry_run:
        key_file(home, found).set(checked)
    return key_notices(declared[name], {name: value})


def set_default(home: Home, project: str, account: str, *, actor: str) -> None:
    """Make an account the one that calls of its service use when they name none; NotFound otherwise."""
    _find(home, project, account)

    def change(revision: Revision) -> dict[str, bytes | None]:
        workspace = open_workspace(home, revision, project)
        chosen = workspace.accounts.get(account)
        if chosen is None:
            raise _no_account(project, account)
        changed: dict[str, bytes | None] = {}
        for entry in workspace.accounts_of(chosen.service):
            if entry.is_default != (entry.id == account):
                changed[entry.path] = write_account(replace(entry, is_default=entry.id == account))
        return changed

    home.commit(change, subject=f"Use {account} by default in {project}", action="account default", actor=actor)


def allow_private(home: Home, project: str, account: str, host: str, *, actor: str) -> str:
    """Let an account call one `host:port` on a private address; an operator's decision, shown with the account.

    Raises:
        NotFound: No such account.
        BadInput, AddressNotAllowed: It is no `host:port`, or an address that is never called.
    """
    _find(home, project, account)
    allowed = opt_in_host(host)
    path = f"{account_folder(project, account)}/connection.yaml"

    def change(revision: Revision) -> dict[str, bytes | None]:
        entry = read_account(read_document(home, revision, path), project=ProjectSlug(project), file=path)
        return {path: write_account(replace(entry, private_hosts=entry.private_hosts | {allowed}))}

    home.commit(
        change, subject=f"Let {account} of {project} call {allowed}", action="account allow-private", actor=actor
    )
    return allowed


def remove_account(home: Home, project: str, account: str, *, actor: str) -> None:
    """Remove an account with its keys and data; the oldest other account of the service becomes the default.

    Where only keys and data are left of one, because a removal was cut short, they are deleted.

    Raises:
        NotFound: No such account.
        ManifestInvalid: Its record cannot be read; mend it first, or delete its folder.
        SecretStoreError: The account is removed, but not all of its keys and data.
    """
    workspace = open_workspace(home, home.open(), project)
    slug = workspace.project.slug
    if account in workspace.faults:
        raise ManifestInvalid(workspace.faults[account].problems)
    if account not in workspace.accounts and not _is_left_over(home, slug, account):
        raise _no_account(project, account)

    def change(revision: Revision) -> dict[str, bytes | None]:
        current = open_workspace(home, revision, project)
        found = current.accounts.get(account)
        if found is None:
            return {}
        changed: dict[str, bytes | None] = {found.path: None}
        others = [entry for entry in current.accounts_of(found.service) if entry.id != account]
        if found.is_default and others:
            changed[others[0].path] = write_account(replace(others[0], is_default=True))
        return changed

    home.commit(change, subject=f"Remove the account {account} of {project}", action="account rm", actor=actor)
    _delete_private(home, slug, account)


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
        raise _no_account(project, account)
    return view


def check_keys(manifest: Manifest, keys: Mapping[str, str]) -> dict[str, str]:
    """Check typed keys and return them as they are stored: a site's address normalised, a trailing line break off.

    Raises:
        ArgsInvalid: The ability declares no such key, or the value is none of its options.
        SecretMalformed: A value holds a NUL, or is not what a mail server's entry is.
        BadInput: A value that gives a host is no address.
    """
    declared: dict[str, AuthKey] = {key.env: key for key in manifest.auth}
    checked = {}
    for name, value in keys.items():
        if name not in declared:
            raise ArgsInvalid(f"{manifest.id!r} declares no key {name!r}", hint=_known(declared))
        if "\0" in value:
            raise SecretMalformed(f"{name} holds a NUL character", hint="paste it again")
        trimmed = value.rstrip("\r\n")
        options = declared[name].options
        if options and trimmed not in options:
            raise ArgsInvalid(f"{name} is none of its options", hint=f"choose {', '.join(options)}")
        if manifest.smtp is not None:
            from habilis.exchange.mailserver import check_mail_key  # most abilities send no mail

            check_mail_key(manifest.smtp, name, trimmed)
        is_host = f"${{{name}}}" in manifest.hosts
        checked[name] = site_address(trimmed) if is_host and trimmed else trimmed
    return checked


def key_notices(manifest: Manifest, keys: Mapping[str, str]) -> list[str]:
    """What a person should know of the values being saved; never the values."""
    notices = []
    for name, value in keys.items():
        trimmed = value.rstrip("\r\n")
        if trimmed != value:
            notices.append(f"{name} ended with a line break, which was left off")
        if trimmed and name not in manifest.public_keys and len(trimmed) < SHORTEST_SECRET:
            notices.append(f"{name} is so short that it cannot be masked where a service echoes it")
    return notices


def order_notices(home: Home, order: AccountOrder) -> list[str]:
    """What a person should know of the keys that a new account comes with; NotFound as for adding it."""
    manifest = find_manifest(open_workspace(home, home.open(), order.project), order.ability)
    return key_notices(manifest, order.keys)


def _check_kind(manifest: Manifest, order: AccountOrder) -> None:
    kinds = [kind.kind for kind in manifest.channels]
    if order.kind and order.kind not in kinds:
        raise BadInput(
            f"{manifest.id!r} has no channel kind {order.kind!r}", hint=f"it has {', '.join(kinds) or 'none'}"
        )
    kind = manifest.kind(order.kind)
    fields = {entry.name for entry in kind.destination} if kind else set()
    unknown = [name for name in order.destination if name not in fields]
    if unknown:
        raise BadInput(
            f"the destination has no field {unknown[0]!r}", hint=f"it has {', '.join(sorted(fields)) or 'none'}"
        )


def _new_id(home: Home, workspace: Workspace, order: AccountOrder, manifest: Manifest) -> AccountId:
    taken = set(workspace.accounts) | set(workspace.faults)
    slug = workspace.project.slug
    if order.id:
        if order.id in taken:
            raise Collision(f"the project has an account {order.id!r}", hint="choose another id")
        name = account_id(order.id)
        if _is_left_over(home, slug, name):
            raise Collision(
                f"keys or a log of an earlier account {name!r} are still there",
                hint=f"choose another id, or delete them first: habilis accounts rm {slug} {name}",
            )
        return name
    names = chain([manifest.id], (f"{manifest.id}-{number}" for number in count(2)))
    return account_id(next(name for name in names if name not in taken and not _is_left_over(home, slug, name)))


def _is_left_over(home: Home, project: str, account: str) -> bool:
    """Whether something private lies where an account of this id would: a new one must not come into it."""
    try:
        folder = home.private / account_folder(project, account_id(account))
    except BadInput:
        return False
    return any(os.path.lexists(folder / name) for name in _PRIVATE)


def _delete_private(home: Home, project: str, account: str) -> None:
    """Delete all that lies beside an account's record; SecretStoreError when some of it stays."""
    try:
        shutil.rmtree(home.private / account_folder(project, account))
    except FileNotFoundError:
        return
    except OSError as error:
        raise SecretStoreError(
            f"the account is removed, but its keys and data could not all be deleted: {os.strerror(error.errno or 0)}",
            where=account_folder(project, account),
            hint="see who owns the folder, and delete it",
            outcome="partial",
        ) from None


def _find(home: Home, project: str, account: str) -> tuple[Workspace, Account]:
    workspace = open_workspace(home, home.open(), project)
    if account in workspace.faults:
        raise ManifestInvalid(workspace.faults[account].problems)
    found = workspace.accounts.get(account)
    if found is None:
        raise _no_account(project, account)
    return workspace, found


def _no_account(project: str, account: str) -> NotFound:
    return NotFound(f"there is no account {account!r}", hint=f"list them: habilis accounts ls {project}")


def _view(home: Home, workspace: Workspace, account: Account) -> AccountView:
    manifests = workspace.manifests_of(account.service)
    stored, fault = _stored(home, account)
    states = {
        key.env: KeyState(
            name=key.env, label=key.label, help=key.help, is_set=bool(stored.get(key.env)), is_optional=key.optional
        )
        for manifest in manifests
        for key in manifest.auth
    }
    return AccountView(
        id=account.id,
        label=account.label,
        service=account.service,
        ability=account.ability,
        is_default=account.is_default,
        kind=account.kind,
        destination=account.destination,
        private_hosts=tuple(sorted(account.private_hosts)),
        keys=tuple(states.values()),
        used_by=tuple(manifest.id for manifest in manifests),
        is_ready=bool(manifests) and not fault and not any(missing_keys(manifest, stored) for manifest in manifests),
        publications=tuple(
            {"asset": entry.asset, "link": entry.link, "at": stamp(entry.at)} for entry in account.publications
        ),
        fault=fault,
    )


def _stored(home: Home, account: Account) -> tuple[Mapping[str, str], str]:
    """The account's keys, and why they cannot be read; "" when they can."""
    try:
        return key_file(home, account).load(), ""
    except HabilisError as error:
        return {}, str(error)


def _known(names: Mapping[str, object]) -> str:
    return f"it has {', '.join(names)}" if names else "it has no keys"
