"""What an order means in a home: which tool, of which ability, through which account, with which keys."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.engine.workspace import Ability, Workspace
from habilis.errors import AddressNotAllowed, ArgsInvalid, HabilisError, ManifestInvalid, NotFound, SecretMissing
from habilis.exchange.fill import Bounds
from habilis.home.keyfile import KeyFile
from habilis.home.store import Home
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Manifest, Tool
from habilis.messages import Json
from habilis.records import Account
from habilis.redaction import current
from habilis.signin.ways import is_ready, way_in_use

if TYPE_CHECKING:
    from habilis.engine.fresh import SignedIn

CONNECTION = "connection"
"""The argument by which a call names its account, where a project has more than one."""

SENDER = "from"
"""The same for the contract `email`: whom a mail comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrder:
    """What a caller asked for.

    Attributes:
        project: The project's slug.
        tool: A tool's name, or `<ability>.<tool>` where two abilities have one of that name; or a contract's.
        arguments: As given; checked later against the tool's schema.
        account: The account to go through; "" for the service's default.
        asset: The asset `<type>/<id>` whose files it may send, and which takes the files that come back; "" for none.
    """

    project: str
    tool: str
    arguments: Mapping[str, Json]
    account: str = ""
    asset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An order resolved.

    Attributes:
        account: None for a tool of an ability that needs no keys.
        keys: What the account holds of the names that the ability declares.
        signed_in: The account as one whose token runs out, which puts new tokens among the keys; None where it is none.
    """

    manifest: Manifest
    tool: Tool
    account: Account | None
    keys: Mapping[str, str]
    signed_in: "SignedIn | None" = None

    @property
    def bounds(self) -> Bounds:
        """What the call may reach."""
        return Bounds(
            hosts=AllowedHosts.of(self.manifest.hosts, self.keys),
            private_hosts=self.account.private_hosts if self.account else frozenset(),
            is_read=self.tool.role == "read",
            result_hosts=AllowedHosts.of(self.manifest.result_hosts, self.keys),
            sign_out=self.signed_in.sign_out if self.signed_in else None,
        )


@contextmanager
def pointing_at(account: Account | None) -> Iterator[None]:
    """Put the account's own names into the hint of an error that says how to open a private host."""
    try:
        yield
    except AddressNotAllowed as error:
        if account is not None:
            error.hint = error.hint.replace("<project> <account>", f"{account.project} {account.id}")
        raise


def resolve_call(home: Home, workspace: Workspace, order: CallOrder) -> Found:
    """Find tool, ability, account and keys of a call.

    Raises:
        NotFound: No such tool or account here; said alike for what does not exist and what is not the project's.
        ArgsInvalid: Two abilities have a tool of that name.
        SecretMissing: The ability has no account here, or its account lacks a key.
    """
    manifest, tool = find_tool(home, workspace, order.tool, account=order.account)
    account = choose_account(workspace, manifest, order.account)
    if account is None and (manifest.auth or tool.role != "read"):
        raise SecretMissing(
            f"the project has no account of {manifest.service!r}",
            where=f"tool '{tool.name}'",
            hint=f"add one: habilis accounts add {workspace.project.slug} {manifest.id}",
        )
    keys = load_keys(home, manifest, account) if account else {}
    if account is not None:
        require_ready(manifest, account, keys, where=f"tool '{tool.name}'")
    found = Found(manifest=manifest, tool=tool, account=account, keys=keys)
    if account is None or not manifest.kept_keys:
        return found
    from habilis.engine.fresh import signed_in  # most accounts have keys that do not run out

    return replace(found, signed_in=signed_in(home, manifest, account, keys))


def named_account(tool: Tool, arguments: dict[str, Json], *, named: str) -> str:
    """The account that a call names, beside its arguments or, taken out, among them; "" for none.

    Raises:
        ArgsInvalid: It is no text, or the call names two.
    """
    for name in (CONNECTION, SENDER) if tool.contract == "email" else (CONNECTION,):
        value = arguments.pop(name, None)
        if value is not None and not isinstance(value, str):
            raise ArgsInvalid("expected the id of an account", where=f"argument '{name}'")
        if value and named not in {"", value}:
            raise ArgsInvalid(f"the call names two accounts, {named!r} and {value!r}", where=f"tool '{tool.name}'")
        named = value or named
    return named


def find_tool(home: Home, workspace: Workspace, name: str, *, account: str = "") -> tuple[Manifest, Tool]:
    """The tool of that name among the abilities that are on; of those that provide a contract, one that can be called.

    Args:
        home: Where keys are, which tell whether an ability can be called.
        workspace: Has the abilities, in the order in which they count.
        name: As `CallOrder.tool`.
        account: The account that the call names; "" for none.

    Raises:
        NotFound: No ability that is on has it.
        ArgsInvalid: Two have a tool of that name.
    """
    ability, dot, bare = name.rpartition(".")
    found = [
        (manifest, tool)
        for entry in _usable(workspace)
        if (manifest := entry.manifest) is not None
        and (not dot or manifest.id == ability)
        and (tool := manifest.tool(bare)) is not None
    ]
    if not found:
        raise NotFound(
            f"the project has no tool {name!r}", hint=f"list its tools: habilis tools {workspace.project.slug}"
        )
    if len(found) == 1:
        return found[0]
    if all(tool.contract for _, tool in found):
        able = (pair for pair in found if _can_call(home, workspace, pair[0], account))
        return next(able, found[0])
    choices = " or ".join(f"{manifest.id}.{bare}" for manifest, _ in found)
    raise ArgsInvalid(f"more than one ability has a tool {bare!r}", hint=f"say {choices}")


def find_manifest(workspace: Workspace, ability: str) -> Manifest:
    """The manifest of an ability of the project; NotFound, or the ManifestInvalid that keeps it from being read."""
    entry = workspace.abilities.get(ability)
    if entry is None or (entry.manifest is None and entry.fault is None):
        raise NotFound(
            f"there is no ability {ability!r} with a connection", hint="see: habilis abilities ls, or install it"
        )
    if entry.manifest is None:
        assert entry.fault is not None  # noqa: S101 - the line above left no other case
        raise ManifestInvalid(entry.fault.problems)
    return entry.manifest


def choose_account(workspace: Workspace, manifest: Manifest, name: str) -> Account | None:
    """The named account of the ability's service, else its default; None for neither; NotFound for a wrong name."""
    accounts = workspace.accounts_of(manifest.service)
    if not name:
        return accounts[0] if accounts else None
    account = next((account for account in accounts if account.id == name), None)
    if account is None:
        raise NotFound(
            f"there is no account {name!r} of {manifest.service!r}",
            hint=f"list them: habilis accounts ls {workspace.project.slug}",
        )
    return account


def load_keys(home: Home, manifest: Manifest, account: Account) -> dict[str, str]:
    """The account's values of the names that the ability declares, or its ways to sign in write.

    Every secret one is masked from here on.
    """
    stored = key_file(home, account).load()
    ledger = current()
    keys: dict[str, str] = {}
    for name in (*(key.env for key in manifest.auth), *manifest.kept_keys):
        value = stored.get(name)
        if value:
            keys[name] = value
            if name not in manifest.public_keys:
                ledger.add(name, value)
    return keys


def key_file(home: Home, account: Account) -> KeyFile:
    """The account's keys, kept for the life of the process: an unchanged file is not read again."""
    return _key_file(f"{home.private}/{account.folder}/.env")


def key_path(home: Home, account: Account) -> Path:
    """Where the account's keys lie."""
    return home.private / account.folder / ".env"


@lru_cache(maxsize=512)
def _key_file(path: str) -> KeyFile:
    return KeyFile(Path(path))


def missing_keys(manifest: Manifest, keys: Mapping[str, str]) -> list[str]:
    """Names of the required keys that are not set."""
    return [name for name in manifest.required_keys if not keys.get(name)]


def wanting(manifest: Manifest, keys: Mapping[str, str]) -> str:
    """What an account lacks before it can be used: keys by their names, or a sign-in; "" for nothing."""
    missing = missing_keys(manifest, keys)
    if missing:
        return ", ".join(missing)
    return f"a sign-in ({sign_ins(manifest)})" if not is_ready(manifest, keys) else ""


def sign_ins(manifest: Manifest) -> str:
    """The ways to sign in, in words: the text of a button, or what has to be set for one without."""
    return " or ".join(dict.fromkeys(way.label or way.flow.replace("_", " ") for way in manifest.ways))


def require_ready(manifest: Manifest, account: Account, keys: Mapping[str, str], *, where: str) -> None:
    """Refuse an account that lacks a required key, or of whose ways to sign in none is set up; SecretMissing."""
    missing = missing_keys(manifest, keys)
    if missing:
        raise SecretMissing(
            f"the account {account.id!r} lacks {', '.join(missing)}",
            where=where,
            hint=f"set it: habilis accounts set {account.project} {account.id} {missing[0]}",
        )
    require_sign_in(manifest, account, keys, where=where)


def require_sign_in(manifest: Manifest, account: Account, keys: Mapping[str, str], *, where: str) -> None:
    """Refuse an account of whose ways to sign in none is set up; SecretMissing."""
    if manifest.ways and way_in_use(manifest, keys) is None:
        raise SecretMissing(
            f"the account {account.id!r} is not signed in ({sign_ins(manifest)})",
            where=where,
            hint=f"sign it in: habilis accounts connect {account.project} {account.id}",
        )


def _can_call(home: Home, workspace: Workspace, manifest: Manifest, name: str) -> bool:
    """Whether the ability has the account that is named, or a default one, with all its keys."""
    try:
        account = choose_account(workspace, manifest, name)
        return account is not None and is_ready(manifest, load_keys(home, manifest, account))
    except HabilisError:
        return False


def _usable(workspace: Workspace) -> list[Ability]:
    return [ability for ability in workspace.abilities.values() if ability.is_on and ability.manifest is not None]
