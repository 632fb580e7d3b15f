"""A new account: its record, and the keys that come with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count

from habilis.engine.accounts.finding import is_left_over
from habilis.engine.accounts.typed import check_keys, key_notices
from habilis.engine.resolve import choose_account, find_manifest, key_file
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import BadInput, Collision
from habilis.home.store import Home, Revision
from habilis.manifest.model import Manifest
from habilis.messages import Json
from habilis.names import AccountId, account_id
from habilis.records import Account, write_account


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOrder:
    """A new account, as a caller asks for it.

    Attributes:
        id: "" to derive one from the ability's id.
        kind: The channel kind; "" for a plain account.
        keys: Values by key name; any of them may come later.
        same_as: An account of the same service whose keys it starts with; "" for none. They are copied: what changes
            there later does not follow. A sign-in that is renewed stays with its account, for two cannot share one.
    """

    project: str
    ability: str
    id: str = ""
    label: str = ""
    kind: str = ""
    destination: Mapping[str, Json] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    same_as: str = ""


def add_account(home: Home, order: AccountOrder, *, actor: str, now: datetime) -> Account:
    """Add an account and store the keys that came with it.

    Raises:
        NotFound: No such project or ability, or no such account to copy keys from.
        Collision: The project has an account of that id.
        BadInput: The kind is none of the ability's, a key is none it declares, or a value does not fit.
    """
    workspace = open_workspace(home, home.open(), order.project)
    manifest = find_manifest(workspace, order.ability)
    _check_kind(manifest, order)
    keys = {**_copied(home, workspace, manifest, order), **check_keys(manifest, order.keys)}
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


def order_notices(home: Home, order: AccountOrder) -> list[str]:
    """What a person should know of the keys that a new account comes with; NotFound as for adding it."""
    manifest = find_manifest(open_workspace(home, home.open(), order.project), order.ability)
    return key_notices(manifest, order.keys)


def _copied(home: Home, workspace: Workspace, manifest: Manifest, order: AccountOrder) -> dict[str, str]:
    """The keys that a new account takes over from another one."""
    if not order.same_as:
        return {}
    source = choose_account(workspace, manifest, order.same_as)
    if source is None:
        return {}
    # Many services take a renewing token once only: the second account to use it would sign both out.
    shared = workspace.manifests_of(manifest.service)
    renewed = {name for one in shared for way in one.ways if getattr(way, "refresh_env", "") for name in way.kept_keys}
    declared = {name for one in shared for name in (*(key.env for key in one.auth), *one.kept_keys)}
    stored = key_file(home, source).load()
    return {name: value for name, value in stored.items() if value and name in declared - renewed}


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
        if is_left_over(home, slug, name):
            raise Collision(
                f"keys or a log of an earlier account {name!r} are still there",
                hint=f"choose another id, or delete them first: habilis accounts rm {slug} {name}",
            )
        return name
    names = chain([manifest.id], (f"{manifest.id}-{number}" for number in count(2)))
    return account_id(next(name for name in names if name not in taken and not is_left_over(home, slug, name)))
