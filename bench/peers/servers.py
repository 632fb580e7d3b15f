"""functions-framework serving one function, as it is deployed, and what a load of 32 connections makes of it."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from peers.home import make_home
from peers.upstream import running

from habilis.engine.tokens import token_entry

TOKEN = "bench-token-0123456789"
ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "functions" / "call.py"
BARE = Path(__file__).with_name("bare_function.py")
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {token}"
wrk.body = [[{body}]]
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("SUM %d %d %d\\n", summary.requests, summary.duration,
                         e.status + e.connect + e.read + e.timeout))
end
"""


class Server:
    """One running function: its address, and how long it took until its first good answer."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, token: str) -> None:
        self.process, self.port, self.token = process, port, token
        self.cold_s = 0.0

    def ask(self, body: str) -> bool:
        """Whether one order is answered well."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
            connection.request("POST", "/api/call", body, headers)
            answer = connection.getresponse()
            return answer.status == 200 and b"blog.example/p/123" in answer.read()
        except OSError:
            return False
        finally:
            connection.close()

    def load(self, body: str, *, connections: int, seconds: int) -> float:
        """Requests per second at so many connections; a failed request ends the bench."""
        wrk = shutil.which("wrk")
        if wrk is None:
            print("bench: wrk is missing (Debian: apt-get install wrk)", file=sys.stderr)
            raise SystemExit(69)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(SCRIPT.format(token=self.token, body=body))
            script.flush()
            command = [wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", script.name]
            address = f"http://127.0.0.1:{self.port}/api/call"
            printed = subprocess.run([*command, address], capture_output=True, text=True, check=True).stdout
        requests, duration_us, errors = map(int, re.search(r"SUM (\d+) (\d+) (\d+)", printed).groups())
        if errors:
            raise SystemExit(f"bench: {errors} of {requests} requests failed")
        return requests / duration_us * 1e6

    def memory_mib(self) -> float:
        """Memory of the server's processes in MiB, shared pages counted once (PSS)."""
        pids = [self.process.pid, *_children(self.process.pid)]
        found = [Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii") for pid in pids]
        return sum(int(re.search(r"^Pss:\s+(\d+)", text, re.M).group(1)) for text in found) / 1024


@contextlib.contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """The environment of both functions, with a service to call and a home, until the block ends."""
    with running() as port, tempfile.TemporaryDirectory() as folder:
        yield {
            "BENCH_UPSTREAM": f"http://127.0.0.1:{port}",
            "HABILIS_HOME": str(make_home(Path(folder), port).private),
            "HABILIS_TOKENS": token_entry("agent", TOKEN),
            "HABILIS_PRIVATE_NETWORK": "per_account",
        }


@contextlib.contextmanager
def serving(source: Path, body: str, environ: Mapping[str, str], token: str) -> Iterator[Server]:
    """Start a function and wait for its first good answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [Path(sys.executable).with_name("functions-framework"), "--source", source, "--target", "call"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Server(process, port, token)
    try:
        while not server.ask(body):
            if process.poll() is not None or time.perf_counter() - start > 60:
                raise SystemExit(f"bench: {source.name} did not answer")
            time.sleep(0.002)
        server.cold_s = time.perf_counter() - start
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def order(arguments: Mapping[str, object]) -> str:
    """The body of one order."""
    return json.dumps({"project": "acme", "tool": "look", "arguments": arguments})


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    direct = [int(child) for child in text.split()]
    return direct + [below for child in direct for below in _children(child)]
