"""Ctrl-C while a call is under way: what was sent may have happened, and is said so."""

import json
import os
import signal
import subprocess
import sys
import threading

from tests.upstream import Upstream

HABILIS = [sys.executable, "-c", "from habilis.cli import main; main()"]
DESK = """\
id: desk
name: Keep the desk
version: 0.1.0
summary: Files things without asking.
transport: http
auth:
  - { env: DESK_SITE, label: Site, secret: false }
hosts: ["${DESK_SITE}"]
tools:
  - name: file_post
    label: Filing
    description: Files a post.
    role: manage
    input: { type: object, properties: { title: { type: string } }, required: [title] }
    request: { method: POST, url: "${DESK_SITE}/posts", json: { title: "{{title}}" } }
"""


def test_a_stopped_action_is_written_down_as_unknown(shell, tmp_path):
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "extension.yaml").write_text(DESK)
    arrived = threading.Event()

    def hold(seen):
        arrived.set()
        return (60.0,)

    with Upstream(hold) as upstream:
        shell.ok("abilities", "install", folder)
        shell.ok("accounts", "add", "acme", "desk", "--keys", "-", stdin=f"DESK_SITE={upstream.url('')}".encode())
        shell.ok("accounts", "allow-private", "acme", "desk", upstream.place)
        with subprocess.Popen(
            [*HABILIS, "call", "acme", "file_post", "--arg", "title=Hello", "--json"],
            stdout=subprocess.PIPE,
            env={**os.environ, "HABILIS_HOME": str(shell.folder)},
        ) as program:
            assert arrived.wait(30)
            program.send_signal(signal.SIGINT)
            said = json.loads(program.communicate(timeout=10)[0])

    assert program.returncode == 1
    assert (said["error"]["outcome"], said["error"]["where"]) == ("unknown", "tool 'file_post'")
    log = (shell.folder / "projects/acme/connections/desk/activity.jsonl").read_text().splitlines()
    assert [json.loads(line).get("outcome") for line in log] == [None, "unknown"]
