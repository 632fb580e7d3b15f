"""The return of a sign-in on this machine: one port of loopback, open until one browser came back.

Nothing else can bring the return: the state is known to this process and to the page that it opened, so the browser
needs no mark.

Source: RFC 8252 sections 7.3 and 8.3.
"""

import hmac
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Event, Thread
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from habilis.engine.connecting import CALLBACK_PATH
from habilis.errors import EngineFailed, SignInExpired

_ENDED_PATH = f"{CALLBACK_PATH}/ended"
_SHOWN_FOR_S = 3.0
_PATIENCE_S = 60.0


class Loopback:
    """Listens on 127.0.0.1 from the start of `with` to its end."""

    def __init__(self, port: int) -> None:
        """Take a port; 0 for any that is free.

        Raises:
            EngineFailed: Another program has it.
        """
        self._returns: Queue[dict[str, list[str]]] = Queue()
        self._state, self._came = "", False
        self._ended, self._shown = Event(), Event()
        self._ending = "The sign-in did not come to its end; see the terminal."
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise EngineFailed(
                f"port {port} cannot be listened on: {(error.strerror or 'unknown fault').lower()}",
                where="--port",
                hint="choose another port, or leave it out",
            ) from None
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where browsers reach it, no slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._came:
            self._shown.wait(_SHOWN_FOR_S)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def expect(self, state: str) -> None:
        """Take the return with this state from now on, once."""
        self._state = state

    def wait(self, *, timeout_s: float) -> Mapping[str, Sequence[str]]:
        """The parameters of the return that is expected, each with every value it came with.

        Raises:
            SignInExpired: None came in time.
        """
        try:
            found = self._returns.get(timeout=timeout_s)
        except Empty:
            raise SignInExpired("the sign-in took longer than ten minutes", hint="start it again") from None
        self._came = True
        return found

    def tell(self, ending: str) -> None:
        """Show the browser how the sign-in ended."""
        self._ending = ending
        self._ended.set()

    def take(self, query: dict[str, list[str]]) -> bool:
        """Take a return; False for one that is not the one that is waited for, or not the first."""
        states = query.get("state", [])
        if len(states) != 1 or not self._state or not hmac.compare_digest(states[0].encode(), self._state.encode()):
            return False
        self._state = ""
        self._returns.put(query)
        return True

    def ending(self) -> str:
        """How the sign-in ended, once it has."""
        self._ended.wait(_PATIENCE_S)
        return self._ending

    def was_shown(self) -> None:
        """The browser has the ending: nothing more is asked for."""
        self._shown.set()


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        owner = loopback

    return Handler


class _Handler(BaseHTTPRequestHandler):
    owner: Loopback
    timeout = 10

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if self.headers.get("Host", "") != urlsplit(self.owner.url).netloc:
            self._say(HTTPStatus.NOT_FOUND, "Nothing is here.")
        elif parts.path == _ENDED_PATH:
            self._say(HTTPStatus.OK, self.owner.ending())
            self.owner.was_shown()
        elif parts.path == CALLBACK_PATH:
            self._take(parts.query)
        else:
            self._say(HTTPStatus.NOT_FOUND, "Nothing is here.")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing: the return holds keys."""

    def _take(self, query: str) -> None:
        try:
            found = parse_qs(query, keep_blank_values=True, max_num_fields=100)
        except ValueError:
            found = {}
        if self.owner.take(found):
            # Sent on at once: the query holds keys, and stays neither in the address bar nor in the history.
            self._say(HTTPStatus.SEE_OTHER, "", location=f"{self.owner.url}{_ENDED_PATH}")
        else:
            self._say(HTTPStatus.BAD_REQUEST, "No sign-in is waiting for this answer. Start the sign-in again.")

    def _say(self, status: HTTPStatus, text: str, *, location: str = "") -> None:
        data = text.encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        # As text, so that nothing of a service's words becomes markup.
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
