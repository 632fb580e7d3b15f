"""What the starters beside this file share: a counterpart answers, stays in the foreground and leaves nothing behind.

A starter prints one line of JSON on stdout as soon as its service answers (`name`, `pid`, `url`, `port`, `data`,
`start_s` and what else a test has to know) and stays. It ends on SIGTERM or Ctrl-C, when the process that started it
ends, and when one of its own programs ends. All that it started ends with it and the folder it made goes, even after
`kill -9`. Exit 69: a program is missing. Exit 1: the service did not come up; the logs are on stderr.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn

from needs import ABSENT, how_to_install, missing, program

HOST = "127.0.0.1"
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def free_port() -> int:
    """Return a port of this machine that nobody listens on.

    It lies below the range from which the kernel takes ports for outgoing connections: in there, any program's
    connection could take the port before the service does.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind((HOST, port))
            return port


def options(name: str, doc: str) -> argparse.ArgumentParser:
    """Return a parser for what every starter understands."""
    parser = argparse.ArgumentParser(
        prog=f"{name}.py", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="where to listen; 0, the default, takes a free port")
    parser.add_argument("--data", type=Path, help="a new folder to work in; the default is a temporary one")
    parser.add_argument("--keep", action="store_true", help="leave the folder behind")
    return parser


class Counterpart:
    """The programs of one part and the folder they work in; use it in a `with` block.

    Attributes:
        port: Where the service listens.
        url: Its address, without a slash at the end.
        data: The folder for files, sockets and logs.
    """

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        if lacking := missing(name):
            print(f"{name}: {', '.join(lacking)} is missing ({how_to_install(name)})", file=sys.stderr)
            raise SystemExit(ABSENT)
        self.name = name
        self.port = arguments.port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self.data = Path(arguments.data or tempfile.mkdtemp(prefix=f"{name}-")).resolve()
        self.data.mkdir(parents=True, exist_ok=True)
        self.data.chmod(0o755)  # nginx reads it as another user
        self._keep = arguments.keep
        self._parent = os.getppid()
        self._began = time.monotonic()
        self._programs: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Counterpart":
        """Start the keeper: a small process that outlives this one by a moment, to end what it left.

        It reads process groups from a pipe. When this side of the pipe closes, in good order or by `kill -9`, it ends
        them and removes the folder. (The kernel's parent-death signal reaches neither grandchildren nor programs that
        change their user.)
        """
        for number in _ENDING:
            signal.signal(number, _end)
        hear, self._tell = os.pipe()
        if os.fork() == 0:
            os.close(self._tell)
            _keep_house(hear, None if self._keep else self.data)
        os.close(hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the keeper end everything, and wait for it."""
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)
        os.close(self._tell)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()

    def start(
        self, *argv: str | Path, env: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program that serves, in a process group of its own; it logs into the folder."""
        name = Path(argv[0]).name
        with (self.data / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [program(str(argv[0])) or argv[0], *argv[1:]],
                env={**os.environ, **(env or {})},
                cwd=folder or self.data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        os.write(self._tell, f"{process.pid}\n".encode())
        self._programs.append(process)
        return process

    def forget(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a program that was told to end."""
        self._programs.remove(process)
        process.wait(30)

    def run(self, *argv: str | Path, env: Mapping[str, str] | None = None) -> str:
        """Run a program to its end and return what it printed."""
        done = subprocess.run(
            [program(str(argv[0])) or argv[0], *argv[1:]],
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            self.fail(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
        return done.stdout

    def until(self, ready: Callable[[], bool], what: str, *, within_s: float = 60) -> None:
        """Wait until `ready` says so; a refused connection counts as not yet."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            self._check_programs()
            try:
                if ready():
                    return
            except OSError:
                pass
            time.sleep(0.02)
        self.fail(f"{what} did not happen within {within_s:g} s")

    def until_answering(self, path: str) -> None:
        """Wait until the service answers a GET of `path` with anything but a fault of its own."""

        def answers() -> bool:
            try:
                with urllib.request.urlopen(self.url + path, timeout=20) as answer:
                    return answer.status < 500
            except urllib.error.HTTPError as error:
                with error:
                    return error.code < 500

        self.until(answers, f"an answer to GET {path}")

    def stay(self, **facts: object) -> NoReturn:
        """Say that the service answers, then stay until it is time to end."""
        start_s = round(time.monotonic() - self._began, 2)
        line = {"name": self.name, "pid": os.getpid(), "url": self.url, "port": self.port, "data": str(self.data)}
        print(json.dumps({**line, "start_s": start_s, **facts}), flush=True)
        while os.getppid() == self._parent:
            self._check_programs()
            time.sleep(0.1)
        raise SystemExit(0)

    def fail(self, why: str) -> NoReturn:
        """Say why on stderr, with the end of every log, and end with 1."""
        print(f"{self.name}: {why}", file=sys.stderr)
        for log in sorted(self.data.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}", file=sys.stderr)
        raise SystemExit(1)

    def _check_programs(self) -> None:
        for process in self._programs:
            if process.poll() is not None:
                self.fail(f"{Path(process.args[0]).name} ended with {process.returncode}")


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _keep_house(hear: int, folder: Path | None) -> NoReturn:
    """Wait for the starter's end, then end its programs and remove the folder."""
    try:
        os.setsid()
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        with os.fdopen(hear) as pipe:
            groups = [int(line) for line in pipe]
        # No polite signal first: nothing they hold is kept, and the folder must not change while it is removed.
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while folder and folder.exists() and time.monotonic() < deadline:
            shutil.rmtree(folder, ignore_errors=True)  # again, should one of them still have been writing
    finally:
        os._exit(0)
