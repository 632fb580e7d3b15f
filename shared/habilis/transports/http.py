"""Requests over HTTP: sent once to a checked address, with limits on time and size, no redirects, proxies or cookies.

This is the only module that knows the HTTP library. Its client is not used, only its transport: the client keeps
cookies, reads proxies from the environment, and costs a quarter more per call. The transport stays, because that is
where recorded answers (cassettes) hook in.

What a failure means for the order (`outcome`): not_sent while no byte has left, and for every failed read, because a
read changes nothing outside and may be repeated; unknown for any other request once a byte has left.
"""

import logging
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, cast

from habilis.errors import (
    HabilisError,
    HostNotAllowed,
    PlainHttpRefused,
    SecretMalformed,
    UpstreamProtocol,
)
from habilis.guard import AddressPolicy, Resolver
from habilis.messages import Answer, Request, Streamed
from habilis.transports.receiving import take_answer
from habilis.transports.sending import headers_of, pieces_of, require_files
from habilis.transports.trust import trusting_context
from habilis.transports.wire import Exchange, NotTakenError, Wire, dial, secure

# Importing httpx also loads its command line, with rich and pygments where those are installed: 60 ms of a cold start.
# A module that is None fails to import, which httpx expects and answers with a stand-in for `httpx.main`. The mark is
# taken back at once, so that whoever wants the command line can still import it.
if "httpx" not in sys.modules:
    sys.modules.setdefault("httpx._main", cast("Any", None))
import httpcore
import httpx

if sys.modules.get("httpx._main", sys) is None:
    del sys.modules["httpx._main"]

for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # below that they print whole URLs and headers

_MOST_CONNECTIONS = 100
_MOST_KEPT = 20
_KEPT_S = 15.0
_PORTS = {"https": 443, "http": 80}


class HttpTransport:
    """Sends requests over HTTP; one per process, shared by its threads.

    Connections are kept for reads only, and apart: those to the public internet in one pool, those to each private
    host that an operator allowed in a pool of its own, which only requests with that permission use.
    """

    def __init__(
        self,
        *,
        resolver: Resolver = socket.getaddrinfo,
        ca_file: str | None = None,
        private: Literal["per_account", "never"] = "per_account",
        own_ports: frozenset[int] = frozenset(),
    ) -> None:
        """Make a transport; nothing is loaded or opened before the first request.

        Args:
            resolver: Looks names up, called as `socket.getaddrinfo` is.
            ca_file: A PEM file of certificate authorities to trust beside the usual ones.
            private: Whether the private hosts of accounts count here.
            own_ports: Ports this engine listens on: never called on this machine.
        """
        self._resolver = resolver
        self._ca_file = ca_file
        self._may_opt_in = private == "per_account"
        self._own_ports = own_ports
        self._lock = threading.Lock()
        self._thread = threading.local()
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._tls: ssl.SSLContext | None = None

    def send(self, request: Request, *, before_first_byte: Callable[[], None] | None = None) -> Answer:
        """Send a request once and return the answer, whatever its status unless it redirects.

        Args:
            request: Filled and checked.
            before_first_byte: Runs when the connection is open, before any byte of the request leaves; what it raises
                ends the exchange with nothing sent.

        Raises:
            AddressNotAllowed: The host leads to an address that may not be called.
            PlainHttpRefused: The URL is http and its host is not one that the account's operator allowed.
            SecretMalformed: A header, or the user name, cannot carry its value.
            RedirectRefused: The answer's status is 3xx.
            ResponseTooLarge: The answer's body is larger than `largest_bytes`, a file larger than
                `largest_file_bytes`.
            EngineFailed: A file of the body is gone or shorter than it was, or the answer's file cannot be written.
            UpstreamFailed: Nobody answers, or not in time, not wholly, or with a bad certificate; `outcome` says what
                that means for the order.
        """
        url = _parsed(request.url, request.where)
        host, place = _whereto(url)
        opened = place if place in request.private_hosts else ""
        if url.scheme == "http" and not opened:
            raise PlainHttpRefused(f"{host} would be called without encryption", where=request.where, hint="use https")
        exchange = Exchange(
            where=request.where,
            host=host,
            is_read=request.is_read,
            timeout_s=request.timeout_s,
            before_first_byte=before_first_byte,
        )
        wired = _wired(request, url, exchange)
        lane = self._lane(url.scheme, opened)
        self._thread.exchange = exchange
        try:
            return _sent(lane, wired, request, exchange)
        finally:
            del self._thread.exchange

    def close(self) -> None:
        """Close every kept connection."""
        with self._lock:
            lanes, self._lanes = list(self._lanes.values()), {}
        for lane in lanes:
            lane.kept.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # When the interpreter ends, the system closes them, and modules may be taken down already, this one too.
        if not is_finalizing():
            self.close()

    def _lane(self, scheme: str, opened: str) -> "_Lane":
        lane = self._lanes.get((scheme, opened))
        if lane is None:
            with self._lock:
                lane = self._lanes.get((scheme, opened)) or self._new_lane(scheme, opened)
                self._lanes[scheme, opened] = lane
        return lane

    def _new_lane(self, scheme: str, opened: str) -> "_Lane":
        policy = AddressPolicy(
            private_hosts=frozenset({opened}) if opened and self._may_opt_in else frozenset(),
            private_only=scheme == "http",
            resolver=self._resolver,
            own_ports=self._own_ports,
            may_opt_in=self._may_opt_in,
        )
        return _Lane(_Backend(policy, _current_of(self._thread)), self._tls_context() if scheme == "https" else None)

    def _tls_context(self) -> ssl.SSLContext:
        # Once, and not before an https request needs it: reading the authorities takes its time.
        if self._tls is None:
            self._tls = trusting_context(self._ca_file)
        return self._tls


def _current_of(thread: threading.local) -> Callable[[], Exchange]:
    # No method of the transport: a connection that held it would keep it, and so itself, from ever being closed.
    return lambda: cast("Exchange", thread.exchange)


class _Lane:
    """The ways to the hosts that one address policy covers: kept connections for reads, fresh ones for the rest."""

    def __init__(self, backend: "_Backend", tls: ssl.SSLContext | None) -> None:
        self._backend = backend
        self._tls = tls
        self.kept = _Transport(
            httpcore.ConnectionPool(
                ssl_context=tls,
                max_connections=_MOST_CONNECTIONS,
                max_keepalive_connections=_MOST_KEPT,
                keepalive_expiry=_KEPT_S,
                network_backend=backend,
            )
        )

    def fresh(self, url: httpx.URL) -> "_Transport":
        """A transport over one new connection."""
        origin = httpcore.Origin(url.raw_scheme, url.raw_host, url.port or _PORTS[url.scheme])
        return _Transport(httpcore.HTTPConnection(origin, ssl_context=self._tls, network_backend=self._backend))


class _Transport(httpx.HTTPTransport):
    """The library's transport over connections of ours."""

    def __init__(self, connections: httpcore.ConnectionPool | httpcore.HTTPConnection) -> None:
        # The parent's constructor is left out: it would read the certificate authorities again. One connection has the
        # two methods of a pool that the parent calls.
        self._pool = cast("httpcore.ConnectionPool", connections)


class _Backend(httpcore.NetworkBackend):
    """Opens connections to checked addresses only."""

    def __init__(self, policy: AddressPolicy, current: Callable[[], Exchange]) -> None:
        self._policy = policy
        self._current = current

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(dial(self._policy, host, port, self._current()), self._current)


class _Stream(httpcore.NetworkStream):
    """A connection as the library wants to see it; its own time limits are not used, ours are."""

    def __init__(self, sock: socket.socket, current: Callable[[], Exchange]) -> None:
        self._wire = Wire(sock, current)
        self._current = current

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._wire.read(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._wire.write(buffer)
        except NotTakenError:
            # The library then stops sending and reads: there may be an answer that says why.
            raise httpcore.WriteError from None

    def close(self) -> None:
        self._wire.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = secure(self._wire.sock, ssl_context, server_hostname or "", self._current())
        return _Stream(secured, self._current)

    def get_extra_info(self, info: str) -> bool | None:
        return self._wire.is_readable() if info == "is_readable" else None


def _sent(lane: _Lane, wired: httpx.Request, request: Request, exchange: Exchange) -> Answer:
    if request.is_read:
        try:
            return _attempt(lane.kept, wired, request, exchange)
        except UpstreamProtocol:
            if exchange.dialled or exchange.heard:
                raise
        # The other side closed a kept connection just as it was used: a read is asked again on a fresh one.
    transport = lane.fresh(wired.url)
    try:
        return _attempt(transport, wired, request, exchange)
    finally:
        transport.close()


def _attempt(transport: _Transport, wired: httpx.Request, request: Request, exchange: Exchange) -> Answer:
    wired.extensions = {"timeout": {"pool": exchange.left_s()}}
    fault: HabilisError
    try:
        response = transport.handle_request(wired)
        try:
            return take_answer(
                response.status_code,
                response.headers.raw,
                cast("httpx.SyncByteStream", response.stream),
                request,
                exchange,
            )
        finally:
            response.close()
    except HabilisError as error:
        fault = error
    except httpx.LocalProtocolError:
        fault = SecretMalformed("a header has characters a header cannot carry", where=request.where)
    except httpx.PoolTimeout:
        fault = exchange.timed_out()
    except httpx.TransportError:
        fault = exchange.broken("gave an answer that breaks off or is not HTTP")
    # Raised out here: the library's exception, which may quote a header, does not even stay as its context.
    raise fault


class _Pieces(httpx.SyncByteStream):
    """A streamed body; each sending of it reads it from its start."""

    def __init__(self, body: Streamed, exchange: Exchange) -> None:
        self._body = body
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        return pieces_of(self._body, self._exchange)


def _wired(request: Request, url: httpx.URL, exchange: Exchange) -> httpx.Request:
    """The request as the library takes it; every header is ours or checked."""
    headers = headers_of(request, url.netloc)
    stream: httpx.SyncByteStream
    if isinstance(request.body, Streamed):
        require_files(request.body, exchange)
        stream = _Pieces(request.body, exchange)
    else:
        stream = httpx.ByteStream(request.body or b"")
    # Given a stream the library adds no headers of its own, which saves the time it takes to look for them.
    return httpx.Request(request.method, url, headers=headers, stream=stream)


def _parsed(url: str, where: str) -> httpx.URL:
    """The URL as the library reads it: host and port are judged on the very parts that it dials."""
    parsed = _read_url(url)
    if parsed is None:
        raise HostNotAllowed("only absolute https URLs are called", where=where)
    return parsed


@lru_cache(maxsize=256)
def _read_url(url: str) -> httpx.URL | None:
    # Reading a URL costs a tenth of a call, and a tool without arguments in its URL calls the same one each time.
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        return None
    return parsed if parsed.scheme in _PORTS and parsed.raw_host else None


def _whereto(url: httpx.URL) -> tuple[str, str]:
    """Host and `host:port`, an IPv6 address in brackets."""
    name = url.raw_host.decode("ascii")
    host = f"[{name}]" if ":" in name else name
    return host, f"{host}:{url.port or _PORTS[url.scheme]}"
