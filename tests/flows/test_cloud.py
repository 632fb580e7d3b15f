"""A sign-in at a real provider that wants a secret: an engine and a relay, each a process of its own, between them."""

import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from tests.flows.conftest import ABILITIES
from tests.parts.plugin import OpenId

from habilis.engine.projects import add_project
from habilis.engine.tokens import token_entry
from habilis.home.keyfile import KeyFile
from habilis.home.worktree import WorkTreeHome
from habilis.reading import write_yaml

ROOT = Path(__file__).resolve().parents[2]
CONNECTIONS = "/api/projects/acme/connections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A local runner, started as a program.

    Attributes:
        token: Its admin token.
        said: The file of all that it writes.
    """

    url: str
    token: str
    home: Path
    said: Path

    def send(self, path: str, order: object = None, *, method: str = "POST") -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.request(method, f"{self.url}{path}", json=order, headers=headers, timeout=60, trust_env=False)

    def traces(self) -> str:
        """All that it says and keeps, but for keys in their own place."""
        git = subprocess.run(
            ["git", "-C", self.home, "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
        ).stdout
        kept = [path for path in self.home.rglob("*") if path.is_file() and path.name != ".env"]
        return b"".join([git, *(path.read_bytes() for path in (*kept, self.said))]).decode("latin-1")


@contextmanager
def running(folder: Path, *options: str, **environment: str) -> Iterator[Running]:
    home, said = folder / "home", folder / "said"
    folder.mkdir()
    command = [sys.executable, ROOT / "local_runner.py", "--port", "0", "--home", home, *options]
    with said.open("w") as output:
        program = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    try:
        deadline = time.monotonic() + 60
        while "curl" not in (text := said.read_text()) and time.monotonic() < deadline and program.poll() is None:
            time.sleep(0.05)
        assert "curl" in text, text
        told = dict(line.split()[:2] for line in text.splitlines() if line.startswith(("functions ", "token ")))
        yield Running(url=told["functions"], token=told["token"], home=home, said=said)
    finally:
        program.terminate()
        program.wait(20)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An engine without a public address, the relay that it uses, and the provider's word for the relay's application.

    Attributes:
        clients: What the provider knows of the applications that the relay can be, by a name for each.
        providers: The relay's configuration.
    """

    engine: Running
    relay: Running
    relay_url: str
    oidc: OpenId
    clients: dict[str, dict]
    providers: Path

    def choose(self, name: str) -> str:
        """Let the relay be one of its applications, and add an account of the same name, not signed in yet."""
        site = urlsplit(self.oidc.issuer).netloc
        part = {
            "authorize_url": self.oidc.authorize_url,
            "token_url": self.oidc.token_url,
            "issuer": self.oidc.issuer,
            "client_id": self.clients[name]["client_id"],
            "client_secret_env": f"SECRET_{name.upper()}",
            "client_auth": "basic",
            "scopes": ["openid", "notes.read"],
            "private_hosts": [site],
        }
        self.providers.write_bytes(write_yaml({"part": part}))
        order = {"ability": "figures", "id": name, "keys": {"FIGURES_SITE": self.oidc.issuer}}
        added = self.engine.send(CONNECTIONS, order)
        opened = self.engine.send(f"{CONNECTIONS}/{name}/private-hosts", {"host": site})
        assert (added.status_code, opened.status_code) == (201, 200), added.text + opened.text
        return name

    def sign_in(self, account: str) -> list[httpx.Response]:
        """Sign in as a person does from the account's button; returns each answer that the browser got."""
        started = self.engine.send(f"{CONNECTIONS}/{account}/connect", {})
        assert started.status_code == 200, started.text
        with httpx.Client(timeout=60, trust_env=False) as browser:
            answers = [browser.get(started.json()["url"])]
            while answers[-1].next_request is not None:
                answers.append(browser.send(answers[-1].next_request))
        return answers

    def keys(self, account: str) -> dict[str, str]:
        """The account's keys."""
        return KeyFile(self.engine.home / f"projects/acme/connections/{account}/.env").load()

    def call(self, account: str) -> httpx.Response:
        return self.engine.send("/api/call", {"project": "acme", "tool": "whose", "account": account})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, oidc: OpenId) -> Iterator[World]:
    folder, port, token = tmp_path_factory.mktemp("cloud"), free_port(), secrets.token_urlsafe(32)
    relay_url, providers = f"http://127.0.0.1:{port}", folder / "providers.yaml"
    says = {
        "plain": {},
        "used": {},
        "brief": {"access_ttl_s": 30},
        "denied": {"denies": True},
        "narrow": {"withholds": "notes.read"},
    }
    clients = {name: oidc.register(f"{relay_url}/broker/callback", **client) for name, client in says.items()}
    of_relay = {f"SECRET_{name.upper()}": client["client_secret"] for name, client in clients.items()}
    of_relay |= {"HABILIS_TOKENS": token_entry("engine", token), "HABILIS_PROVIDERS": str(providers)}
    of_engine = {"HABILIS_RELAY_URL": relay_url, "HABILIS_RELAY_TOKEN": token}
    with ExitStack() as stack:
        relay = stack.enter_context(running(folder / "relay", "--relay-port", str(port), **of_relay))
        engine = stack.enter_context(running(folder / "engine", **of_engine))
        with closing(WorkTreeHome(engine.home)) as home:
            add_project(home, "acme", actor="tests")
        installed = engine.send("/api/install", {"spec": str(ABILITIES / "figures"), "project": "acme"})
        assert installed.status_code == 201, installed.text
        yield World(engine=engine, relay=relay, relay_url=relay_url, oidc=oidc, clients=clients, providers=providers)


def free_port() -> int:
    """A port that the kernel takes for no outgoing connection meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener:
            if listener.connect_ex(("127.0.0.1", port)):
                return port


def test_a_person_signs_in_through_the_relay_and_calls_work(world):
    account = world.choose("plain")

    answers = world.sign_in(account)
    called = world.call(account)

    keys, client = world.keys(account), world.clients[account]
    assert (answers[-1].status_code, "is signed in" in answers[-1].text) == (200, True)
    assert (called.status_code, called.json()["text"]) == (200, "ada")
    assert keys.keys() == {"FIGURES_SITE", "FIGURES_TOKEN", "FIGURES_TOKEN_EXPIRES_AT", "FIGURES_REFRESH_TOKEN"}
    assert client["client_secret"] not in keys.values()
    assert [event["event"] for event in world.oidc.events(client["client_id"])] == [
        "authorization.success", "grant.success"
    ]  # fmt: skip
    # Relay and engine pass the code on in silence, and the person ends at an address that says nothing.
    ours = [answer for answer in answers if not str(answer.url).startswith(world.oidc.issuer)]
    assert [answer.url.path.rpartition("/")[0] for answer in ours] == [
        "/api/connect/start", "/broker", "/api/connect", "/api/connect/callback"
    ]  # fmt: skip
    assert {(answer.headers["Referrer-Policy"], answer.headers["Cache-Control"]) for answer in ours} == {
        ("no-referrer", "no-store")
    }
    assert answers[-1].url.query == b""
    passed = dict(parse_qsl(ours[1].url.query.decode()))
    assert passed.keys() == {"code", "state", "iss"}
    secret = [passed["code"], passed["state"], client["client_secret"], keys["FIGURES_TOKEN"]]
    traces = world.engine.traces() + world.relay.traces()
    assert [value for value in (*secret, keys["FIGURES_REFRESH_TOKEN"]) if value in traces] == []


def test_a_return_that_was_used_brings_nobody_to_the_engine_again(world):
    account = world.choose("used")
    answers = world.sign_in(account)
    before = world.keys(account)
    passed = next(answer for answer in answers if str(answer.url).startswith(world.relay_url))

    again = httpx.get(passed.url, trust_env=False)
    straight = httpx.get(passed.headers["Location"], trust_env=False)

    assert (again.status_code, straight.status_code) == (410, 400)
    assert world.keys(account) == before


def test_a_person_who_says_no_leaves_the_account_as_it_was(world):
    account = world.choose("denied")

    answers = world.sign_in(account)

    assert (answers[-1].status_code, answers[-1].url.query) == (400, b"")
    assert world.keys(account).keys() == {"FIGURES_SITE"}


def test_permissions_that_were_not_given_are_named(world):
    account = world.choose("narrow")

    answers = world.sign_in(account)

    assert (answers[-1].status_code, "notes.read missing" in answers[-1].text) == (200, True)
    assert world.call(account).status_code == 200


def test_a_token_is_renewed_through_the_relay_until_the_provider_ends_the_sign_in(world):
    account = world.choose("brief")
    world.sign_in(account)
    signed_in = world.keys(account)

    first = world.call(account)  # it lives for half a minute, which is too short to be relied on
    renewed = world.keys(account)
    reused = httpx.post(
        world.oidc.token_url,
        data={"grant_type": "refresh_token", "refresh_token": signed_in["FIGURES_REFRESH_TOKEN"]},
        auth=(world.clients[account]["client_id"], world.clients[account]["client_secret"]),
        trust_env=False,
    )
    ended = world.call(account)

    assert (first.status_code, first.json()["text"]) == (200, "ada")
    for name in ("FIGURES_TOKEN", "FIGURES_REFRESH_TOKEN"):
        assert renewed[name] not in {"", signed_in[name]}
    assert reused.json()["error"] == "invalid_grant"  # used twice, it takes all that came of the sign-in with it
    assert (ended.status_code, ended.json()["error"]["code"]) == (409, "needs_reconnect")
    assert world.keys(account) == renewed
