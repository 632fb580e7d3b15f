"""One connection as it is really opened: a checked address is dialled, and every read and write obeys one deadline."""

import re
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
_AHEAD_BYTES = 64 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9])[0-9][0-9]")

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


class NotTakenError(Exception):
    """The other side takes no more of the request; it may have said why."""


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
        sent_at: When the first byte left, on the monotonic clock; 0.0 before.
        heard: Whether any byte of an answer came.
        before_first_byte: Runs once the connection is open and before any byte of the request leaves; an error of it
            ends the exchange unsent.
    """

    __slots__ = (
        "before_first_byte", "deadline", "dialled", "heard", "host", "is_read", "sent", "sent_at", "timeout_s", "where",
    )  # fmt: skip

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
        self.sent_at = 0.0

    @property
    def outcome(self) -> Outcome:
        """What a failure now means for the order.

        A read changes nothing outside, so a failed one is as good as not sent and may be repeated. Anything else is
        not sent only while no byte has left; after that nobody can tell.
        """
        return "not_sent" if self.is_read or not self.sent else "unknown"

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first byte left; 0.0 before."""
        return time.monotonic() - self.sent_at if self.sent else 0.0

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

    Small writes wait for the read that follows them, so that head and body of a request leave together. While a large
    one leaves, the other side is listened to: it may refuse a body long before it has taken all of it.
    """

    __slots__ = ("_ahead", "_current", "_waiting", "sock")

    def __init__(self, sock: socket.socket, current: Callable[[], Exchange]) -> None:
        self.sock = sock
        self._current = current
        self._waiting = b""
        self._ahead = b""

    def read(self, most_bytes: int) -> bytes:
        """Return what comes next, b"" at the end; UpstreamTimeout or UpstreamProtocol when nothing does."""
        exchange = self._current()
        if self._waiting:
            self._flush(exchange)
        if self._ahead:
            got, self._ahead = self._ahead[:most_bytes], self._ahead[most_bytes:]
            return got
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
        """Send, now or with the next read.

        Raises:
            UpstreamTimeout: The other side is too slow to take it.
            NotTakenError: The other side has stopped listening, or answered that it will not take the request.
        """
        if len(self._waiting) + len(data) <= _SMALL_BYTES:
            self._waiting += data
            return
        exchange = self._current()
        waiting, self._waiting = self._waiting, b""
        self._begin(exchange)
        for part in (waiting, data):
            self._push(memoryview(part), exchange)

    def is_readable(self) -> bool:
        """Whether a read would return at once: on an idle connection that means the other side closed it."""
        if self._ahead or self.sock.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the connection; what waits to be sent is dropped."""
        self.sock.close()

    def _begin(self, exchange: Exchange) -> None:
        if not exchange.sent:
            if exchange.before_first_byte is not None:
                exchange.before_first_byte()
            exchange.left_s()
            exchange.sent = True
            exchange.sent_at = time.monotonic()

    def _flush(self, exchange: Exchange) -> None:
        """Send what waits, all of it small."""
        waiting, self._waiting = self._waiting, b""
        self._begin(exchange)
        try:
            self.sock.settimeout(exchange.left_s())
            self.sock.sendall(waiting)
        except TimeoutError:
            raise exchange.timed_out() from None
        except OSError:
            # The other side stopped listening. It may have answered before that, which the next read will tell.
            return

    def _push(self, left: memoryview, exchange: Exchange) -> None:
        """Send, and listen meanwhile."""
        self.sock.settimeout(0)
        poll = select.poll()
        poll.register(self.sock)
        wanted = select.POLLIN | select.POLLOUT
        while left:
            poll.modify(self.sock, wanted if len(self._ahead) < _AHEAD_BYTES else wanted & ~select.POLLIN)
            ready = poll.poll(exchange.left_s() * 1000)
            if not ready:
                raise exchange.timed_out()
            if ready[0][1] & select.POLLIN:
                self._listen(exchange)
            wanted = select.POLLIN | select.POLLOUT
            try:
                left = left[self.sock.send(left) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                continue
            except ssl.SSLWantReadError:
                wanted = select.POLLIN
            except OSError:
                raise NotTakenError from None

    def _listen(self, exchange: Exchange) -> None:
        try:
            got = self.sock.recv(_AHEAD_BYTES - len(self._ahead))
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return  # nothing but what encryption says to itself
        except OSError:
            raise NotTakenError from None
        if got:
            exchange.heard = True
            self._ahead += got
        if not got or _is_refusal(self._ahead):
            raise NotTakenError


def _is_refusal(answer: bytes) -> bool:
    """Whether the start of an answer says that the rest of the request is not wanted: any final status but 2xx."""
    start = 0
    while status := _STATUS.match(answer, start):
        if status[1] != b"1":
            return status[1] != b"2"
        end = answer.find(b"\r\n\r\n", start)
        if end < 0:
            return False
        start = end + 4
    return False
