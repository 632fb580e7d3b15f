"""Requests over HTTP: sent once to a checked address, with limits on time and size, no redirects, proxies or cookies.

This is the only module that knows the HTTP library. Its client is not used, only its transport: the client keeps
cookies, reads proxies from the environment, and costs a quarter more per call. The transport stays, because that is
where recorded answers (cassettes) hook in.

What a failure means for the order (`outcome`): not_sent while no byte has left, and for every failed read, because a
read changes nothing outside and may be repeated; unknown for any other request once a byte has left.
"""

import logging
import re
import socket
import ssl
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

from habilis import __version__
from habilis.errors import (
    BadInput,
    HabilisError,
    HostNotAllowed,
    PlainHttpRefused,
    RedirectRefused,
    ResponseTooLarge,
    SecretMalformed,
    UpstreamProtocol,
)
from habilis.guard import AddressPolicy, Resolver
from habilis.hosts import origin_of
from habilis.messages import Answer, Request
from habilis.transports.decoding import TooManyBytesError, UndecodableError, read_body
from habilis.transports.trust import trusting_context
from habilis.transports.wire import Exchange, Wire, dial, secure

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

_LARGEST_HEAD_BYTES = 64 * 1024
_MOST_CONNECTIONS = 100
_MOST_KEPT = 20
_KEPT_S = 15.0
_PORTS = {"https": 443, "http": 80}
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OURS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
    "proxy-authorization", "proxy-connection",
})  # fmt: skip
"""Headers that say how a request is carried: another value would change where it goes or where it ends."""

_DEFAULTS = (
    ("accept", (b"Accept", b"*/*")),
    ("accept-encoding", (b"Accept-Encoding", b"gzip, deflate")),
    ("user-agent", (b"User-Agent", f"habilis/{__version__}".encode())),
)


class HttpTransport:
    """Sends requests over HTTP; one per process, shared by its threads.

    Connections are kept for reads only; those to a private host that an operator allowed apart from all others.
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
            own_ports: This engine's own: never called on this machine.
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
            before_first_byte: Runs before any byte leaves; what it raises ends the exchange with nothing sent.

        Raises:
            AddressNotAllowed: The host leads to an address that may not be called.
            PlainHttpRefused: The URL is http and its host is not one that the account's operator allowed.
            SecretMalformed: A header, or the user name, cannot carry its value.
            RedirectRefused: The answer's status is 3xx.
            ResponseTooLarge: The answer's body is larger than `largest_bytes`.
            UpstreamFailed: Nobody answers, or not in time, not wholly, or with a bad certificate; `outcome` says what
                that means for the order.
        """
        wired = _wired(request)
        host, place = _whereto(wired.url)
        opened = place if place in request.private_hosts else ""
        if wired.url.scheme == "http" and not opened:
            raise PlainHttpRefused(f"{host} would be called without encryption", where=request.where, hint="use https")
        exchange = Exchange(
            where=request.where,
            host=host,
            is_read=request.is_read,
            timeout_s=request.timeout_s,
            before_first_byte=before_first_byte,
        )
        lane = self._lane(wired.url.scheme, opened)
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
        return _Lane(_Backend(policy, self._current), self._tls_context() if scheme == "https" else None)

    def _current(self) -> Exchange:
        return cast("Exchange", self._thread.exchange)

    def _tls_context(self) -> ssl.SSLContext:
        # Once, and not before an https request needs it: reading the authorities takes its time.
        if self._tls is None:
            self._tls = trusting_context(self._ca_file)
        return self._tls


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
        self._wire.write(buffer)

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
            return _answer(response, request, exchange)
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


def _wired(request: Request) -> httpx.Request:
    """The request as the library takes it; every header is ours or checked."""
    url = _parsed(request.url, request.where)
    headers = [(b"Host", url.netloc)]
    given = set()
    for name, value in request.headers:
        headers.append(_header(name, value, request.where))
        given.add(name.lower())
    headers.extend(pair for name, pair in _DEFAULTS if name not in given)
    if request.basic_auth is not None:
        headers.append((b"Authorization", _basic(request.basic_auth, request.where)))
    body = cast("bytes", request.body or b"")
    if body or request.method in {"POST", "PUT", "PATCH"}:
        headers.append((b"Content-Length", b"%d" % len(body)))
    # Given a stream the library adds no headers of its own, which saves the time it takes to look for them.
    return httpx.Request(request.method, url, headers=headers, stream=httpx.ByteStream(body))


def _parsed(url: str, where: str) -> httpx.URL:
    """The URL as the library reads it: host and port are judged on the very parts that it dials."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        parsed = None
    if parsed is None or parsed.scheme not in _PORTS or not parsed.raw_host:
        raise HostNotAllowed("only absolute https URLs are called", where=where)
    return parsed


def _whereto(url: httpx.URL) -> tuple[str, str]:
    """Host and `host:port`, an IPv6 address in brackets."""
    name = url.raw_host.decode("ascii")
    host = f"[{name}]" if ":" in name else name
    return host, f"{host}:{url.port or _PORTS[url.scheme]}"


def _header(name: str, value: str, where: str) -> tuple[bytes, bytes]:
    if not _HEADER_NAME.fullmatch(name):
        raise BadInput("a header's name has characters a name cannot have", where=where)
    if name.lower() in _OURS:
        raise BadInput(f"header {name} is set by the engine alone", where=where)
    if not _HEADER_VALUE.fullmatch(value):
        raise SecretMalformed(f"header {name} has characters a header cannot carry", where=where)
    return name.encode(), value.strip(" \t").encode("latin-1")


def _basic(pair: tuple[str, str], where: str) -> bytes:
    """The value of Authorization, in UTF-8. Source: RFC 7617."""
    user, password = pair
    if ":" in user or _SURROGATE.search(user + password):
        raise SecretMalformed("the user name or password of basic_auth has characters it cannot carry", where=where)
    return b"Basic " + b64encode(f"{user}:{password}".encode())


def _answer(response: httpx.Response, request: Request, exchange: Exchange) -> Answer:
    if response.status_code < 200:
        raise exchange.broken("wants to speak something else than HTTP")
    headers = _joined(response.headers.raw, exchange)
    if 300 <= response.status_code < 400:
        raise RedirectRefused(
            f"{exchange.host} answered {response.status_code}, a redirect to {_target(headers.get('location', ''))}",
            where=request.where,
            hint="redirects are not followed; name the final address",
            outcome=exchange.outcome,
        )
    try:
        body = read_body(
            cast("httpx.SyncByteStream", response.stream), headers.get("content-encoding", ""), request.largest_bytes
        )
    except TooManyBytesError:
        raise ResponseTooLarge(
            f"{exchange.host} answered with more than {request.largest_bytes} bytes",
            where=request.where,
            hint="ask for less at a time",
            outcome=exchange.outcome,
        ) from None
    except UndecodableError:
        raise exchange.broken("sent a body that is not in the encoding it names") from None
    return Answer(status=response.status_code, headers=headers, body=body)


def _joined(raw: list[tuple[bytes, bytes]], exchange: Exchange) -> dict[str, str]:
    headers: dict[str, str] = {}
    size = 0
    for raw_name, raw_value in raw:
        size += len(raw_name) + len(raw_value)
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if size > _LARGEST_HEAD_BYTES:
        raise exchange.broken(f"sent headers of more than {_LARGEST_HEAD_BYTES} bytes")
    return headers


def _target(location: str) -> str:
    """The host a redirect points to; nothing else of it, since queries carry keys."""
    if location.startswith("/") and not location.startswith("//"):
        return "the same host"
    try:
        return origin_of(location)[1]
    except HabilisError:
        return "another address"
