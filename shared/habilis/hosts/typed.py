"""Hosts as people type them: an entry of a manifest's `hosts`, a site's address, a private host to allow."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from habilis.errors import AddressNotAllowed, BadInput
from habilis.hosts.addresses import kind_of, literal_of
from habilis.hosts.urls import NumericHostError, UrlError, UrlParts, split_place, split_url

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_KEY_ENTRY = re.compile(r"\$\{[A-Z][A-Z0-9_]{0,63}\}")
_BARE_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9])")
_PRIVATE_SUFFIXES = ("local", "localdomain", "internal", "intranet", "lan", "home", "home.arpa", "localhost")
_METADATA_NAMES = frozenset({
    "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
})  # fmt: skip
_NEVER = "it is a link-local, metadata or otherwise reserved address, which is never called"


def looks_private(host: str) -> bool:
    """Whether a normalised host is private by its looks: no dot, a local suffix, or a private address."""
    literal = literal_of(host)
    if literal is not None:
        return kind_of(literal) == "private"
    return "." not in host or host.endswith(tuple(f".{suffix}" for suffix in _PRIVATE_SUFFIXES))


def host_entry_problem(entry: str) -> str | None:
    """Say why an entry of a manifest's `hosts` is refused; None when it is good.

    Args:
        entry: `name`, `name:port` or `${KEY}`.
    """
    if entry.startswith("${"):
        return None if _KEY_ENTRY.fullmatch(entry) else "a key is written ${NAME}, in capitals"
    if "*" in entry:
        return "wildcards are not used: names below a host are included"
    if "/" in entry or "@" in entry:
        return "name the host alone, without https:// and without a path"
    try:
        host, _ = split_place(entry)
    except UrlError as error:
        return str(error)
    literal = literal_of(host)
    if host in _METADATA_NAMES or (literal is not None and kind_of(literal) == "reserved"):
        return _NEVER
    return _width_problem(host)


def _width_problem(host: str) -> str | None:
    is_suffix = host in _PRIVATE_SUFFIXES and host != "localhost"
    if is_suffix or _public_suffixes().is_public(host):
        return f"too wide: anyone can have a name under {host}"
    return None


@lru_cache(maxsize=1)
def _public_suffixes() -> "PublicSuffixList":
    # 120 ms to load, and only a manifest that is being installed needs it. Names of no known suffix are local ones.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(accept_unknown=False)


def site_address(text: str) -> str:
    """Normalise a site's address as a person types it: `scheme://host[:port][/path]`, no slash at the end.

    Args:
        text: White space around it is dropped; without a scheme it is https.

    Raises:
        BadInput: It is no site address; says why.
        AddressNotAllowed: The host is a number in disguise, or an address that is never called.
    """
    typed = text.strip()
    parts = _typed_url(typed)
    if parts.query or "#" in typed:
        raise BadInput("a site's address has no '?' or '#' part")
    _refuse_reserved(parts.host)
    return parts.origin + parts.path.rstrip("/")


def _typed_url(typed: str) -> UrlParts:
    if "://" not in typed:
        if _BARE_SCHEME.match(typed) or typed.startswith("/"):
            raise BadInput("a site's address starts with https:// or with the host's name")
        typed = f"https://{typed}"
    try:
        return split_url(typed)
    except NumericHostError as error:
        raise AddressNotAllowed(str(error), hint="write the host's name") from None
    except UrlError as error:
        raise BadInput(str(error)) from None


def host_name(text: str) -> str:
    """Normalise a host alone, as a person types it: lower case, A-labels, an IPv6 address in brackets.

    Raises:
        BadInput: It is no host, or more than one; says why.
        AddressNotAllowed: It is a number in disguise, or an address that is never called.
    """
    typed = text.strip()
    if "://" in typed or "/" in typed:
        raise BadInput("name the host alone, without https:// and without a path")
    try:
        host, port = split_place(typed)
    except NumericHostError as error:
        raise AddressNotAllowed(str(error), hint="write the host's name") from None
    except UrlError as error:
        raise BadInput(str(error)) from None
    if port is not None:
        raise BadInput("name the host alone, without a port")
    _refuse_reserved(host)
    return host


def opt_in_host(text: str, *, own_ports: frozenset[int] = frozenset()) -> str:
    """Normalise a private host that an operator allows: `host:port`.

    Args:
        text: Host and port as typed.
        own_ports: Ports this engine listens on: on this machine they are never allowed.

    Raises:
        BadInput: It is not `host:port`.
        AddressNotAllowed: It is never legitimate: metadata, link-local, reserved, a number in disguise, the engine.
    """
    typed = text.strip()
    try:
        host, port = split_place(typed)
    except NumericHostError as error:
        raise AddressNotAllowed(str(error), hint="write the host's name") from None
    except UrlError as error:
        raise BadInput(f"this is not host:port: {error}", hint="for example localhost:8080") from None
    if port is None:
        raise BadInput("the port is missing", hint="for example localhost:8080")
    _refuse_reserved(host)
    if port in own_ports and _is_loopback(host):
        raise AddressNotAllowed(f"port {port} is this engine's own")
    return f"{host}:{port}"


def _refuse_reserved(host: str) -> None:
    literal = literal_of(host)
    if host in _METADATA_NAMES or (literal is not None and kind_of(literal) == "reserved"):
        raise AddressNotAllowed(f"{host} is not allowed: {_NEVER}")


def _is_loopback(host: str) -> bool:
    return host == "[::1]" or host.startswith("127.") or host.rpartition(".")[2] == "localhost"
