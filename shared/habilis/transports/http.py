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
from habilis.transports.wire import Exchange, Wire, dial, secure

# Importing httpx also loads its command line, with rich and pygments where those are installed: 60 ms of a cold start.
# A module that is None fails to import; httpx expects that and puts a stand-in. Taken back at once, so that nobody
# else's `import httpx._main` fails.
_hidden = None if "httpx" in sys.modules else sys.modules.setdefault("httpx._main", cast("Any", None))
import httpcore  # noqa: E402
import httpx  # noqa: E402

if sys.modules.get("httpx._main", False) is None:
    del sys.modules["httpx._main"]

for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # below that they print whole URLs and headers

_LARGEST_HEAD_BYTES = 64 * 1024
_MOST_CONNECTIONS = 100
_MOST_KEPT = 20
_KEPT_S = 15.0
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
    "proxy-authorization", "proxy-connection",
})  # fmt: skip
_DEFAULTS = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": f"habilis/{__version__}"}


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
            resolver: Looks names up, as `socket.getaddrinfo`.
            ca_file: A file of certificate authorities to trust beside the usual ones.
            private: Whether private hosts of accounts count here.
            own_ports: Ports this engine listens on: never called on this machine.
        """
        self._resolver = resolver
        self._ca_file = ca_file
        self._may_opt_in = private == "per_account"
        self._own_ports = own_ports
        self._lock = threading.Lock()
        self._thread = threading.local()
        self._kept: dict[tuple[str, str], _Transport] = {}
        self._tls: ssl.SSLContext | None = None

    def send(self, request: Request) -> Answer:
        """Send a request once and return the answer, whatever its status below 300 or from 400.

        Raises:
            AddressNotAllowed: The host leads to an address that may not be called.
            PlainHttpRefused: The URL is http and its host is not one the account's operator allowed.
            SecretMalformed: A header or the user name cannot carry its value.
            RedirectRefused: The answer is a redirect.
            ResponseTooLarge: The answer passes `largest_bytes`, or its head 64 KiB.
            UpstreamFailed: Nobody answers, not in time, not wholly, or with a bad certificate; `outcome` says what
                that means for the order.
        """
        scheme, host, port = origin_of(request.url)
        place = f"{host}:{port}"
        opened = place if place in request.private_hosts else ""
        if scheme == "http" and not opened:
            raise PlainHttpRefused(f"{host} would be called without encryption", where=request.where, hint="use https")
        exchange = Exchange(where=request.where, host=host, is_read=request.is_read, timeout_s=request.timeout_s)
        wired = _wired(request, exchange)
        self._thread.exchange = exchange
        try:
            return self._sent(wired, request, exchange, (scheme, opened))
        finally:
            del self._thread.exchange

    def close(self) -> None:
        """Close every kept connection."""
        with self._lock:
            kept, self._kept = list(self._kept.values()), {}
        for transport in kept:
            transport.close()

    def _sent(self, wired: httpx.Request, request: Request, exchange: Exchange, lane: tuple[str, str]) -> Answer:
        if request.is_read:
            try:
                return _attempt(self._keeping(lane), wired, request, exchange)
            except UpstreamProtocol:
                if exchange.dialled or exchange.heard:
                    raise
            # The other side closed a kept connection just as it was used: a read is asked again on a new one.
        once = self._transport(lane, kept=0)
        try:
            return _attempt(once, wired, request, exchange)
        finally:
            once.close()

    def _keeping(self, lane: tuple[str, str]) -> "_Transport":
        transport = self._kept.get(lane)
        if transport is None:
            with self._lock:
                transport = self._kept.get(lane) or self._transport(lane, kept=_MOST_KEPT)
                self._kept[lane] = transport
        return transport

    def _transport(self, lane: tuple[str, str], *, kept: int) -> "_Transport":
        scheme, opened = lane
        policy = AddressPolicy(
            private_hosts=frozenset({opened}) if opened and self._may_opt_in else frozenset(),
            resolver=self._resolver,
            own_ports=self._own_ports,
            may_opt_in=self._may_opt_in,
        )
        tls = self._tls_context() if scheme == "https" else None
        return _Transport(_Backend(policy, self._current), tls, kept=kept)

    def _current(self) -> Exchange:
        return cast("Exchange", self._thread.exchange)

    def _tls_context(self) -> ssl.SSLContext:
        # Reading the certificate authorities takes 27 ms: once, and not before an https request needs it.
        if self._tls is None:
            import certifi

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(certifi.where())
            if self._ca_file:
                context.load_verify_locations(self._ca_file)
            self._tls = context
        return self._tls


class _Transport(httpx.HTTPTransport):
    """The library's transport over our own connections."""

    def __init__(self, backend: "_Backend", tls: ssl.SSLContext | None, *, kept: int) -> None:
        # The parent's constructor is left out: it would read the certificate authorities again.
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            max_connections=_MOST_CONNECTIONS,
            max_keepalive_connections=kept,
            keepalive_expiry=_KEPT_S,
            network_backend=backend,
        )


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
        exchange = self._current()
        exchange.dialled = True
        return _Stream(dial(self._policy, host, port, exchange), self._current)


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


def _attempt(transport: _Transport, wired: httpx.Request, request: Request, exchange: Exchange) -> Answer:
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
        fault = exchange.broken("sent an answer that breaks off or is not HTTP")
    # Raised out here: the library's exception, which may quote a header, does not stay as the context either.
    raise fault


def _wired(request: Request, exchange: Exchange) -> httpx.Request:
    """The request as the library takes it, every header ours or checked."""
    url = httpx.URL(request.url)
    headers = [(b"Host", url.netloc)]
    missing = dict(_DEFAULTS)
    for name, value in request.headers:
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
            raise BadInput("a header's name is not one a request may set", where=request.where)
        if not _HEADER_VALUE.fullmatch(value):
            raise SecretMalformed(f"header {name} has characters a header cannot carry", where=request.where)
        missing.pop(name.lower(), None)
        headers.append((name.encode(), value.strip(" \t").encode("latin-1")))
    headers.extend((name.encode(), value.encode()) for name, value in missing.items())
    if request.basic_auth is not None:
        headers.append((b"Authorization", _basic(request.basic_auth, request.where)))
    if request.body is not None or request.method in {"POST", "PUT", "PATCH"}:
        headers.append((b"Content-Length", b"%d" % len(request.body or b"")))
    return httpx.Request(
        request.method,
        url,
        headers=headers,
        stream=httpx.ByteStream(request.body or b""),
        extensions={"timeout": {"pool": exchange.left_s()}},
    )


def _basic(pair: tuple[str, str], where: str) -> bytes:
    user, password = pair
    if ":" in user:
        raise SecretMalformed("the user name of basic_auth holds a colon", where=where)
    return b"Basic " + b64encode(f"{user}:{password}".encode())


def _answer(response: httpx.Response, request: Request, exchange: Exchange) -> Answer:
    if response.status_code < 200:
        raise exchange.broken("wants to leave HTTP")
    headers = _joined(response.headers.raw, request, exchange)
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
        raise _too_large(f"more than {request.largest_bytes} bytes", request, exchange) from None
    except UndecodableError:
        raise exchange.broken("sent a body that is not in the encoding it names") from None
    return Answer(status=response.status_code, headers=headers, body=body)


def _joined(raw: list[tuple[bytes, bytes]], request: Request, exchange: Exchange) -> dict[str, str]:
    headers: dict[str, str] = {}
    size = 0
    for raw_name, raw_value in raw:
        size += len(raw_name) + len(raw_value)
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if size > _LARGEST_HEAD_BYTES:
        raise exchange.broken(f"sent headers of more than {_LARGEST_HEAD_BYTES} bytes")
    return headers


def _too_large(what: str, request: Request, exchange: Exchange) -> ResponseTooLarge:
    return ResponseTooLarge(f"{exchange.host} answered with {what}", where=request.where, outcome=exchange.outcome)


def _target(location: str) -> str:
    """The host a redirect points to; nothing else of it, since queries carry keys."""
    if location.startswith("/") and not location.startswith("//"):
        return "the same host"
    try:
        return origin_of(location)[1]
    except HabilisError:
        return "another address"
