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
_SMALL_BYTES = 16 * 1024

_CERTIFICATE_FAULTS = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is self-signed",
    19: "it is signed by an unknown authority",
    20: "it is signed by an unknown authority",
    21: "it is signed by an unknown authority",
    62: "it is for another name",
    64: "it is for another address",
}
"""What OpenSSL's verification results mean. Source: X509_STORE_CTX_get_error(3)."""


class Exchange:
    """What is known of the one exchange that a thread is carrying out, and the errors it may end in.

    Attributes:
        where: What the request is for, as messages name it.
        host: Whom it goes to, as messages name it.
        is_read: Whether the request changes nothing outside.
        timeout_s: Wall clock for the whole of it, in seconds.
        deadline: When it is over, on the monotonic clock.
        dialled: Whether a connection was opened for it; False while it rides on a kept one.
        sent: Whether any byte of the request may have left.
        heard: Whether any byte of an answer came.
        before_first_byte: Runs once the connection is open and before any byte of the request leaves; an error of it
            ends the exchange unsent.
    """

    __slots__ = ("before_first_byte", "deadline", "dialled", "heard", "host", "is_read", "sent", "timeout_s", "where")

    def __init__(
        self,
        *,
        where: str,
        host: str,
        is_read: bool,
        timeout_s: float,
        before_first_byte: Callable[[], None] | None = None,
    ) -> None:
        self.where = where
        self.host = host
        self.is_read = is_read
        self.timeout_s = timeout_s
        self.before_first_byte = before_first_byte
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
        """Seconds until the deadline, more than 0; UpstreamTimeout when it has passed."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self.timed_out()
        return left

    def timed_out(self) -> UpstreamTimeout:
        """The error of a deadline that passed; retryable only where a second try cannot do the same twice."""
        return UpstreamTimeout(
            f"{self.host} gave no whole answer within {self.timeout_s:g} s",
            where=self.where,
            outcome=self.outcome,
            retryable=self.outcome == "not_sent",
        )

    def broken(self, what: str) -> UpstreamProtocol:
        """The error of an answer that is not whole or no valid HTTP."""
        return UpstreamProtocol(f"{self.host} {what}", where=self.where, outcome=self.outcome)


def dial(policy: AddressPolicy, host: str, port: int, exchange: Exchange) -> socket.socket:
    """Open a connection to the first checked address that takes it.

    Raises:
        AddressNotAllowed: An address of the host may not be called; nothing was dialled.
        PlainHttpRefused: The call is unencrypted and an address of the host is public.
        UpstreamUnavailable: Nobody takes the connection in time, or the name does not resolve.
    """
    exchange.dialled = True
    end = min(exchange.deadline, time.monotonic() + CONNECT_LIMIT_S)
    try:
        addresses = policy.addresses(host, port, limit_s=max(0.0, end - time.monotonic()))
    except HabilisError as error:
        error.where = exchange.where
        raise
    for position, address in enumerate(addresses):
        # Each address gets its share of the time, so that a dead first one leaves some for the next.
        share_s = (end - time.monotonic()) / (len(addresses) - position)
        if share_s > 0 and (sock := _connected(address, port, share_s)):
            return sock
    raise UpstreamUnavailable(
        f"{exchange.host} does not take connections on port {port}",
        where=exchange.where,
        hint="check the address, or try again later",
    )


def _connected(address: str, port: int, limit_s: float) -> socket.socket | None:
    # No `create_connection`: it would look the address up again.
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    sock.settimeout(limit_s)
    try:
        sock.connect((address, port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        sock.close()
        return None
    return sock


def secure(sock: socket.socket, context: ssl.SSLContext, name: str, exchange: Exchange) -> ssl.SSLSocket:
    """Return the connection encrypted, with the other side's certificate checked; it is closed on failure.

    Raises:
        TlsVerifyFailed: The certificate is not good; says why.
        UpstreamUnavailable: The two sides did not come to an encrypted connection in time.
    """
    fault: HabilisError
    try:
        sock.settimeout(min(exchange.left_s(), CONNECT_LIMIT_S))
        return context.wrap_socket(sock, server_hostname=name)
    except ssl.SSLCertVerificationError as error:
        reason = _CERTIFICATE_FAULTS.get(error.verify_code, f"check {error.verify_code} failed")
        fault = TlsVerifyFailed(
            f"the certificate of {exchange.host} is not good: {reason}",
            where=exchange.where,
            hint="nothing was sent; the service has to put its certificate right",
        )
    except (OSError, ValueError):
        fault = UpstreamUnavailable(
            f"{exchange.host} did not agree on an encrypted connection",
            where=exchange.where,
            hint="check that the port speaks https",
        )
    except HabilisError as error:
        fault = error
    sock.close()
    raise fault


class Wire:
    """An open connection that obeys the deadline of whichever exchange uses it.

    Small writes wait for the read that follows them, so that head and body of a request leave together.
    """

    __slots__ = ("_current", "_waiting", "sock")

    def __init__(self, sock: socket.socket, current: Callable[[], Exchange]) -> None:
        self.sock = sock
        self._current = current
        self._waiting = b""

    def read(self, most_bytes: int) -> bytes:
        """Return what comes next, b"" at the end; UpstreamTimeout or UpstreamProtocol when nothing does."""
        exchange = self._current()
        if self._waiting:
            self._send(self._waiting, exchange)
            self._waiting = b""
        self.sock.settimeout(exchange.left_s())
        try:
            got = self.sock.recv(most_bytes)
        except TimeoutError:
            raise exchange.timed_out() from None
        except OSError:
            raise exchange.broken("broke the connection off before a whole answer came") from None
        if got:
            exchange.heard = True
        return got

    def write(self, data: bytes) -> None:
        """Send, now or with the next read; UpstreamTimeout when the other side is too slow to take it."""
        if len(self._waiting) + len(data) <= _SMALL_BYTES:
            self._waiting += data
            return
        exchange = self._current()
        waiting, self._waiting = self._waiting, b""
        self._send(waiting, exchange)
        self._send(data, exchange)

    def is_readable(self) -> bool:
        """Whether a read would return at once: on an idle connection that means the other side closed it."""
        if self.sock.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the connection; what waits to be sent is dropped."""
        self.sock.close()

    def _send(self, data: bytes, exchange: Exchange) -> None:
        left = memoryview(data)
        if not exchange.sent and exchange.before_first_byte is not None:
            exchange.before_first_byte()
        while left:
            self.sock.settimeout(exchange.left_s())
            exchange.sent = True
            try:
                left = left[self.sock.send(left) :]
            except TimeoutError:
                raise exchange.timed_out() from None
            except OSError:
                # The other side stopped listening. It may have answered before that, which the next read will tell.
                return
