"""A function as a deploy runs it: functions-framework's own server in a process of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.functions.site import ROOT

from habilis.engine.projects import add_project
from habilis.engine.tokens import token_entry
from habilis.home.worktree import init_home

MIB = 1024 * 1024
TOKEN = "hosted-0123456789"
GOOD = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Serve functions/call.py; yields the port and the process id."""
    folder = tmp_path_factory.mktemp("hosted")
    with serving("call", folder, token_entry("agent", TOKEN)) as found:
        yield found


@contextmanager
def serving(name: str, folder: Path, tokens: str) -> Iterator[tuple[int, int]]:
    """Serve a function, over a home in the folder; what the process writes is in `said` beside it."""
    home = init_home(folder / "home")
    add_project(home, "acme", actor="tests")
    home.close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    source = ROOT / "functions" / f"{name}.py"
    words = ["--source", source, "--target", name, "--host", "127.0.0.1", "--port", str(port)]
    settings = {
        "HABILIS_HOME": str(home.private),
        "HABILIS_TOKENS": tokens,
        "HABILIS_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PORT": str(port),
    }
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "functions_framework", *words],
            env={**os.environ, **settings},
            stdout=said,
            stderr=said,
        ) as program,
    ):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        try:
            yield port, program.pid
        finally:
            program.terminate()


def send(port, body, headers, path="/api/call"):
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", path, body=body, headers=headers, encode_chunked=not isinstance(body, bytes))
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def memory_bytes(pid):
    """Return the largest memory that the server's processes ever had in use together."""
    mine = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    status = [Path(f"/proc/{one}/status").read_text() for one in mine]
    return sum(int(text.partition("VmHWM:")[2].split()[0]) for text in status) * 1024


def test_an_order_is_answered(hosted):
    port, _ = hosted
    order = json.dumps({"project": "acme", "tool": "list_posts"}).encode()

    status, reply = send(port, order, GOOD)

    assert (status, reply["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}])
def test_nobody_gets_in_without_a_token(hosted, headers):
    port, _ = hosted

    status, reply = send(port, b"{}", {"Content-Type": "application/json", **headers})

    assert (status, reply["error"]["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("size", [MIB - 100, MIB])
def test_a_chunked_body_arrives_whole(hosted, size):
    port, _ = hosted
    order = b'{"project": "acme", "tool": "' + b"x" * (size - 31) + b'"}'
    pieces = [order[at : at + 65536] for at in range(0, len(order), 65536)]

    status, reply = send(port, iter(pieces), {**GOOD, "Transfer-Encoding": "chunked"})

    assert len(order) == size
    assert (status, reply["error"]["code"]) == (404, "not_found")


def test_one_byte_more_is_too_large_also_in_chunks(hosted):
    port, _ = hosted
    order = b'{"project": "acme", "tool": "' + b"x" * (MIB - 30) + b'"}'
    pieces = [order[at : at + 65536] for at in range(0, len(order), 65536)]

    whole = send(port, order, GOOD)
    chunked = send(port, iter(pieces), {**GOOD, "Transfer-Encoding": "chunked"})

    assert len(order) == MIB + 1
    assert [(status, reply["error"]["code"]) for status, reply in (whole, chunked)] == [(413, "too_large")] * 2


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell memory in /proc")
@pytest.mark.parametrize("headers", [GOOD, {"Content-Type": "application/json"}], ids=["with a token", "without"])
def test_a_huge_body_takes_no_memory(hosted, headers):
    port, pid = hosted
    send(port, b"{}", GOOD)
    before = memory_bytes(pid)

    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        lines = [f"{name}: {value}" for name, value in headers.items()]
        sock.sendall(
            "\r\n".join(["POST /api/call HTTP/1.1", "Host: x", f"Content-Length: {60 * MIB}", *lines, "", ""]).encode()
        )
        try:
            for _ in range(60):
                sock.sendall(b"x" * MIB)
        except OSError:
            pass  # it hung up: nothing asks it to read all of this
        reply = sock.makefile("rb").readline()

    assert reply.split()[1:2] in ([b"413"], [b"401"], [])
    assert memory_bytes(pid) - before < 8 * MIB
    assert send(port, b"{}", {})[0] == 401


def browse(port, path):
    """Open an address as a browser does; returns the status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("relay", "/r/unknown", 404),
        ("relay", "/broker/callback", 404),
        ("connect_callback", "/api/connect/callback", 400),
    ],
)
def test_a_hosted_process_writes_nothing_of_what_a_service_sent(tmp_path, name, path, status):
    with serving(name, tmp_path, token_entry("engine", TOKEN)) as (port, _):
        seen = browse(port, f"{path}?code=code-0123456789&state=state-0123456789&password=password-0123456789")

    assert seen == status
    assert "0123456789" not in (tmp_path / "said").read_text()


def test_a_hosted_relay_writes_nothing_of_what_it_passes_on(tmp_path):
    target = b'{"target": "http://127.0.0.1:8321/api/connect/callback?state=state-0123456789"}'
    with serving("relay", tmp_path, token_entry("engine", TOKEN)) as (port, _):
        status, registered = send(port, target, GOOD, "/r")
        path = urlsplit(registered["url"]).path
        statuses = [browse(port, f"{path}?password=password-0123456789") for _ in range(2)]

    said = (tmp_path / "said").read_text()
    assert (status, statuses) == (201, [303, 410])
    assert "0123456789" not in said
    assert path.removeprefix("/r/") not in said
