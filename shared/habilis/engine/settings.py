"""How this process is set up, read from its environment, and the home and the outside that follow from it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal

from habilis.engine.outside import Outside, Relay, Transport
from habilis.errors import BadInput
from habilis.home.store import Home

PrivateNetwork = Literal["per_account", "never"]
DEFAULT_HOME = "~/.habilis"
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says; variables in the order of the attributes.

    Attributes:
        home: `HABILIS_HOME`: the home's folder; with a remote, where its bare clone and all private files lie.
        remote: `HABILIS_REMOTE`: the home's git remote; "" for a working directory.
        remote_private: `HABILIS_REMOTE_PRIVATE`: `host:port` of a remote on a private address.
        public_url: `HABILIS_PUBLIC_URL`: where browsers reach this engine.
        relay: `HABILIS_RELAY_URL` and `HABILIS_RELAY_TOKEN`.
        private_network: `HABILIS_PRIVATE_NETWORK`: whether an account's opt-in to private hosts counts here.
        ca_file: `HABILIS_CA_FILE`: certificates trusted beside the public ones.
        clock_offset_s: `HABILIS_CLOCK_OFFSET_S`: seconds added to the clock, for rehearsals.
        own_port: `PORT`: where this process listens, which no call may reach; 0 for nowhere.
    """

    home: Path
    remote: str = ""
    remote_private: str = ""
    public_url: str = ""
    relay: Relay | None = None
    private_network: PrivateNetwork = "never"
    ca_file: str = ""
    clock_offset_s: float = 0.0
    own_port: int = 0


def read_settings(environ: Mapping[str, str], *, private_network: PrivateNetwork = "never") -> Settings:
    """Read the settings; BadInput names the variable that is wrong.

    Args:
        environ: As `os.environ`.
        private_network: What holds where the environment does not say: "never" where strangers can reach the process.
    """
    network = environ.get("HABILIS_PRIVATE_NETWORK", "") or private_network
    if network not in {"per_account", "never"}:
        raise BadInput("expected per_account or never", where="HABILIS_PRIVATE_NETWORK")
    relay_url = environ.get("HABILIS_RELAY_URL", "").rstrip("/")
    try:
        offset = float(environ.get("HABILIS_CLOCK_OFFSET_S", "") or 0)
    except ValueError:
        raise BadInput("expected a number of seconds", where="HABILIS_CLOCK_OFFSET_S") from None
    return Settings(
        home=Path(environ.get("HABILIS_HOME", "") or DEFAULT_HOME).expanduser(),
        remote=environ.get("HABILIS_REMOTE", ""),
        remote_private=environ.get("HABILIS_REMOTE_PRIVATE", ""),
        public_url=environ.get("HABILIS_PUBLIC_URL", "").rstrip("/"),
        relay=Relay(url=relay_url, token=environ.get("HABILIS_RELAY_TOKEN", "")) if relay_url else None,
        private_network="never" if network == "never" else "per_account",
        ca_file=environ.get("HABILIS_CA_FILE", ""),
        clock_offset_s=offset,
        own_port=int(environ.get("PORT", "")) if environ.get("PORT", "").isdigit() else 0,
    )


def open_home(settings: Settings) -> Home:
    """The home that the settings name, kept open for the life of the process."""
    return _home(settings)


def live_outside(settings: Settings) -> Outside:
    """The real world: HTTP, the system's clock and randomness."""
    return Outside(
        transport=_transport(settings.private_network, settings.ca_file, settings.own_port),
        now=clock(settings.clock_offset_s),
        token=lambda: secrets.token_urlsafe(_TOKEN_BYTES),
        public_url=settings.public_url,
        relay=settings.relay,
    )


def clock(offset_s: float = 0.0) -> Callable[[], datetime]:
    """The system's clock in UTC, moved by so many seconds."""
    offset = timedelta(seconds=offset_s)
    return lambda: datetime.now(UTC) + offset


@lru_cache(maxsize=16)
def _home(settings: Settings) -> Home:
    now = clock(settings.clock_offset_s)
    if settings.remote:
        from habilis.home.bare import RemoteHome

        return RemoteHome(
            settings.remote,
            cache=settings.home / "clone",
            private=settings.home,
            clock=now,
            private_hosts=frozenset(filter(None, [settings.remote_private])),
            ca_file=settings.ca_file or None,
        )
    from habilis.home.worktree import WorkTreeHome

    return WorkTreeHome(settings.home, clock=now)


@lru_cache(maxsize=4)
def _transport(private_network: PrivateNetwork, ca_file: str, own_port: int) -> Transport:
    from habilis.transports.http import HttpTransport

    return HttpTransport(private=private_network, ca_file=ca_file or None, own_ports=frozenset({own_port} - {0}))
