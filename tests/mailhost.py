"""The other side of a mail: a server on loopback that says what a test tells it to, and remembers what it heard.

    with MailHost(says={"RCPT": b"550 no such person\\r\\n"}) as host:
        mailer.send(...)
    assert host.commands == [...]

`says` has answers by verb, and for the moments without one: GREETING, AUTH (also its further lines) and END, the dot
after a message. An answer is bytes, a tuple of parts (bytes, seconds to wait as a float, CLOSE), or a function of the
command that returns one of these. Everything else is answered well.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Literal, Self

from tests.upstream import CLOSE, End

Part = bytes | float | End
Saying = bytes | tuple[Part, ...]
GOOD: Mapping[str, bytes] = {
    "GREETING": b"220 mail.test ready\r\n",
    "STARTTLS": b"220 go on\r\n",
    "AUTH": b"235 welcome\r\n",
    "MAIL": b"250 fine\r\n",
    "RCPT": b"250 fine\r\n",
    "DATA": b"354 send it\r\n",
    "END": b"250 kept as 1\r\n",
    "QUIT": b"221 bye\r\n",
}


class MailHost:
    """A scripted mail server; listens from the start of `with` to its end.

    Attributes:
        commands: Every line it heard outside of messages, in order.
        messages: Every whole message it heard, as it stands on the wire but for doubled dots and the end.
        heard: Every byte of its connections, decrypted.
        was_encrypted: Whether the last command came encrypted.
    """

    def __init__(
        self,
        *,
        says: Mapping[str, Saying | Callable[[str], Saying]] | None = None,
        tls: ssl.SSLContext | None = None,
        security: Literal["starttls", "tls", "none"] = "none",
        offers: tuple[str, ...] = ("AUTH LOGIN PLAIN", "SIZE 1000000", "SMTPUTF8", "8BITMIME"),
    ) -> None:
        self._says = {**GOOD, **(says or {})}
        self._tls = tls
        self._security = security
        self._offers = offers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.commands: list[str] = []
        self.messages: list[bytes] = []
        self.heard = bytearray()
        self.was_encrypted = False

    @property
    def place(self) -> str:
        """`host:port`, as private hosts are named."""
        return f"127.0.0.1:{self.port}"

    @property
    def verbs(self) -> list[str]:
        """The first word of every command."""
        return [command.split(" ")[0] for command in self.commands]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for sock in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(sock)
            thread = threading.Thread(target=self._converse, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _converse(self, sock: socket.socket) -> None:
        try:
            if self._security == "tls":
                sock = self._encrypted(sock)
            self._play(sock, "GREETING", "")
            stream = sock.makefile("rb")
            while line := stream.readline():
                self.heard += line
                command = line.decode("utf-8").rstrip("\r\n")
                self.commands.append(command)
                self.was_encrypted = isinstance(sock, ssl.SSLSocket)
                verb = command.split(" ")[0]
                self._answer(sock, stream, verb, command)
                if verb == "STARTTLS" and self._says["STARTTLS"] == GOOD["STARTTLS"]:
                    stream.close()
                    sock = self._encrypted(sock)
                    stream = sock.makefile("rb")
            stream.close()
        except (OSError, ValueError, EOFError):
            pass  # the client went away, the script says so, or the server is being closed
        finally:
            sock.close()

    def _encrypted(self, sock: socket.socket) -> socket.socket:
        assert self._tls is not None
        secured = self._tls.wrap_socket(sock, server_side=True)
        self._open.append(secured)
        return secured

    def _answer(self, sock: socket.socket, stream, verb: str, command: str) -> None:
        if verb == "EHLO" and "EHLO" not in self._says:
            starttls = self._security == "starttls" and not isinstance(sock, ssl.SSLSocket)
            words = ["mail.test", *self._offers, *(["STARTTLS"] if starttls else [])]
            lines = [f"250{' ' if word is words[-1] else '-'}{word}\r\n" for word in words]
            sock.sendall("".join(lines).encode())
        elif verb == "DATA" and self._says["DATA"] == GOOD["DATA"]:
            self._play(sock, "DATA", command)
            self._take_message(sock, stream)
        else:
            self._play(sock, verb if verb in self._says else "AUTH", command)

    def _take_message(self, sock: socket.socket, stream) -> None:
        lines = []
        while (line := stream.readline()) != b".\r\n":
            self.heard += line
            if not line:
                raise EOFError
            lines.append(line[1:] if line.startswith(b".") else line)
        self.messages.append(b"".join(lines))
        self._play(sock, "END", "")

    def _play(self, sock: socket.socket, verb: str, command: str) -> None:
        said = self._says[verb]
        if callable(said):
            said = said(command)
        for part in (said,) if isinstance(said, bytes) else said:
            if part is CLOSE:
                raise EOFError
            if isinstance(part, bytes):
                sock.sendall(part)
            elif self._ended.wait(part):
                raise EOFError
