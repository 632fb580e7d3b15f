"""What the tests of functions share: the functions with their home and service, and how a reply is read."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.assets import save_asset
from habilis.home.worktree import WorkTreeHome
from habilis.reading import read_yaml
from habilis.records import Asset
from habilis.sample.service import SampleService

ROOT = Path(__file__).resolve().parents[2]
ROWS = read_yaml((ROOT / "infra" / "functions.yaml").read_bytes(), "functions.yaml").data["functions"]
ARTICLE = Asset(ref="article/hello", title="Hello", text="Some **bold** words.\n")


@dataclass
class Site:
    """The functions, who may call them, and what they work on.

    Attributes:
        tokens: By role; `agent@acme` and `operator@acme` are limited to the project acme, `engine@…` has origins.
        offset: How far the functions' clock is ahead.
    """

    folder: Path
    home: WorkTreeHome
    service: SampleService
    clients: dict[str, FlaskClient]
    tokens: dict[str, str]
    patch: pytest.MonkeyPatch
    offset: timedelta = field(default_factory=timedelta)

    def send(self, function: str, method: str, path: str, order: object = None, *, role: str = "admin") -> TestResponse:
        """Send an order to one function as a caller of that role does."""
        headers = {"Authorization": f"Bearer {self.tokens[role]}"}
        return self.clients[function].open(path, method=method, json=order, headers=headers)

    def raw(self, function: str, path: str = "/", **request: object) -> TestResponse:
        """Send a request as it is, with a good token unless it brings headers of its own."""
        request.setdefault("headers", {"Authorization": f"Bearer {self.tokens['admin']}"})
        return self.clients[function].open(path, **{"method": "POST", **request})

    def call(self, tool: str, *, role: str = "agent", **order: object) -> TestResponse:
        return self.send("call", "POST", "/api/call", {"project": "acme", "tool": tool, **order}, role=role)

    def browse(self, function: str, path: str) -> TestResponse:
        """Open an address as a browser does, without a token."""
        return self.clients[function].get(path)

    def move_clock(self, step: timedelta) -> None:
        self.offset += step
        self.patch.setenv("HABILIS_CLOCK_OFFSET_S", str(self.offset.total_seconds()))

    def add_account(self, project: str = "acme", **fields: object) -> str:
        """Add a signed-in account of the sample ability that may call the service."""
        keys = {"SAMPLE_SITE": self.service.url, "SAMPLE_TOKEN": self.service.new_token()}
        order = AccountOrder(**{"project": project, "ability": "sample-blog", "keys": keys, **fields})
        account = add_account(self.home, order, actor="tests", now=datetime.now(UTC))
        allow_private(self.home, project, account.id, self.service.host, actor="tests")
        return str(account.id)

    def add_channel(self, project: str = "acme") -> str:
        """Add an account that is a channel, and the article to send."""
        save_asset(self.home, project, ARTICLE, actor="tests")
        return self.add_account(project, kind="sample-blog", id="blog")

    def record(self, account: str, project: str = "acme") -> str:
        """Return the account's record, as committed."""
        return self.home.open().require(f"projects/{project}/connections/{account}/connection.yaml").decode()

    def key_text(self, account: str, project: str = "acme") -> str:
        """Return the text of the account's keys; "" for none."""
        path = self.folder / f"projects/{project}/connections/{account}/.env"
        return path.read_text() if path.exists() else ""

    def files(self) -> dict[str, bytes]:
        """Return every file of the home that says something: not git's own, nor locks and caches."""
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        shown = {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}
        silent = (".git/", ".state/locks/", ".state/compiled/")
        return {name: data for name, data in shown.items() if not name.startswith(silent)}


def error(reply: TestResponse) -> dict[str, object]:
    """Return the error of a reply, after checking that it has the one shape."""
    document = json.loads(reply.get_data())
    assert list(document) == ["error"]
    found = document["error"]
    assert {"code", "message", "where", "hint", "retryable", "outcome", "error_id"} <= set(found)
    return found


def same(reply: TestResponse) -> dict[str, object]:
    """Return the error of a reply without its id, for comparing two."""
    return {name: value for name, value in error(reply).items() if name != "error_id"}
