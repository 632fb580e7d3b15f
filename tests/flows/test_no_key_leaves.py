"""A key lies in its `.env` and nowhere else: not in git, not in a record, not in anything that is shown or logged."""

import base64
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from habilis.engine.accounts import AccountOrder, add_account, allow_private, list_accounts, remove_account
from habilis.engine.assets import save_asset
from habilis.engine.calls import call_tool
from habilis.engine.installs import install, plan_install
from habilis.engine.outside import Outside
from habilis.engine.projects import add_project
from habilis.engine.publishing import PublishOrder, approve, ask_publish
from habilis.engine.rendering import as_json
from habilis.engine.resolve import CallOrder
from habilis.engine.settings import clock
from habilis.engine.snapshots import snapshot_project
from habilis.errors import HabilisError
from habilis.home.worktree import init_home
from habilis.records import Asset
from habilis.redaction import clean, recording
from habilis.sample.service import SampleService
from habilis.sample.story import ABILITY
from habilis.transports.http import HttpTransport

ECHO = """\
id: echo
name: Echo
version: 0.1.0
summary: A service that says back what it was sent.
transport: http
service: sample-blog
auth:
  - { env: SAMPLE_SITE, label: Site, secret: false }
  - { env: SAMPLE_TOKEN, label: Token }
  - { env: CANARY_TWO, label: Second, optional: true }
  - { env: CANARY_THREE, label: Third, optional: true }
hosts: ["${SAMPLE_SITE}"]
tools:
  - name: say_back
    label: Saying back
    description: Files a post that holds every key.
    role: manage
    target: "{{title}}"
    input: { type: object, properties: { title: { type: string } }, required: [title] }
    request:
      method: POST
      url: "${SAMPLE_SITE}/api/posts?key=${CANARY_TWO}"
      headers: { Authorization: "Bearer ${SAMPLE_TOKEN}", X-Key: "${CANARY_THREE}" }
      json: { title: "{{title}}", html: "${CANARY_TWO} ${CANARY_THREE} ${SAMPLE_TOKEN}" }
  - name: fail
    label: Failing
    description: Asks for a page that is not there, the key in its address.
    input: { type: object, properties: {} }
    request:
      method: GET
      url: "${SAMPLE_SITE}/api/stats?from=${CANARY_TWO}"
      headers: { Authorization: "Bearer ${SAMPLE_TOKEN}" }
"""


def forms(secret: str) -> list[bytes]:
    """The forms in which a key may hide."""
    return [secret.encode(), base64.b64encode(secret.encode()).rstrip(b"="), quote(secret, safe="").encode()]


def git_objects(home: Path) -> bytes:
    """The content of every object of the repository, reachable or not."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, cwd=home, capture_output=True, check=True).stdout


def holders(home: Path, secret: str) -> set[str]:
    """The files of the home that hold a key in any form, git's own left out."""
    return {
        path.relative_to(home).as_posix()
        for path in home.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(home).parts
        for form in forms(secret)
        if form in path.read_bytes()
    }


@pytest.mark.part("git")
def test_three_keys_are_used_in_every_way_and_found_in_their_env_alone(tmp_path, capfd):
    folder, shown = tmp_path / "home", []
    echo = tmp_path / "echo"
    echo.mkdir()
    (echo / "extension.yaml").write_text(ECHO, encoding="utf-8")
    transport = HttpTransport(private="per_account")
    numbers = iter(range(1000))
    outside = Outside(transport=transport, now=clock(), sleep=time.sleep, token=lambda: f"token-number-{next(numbers)}")
    home = init_home(folder)
    with recording(), SampleService() as service:
        token = service.new_token()
        canaries = {"SAMPLE_TOKEN": token, "CANARY_TWO": "canary-two/+ é", "CANARY_THREE": "canary-three-0451"}
        add_project(home, "acme", actor="tests")
        save_asset(home, "acme", Asset(ref="article/a", title="A", text="Words.\n"), actor="tests")
        for source in (str(ABILITY), str(echo)):
            install(home, plan_install(home, source), actor="tests", now=outside.now())
        for ability, kind, keys in (
            ("sample-blog", "sample-blog", {"SAMPLE_TOKEN": token}),
            ("echo", "", canaries),
        ):
            order = AccountOrder(project="acme", ability=ability, kind=kind, keys={"SAMPLE_SITE": service.url, **keys})
            add_account(home, order, actor="tests", now=outside.now())
            allow_private(home, "acme", ability, service.host, actor="tests")

        said = call_tool(
            home,
            CallOrder(project="acme", tool="say_back", arguments={"title": "T"}, account="echo"),
            outside,
            actor="a",
        )
        shown.append(as_json(said))
        with pytest.raises(HabilisError) as caught:
            call_tool(home, CallOrder(project="acme", tool="fail", arguments={}, account="echo"), outside, actor="a")
        shown.append(str(caught.value))
        asked = ask_publish(
            home, PublishOrder(project="acme", asset="article/a", channel="sample-blog"), outside, actor="a"
        )
        shown += [asked.as_data(), as_json(approve(home, "acme", asked.id, outside, actor="b"))]
        shown.append(as_json(snapshot_project(home, "acme", outside, actor="c")))
        shown.append(as_json(list_accounts(home, "acme")))
        seen = repr([clean(entry) for entry in shown]).encode() + b"".join(part.encode() for part in capfd.readouterr())
        objects = git_objects(folder)

        for secret in canaries.values():
            assert not [form for form in forms(secret) if form in seen]
            assert not [form for form in forms(secret) if form in objects]
            assert all(path.endswith("/.env") for path in holders(folder, secret))
        assert holders(folder, token) == {
            "projects/acme/connections/echo/.env", "projects/acme/connections/sample-blog/.env",
        }  # fmt: skip

        for account in ("echo", "sample-blog"):
            remove_account(home, "acme", account, actor="tests")
        for secret in canaries.values():
            assert holders(folder, secret) == set()
            assert not [form for form in forms(secret) if form in git_objects(folder)]
    tracked = subprocess.run(
        ["git", "log", "--all", "--format=", "--name-only"], cwd=folder, capture_output=True, check=True, text=True
    ).stdout
    assert not [name for name in tracked.split() if name.endswith((".env", "activity.jsonl"))]
    transport.close()
