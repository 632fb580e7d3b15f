"""How this process is set up, read from its environment, and the home and the outside that follow from it."""

import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal

from habilis.engine.outside import Mailer, Outside, Relay, Transport
from habilis.errors import BadInput
from habilis.home.store import Home
from habilis.messages import Answer, Mail, Request, Sent

PrivateNetwork = Literal["per_account", "never"]
DEFAULT_HOME = "~/.habilis"
_TOKEN_BYTES = 32
_MOST_MIB = 10_000
FURTHEST_CLOCK_S = 100 * 365 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says; docs/http.md lists the variables for the people who set them.

    Attributes:
        home: `HABILIS_HOME`: the home's folder; with a remote, where its bare clone and all private files lie.
        remote: `HABILIS_REMOTE`: the home's git remote; "" for a working directory.
        remote_private: `HABILIS_REMOTE_PRIVATE`: `host:port` of a remote on a private address.
        tokens: `HABILIS_TOKENS`: hashes of the tokens that callers may carry; see `tokens`.
        public_url: `HABILIS_PUBLIC_URL`: where browsers reach this engine, no slash at the end.
        relay: `HABILIS_RELAY_URL` and `HABILIS_RELAY_TOKEN`: where callbacks that need https are registered.
        providers: `HABILIS_PROVIDERS`: where a relay run here signs in for other engines; see `providers`.
        private_network: `HABILIS_PRIVATE_NETWORK`: whether an account's opt-in to private hosts counts here.
        ca_file: `HABILIS_CA_FILE`: certificates trusted beside the public ones.
        clock_offset_s: `HABILIS_CLOCK_OFFSET_S`: seconds added to the clock, for rehearsals.
        largest_file_mib: `HABILIS_LARGEST_FILE_MIB`: the most of a file that a call brings back.
        own_port: `PORT`: where this process listens, which no call may reach; 0 for nowhere.
    """

    home: Path
    remote: str = field(default="", repr=False)
    remote_private: str = ""
    tokens: str = field(default="", repr=False)
    public_url: str = ""
    relay: Relay | None = field(default=None, repr=False)
    providers: str = ""
    private_network: PrivateNetwork = "never"
    ca_file: str = ""
    clock_offset_s: float = 0.0
    largest_file_mib: int = 50
    own_port: int = 0

    @property
    def own_relay_url(self) -> str:
        """Where browsers reach the relay, should it run in this process."""
        return self.relay.url if self.relay else self.public_url


VARIABLES = (
    "HABILIS_HOME", "HABILIS_REMOTE", "HABILIS_REMOTE_PRIVATE", "HABILIS_TOKENS", "HABILIS_PUBLIC_URL",
    "HABILIS_RELAY_URL", "HABILIS_RELAY_TOKEN", "HABILIS_PROVIDERS", "HABILIS_PRIVATE_NETWORK", "HABILIS_CA_FILE",
    "HABILIS_CLOCK_OFFSET_S", "HABILIS_LARGEST_FILE_MIB", "PORT", "HOME",
)  # fmt: skip
"""What the settings are read from; `HOME` for a home under `~`."""


def current_settings(environ: Mapping[str, str]) -> Settings:
    """The settings as `read_settings` reads them, read once for the same variables: every request asks."""
    return _settings(tuple(environ.get(name) for name in VARIABLES))


@lru_cache(maxsize=8)
def _settings(values: tuple[str | None, ...]) -> Settings:
    return read_settings({name: value for name, value in zip(VARIABLES, values, strict=True) if value is not None})


def read_settings(environ: Mapping[str, str], *, private_network: PrivateNetwork = "never") -> Settings:
    """Read the settings; BadInput names the variable that is wrong.

    Args:
        environ: As `os.environ`.
        private_network: What holds where the environment does not say: "never" where strangers can reach the process.
    """
    relay_url = _web_address(environ, "HABILIS_RELAY_URL")
    return Settings(
        home=_folder(environ.get("HABILIS_HOME", "") or DEFAULT_HOME),
        remote=environ.get("HABILIS_REMOTE", ""),
        remote_private=environ.get("HABILIS_REMOTE_PRIVATE", ""),
        tokens=environ.get("HABILIS_TOKENS", ""),
        public_url=_web_address(environ, "HABILIS_PUBLIC_URL"),
        relay=Relay(url=relay_url, token=environ.get("HABILIS_RELAY_TOKEN", "")) if relay_url else None,
        providers=environ.get("HABILIS_PROVIDERS", ""),
        private_network=_private_network(environ.get("HABILIS_PRIVATE_NETWORK", "") or private_network),
        ca_file=environ.get("HABILIS_CA_FILE", ""),
        clock_offset_s=_offset(environ.get("HABILIS_CLOCK_OFFSET_S", "") or "0"),
        largest_file_mib=_mib(environ.get("HABILIS_LARGEST_FILE_MIB", "") or "50"),
        own_port=int(port) if (port := environ.get("PORT", "")).isdecimal() else 0,
    )


def open_home(settings: Settings) -> Home:
    """The home that the settings name, kept open for the life of the process; NotFound when none was made there."""
    return _home(
        settings.home, settings.remote, settings.remote_private, settings.ca_file, offset_s=settings.clock_offset_s
    )


def live_outside(settings: Settings) -> Outside:
    """The real world: HTTP and mail, the system's clock and randomness."""
    return Outside(
        transport=_LateTransport(settings),
        now=clock(settings.clock_offset_s),
        sleep=time.sleep,
        token=lambda: secrets.token_urlsafe(_TOKEN_BYTES),
        public_url=settings.public_url,
        relay=settings.relay,
        mailer=_LateMailer(settings),
        largest_file_bytes=settings.largest_file_mib << 20,
    )


def clock(offset_s: float = 0.0) -> Callable[[], datetime]:
    """The system's clock in UTC, moved by so many seconds."""
    offset = timedelta(seconds=offset_s)
    return lambda: datetime.now(UTC) + offset


class _LateTransport:
    """HTTP, loaded with the first request: most commands, and many replies, send none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def send(self, request: Request, *, before_first_byte: Callable[[], None] | None = None) -> Answer:
        settings = self._settings
        transport = _transport(settings.private_network, settings.ca_file, settings.own_port)
        return transport.send(request, before_first_byte=before_first_byte)


class _LateMailer:
    """Mail, loaded with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def send(self, mail: Mail, *, before_first_byte: Callable[[], None] | None = None) -> Sent:
        settings = self._settings
        mailer = _mailer(settings.private_network, settings.ca_file, settings.own_port)
        return mailer.send(mail, before_first_byte=before_first_byte)


@lru_cache(maxsize=16)
def _home(path: Path, remote: str, remote_private: str, ca_file: str, *, offset_s: float) -> Home:
    now = clock(offset_s)
    if remote:
        from habilis.home.bare import RemoteHome
        from habilis.home.reach import Reach

        reach = Reach(
            private_hosts=frozenset(filter(None, [remote_private])), ca_file=Path(ca_file) if ca_file else None
        )
        return RemoteHome(remote, cache=path / "clone", private=path, clock=now, reach=reach)
    from habilis.home.worktree import WorkTreeHome

    return WorkTreeHome(path, clock=now)


@lru_cache(maxsize=4)
def _transport(private_network: PrivateNetwork, ca_file: str, own_port: int) -> Transport:
    from habilis.transports.http import HttpTransport

    return HttpTransport(private=private_network, ca_file=ca_file or None, own_ports=frozenset({own_port} - {0}))


@lru_cache(maxsize=4)
def _mailer(private_network: PrivateNetwork, ca_file: str, own_port: int) -> Mailer:
    from habilis.transports.smtp import Mailer as SmtpMailer

    return SmtpMailer(private=private_network, ca_file=ca_file or None, own_ports=frozenset({own_port} - {0}))


def _folder(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # a "~" whose owner this machine does not know
        raise BadInput(
            f"{text!r} leads nowhere: this user has no folder of its own",
            where="HABILIS_HOME",
            hint="name the home's folder, with HABILIS_HOME or --home",
        ) from None


def _web_address(environ: Mapping[str, str], name: str) -> str:
    text = environ.get(name, "").rstrip("/")
    if text and not text.startswith(("https://", "http://")):
        raise BadInput("expected an address that starts with https://", where=name)
    return text


def _private_network(text: str) -> PrivateNetwork:
    if text == "per_account":
        return "per_account"
    if text == "never":
        return "never"
    raise BadInput("expected per_account or never", where="HABILIS_PRIVATE_NETWORK")


def _offset(text: str) -> float:
    try:
        offset = float(text)
    except ValueError:
        offset = math.nan
    if not abs(offset) <= FURTHEST_CLOCK_S:
        raise BadInput("expected a number of seconds, within a hundred years", where="HABILIS_CLOCK_OFFSET_S")
    return offset


def _mib(text: str) -> int:
    if text.isascii() and text.isdecimal() and 0 < int(text) <= _MOST_MIB:
        return int(text)
    raise BadInput(f"expected a whole number of MiB, 1 to {_MOST_MIB}", where="HABILIS_LARGEST_FILE_MIB")
