"""Where a connection may be opened: a name is looked up once, every address classified, and only those are dialled."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from habilis.errors import AddressNotAllowed, UpstreamUnavailable
from habilis.hosts import kind_of, literal_of, opt_in_hint

Resolver = Callable[..., list[tuple[Any, ...]]]
"""Looks a name up as `socket.getaddrinfo` does; the address is the first of the last element of each row."""

_LOOKUP_LIMIT_S = 10.0
_MOST_ADDRESSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """Which addresses may be dialled.

    Attributes:
        private_hosts: `host:port` pairs that may lead to private addresses; exact, as an operator allowed them.
        resolver: Looks names up.
        own_ports: Ports this engine listens on: never dialled on this machine.
        may_opt_in: Whether operators can allow private hosts here at all; decides the hint.
    """

    private_hosts: frozenset[str] = frozenset()
    resolver: Resolver = socket.getaddrinfo
    own_ports: frozenset[int] = frozenset()
    may_opt_in: bool = True

    def addresses(self, host: str, port: int, *, limit_s: float = _LOOKUP_LIMIT_S) -> list[str]:
        """Return the addresses to dial, in the resolver's order; one lookup, and one bad address refuses the host.

        Args:
            host: A normalised name, or an address, an IPv6 one with or without brackets.
            port: The port that will be dialled.
            limit_s: Longest time the lookup may take, in seconds.

        Raises:
            AddressNotAllowed: An address is reserved, the engine's own, or private without being allowed.
            UpstreamUnavailable: The name does not resolve, or not in time; nothing was sent.
        """
        name = f"[{host}]" if ":" in host and not host.startswith("[") else host
        literal = literal_of(name)
        found = [literal] if literal else self._looked_up(name, port, limit_s)
        for address in found:
            self._require_allowed(address, name, port)
        return found[:_MOST_ADDRESSES]

    def _looked_up(self, host: str, port: int, limit_s: float) -> list[str]:
        rows = _within(limit_s, lambda: self.resolver(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP))
        found = list(dict.fromkeys(str(row[4][0]) for row in rows or ()))
        if not found:
            reason = "was not looked up in time" if rows is None else "does not resolve to an address"
            raise UpstreamUnavailable(f"{host} {reason}", hint="check the name and this machine's network")
        return found

    def _require_allowed(self, address: str, host: str, port: int) -> None:
        kind = kind_of(address)
        if kind == "reserved":
            raise AddressNotAllowed(
                f"{host} leads to a private address: link-local, metadata or reserved",
                hint="addresses of this kind are never called",
            )
        if port in self.own_ports and _is_this_machine(address):
            raise AddressNotAllowed(f"{host}:{port} is this engine itself", hint="the engine never calls itself")
        if kind == "private" and f"{host}:{port}" not in self.private_hosts:
            raise AddressNotAllowed(f"{host} leads to a private address", hint=self._hint(f"{host}:{port}"))

    def _hint(self, place: str) -> str:
        return (
            opt_in_hint(place)
            if self.may_opt_in
            else "private addresses are switched off here (network.private: never)"
        )


def _within(limit_s: float, look_up: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]] | None:
    """Return the rows, none when the name is unknown, or None when the lookup takes longer than the limit.

    A lookup cannot be given a time limit or be stopped: it runs in a thread of its own, which ends when the system's
    resolver gives up.
    """
    rows: list[list[tuple[Any, ...]]] = []

    def run() -> None:
        try:
            rows.append(look_up())
        except (OSError, UnicodeError):
            rows.append([])

    thread = threading.Thread(target=run, name="habilis-lookup", daemon=True)
    thread.start()
    thread.join(limit_s)
    return rows[0] if rows else None


def _is_this_machine(address: str) -> bool:
    """Whether an address belongs to this machine: only those can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
