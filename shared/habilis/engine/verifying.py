"""Whether an account's keys are right, and whose they are, as the service itself says."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from habilis.engine.accounts.adding import AccountOrder, add_account, order_notices
from habilis.engine.accounts.changing import set_key
from habilis.engine.accounts.finding import find_account, no_account
from habilis.engine.accounts.typed import check_keys
from habilis.engine.fresh import LiveKeys, fresh_keys
from habilis.engine.outside import Outside
from habilis.engine.resolve import load_keys, pointing_at, require_ready, wanting
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import FeatureDisabled, HabilisError, NeedsReconnect, SignInFailed, UpstreamError
from habilis.exchange.fill import Bounds
from habilis.exchange.proving import Who, prove
from habilis.home.store import Home, Revision
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Manifest
from habilis.names import AccountId
from habilis.records import Account, write_account
from habilis.templating import Made, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Keys that the service took.

    Attributes:
        identity: Whose they are, for people; "" where the ability does not ask.
    """

    account: str
    label: str
    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOrder:
    """A key of an account, to be stored."""

    project: str
    account: str
    name: str
    value: str = field(repr=False)


def verify_account(home: Home, project: str, account: str, outside: Outside, *, actor: str) -> Verified:
    """Ask the service whether it takes an account's keys, and note whose they are.

    Raises:
        NotFound: No such account.
        FeatureDisabled: No ability of its service says how keys are proved.
        SecretMissing: The account lacks a key, or is not signed in.
        UpstreamError: The service does not take the keys; the message has its words.
        SignInFailed: They are those of somebody else than the account's.
    """
    workspace, found = find_account(home, project, account)
    manifest = _prover(workspace, found)
    if manifest is None:
        raise FeatureDisabled(
            f"no ability of {found.service!r} says how its keys are proved", hint="call one of its tools that reads"
        )
    require_ready(manifest, found, load_keys(home, manifest, found), where=_where(found))
    with pointing_at(found):
        live = fresh_keys(home, manifest, found, outside)
    who = _asked(manifest, found, live, outside)
    require_same(found, who)
    kept = remember(home, found, manifest, who, actor=actor)
    return Verified(account=found.id, label=kept.label, identity=who.label if who else "")


def save_key(home: Home, order: KeyOrder, outside: Outside, *, actor: str) -> list[str]:
    """Store one key and prove it where the ability says how.

    A wrong key is stored and told, for the next one to be set may be what makes it right.

    Returns:
        What the person should know of the value, and whether the service takes it.

    Raises:
        SignInFailed: With it the account would be somebody else's; nothing was stored.
        NotFound, ArgsInvalid, BadInput, SecretMalformed: As `set_key`.
    """
    project, account, name, value = order.project, order.account, order.name, order.value
    workspace, found = find_account(home, project, account)
    manifest = _prover(workspace, found)
    if manifest is not None and found.identity_id and value and name in {key.env for key in manifest.auth}:
        _require_no_other(home, manifest, found, check_keys(manifest, {name: value}), outside)
    notices = set_key(home, project, account, name, value)
    return [*notices, *_proved(home, found, outside, actor=actor)]


def add_proven(home: Home, order: AccountOrder, outside: Outside, *, actor: str) -> tuple[AccountId, list[str]]:
    """Add an account and prove the keys that it comes with, as `save_key`; its id, and what to know of them.

    Raises:
        NotFound, Collision, BadInput: As `add_account`.
    """
    account = add_account(home, order, actor=actor, now=outside.now())
    return account.id, [*order_notices(home, order), *_proved(home, account, outside, actor=actor)]


def confirm(
    manifest: Manifest, account: Account, keys: Mapping[str, str], outside: Outside
) -> tuple[Who | None, list[str]]:
    """Whose keys a sign-in brought, before they are saved, and what the person should know.

    Raises:
        SignInFailed: Somebody else's than the account's, or nobody can tell while it is known whose the account is.
    """
    if manifest.identity is None:
        return None, []
    try:
        who = _asked(manifest, account, LiveKeys(keys=keys), outside)
    except HabilisError as error:
        if account.identity_id:
            raise SignInFailed(
                f"it could not be checked whether this is {account.identity_label!r} again: {error.message}",
                where=error.where,
                hint="try again, or add another account",
            ) from error
        return None, [f"it could not be checked whose account it is: {error.message}"]
    require_same(account, who)
    return who, []


def require_same(account: Account, who: Who | None) -> None:
    """Refuse somebody else's keys for an account; SignInFailed names both."""
    if who is not None and account.identity_id not in {"", who.id}:
        raise SignInFailed(
            f"these keys are those of {who.label!r}, and {account.id!r} is the account of {account.identity_label!r}",
            where=_where(account),
            hint=f"sign in as {account.identity_label!r}, or add another account for {who.label!r}",
        )


def remember(home: Home, account: Account, manifest: Manifest, who: Who | None, *, actor: str) -> Account:
    """Note on an account whose it is, which is also its name unless a person gave it one; the account as it is now."""
    if who is None or (account.identity_id, account.identity_label) == (who.id, who.label):
        return account
    project, name = account.project, account.id
    kept = [account]

    def change(revision: Revision) -> dict[str, bytes | None]:
        current = open_workspace(home, revision, project).accounts.get(name)
        if current is None:
            raise no_account(project, name)
        is_unnamed = current.label in {manifest.name, current.identity_label}
        kept[0] = replace(
            current,
            identity_id=who.id,
            identity_label=who.label,
            label=who.label if is_unnamed else current.label,
        )
        return {kept[0].path: write_account(kept[0])}

    home.commit(change, subject=f"Note whose the account {name} of {project} is", action="account verify", actor=actor)
    return kept[0]


def _prover(workspace: Workspace, account: Account) -> Manifest | None:
    """The ability that says how the account's keys are proved, its own before others; None where none does."""
    able = [one for one in workspace.manifests_of(account.service) if one.verify or one.identity]
    return next((one for one in able if one.id == account.ability), able[0] if able else None)


def _proved(home: Home, account: Account, outside: Outside, *, actor: str) -> list[str]:
    """What to tell of keys that were just saved: nothing where the service takes them, or some are still to come."""
    manifest = _prover(open_workspace(home, home.open(), account.project), account)
    if manifest is None or wanting(manifest, load_keys(home, manifest, account)):
        return []
    try:
        with pointing_at(account):
            live = fresh_keys(home, manifest, account, outside)
        who = _asked(manifest, account, live, outside)
    except HabilisError as error:
        is_refused = isinstance(error, UpstreamError | NeedsReconnect | SignInFailed) and not error.retryable
        return [
            f"saved, but {'the service does not take it' if is_refused else 'it could not be checked'}: {error.message}"
        ]
    require_same(account, who)
    remember(home, account, manifest, who, actor=actor)
    return []


def _require_no_other(
    home: Home, manifest: Manifest, account: Account, changed: Mapping[str, str], outside: Outside
) -> None:
    """Refuse keys that would make the account somebody else's, before they are stored; SignInFailed."""
    try:
        with pointing_at(account):
            live = fresh_keys(home, manifest, account, outside)
        who = _asked(manifest, account, LiveKeys(keys={**live.keys, **changed}), outside)
    except HabilisError:
        return  # what is wrong with them is told once they are saved
    require_same(account, who)


def _asked(manifest: Manifest, account: Account, live: LiveKeys, outside: Outside) -> Who | None:
    scope = Scope({}, live.keys, Made(now=outside.now(), call_id=outside.token()))
    bounds = Bounds(
        hosts=AllowedHosts.of(manifest.hosts, live.keys),
        private_hosts=account.private_hosts,
        is_read=True,
        sign_out=live.sign_out,
    )
    with pointing_at(account):
        return outside.drive(prove(manifest, scope, bounds, where=_where(account)), renew=live.renew)


def _where(account: Account) -> str:
    return f"account '{account.id}'"
