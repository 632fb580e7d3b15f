"""Mail through a server: one connection to a checked address, encrypted before anything is said, one mail, goodbye.

What a failure means for the order (`outcome`): not_sent until the end of the message leaves, because a server keeps
nothing of a message that did not end; unknown when nothing is heard after it. A server's no is always a no.

Source: RFC 5321 (SMTP), 3207 (STARTTLS), 4954 (AUTH), 1870 (SIZE), 6531 (SMTPUTF8), 8314 (port 465).
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Literal

from habilis.errors import PlainHttpRefused, TlsRequired, UpstreamTimeout, UpstreamUnavailable
from habilis.guard import AddressPolicy, Resolver
from habilis.messages import Mail, MailServer, Sent
from habilis.transports.mime import compose
from habilis.transports.smtp_delivery import deliver, refused, sign_in
from habilis.transports.smtp_line import Delivery, Line
from habilis.transports.trust import trusting_context
from habilis.transports.wire import Wire, dial, secure

_GREETING_LIMIT_S = 20.0
_GOODBYE_LIMIT_S = 2.0
_READY = 220


class Mailer:
    """Sends mails; one per process, shared by its threads. Every mail has a connection of its own."""

    def __init__(
        self,
        *,
        resolver: Resolver = socket.getaddrinfo,
        ca_file: str | None = None,
        private: Literal["per_account", "never"] = "per_account",
        own_ports: frozenset[int] = frozenset(),
    ) -> None:
        """Make a mailer; nothing is loaded or opened before the first mail.

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
        self._tls: ssl.SSLContext | None = None

    def send(self, mail: Mail, *, before_first_byte: Callable[[], None] | None = None) -> Sent:
        """Send a mail once and return who it was taken for: one address at least.

        Args:
            mail: Filled and checked.
            before_first_byte: Runs when the connection is open, before any byte of ours leaves; what it raises ends
                the exchange with nothing sent.

        Raises:
            AddressNotAllowed: The server's name leads to an address that may not be called.
            TlsRequired: The server would be spoken to without encryption, and the account's operator did not allow it.
            TooLarge: The server takes no mail of that size.
            MailInvalid: An address has letters that the server cannot carry.
            UpstreamError: The server does not take the sign-in, the sender, any recipient, or the mail.
            UpstreamFailed: Nobody answers, or not in time, not by the rules, or with a bad certificate.
            EngineFailed: An attachment is no longer what it was.
        """
        composed = compose(mail)
        delivery = Delivery(
            where=mail.where,
            host=mail.server.host,
            timeout_s=mail.timeout_s,
            before_first_byte=before_first_byte,
        )
        with closing(self._line(mail, delivery)) as line:
            _hear_greeting(line, mail.server, delivery)
            line.hello()
            if mail.server.security == "starttls":
                self._encrypt(line, mail.server, delivery)
            sign_in(line, mail.server, delivery)
            sent = deliver(line, mail, composed, delivery)
            delivery.deadline = time.monotonic() + _GOODBYE_LIMIT_S
            line.quit()
        return sent

    def _line(self, mail: Mail, delivery: Delivery) -> Line:
        server = mail.server
        try:
            sock = dial(self._policy(mail), server.host, server.port, delivery)
        except PlainHttpRefused as error:
            raise TlsRequired(error.message, where=mail.where, hint="set the security to starttls or tls") from None
        if server.security == "tls":
            sock = self._secured(sock, server, delivery)
        return Line(Wire(sock, lambda: delivery), delivery)

    def _encrypt(self, line: Line, server: MailServer, delivery: Delivery) -> None:
        """Turn encryption on, which the other side must offer and do: nothing else is said to it before."""
        reply = line.ask("STARTTLS") if "STARTTLS" in line.offers else None
        if reply is None or reply.code != _READY:
            raise TlsRequired(
                f"{server.host} does not offer encryption (STARTTLS)" if reply is None else f"{server.host}: {reply}",
                where=delivery.where,
                hint="somebody on the way may hide it; port 465 with security tls is encrypted from the first byte",
            )
        line.require_silence()
        line.wire = Wire(self._secured(line.wire.sock, server, delivery), lambda: delivery)
        line.hello()

    def _secured(self, sock: socket.socket, server: MailServer, delivery: Delivery) -> socket.socket:
        try:
            return secure(sock, self._tls_context(), server.host.strip("[]"), delivery)
        except UpstreamUnavailable as error:
            error.hint = f"check that port {server.port} speaks TLS"
            if server.security == "tls":
                error.hint += " from the first byte; else set the security to starttls"
            raise

    def _policy(self, mail: Mail) -> AddressPolicy:
        place = mail.server.place
        return AddressPolicy(
            private_hosts=frozenset({place}) & mail.private_hosts if self._may_opt_in else frozenset(),
            private_only=mail.server.security == "none",
            resolver=self._resolver,
            own_ports=self._own_ports,
            may_opt_in=self._may_opt_in,
        )

    def _tls_context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = trusting_context(self._ca_file)
            return self._tls


def _hear_greeting(line: Line, server: MailServer, delivery: Delivery) -> None:
    """Wait for the server's first words, not as long as for the rest: an encrypted port waits for ours for ever."""
    end = delivery.deadline
    delivery.deadline = min(end, time.monotonic() + _GREETING_LIMIT_S)
    try:
        reply = line.reply()
    except UpstreamTimeout:
        raise UpstreamUnavailable(
            f"{server.host} takes connections on port {server.port} and says nothing",
            where=delivery.where,
            hint="if the port is encrypted from the first byte, set the security to tls",
        ) from None
    finally:
        delivery.deadline = end
    if reply.code != _READY:
        raise refused("takes no mail", reply, delivery)
