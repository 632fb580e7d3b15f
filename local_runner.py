"""Runs every function on this machine, with the relay and the schedule, for work without a cloud.

python local_runner.py                              functions on 127.0.0.1:8321 over the home in ~/.habilis
python local_runner.py --clock 2026-12-01T04:14:50Z let it be another time: the schedule comes due by this clock
python local_runner.py --demo                       the whole story on an embedded sample service

While it runs, POST /clock {"now": "2026-12-01T04:15:00Z"} moves the clock and says what came due.
"""

import argparse
import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from habilis.engine.settings import FURTHEST_CLOCK_S, clock
from habilis.engine.tokens import token_entry
from habilis.errors import BadInput, Busy, HabilisError
from habilis.home.worktree import init_home
from habilis.reading import read_yaml
from habilis.schedule import checked_cron, checked_zone, due

ROOT = Path(__file__).resolve().parent
DEFAULT_PORT = 8321
_HIGHEST_PORT = 65535
_TICK_S = 1.0
_AT_RELAY = frozenset({"relay", "broker"})
_LONGEST_STEP = timedelta(days=366)
"""How far the clock may be moved ahead at once: every due time in between is a call."""
_POLL_S = 0.05
_LONGEST_SILENCE_S = 10
"""A client that sends nothing for so long is let go, so that nobody can hold the threads."""

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One function of `infra/functions.yaml`: its name, its routes, and when the schedule calls the first of them."""

    name: str
    routes: tuple[str, ...]
    cron: str
    zone: str
    body: str

    def fits(self, path: str) -> bool:
        """Whether one of the routes fits a path; `*` stands for one part."""
        given = path.strip("/").split("/")
        return any(
            len(wanted) == len(given) and all(part in {"*", got} for part, got in zip(wanted, given, strict=True))
            for wanted in (route.strip("/").split("/") for route in self.routes)
        )


def read_rows(path: Path = ROOT / "infra" / "functions.yaml") -> list[Row]:
    """The table of functions; BadInput when a schedule cannot be read."""
    data: Any = read_yaml(path.read_bytes(), path.name).data
    return [
        Row(
            name=row["name"],
            routes=tuple(row["routes"]),
            cron=checked_cron(row["cron"]) if "cron" in row else "",
            zone=checked_zone(row.get("zone", "UTC")).key,
            body=json.dumps(row.get("body", {})),
        )
        for row in data["functions"]
    ]


class Runner:
    """The functions of one home on loopback, their relay on a port of its own, and the schedule; runs until closed.

    Where the environment names a relay (HABILIS_RELAY_URL), the functions sign in through that one.

    Attributes:
        url: Where the functions answer, no slash at the end.
        relay_url: Where the relay answers that sign-ins go through.
        token: An admin token, new for each run.
    """

    def __init__(self, home: Path, *, port: int = 0, relay_port: int = 0, start: datetime | None = None) -> None:
        """Make the home where it is missing, and start.

        Args:
            home: The home's folder.
            port: Of the functions; 0 takes a free one.
            relay_port: Of the relay, likewise.
            start: What time it is to be, with a zone; None for the real one.

        Raises:
            Busy: Something else listens on a port.
            HabilisError, OSError: The home cannot be made.
        """
        self.rows = read_rows()
        self.token, self._scheduler_token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._firing = threading.Lock()
        self._stopped = threading.Event()
        self._stack = ExitStack()
        with ExitStack() as stack:
            engine = stack.enter_context(_listen(port))
            self.url, self.relay_url = _address(engine), os.environ.get("HABILIS_RELAY_URL", "")
            settings = self._settings(home)
            relay = None
            if not self.relay_url:
                relay = stack.enter_context(_listen(relay_port))
                self.relay_url = _address(relay)
                settings |= {"HABILIS_RELAY_URL": self.relay_url, "HABILIS_RELAY_TOKEN": self.token}
            init_home(home).close()
            stack.enter_context(_environment(settings))
            self._set_clock(start or datetime.now(UTC))
            self._seen = self.now()
            self._apps = {row.name: _load(row.name) for row in self.rows}
            self._serve(stack, engine, [row for row in self.rows if row.name not in _AT_RELAY])
            if relay:
                self._serve(stack, relay, [row for row in self.rows if row.name in _AT_RELAY])
            _run_until(stack, self._keep_time, self._stopped.set)
            self._stack = stack.pop_all()

    def now(self) -> datetime:
        """The runner's time."""
        return clock(float(os.environ["HABILIS_CLOCK_OFFSET_S"]))()

    def move_clock(self, moment: datetime) -> list[str]:
        """Let it be `moment` now, from where the clock goes on, and return a line for each call that came due.

        Raises:
            BadInput: It is too far away; the clock stays as it is.
        """
        with self._firing:
            if moment - self._seen > _LONGEST_STEP:
                raise BadInput("the clock moves ahead by a year at most", hint="go there in several steps")
            self._set_clock(moment)
            return self._fire(moment)

    def tick(self) -> list[str]:
        """Call every function whose schedule came due since the last time; returns a line for each call."""
        with self._firing:
            return self._fire(self.now())

    def close(self) -> None:
        """Stop answering and give the environment back."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _settings(self, home: Path) -> dict[str, str]:
        tokens = [token_entry("admin", self.token), token_entry("scheduler", self._scheduler_token)]
        return {
            "HABILIS_HOME": str(home),
            "HABILIS_REMOTE": "",
            "HABILIS_TOKENS": " ".join([*tokens, os.environ.get("HABILIS_TOKENS", "")]),
            "HABILIS_PUBLIC_URL": self.url,
            "HABILIS_PRIVATE_NETWORK": "per_account",
            "HABILIS_CLOCK_OFFSET_S": "0",
            "PORT": self.url.rpartition(":")[2],
        }

    def _set_clock(self, moment: datetime) -> None:
        offset_s = (moment - datetime.now(UTC)).total_seconds()
        if abs(offset_s) > FURTHEST_CLOCK_S:
            raise BadInput(f"{moment.isoformat()} is too far from now", hint="choose a time within some years of today")
        os.environ["HABILIS_CLOCK_OFFSET_S"] = f"{offset_s:.3f}"

    def _fire(self, now: datetime) -> list[str]:
        """Call what came due after the latest moment that was looked at, so that no due time counts twice.

        Nothing comes due while a clock that was put back catches up.
        """
        seen = self._seen
        self._seen = max(now, seen)
        return [
            f"{moment.isoformat()} {row.name}: {self._post(row)}"
            for row in self.rows
            if row.cron
            for moment in due(row.cron, row.zone, after=seen, until=now)
        ]

    def _post(self, row: Row) -> str:
        """Send an order to a function as the schedule does; returns the status."""
        from werkzeug.test import Client

        headers = {"Authorization": f"Bearer {self._scheduler_token}"}
        return Client(self._apps[row.name]).post(
            row.routes[0], base_url=self.url, data=row.body, content_type="application/json", headers=headers
        ).status  # fmt: skip

    def _keep_time(self) -> None:
        while not self._stopped.wait(_TICK_S):
            for line in self.tick():
                print(f"schedule   {line}", flush=True)

    def _serve(self, stack: ExitStack, listener: socket.socket, rows: list[Row]) -> None:
        """Answer on a socket with the functions of these rows until the stack is closed."""
        from werkzeug.serving import make_server

        def answer(environ: Environ, start: StartResponse) -> Iterable[bytes]:
            return self._answer(rows, environ, start)

        server = make_server(
            "127.0.0.1", 0, answer, threaded=True, request_handler=_quiet_handler(), fd=listener.fileno()
        )
        stack.callback(server.server_close)
        _run_until(stack, lambda: server.serve_forever(_POLL_S), server.shutdown)

    def _answer(self, rows: list[Row], environ: Environ, start: StartResponse) -> Iterable[bytes]:
        """Hand a request to the function whose route fits."""
        import flask

        from habilis import web

        path = environ["PATH_INFO"]
        if not _is_own_name(environ):
            reply = flask.Response("this runner answers to 127.0.0.1 and localhost only\n", 421, mimetype="text/plain")
        elif path == "/clock":
            reply = web.serve(flask.Request(environ), self._clock)
        else:
            for row in rows:
                if row.fits(path):
                    return self._apps[row.name](environ, start)
            reply = flask.Response("no function answers here; see docs/http.md\n", 404, mimetype="text/plain")
        return reply(environ, start)

    def _clock(self, desk: Any) -> object:  # noqa: ANN401 - web is loaded late
        """GET /clock tells the time; POST {"now": …} moves it and says what came due."""
        desk.caller.require("admin")
        desk.only("now")
        fired = self.move_clock(_moment(desk.text("now"))) if desk.method == "POST" else []
        return {"now": self.now(), "fired": fired}


def main() -> int:
    """Run until it is stopped; with --demo until the story is told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="the home (default: HABILIS_HOME or ~/.habilis; --demo: temporary)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port of the functions; 0 takes a free one")
    parser.add_argument("--relay-port", type=int, default=0, help="port of the relay; 0, the default, takes a free one")
    parser.add_argument("--clock", type=_moment_option, help="start at this moment, as 2026-12-01T04:14:50Z")
    parser.add_argument("--demo", action="store_true", help="tell the whole story and end")
    options = parser.parse_args()
    for name, port in (("--port", options.port), ("--relay-port", options.relay_port)):
        if not 0 <= port <= _HIGHEST_PORT:
            parser.error(f"argument {name}: a port is 0 to {_HIGHEST_PORT}")
    # An end that is asked for politely is a Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.demo:
            from habilis.sample.story import tell

            return tell(Runner, home=options.home)
        home = (options.home or Path(os.environ.get("HABILIS_HOME") or "~/.habilis")).expanduser()
        with Runner(home, port=options.port, relay_port=options.relay_port, start=options.clock) as runner:
            print(_greeting(runner, home), flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except HabilisError as error:
        return _fail(error.message, error.where, error.hint)
    except (OSError, RuntimeError) as error:
        return _fail(getattr(error, "strerror", None) or str(error), str(getattr(error, "filename", None) or ""))
    return 0


def _fail(message: str, where: str, hint: str = "") -> int:
    print(f"habilis: {where + ': ' if where else ''}{message}", file=sys.stderr)
    if hint:
        print(f"  try: {hint}", file=sys.stderr)
    return 1


def _greeting(runner: Runner, home: Path) -> str:
    lines = [
        "Habilis answers on this machine only; Ctrl-C stops it.",
        "",
        f"home       {home}",
        f"functions  {runner.url}",
        f"relay      {runner.relay_url}",
        f"token      {runner.token}  (admin, for this run)",
        "",
    ]
    schedules = {row.name: f"   called at {row.cron} {row.zone}" for row in runner.rows if row.cron}
    return "\n".join([
        *lines,
        *(f"  {row.name:<17}{row.routes[0]}{schedules.get(row.name, '')}" for row in runner.rows),
        "",
        "What would the shipped WordPress ability bring? Ask a function:",
        f"  curl -H 'Authorization: Bearer {runner.token}' -H 'Content-Type: application/json' \\",
        f"""    -d '{{"spec": "wordpress", "dry_run": true}}' {runner.url}/api/install""",
        "",
    ])  # fmt: skip


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadInput(f"{text[:40]!r} is no moment with its zone", hint="write it as 2026-12-01T04:15:00Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise BadInput(f"{text[:40]!r} is out of the calendar") from None


def _moment_option(text: str) -> datetime:
    try:
        return _moment(text)
    except BadInput as error:
        raise argparse.ArgumentTypeError(f"{error.message}: {error.hint}") from None


def _address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise Busy(
            f"port {port} is not to be had: {os.strerror(error.errno or 0).lower()}",
            hint="another runner may be up; stop it, or choose a port with --port (0 takes a free one)",
        ) from None


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set these variables, and give back what was there before."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _run_until(stack: ExitStack, work: Callable[[], object], stop: Callable[[], object]) -> None:
    """Run work in a thread until the stack is closed, which calls `stop` and waits for the thread."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(stop)


def _load(name: str) -> WsgiApp:
    """The function's application, as its host makes it; the host's own marks in the environment are taken back."""
    from functions_framework import create_app

    with _environment({"FUNCTION_TARGET": name, "FUNCTION_SIGNATURE_TYPE": "http"}):
        app: WsgiApp = create_app(name, str(ROOT / "functions" / f"{name}.py"), "http").wsgi_app
    return app


def _is_own_name(environ: Environ) -> bool:
    """Whether a request asks for this machine by a name that is only its own."""
    # Else a page of another site could reach the functions, by a name of its own that leads here (DNS rebinding).
    port = environ["SERVER_PORT"]
    return environ.get("HTTP_HOST", "").lower() in {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}


def _quiet_handler() -> Any:  # noqa: ANN401 - a class of a library that is loaded late
    from werkzeug.serving import WSGIRequestHandler

    class Quiet(WSGIRequestHandler):
        timeout = _LONGEST_SILENCE_S

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing: a line of a request may hold what came back from a sign-in."""

    return Quiet


if __name__ == "__main__":
    sys.exit(main())
