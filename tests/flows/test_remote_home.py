"""Two handler processes over one home at a real git remote: each acknowledged write is there, whoever was first."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.parts.plugin import GitRemote

from habilis.engine.tokens import token_entry

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "flow-token-0123456789"
ABILITY = """\
id: press
name: Press
version: 1.0.0
summary: For two writers at once.
transport: http
auth:
  - { env: PRESS_TOKEN, label: Token, optional: true }
hosts: [api.press.example]
tools:
  - name: look
    label: Looking
    description: Looks.
    input: { type: object, properties: {} }
    request: { method: GET, url: "https://api.press.example/" }
"""

pytestmark = pytest.mark.part("gitremote")


@contextmanager
def handler(remote: str, folder: Path) -> Iterator[str]:
    """Serve functions/account.py as its host does, over a home at the remote; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    host = re.sub(r"^https?://[^@]*@|^https?://", "", remote).split("/")[0]
    environ = {
        **os.environ,
        "HABILIS_HOME": str(folder),
        "HABILIS_REMOTE": remote,
        "HABILIS_REMOTE_PRIVATE": host,
        "HABILIS_TOKENS": token_entry("admin", TOKEN),
    }
    command = [Path(sys.executable).with_name("functions-framework"), "--source", ROOT / "functions/account.py"]
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--target", "account", "--host", "127.0.0.1", "--port", str(port)],
            env=environ, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            while send(f"http://127.0.0.1:{port}", "GET", "/api/projects/acme/connections")[0] == 0:
                assert process.poll() is None, Path(log.name).read_text(encoding="utf-8")
                assert time.monotonic() < end, "the handler did not start"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def send(url: str, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
    """Send an order; returns status and reply, (0, {}) when nobody answers."""
    request = urllib.request.Request(
        url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
    except OSError:
        return 0, {}


def seed(remote: str, folder: Path) -> None:
    """Put a project and an ability into the remote's home."""
    environ = {
        **os.environ, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@x", "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@x",
    }  # fmt: skip

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, env=environ, check=True, capture_output=True)

    folder.mkdir()
    git("clone", "-q", remote, ".")
    (folder / "projects/acme").mkdir(parents=True)
    (folder / "projects/acme/project.yaml").write_text("name: Acme\n", encoding="utf-8")
    (folder / "abilities/press").mkdir(parents=True)
    (folder / "abilities/press/extension.yaml").write_text(ABILITY, encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "Seed")
    git("push", "-q", "origin", "HEAD:main")


def accounts_at(remote: str, folder: Path) -> set[str]:
    """The accounts that a fresh clone of the remote holds."""
    subprocess.run(["git", "clone", "-q", "-b", "main", remote, str(folder)], check=True, capture_output=True)
    return {path.parent.name for path in folder.glob("projects/acme/connections/*/connection.yaml")}


def signed(remote: str, gitremote: GitRemote) -> str:
    """The remote's address with the password of somebody who may push."""
    return remote.replace("://", f"://writer:{gitremote.passwords['writer']}@")


def test_what_two_handlers_acknowledge_at_once_is_all_in_the_remote(gitremote: GitRemote, tmp_path):
    remote = signed(gitremote.make("two-handlers"), gitremote)
    seed(remote, tmp_path / "seed")
    with handler(remote, tmp_path / "a") as first, handler(remote, tmp_path / "b") as second:

        def add(number: int) -> tuple[str, int]:
            name, url = f"account-{number}", (first, second)[number % 2]
            status, _ = send(url, "POST", "/api/projects/acme/connections", {"ability": "press", "id": name})
            return name, status

        with ThreadPoolExecutor(4) as pool:
            answered = dict(pool.map(add, range(12)))

    acknowledged = {name for name, status in answered.items() if status == 201}
    assert set(answered.values()) <= {201, 409}
    assert len(acknowledged) >= 8
    assert accounts_at(remote, tmp_path / "check") >= acknowledged


def test_a_remote_that_refuses_gives_home_conflict_and_keeps_the_home_as_it_was(gitremote: GitRemote, tmp_path):
    closed = tmp_path / "closed"
    hook = f"#!/bin/sh\n[ -e '{closed}' ] && {{ echo 'guard: not today' >&2; exit 1; }}\nexit 0\n"
    remote = signed(gitremote.make("refusing", hook=hook), gitremote)
    seed(remote, tmp_path / "seed")
    with handler(remote, tmp_path / "a") as url:
        closed.touch()

        status, reply = send(url, "POST", "/api/projects/acme/connections", {"ability": "press", "id": "late"})

        assert (status, reply["error"]["code"]) == (409, "home_conflict")
        assert "guard: not today" in str(reply["error"])
        assert gitremote.passwords["writer"] not in str(reply)
        assert send(url, "GET", "/api/projects/acme/connections")[1] == {"accounts": []}
    assert accounts_at(remote, tmp_path / "after") == set()
