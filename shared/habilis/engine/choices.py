"""The values of a key, read from the service through the account, so that a person picks instead of typing."""

from dataclasses import dataclass

from habilis.engine.accounts.finding import find_account
from habilis.engine.fresh import fresh_keys
from habilis.engine.outside import Outside
from habilis.engine.resolve import load_keys, pointing_at, require_sign_in
from habilis.errors import NotFound, SecretMissing
from habilis.exchange.fill import Bounds
from habilis.exchange.pages import read_pages
from habilis.exchange.picking import Choice, Picking
from habilis.home.store import Home
from habilis.hosts import AllowedHosts
from habilis.manifest.model import AuthKey, Manifest
from habilis.records import Account
from habilis.templating import Made, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoices:
    """What a key can be set to.

    Attributes:
        choices: In the order in which the service lists them.
        notes: What else there is to know, as that the list was cut short.
    """

    key: str
    label: str
    choices: tuple[Choice, ...]
    notes: tuple[str, ...] = ()


def read_choices(home: Home, project: str, account: str, name: str, outside: Outside) -> KeyChoices:
    """Ask the service what a key of an account can be set to; a value may always be typed as well.

    Raises:
        NotFound: No such account, or no list is read for this key.
        SecretMissing: The account is not signed in, or another key has to be chosen first.
        Refused, UpstreamFailed: The service could not be asked, or did not answer well.
    """
    workspace, found = find_account(home, project, account)
    manifest, key = _declared(workspace.manifests_of(found.service), name, found)
    rule = key.choices
    if rule is None:
        hint = f"it is one of {', '.join(key.options)}" if key.options else "type it: habilis accounts set"
        raise NotFound(f"the values of {name} are not listed anywhere", hint=hint)
    keys, where = load_keys(home, manifest, found), f"the choices of {name}"
    first = next((other for other in rule.depends if not keys.get(other)), None)
    if first is not None:
        raise SecretMissing(
            f"what {name} can be depends on {first}, which is not set",
            where=where,
            hint=f"set it first: habilis accounts set {project} {account} {first}",
        )
    require_sign_in(manifest, found, keys, where=where)
    with pointing_at(found):
        live = fresh_keys(home, manifest, found, outside)
    scope = Scope({}, live.keys, Made(now=outside.now(), call_id=outside.token()))
    bounds = Bounds(
        hosts=AllowedHosts.of(manifest.hosts, live.keys),
        private_hosts=found.private_hosts,
        is_read=True,
        sign_out=live.sign_out,
    )
    picking = Picking(rule, scope, where)
    with pointing_at(found):
        notes = outside.drive(read_pages(rule.request, scope, bounds, where=where, take=picking.take), renew=live.renew)
    return KeyChoices(key=name, label=key.label, choices=tuple(picking.found.values()), notes=notes)


def _declared(manifests: list[Manifest], name: str, account: Account) -> tuple[Manifest, AuthKey]:
    """The key of that name, and the ability that asks for it: one that reads its values before one that does not."""
    found = [(manifest, key) for manifest in manifests for key in manifest.auth if key.env == name]
    if not found:
        raise NotFound(
            f"no ability of {account.service!r} declares a key {name[:64]!r}", hint="see: habilis accounts ls"
        )
    return next((pair for pair in found if pair[1].choices is not None), found[0])
