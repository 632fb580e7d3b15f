"""The other side of an HTTP exchange: a server on loopback that plays scripted bytes and remembers what it saw.

    with Upstream(answer(body=b'{"id": 5}')) as upstream:
        transport.send(... upstream.url("/items") ...)
    assert upstream.requests[0].target == "/items"

Each request takes the next answer of the script; the last one is repeated. An answer is bytes, a tuple of parts (bytes
to send, seconds to wait as a float, CLOSE), or a function of the request that returns one of these. Without a script
the server is a canary: any connection is a fault, which `connections == 0` tells.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Self


class End(Enum):
    """What a script says beside bytes and pauses."""

    CLOSE = "close"


CLOSE = End.CLOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it came in.

    Attributes:
        method: As sent.
        target: Path and query, as sent.
        headers: Lower-case names to the value; a repeated one keeps the last.
        names: Every header name, lower case, in order.
        body: As many bytes as Content-Length says.
        connection: Which connection it came on, from 1.
    """

    method: str
    target: str
    headers: dict[str, str]
    names: tuple[str, ...]
    body: bytes
    connection: int


Part = bytes | float | End
Script = bytes | tuple[Part, ...] | Callable[[Seen], "bytes | tuple[Part, ...]"]


def answer(status: int = 200, *, body: bytes = b"", headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return a whole answer with its Content-Length."""
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode("latin-1") + body


class Upstream:
    """A scripted server; listens from the start of `with` to its end."""

    def __init__(self, *script: Script, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self._script = list(script) or [answer(500)]
        self._tls = tls
        self._listener = socket.create_server(
            (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128
        )
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._open: dict[int, socket.socket] = {}
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._host = f"[{host}]" if ":" in host else host
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.requests: list[Seen] = []

    @property
    def place(self) -> str:
        """`host:port`, as private hosts are named."""
        return f"{self._host}:{self.port}"

    def url(self, target: str = "/", *, host: str | None = None) -> str:
        """Return an address of this server."""
        return f"{'https' if self._tls else 'http'}://{host or self._host}:{self.port}{target}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for sock in self._open.values():
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                thread = threading.Thread(target=self._converse, args=(sock, self.connections), daemon=True)
                self._open[self.connections] = sock
                self._threads.append(thread)
            thread.start()

    def _converse(self, raw: socket.socket, number: int) -> None:
        sock = raw
        try:
            if self._tls:
                sock = self._tls.wrap_socket(raw, server_side=True)
                self._open[number] = sock
            with sock.makefile("rb") as stream:
                while (seen := _read_request(stream, number)) and self._play(sock, self._next(seen)):
                    pass
        except (OSError, ValueError):
            pass  # the client went away, or the server is being closed
        finally:
            with self._lock:
                del self._open[number]
            sock.close()

    def _next(self, seen: Seen) -> tuple[Part, ...]:
        with self._lock:
            step = self._script[min(len(self.requests), len(self._script) - 1)]
            self.requests.append(seen)
        said = step(seen) if callable(step) else step
        return (said,) if isinstance(said, bytes) else said

    def _play(self, sock: socket.socket, parts: tuple[Part, ...]) -> bool:
        """Play one answer; returns whether the connection goes on."""
        for part in parts:
            if part is CLOSE:
                return False
            if isinstance(part, bytes):
                sock.sendall(part)
            elif self._ended.wait(part):
                return False
        return True


def _read_request(stream, number: int) -> Seen | None:
    line = stream.readline().decode("latin-1").split()
    if len(line) != 3:
        return None
    pairs = []
    while (raw := stream.readline()) not in {b"\r\n", b""}:
        name, _, value = raw.decode("latin-1").partition(":")
        pairs.append((name.strip().lower(), value.strip()))
    headers = dict(pairs)
    return Seen(
        method=line[0],
        target=line[1],
        headers=headers,
        names=tuple(name for name, _ in pairs),
        body=stream.read(int(headers.get("content-length", "0"))),
        connection=number,
    )
