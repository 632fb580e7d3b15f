"""What an IP address is: public, private (an operator may open it), or reserved (never called).

The tables are ours: `ipaddress.is_global` of the supported Pythons calls NAT64, 6to4 and multicast addresses public,
and `is_private` leaves out 100.64.0.0/10.

Source: the IANA special-purpose address registries (RFC 6890 and its updates); the metadata addresses of cloud hosts.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal

AddressKind = Literal["public", "private", "reserved"]

_RESERVED_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches the machine itself
        "100.100.100.200/32",  # metadata of a cloud
        "168.63.129.16/32",  # metadata of a cloud, inside public space
        "169.254.0.0/16",  # link-local, metadata of most clouds
        "192.0.0.0/24",  # protocol assignments, metadata of a cloud
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_PRIVATE_4 = tuple(
    IPv4Network(text)
    for text in (
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, overlay networks
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarking; local containers use it
    )
)
_RESERVED_6 = tuple(
    IPv6Network(text)
    for text in (
        # Forms that carry an IPv4 address are refused whole: the address inside may be anything.
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/23",  # Teredo, ORCHID and other protocol assignments
        "2002::/16",  # 6to4
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
        "fd00:42::42/128",  # metadata of a cloud
        "fd00:ec2::254/128",  # metadata of a cloud
        "fd20:ce::254/128",  # metadata of a cloud
    )
)
_PRIVATE_6 = tuple(IPv6Network(text) for text in ("::1/128", "fc00::/7", "fec0::/10"))
_GLOBAL_UNICAST = IPv6Network("2000::/3")


@lru_cache(maxsize=4096)
def kind_of(address: str) -> AddressKind:
    """Tell what an address is; what is no address, or lies in no known range, is reserved."""
    try:
        if ":" in address:
            return _kind_6(IPv6Address(address.partition("%")[0]))
        return _kind_4(IPv4Address(address))
    except ValueError:
        return "reserved"


def _kind_4(address: IPv4Address) -> AddressKind:
    if any(address in network for network in _RESERVED_4):
        return "reserved"
    return "private" if any(address in network for network in _PRIVATE_4) else "public"


def _kind_6(address: IPv6Address) -> AddressKind:
    if any(address in network for network in _RESERVED_6):
        return "reserved"
    if any(address in network for network in _PRIVATE_6):
        return "private"
    # Everything outside global unicast is unassigned, link-local, multicast, or wraps an IPv4 address.
    return "public" if address in _GLOBAL_UNICAST else "reserved"


def literal_of(host: str) -> str | None:
    """Return the address that a normalised host spells out, without brackets; None for a name."""
    if host.startswith("["):
        return host[1:-1]
    return host if host[-1:].isdigit() and host.count(".") == 3 and host.replace(".", "").isdigit() else None


def opt_in_hint(place: str) -> str:
    """Say how an operator opens `host:port` for one account."""
    return f"if it is your own service: habilis accounts allow-private <project> <account> {place}"
