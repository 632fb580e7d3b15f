"""The redirect flow, without input or output: where the browser goes, and what its return says.

Source: docs/format.md "Signing in".
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from habilis.errors import BadInput, Refused, SignInDenied, SignInFailed
from habilis.hosts import AllowedHosts, checked_url, origin_of, site_address
from habilis.manifest.model import Manifest, RedirectFlow
from habilis.messages import Json
from habilis.names import KeyName
from habilis.templating import Scope

_LONGEST_VALUE = 8 * 1024


def page_address(
    flow: RedirectFlow,
    manifest: Manifest,
    keys: Mapping[str, str],
    *,
    application: Mapping[str, Json],
    callback: str,
    private_hosts: frozenset[str],
) -> str:
    """The service's page that the browser opens.

    Args:
        flow: What the manifest says of its sign-in.
        manifest: Whose hosts the page must be on.
        keys: The account's keys so far; they hold all of `flow.needs`.
        application: What names this application to the service: `app_id`, a UUID, and `app_name`.
        callback: Where the service sends the browser back; "" leaves the parameters out, and the person pastes.
        private_hosts: As of the account.

    Raises:
        SecretMissing: One of `needs` is not set.
        HostNotAllowed: The page is not on one of the manifest's hosts.
    """
    url = flow.url.fill(Scope(arguments=application, keys=keys))
    if callback and flow.callback_params:
        page, hash_sign, fragment = url.partition("#")
        pairs = "&".join(f"{quote(name, safe='')}={quote(callback, safe='')}" for name in flow.callback_params)
        joint = "" if page.endswith(("?", "&")) else "&" if "?" in page else "?"
        url = f"{page}{joint}{pairs}{hash_sign}{fragment}"
    hosts = AllowedHosts.of(manifest.hosts, keys)
    return checked_url(url, hosts, where="the sign-in page", private_hosts=private_hosts)


def read_return(
    flow: RedirectFlow, manifest: Manifest, query: Mapping[str, Sequence[str]], keys: Mapping[str, str]
) -> dict[KeyName, str]:
    """What the browser's return brings, as keys; all of them or an error.

    Args:
        flow: What the manifest says of its sign-in.
        manifest: Whose `hosts` say which keys give a host.
        query: The callback's parameters, each with every value it came with.
        keys: The account's keys as the sign-in started.

    Raises:
        SignInDenied: The person, or the service, said no.
        SignInFailed: A value is missing, comes twice, or the service answers for another site.
    """
    denied = flow.denied
    if denied is not None and denied[1] in query.get(denied[0], ()):
        raise SignInDenied("the sign-in was refused on the service's page", hint="start again to try once more")
    found = {key: one_value(query.get(parameter, ()), parameter) for key, parameter in flow.returns.items()}
    return {
        key: same_site(value, keys.get(key, "")) if f"${{{key}}}" in manifest.hosts else value
        for key, value in found.items()
    }


def one_value(values: Sequence[str], parameter: str) -> str:
    """The one value of a callback's parameter; SignInFailed for none, for more than 8 KiB, and for more than one.

    Of two, the service and this engine might each take another.
    """
    fault = ""
    if not values or not values[0]:
        fault = f"without {parameter!r}"
    elif len(values) > 1:
        fault = f"with {parameter!r} more than once"
    elif len(values[0]) > _LONGEST_VALUE:
        fault = f"with more than {_LONGEST_VALUE:,} characters in {parameter!r}"
    if fault:
        raise SignInFailed(f"the service came back {fault}", hint="start the sign-in again")
    return values[0]


def same_site(returned: str, asked: str) -> str:
    """The site's address as it was asked for; SignInFailed where the answer names another one, or none.

    An answer that names another site would widen the hosts and then receive the keys.
    """
    try:
        address = site_address(returned)
        is_same = not asked or origin_of(address) == origin_of(site_address(asked))
    except (BadInput, Refused):
        raise SignInFailed(
            "the service came back with a site that is no address", hint="start again with the site's own address"
        ) from None
    if not is_same:
        raise SignInFailed(
            f"the service answered for another site, {origin_of(address)[1]}",
            hint="start again with the address that the site itself shows",
        )
    return asked or address
