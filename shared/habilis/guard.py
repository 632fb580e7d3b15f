"""Where a connection may be opened: a name is looked up once, every address classified, and only those are dialled."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from habilis.errors import AddressNotAllowed, PlainHttpRefused, UpstreamUnavailable
from habilis.hosts import kind_of, literal_of, opt_in_hint

Rows = list[tuple[Any, ...]]
"""What `socket.getaddrinfo` returns: the address is the first of the last element of each row."""

Resolver = Callable[..., Rows]
"""Looks a name up, called as `socket.getaddrinfo` is."""

LOOKUP_LIMIT_S = 10.0
_MOST_ADDRESSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """Which addresses may be dialled.

    Attributes:
        private_hosts: `host:port` pairs that may lead to private addresses; exact, as an operator allowed them.
        private_only: Whether public addresses are refused: without encryption only private hosts are called.
        resolver: Looks names up.
        own_ports: Ports this engine listens on: never dialled on this machine.
        may_opt_in: Whether operators can allow private hosts here at all; decides the hint.
    """

    private_hosts: frozenset[str] = frozenset()
    private_only: bool = False
    resolver: Resolver = socket.getaddrinfo
    own_ports: frozenset[int] = frozenset()
    may_opt_in: bool = True

    def addresses(self, host: str, port: int, *, limit_s: float = LOOKUP_LIMIT_S) -> list[str]:
        """Return the addresses to dial, in the resolver's order: one lookup, and one bad address refuses the host.

        Args:
            host: A normalised name, or an address, an IPv6 one with or without brackets.
            port: The port that will be dialled.
            limit_s: Longest time the lookup may take, in seconds.

        Raises:
            AddressNotAllowed: An address is reserved, the engine's own, or private without being allowed.
            PlainHttpRefused: An address is public and the policy is for unencrypted calls.
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
                f"{host} leads to a private address that is never called: link-local, metadata or reserved"
            )
        if port in self.own_ports and _is_this_machine(address):
            raise AddressNotAllowed(f"{host}:{port} is this engine itself, which is never called")
        if kind == "private" and f"{host}:{port}" not in self.private_hosts:
            raise AddressNotAllowed(f"{host} leads to a private address", hint=self._hint(f"{host}:{port}"))
        if kind == "public" and self.private_only:
            raise PlainHttpRefused(f"{host} leads to a public address without encryption", hint="use https")

    def _hint(self, place: str) -> str:
        return opt_in_hint(place) if self.may_opt_in else "private hosts are switched off here (network.private: never)"


def _within(limit_s: float, look_up: Callable[[], Rows]) -> Rows | None:
    """Return the rows, none for an unknown name, or None when the lookup takes longer than the limit.

    A lookup takes no time limit and cannot be stopped: it runs in a thread of its own, which ends when the system's
    resolver gives up.
    """
    answers: list[Rows] = []

    def run() -> None:
        try:
            answers.append(look_up())
        except (OSError, UnicodeError):
            answers.append([])

    thread = threading.Thread(target=run, name="habilis-lookup", daemon=True)
    thread.start()
    thread.join(limit_s)
    return answers[0] if answers else None


def _is_this_machine(address: str) -> bool:
    """Whether an address belongs to this machine: no other can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
