"""The functions as their host runs them, over a real home with the sample ability, beside the real sample service."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import functions_framework
import pytest
from flask.testing import FlaskClient
from tests.functions.site import ROOT, ROWS, Site

from habilis.engine.installs import install, plan_install
from habilis.engine.projects import add_project
from habilis.engine.tokens import token_entry
from habilis.home.worktree import WorkTreeHome, init_home
from habilis.sample.service import SampleService
from habilis.sample.story import ABILITY

CALLERS = (
    *("admin", "operator", "agent", "scheduler", "admin@acme", "operator@acme", "agent@acme"),
    *("engine", "engine@https://relayed.example,https://second.example:8443"),
)


@pytest.fixture(scope="session")
def clients() -> Iterator[dict[str, FlaskClient]]:
    """Every function, made by the framework that hosts it."""
    with pytest.MonkeyPatch.context() as patch:
        for mark in ("FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE"):  # the framework sets them and leaves them set
            patch.setenv(mark, "")
        yield {
            row["name"]: functions_framework.create_app(
                row["name"], str(ROOT / "functions" / f"{row['name']}.py"), "http"
            ).test_client()
            for row in ROWS
        }


@pytest.fixture
def service() -> Iterator[SampleService]:
    with SampleService() as service:
        yield service


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the projects acme and beta and the sample ability, to be copied."""
    folder = tmp_path_factory.mktemp("furnished") / "home"
    home = init_home(folder)
    for project in ("acme", "beta"):
        add_project(home, project, actor="tests")
    install(home, plan_install(home, str(ABILITY)), actor="tests", now=datetime.now(UTC))
    home.close()
    return folder


@pytest.fixture
def site(
    furnished: Path,
    tmp_path: Path,
    service: SampleService,
    clients: dict[str, FlaskClient],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Site]:
    """The functions with a home of the test's own; their settings point to it."""
    folder = tmp_path / "home"
    shutil.copytree(furnished, folder, symlinks=True)
    tokens = {name: f"{name}-{os.urandom(16).hex()}" for name in CALLERS}
    entries = [token_entry(name.split("@")[0], token, tuple(name.split("@")[1:])) for name, token in tokens.items()]
    monkeypatch.setenv("HABILIS_HOME", str(folder))
    monkeypatch.setenv("HABILIS_TOKENS", " ".join(entries))
    monkeypatch.setenv("HABILIS_PRIVATE_NETWORK", "per_account")
    monkeypatch.setenv("HABILIS_PUBLIC_URL", "https://habilis.example")
    home = WorkTreeHome(folder)
    yield Site(folder=folder, home=home, service=service, clients=clients, tokens=tokens, patch=monkeypatch)
    home.close()
