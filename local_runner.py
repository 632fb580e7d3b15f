"""Runs every function on this machine, with the relay and the schedule, for work without a cloud.

python local_runner.py                        functions on 127.0.0.1, a home in ~/.habilis
python local_runner.py --clock 2026-12-01T04:14:50Z
python local_runner.py --demo                 the whole story on an embedded sample service
"""

import argparse
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from habilis.engine.settings import clock
from habilis.engine.tokens import token_entry
from habilis.errors import HabilisError
from habilis.home.worktree import init_home
from habilis.reading import read_yaml
from habilis.schedule import due

ROOT = Path(__file__).resolve().parent
_TICK_S = 1.0
_ENVIRONMENT = ("HABILIS_HOME", "HABILIS_TOKENS", "HABILIS_PUBLIC_URL", "HABILIS_RELAY_URL", "HABILIS_RELAY_TOKEN",
                "HABILIS_PRIVATE_NETWORK", "HABILIS_CLOCK_OFFSET_S", "PORT")  # fmt: skip

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One function of `infra/functions.yaml`: its name, its routes, and when the schedule calls it."""

    name: str
    routes: tuple[str, ...]
    cron: str = ""
    zone: str = "UTC"
    body: str = "{}"


def read_rows(path: Path = ROOT / "infra" / "functions.yaml") -> list[Row]:
    """The table of functions; ManifestInvalid when it cannot be read."""
    data: Any = read_yaml(path.read_bytes(), path.name).data
    return [
        Row(
            name=row["name"],
            routes=tuple(row["routes"]),
            cron=row.get("cron", ""),
            zone=row.get("zone", "UTC"),
            body=json.dumps(row.get("body", {})),
        )
        for row in data["functions"]
    ]


class Runner:
    """The functions of one home on loopback, their relay on a port of its own, and the schedule.

    Attributes:
        url: Where the functions answer, no slash at the end.
        token: An admin token, new for each run.
    """

    def __init__(self, home: Path, *, port: int = 0, start: datetime | None = None) -> None:
        from werkzeug.serving import make_server

        init_home(home)
        self.token, self._scheduler_token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.rows = read_rows()
        self._before = {name: os.environ.get(name) for name in _ENVIRONMENT}
        engine = make_server("127.0.0.1", port, self._answer, threaded=True, request_handler=_quiet())
        relay = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_quiet())
        self._servers = [engine, relay]
        self.url = f"http://127.0.0.1:{engine.server_port}"
        self.relay_url = f"http://127.0.0.1:{relay.server_port}"
        os.environ.update({
            "HABILIS_HOME": str(home),
            "HABILIS_TOKENS": " ".join([
                token_entry("admin", self.token), token_entry("scheduler", self._scheduler_token),
            ]),
            "HABILIS_PUBLIC_URL": self.url,
            "HABILIS_RELAY_URL": self.relay_url,
            "HABILIS_RELAY_TOKEN": self.token,
            "HABILIS_PRIVATE_NETWORK": "per_account",
            "PORT": str(engine.server_port),
        })  # fmt: skip
        self.set_clock(start or datetime.now(UTC))
        self._apps = {row.name: _load(row.name) for row in self.rows}
        self._last_tick = self.now()
        self._ticking = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in self._servers]
        self._threads.append(threading.Thread(target=self._keep_time, daemon=True))
        for thread in self._threads:
            thread.start()

    def now(self) -> datetime:
        """The runner's time."""
        return clock(float(os.environ["HABILIS_CLOCK_OFFSET_S"]))()

    def set_clock(self, moment: datetime) -> None:
        """Let it be `moment` now; the clock goes on from there."""
        os.environ["HABILIS_CLOCK_OFFSET_S"] = f"{(moment - datetime.now(UTC)).total_seconds():.3f}"

    def tick(self) -> list[str]:
        """Call every function whose schedule came due since the last tick; returns a line for each."""
        with self._ticking:
            now, last, self._last_tick = self.now(), self._last_tick, self.now()
            fired = []
            for row in self.rows:
                for moment in due(row.cron, row.zone, after=last, until=now) if row.cron else ():
                    status, _ = self.post(row.routes[0], row.body, token=self._scheduler_token)
                    fired.append(f"{moment.isoformat()} {row.name}: {status}")
            return fired

    def post(self, path: str, body: str, *, token: str) -> tuple[str, bytes]:
        """Send one order to a function as the schedule does; returns status and answer."""
        from werkzeug.test import Client

        headers = {"Authorization": f"Bearer {token}", "Host": self.url.removeprefix("http://")}
        reply = Client(self._answer).post(path, data=body, content_type="application/json", headers=headers)
        return reply.status, reply.get_data()

    def close(self) -> None:
        """Stop answering and give the environment back."""
        self._stopped.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join()
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Hand a request to the function whose route fits.

        Only names of this machine are answered: a page of another site could otherwise reach the functions under its
        own name (DNS rebinding).
        """
        host = str(environ.get("HTTP_HOST", "")).rsplit(":", 1)[0]
        path = str(environ.get("PATH_INFO", ""))
        if host not in {"127.0.0.1", "localhost", "[::1]"}:
            return _plain(start, "421 Misdirected Request", "this runner answers to 127.0.0.1 and localhost only")
        if path == "/clock":
            return self._clock(environ, start)
        for row in self.rows:
            if any(_fits(route, path) for route in row.routes):
                return self._apps[row.name](environ, start)
        return _plain(start, "404 Not Found", "there is no function here; see infra/functions.yaml")

    def _clock(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """GET /clock tells the time; POST {"now": …} moves it and says what came due."""
        if environ.get("HTTP_AUTHORIZATION") != f"Bearer {self.token}":
            return _plain(start, "401 Unauthorized", "send the runner's token")
        fired: list[str] = []
        if environ["REQUEST_METHOD"] == "POST":
            try:
                order = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
                self.set_clock(datetime.fromisoformat(order["now"]).astimezone(UTC))
            except (ValueError, KeyError, TypeError):
                return _plain(start, "400 Bad Request", 'send {"now": "2026-12-01T04:15:00Z"}')
            fired = self.tick()
        return _plain(start, "200 OK", json.dumps({"now": self.now().isoformat(), "fired": fired}))

    def _keep_time(self) -> None:
        while not self._stopped.wait(_TICK_S):
            for line in self.tick():
                print(f"schedule  {line}", flush=True)


def _load(name: str) -> WsgiApp:
    """The function's application, as its host makes it; the host's own marks in the environment are taken back."""
    from functions_framework import create_app

    marks = ("FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE")
    before = {mark: os.environ.get(mark) for mark in marks}
    try:
        app: WsgiApp = create_app(name, str(ROOT / "functions" / f"{name}.py"), "http").wsgi_app
    finally:
        for mark, value in before.items():
            if value is None:
                os.environ.pop(mark, None)
            else:
                os.environ[mark] = value
    return app


def _fits(route: str, path: str) -> bool:
    """Whether a path fits a route, in which `*` stands for one part."""
    wanted, given = route.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(given) and all(part in {"*", got} for part, got in zip(wanted, given, strict=True))


def _plain(start: Callable[..., Any], status: str, text: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
    return [f"{text}\n".encode()]


def _quiet() -> Any:  # noqa: ANN401 - a class of a library loaded late
    from werkzeug.serving import WSGIRequestHandler

    class Quiet(WSGIRequestHandler):
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing: a line of a request may hold what came back from a sign-in."""

    return Quiet


def main() -> int:
    """Run until it is stopped; with --demo until the story is told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=None, help="the home (default: HABILIS_HOME or ~/.habilis)")
    parser.add_argument("--port", type=int, default=8321, help="port of the functions; 0 takes a free one")
    parser.add_argument("--clock", type=datetime.fromisoformat, help="start at this moment, as 2026-12-01T04:14:50Z")
    parser.add_argument("--demo", action="store_true", help="tell the whole story and end")
    options = parser.parse_args()
    if options.demo:
        from habilis.sample.story import tell

        return tell(Runner, home=options.home)
    home = (options.home or Path(os.environ.get("HABILIS_HOME", "~/.habilis"))).expanduser()
    try:
        with Runner(home, port=options.port, start=options.clock) as runner:
            print(
                f"home       {home}\nfunctions  {runner.url}\nrelay      {runner.relay_url}\ntoken      {runner.token}"
            )
            for row in runner.rows:
                print(f"  {row.name:<17}{row.routes[0]}" + (f"   every {row.cron} {row.zone}" if row.cron else ""))
            print("Ctrl-C stops it.", flush=True)
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        return 0
    except (HabilisError, OSError) as error:
        print(f"habilis: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
