"""Which remotes a home may have, and how they are reached."""

import re
import socket
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from habilis.errors import BadInput, PlainHttpRefused
from habilis.guard import Resolver
from habilis.hosts import origin_of, site_address

_PARTS = re.compile(r"(https?|file)://(?:([^/@]*)@)?(.*)", re.IGNORECASE | re.DOTALL)

OPT_IN = "If it is your own server, name its host:port among the private hosts of the home's remote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a remote is, its keys apart from it.

    Attributes:
        url: Without user name and password; what messages show.
        user: The user name; "" for none.
        password: The password; never in a message.
        folder: The repository's folder when it is on this machine.
    """

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How remotes are reached.

    Attributes:
        private_hosts: `host:port` pairs on private addresses that the operator allowed; only those may be unencrypted.
        ca_file: Certificates to trust instead of the system's.
        resolver: Looks a name up, as `socket.getaddrinfo` does.
        timeout_s: Longest wait for an answer, or for more of it, in seconds.
    """

    private_hosts: frozenset[str] = frozenset()
    ca_file: Path | None = None
    resolver: Resolver = socket.getaddrinfo
    timeout_s: float = 60.0

    def address(self, remote: str) -> Address:
        """Return where a remote is.

        Args:
            remote: `https://[user:password@]host/path`, or `file:///path`.

        Raises:
            BadInput: It is of another kind: ssh, a path, a program.
            PlainHttpRefused: It is unencrypted, and its host is not one of `private_hosts`.
        """
        parts = _PARTS.fullmatch(remote)
        if parts is None:
            raise BadInput("a remote is an https:// address", hint="use https://host/path/to/home.git")
        scheme, userinfo, rest = parts[1].lower(), parts[2] or "", parts[3]
        if scheme == "file":
            if userinfo or not rest.startswith("/"):
                raise BadInput("a file:// remote is an absolute path on this machine", hint="use file:///path/home.git")
            return Address(url=f"file://{rest}", folder=Path(unquote(rest)))
        url = site_address(f"{scheme}://{rest}")
        self._refuse_plain(url)
        user, _, password = userinfo.partition(":")
        return Address(url=url, user=unquote(user), password=unquote(password))

    def _refuse_plain(self, url: str) -> None:
        scheme, host, port = origin_of(url)
        if scheme == "http" and f"{host}:{port}" not in self.private_hosts:
            raise PlainHttpRefused("the remote would be reached unencrypted", where=url, hint=f"use https. {OPT_IN}")
