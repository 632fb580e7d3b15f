"""Which hosts an ability may call, and the check every URL passes before it is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from habilis.errors import AddressNotAllowed, BadInput, HostNotAllowed, PlainHttpRefused, Refused, SecretMalformed
from habilis.hosts.addresses import kind_of, literal_of, opt_in_hint
from habilis.hosts.typed import looks_private, site_address
from habilis.hosts.urls import NumericHostError, UrlError, UrlParts, split_place, split_url

_HTTPS_PORT = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHosts:
    """The hosts of one ability, with those that its account's keys name.

    Attributes:
        places: Normalised host and port; names below a host are included on the same port.
        listed: The entries as the manifest writes them, for messages.
    """

    places: frozenset[tuple[str, int]]
    listed: tuple[str, ...]

    @classmethod
    def of(cls, entries: Sequence[str], keys: Mapping[str, str]) -> Self:
        """Make the allow-list of a manifest's `hosts`.

        Args:
            entries: `name`, `name:port` or `${KEY}`, checked with `host_entry_problem`.
            keys: The account's keys; an entry whose key is not set allows nothing.

        Raises:
            BadInput: An entry is no host.
            SecretMalformed: The value of a host-giving key is no site address.
        """
        listed = tuple(entries)
        values = tuple(keys.get(entry[2:-1], "") if entry.startswith("${") else "" for entry in listed)
        return cls(places=_places(listed, values), listed=listed)

    def allows(self, host: str, port: int) -> bool:
        """Whether a normalised host, or one above it at a label boundary, is listed with this port."""
        while host:
            if (host, port) in self.places:
                return True
            host = host.partition(".")[2]
        return False

    def lists_host(self, host: str) -> bool:
        """Whether the host would be allowed on some other port."""
        return any(self.allows(host, port) for port in {port for _, port in self.places})


@lru_cache(maxsize=256)
def _places(entries: tuple[str, ...], values: tuple[str, ...]) -> frozenset[tuple[str, int]]:
    """The places that entries stand for; `values` holds a site's address for each that is a key, "" for the others."""
    found = (_place_of(entry, value) for entry, value in zip(entries, values, strict=True))
    return frozenset(place for place in found if place)


def _place_of(entry: str, value: str) -> tuple[str, int] | None:
    if entry.startswith("${"):
        return _place_of_key(entry[2:-1], value) if value else None
    try:
        host, port = split_place(entry)
    except UrlError as error:
        raise BadInput(f"an entry is no host: {error}", where="hosts") from None
    return host, port or _HTTPS_PORT


def _place_of_key(name: str, value: str) -> tuple[str, int]:
    try:
        parts = split_url(site_address(value))
    except (BadInput, Refused) as error:
        raise SecretMalformed(
            f"the key does not hold a site address: {error.message}", where=name, hint="set it again"
        ) from None
    return parts.host, parts.port


def checked_url(url: str, allowed: AllowedHosts, *, where: str, private_hosts: frozenset[str] = frozenset()) -> str:
    """Check a filled URL and return it written anew from its parts, ready to send.

    Args:
        url: Absolute; anything an argument, a key or an answer put there is suspect.
        allowed: The hosts of the ability.
        where: What the request is for, as messages name it.
        private_hosts: `host:port` pairs that the account's operator allowed; only these may be called by plain http.

    Returns:
        ASCII text: host in lower-case A-labels without a trailing dot, path and query percent-encoded, no fragment.

    Raises:
        HostNotAllowed: The URL is malformed, or its host and port are not listed.
        AddressNotAllowed: The host is a number in disguise or spells out an address that is not public.
        PlainHttpRefused: It is not https.
    """
    parts = _split(url, where)
    opened = parts.place in private_hosts
    literal = literal_of(parts.host)
    if literal is not None and (kind := kind_of(literal)) != "public" and (kind == "reserved" or not opened):
        raise _address_refusal(parts, kind, where)
    if parts.scheme == "http" and not opened:
        raise _plain_refusal(parts, where)
    if not allowed.allows(parts.host, parts.port):
        raise _host_refusal(parts, allowed, where)
    return f"{parts.origin}{parts.path}{parts.query}"


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, normalised host and port of a URL; HostNotAllowed when it is malformed."""
    parts = _split(url, "")
    return parts.scheme, parts.host, parts.port


def _split(url: str, where: str) -> UrlParts:
    try:
        return split_url(url)
    except NumericHostError as error:
        raise AddressNotAllowed(str(error), where=where, hint="write the host's name") from None
    except UrlError as error:
        raise HostNotAllowed(str(error), where=where) from None


def _address_refusal(parts: UrlParts, kind: str, where: str) -> AddressNotAllowed:
    hint = opt_in_hint(parts.place) if kind == "private" else "addresses of this kind are never called"
    return AddressNotAllowed(f"{parts.host} is a {kind} address", where=where, hint=hint)


def _plain_refusal(parts: UrlParts, where: str) -> Refused:
    if looks_private(parts.host):
        return AddressNotAllowed(f"{parts.place} is a private address", where=where, hint=opt_in_hint(parts.place))
    return PlainHttpRefused(f"{parts.host} would be called without encryption", where=where, hint="use https")


def _host_refusal(parts: UrlParts, allowed: AllowedHosts, where: str) -> HostNotAllowed:
    listed = ", ".join(allowed.listed) or "nothing"
    hint = f"list {parts.place} under hosts" if allowed.lists_host(parts.host) else ""
    called = parts.host if parts.port == _HTTPS_PORT else parts.place
    return HostNotAllowed(f"{called} is not in hosts ({listed})", where=where, hint=hint)
