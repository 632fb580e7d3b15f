"""One connection as it is really opened: a checked address is dialled, and every read and write obeys one deadline."""

import select
import socket
import ssl
import time
from collections.abc import Callable

from habilis.errors import (
    HabilisError,
    Outcome,
    TlsVerifyFailed,
    UpstreamProtocol,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.guard import AddressPolicy

CONNECT_LIMIT_S = 10.0
_COALESCE_BYTES = 16 * 1024

_CERTIFICATE_FAULTS = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is self-signed",
    19: "it is signed by an unknown authority",
    20: "it is signed by an unknown authority",
    21: "it is signed by an unknown authority",
    23: "it was revoked",
    62: "it is for another name",
    64: "it is for another address",
}
"""What OpenSSL's verification results mean. Source: X509_STORE_CTX_get_error(3)."""


class Exchange:
    """What is known of the one exchange that a thread is carrying out.

    Attributes:
        where: What the request is for, as messages name it.
        host: Whom it goes to, as messages name it.
        is_read: Whether the request changes nothing outside.
        timeout_s: Wall clock for the whole of it, in seconds.
        deadline: When it is over, on the monotonic clock.
        dialled: Whether a connection was opened for it; False while it rides on a kept one.
        sent: Whether any byte of the request may have left.
        heard: Whether any byte of an answer came.
    """

    __slots__ = ("deadline", "dialled", "heard", "host", "is_read", "sent", "timeout_s", "where")

    def __init__(self, *, where: str, host: str, is_read: bool, timeout_s: float) -> None:
        self.where = where
        self.host = host
        self.is_read = is_read
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + timeout_s
        self.dialled = self.sent = self.heard = False

    @property
    def outcome(self) -> Outcome:
        """What a failure now means for the order.

        A read changes nothing outside, so a failed one is as good as not sent and may be repeated. Anything else is
        not sent only while no byte has left; after that nobody can tell.
        """
        return "not_sent" if self.is_read or not self.sent else "unknown"

    def left_s(self) -> float:
        """Seconds until the deadline; UpstreamTimeout when it has passed."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self.timed_out()
        return left

    def timed_out(self) -> UpstreamTimeout:
        """The error of a deadline that passed."""
        return UpstreamTimeout(
            f"{self.host} gave no whole answer within {self.timeout_s:g} s",
            where=self.where,
            outcome=self.outcome,
            retryable=self.outcome == "not_sent",
        )

    def broken(self, what: str) -> UpstreamProtocol:
        """The error of an answer that is not whole or not valid HTTP."""
        return UpstreamProtocol(f"{self.host} {what}", where=self.where, outcome=self.outcome)


def dial(policy: AddressPolicy, host: str, port: int, exchange: Exchange) -> socket.socket:
    """Open a connection to the first checked address that answers.

    Raises:
        AddressNotAllowed: An address of the host may not be called; nothing was dialled.
        UpstreamUnavailable: Nobody answers there, or the name does not resolve.
        UpstreamTimeout: The exchange's time ran out.
    """
    end = min(exchange.deadline, time.monotonic() + CONNECT_LIMIT_S)
    try:
        addresses = policy.addresses(host, port, limit_s=max(0.0, end - time.monotonic()))
    except HabilisError as error:
        error.where = error.where or exchange.where
        raise
    for position, address in enumerate(addresses):
        # Each address gets its share of the time, so that a dead first one leaves some for the next.
        share_s = (end - time.monotonic()) / (len(addresses) - position)
        if share_s <= 0:
            break
        try:
            sock = socket.create_connection((address, port), share_s)
        except OSError:
            continue
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    raise UpstreamUnavailable(
        f"{host}:{port} does not accept connections", where=exchange.where, hint="try again later, or check the address"
    )


def secure(sock: socket.socket, context: ssl.SSLContext, name: str, exchange: Exchange) -> ssl.SSLSocket:
    """Return the connection encrypted, the other side's certificate checked; the socket is closed on failure.

    Raises:
        TlsVerifyFailed: The certificate is not good; says why.
        UpstreamUnavailable: The two sides found no common way to encrypt.
        UpstreamTimeout: The exchange's time ran out.
    """
    try:
        sock.settimeout(min(exchange.left_s(), CONNECT_LIMIT_S))
        return context.wrap_socket(sock, server_hostname=name)
    except ssl.SSLCertVerificationError as error:
        fault: HabilisError = TlsVerifyFailed(
            f"the certificate of {name} is not good: "
            + _CERTIFICATE_FAULTS.get(error.verify_code, f"check {error.verify_code} failed"),
            where=exchange.where,
            hint="nothing was sent; the service has to renew or correct it",
        )
    except HabilisError as error:
        fault = error
    except (OSError, ValueError):
        fault = UpstreamUnavailable(f"{name} did not agree on an encrypted connection", where=exchange.where)
    sock.close()
    raise fault


class Wire:
    """An open connection that obeys the deadline of whichever exchange uses it.

    Small writes wait for the read that follows them, so that head and body of a request leave together.
    """

    __slots__ = ("_current", "_sock", "_waiting")

    def __init__(self, sock: socket.socket, current: Callable[[], Exchange]) -> None:
        self._sock = sock
        self._current = current
        self._waiting = b""

    @property
    def sock(self) -> socket.socket:
        """The connection itself."""
        return self._sock

    def read(self, most_bytes: int) -> bytes:
        """Return what comes next, b"" at the end; UpstreamTimeout or UpstreamProtocol when nothing does."""
        exchange = self._current()
        if self._waiting:
            self._send(self._waiting, exchange)
            self._waiting = b""
        self._sock.settimeout(exchange.left_s())
        try:
            got = self._sock.recv(most_bytes)
        except TimeoutError:
            raise exchange.timed_out() from None
        except OSError:
            raise exchange.broken("broke the connection off before a whole answer came") from None
        if got:
            exchange.heard = True
        return got

    def write(self, data: bytes) -> None:
        """Send, now or with the next read; UpstreamTimeout when the other side takes too long to read."""
        if len(self._waiting) + len(data) <= _COALESCE_BYTES:
            self._waiting += data
            return
        waiting, self._waiting = self._waiting, b""
        exchange = self._current()
        self._send(waiting, exchange)
        self._send(data, exchange)

    def is_readable(self) -> bool:
        """Whether a read would return at once: on an idle connection that means the other side closed it."""
        if self._sock.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close it."""
        self._sock.close()

    def _send(self, data: bytes, exchange: Exchange) -> None:
        view = memoryview(data)
        while view:
            self._sock.settimeout(exchange.left_s())
            exchange.sent = True
            try:
                view = view[self._sock.send(view) :]
            except TimeoutError:
                raise exchange.timed_out() from None
            except OSError:
                # The other side stopped listening; it may still have answered, which the next read will tell.
                return
