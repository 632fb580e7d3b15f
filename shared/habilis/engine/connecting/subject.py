"""Whom a sign-in is for: the account, the way it takes, and what it may reach."""

from collections.abc import Mapping
from dataclasses import dataclass

from habilis.engine.accounts.finding import find_account
from habilis.engine.outside import Outside
from habilis.engine.resolve import find_manifest, load_keys
from habilis.errors import NotFound, SecretMissing
from habilis.exchange.fill import Bounds
from habilis.home.store import Home
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Manifest, Way
from habilis.messages import Json
from habilis.records import Account
from habilis.signin.ways import asked_keys
from habilis.templating import Made, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An account on its way to be signed in.

    Attributes:
        keys: What it holds so far.
    """

    account: Account
    manifest: Manifest
    way: Way
    keys: Mapping[str, str]

    def scope(self, outside: Outside, *, learned: Mapping[str, str] | None = None, **arguments: Json) -> Scope:
        """What the sign-in's requests are filled from; `learned` are keys that are not saved yet."""
        made = Made(now=outside.now(), call_id=outside.token())
        return Scope(arguments=arguments, keys={**self.keys, **(learned or {})}, made=made)

    def bounds(self, learned: Mapping[str, str] | None = None) -> Bounds:
        """What the sign-in's requests may reach."""
        return Bounds(
            hosts=AllowedHosts.of(self.manifest.hosts, {**self.keys, **(learned or {})}),
            private_hosts=self.account.private_hosts,
            is_read=False,
        )


def find_subject(home: Home, project: str, account: str, *, flow: str = "") -> Subject:
    """The account with the way that it is to be signed in by.

    Args:
        home: Where it is.
        project: The project's slug.
        account: The account's id.
        flow: The flow of one of the ability's ways; "" for the first with a button, else the first.

    Raises:
        NotFound: No such account, or its ability has no such way.
        SecretMissing: Something that the way needs first is not set yet.
    """
    workspace, found = find_account(home, project, account)
    manifest = find_manifest(workspace, found.ability)
    way = choose_way(manifest, flow)
    keys = load_keys(home, manifest, found)
    missing = [name for name in asked_keys(way) if not keys.get(name)]
    if missing:
        raise SecretMissing(
            f"the sign-in needs {', '.join(missing)} first",
            hint=f"set it: habilis accounts set {project} {account} {missing[0]}",
        )
    return Subject(account=found, manifest=manifest, way=way, keys=keys)


def choose_way(manifest: Manifest, flow: str = "") -> Way:
    """The way of that flow, or the first with a button, else the first; NotFound where there is none."""
    if not manifest.ways:
        raise NotFound(f"{manifest.id!r} offers no sign-in", hint="set its keys one by one: habilis accounts set")
    if not flow:
        return next((way for way in manifest.ways if way.flow in BROWSER_FLOWS), manifest.ways[0])
    found = next((way for way in manifest.ways if way.flow == flow), None)
    if found is None:
        offered = ", ".join(way.flow for way in manifest.ways)
        raise NotFound(f"{manifest.id!r} offers no sign-in by {flow!r}", hint=f"it offers {offered}")
    return found


BROWSER_FLOWS = frozenset({"redirect", "oauth2", "cloud", "device"})
"""The flows that a person goes in a browser: those with a button."""
