"""A home with the sample ability installed, the sample service running, and a clock that a test sets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.engine.press import Press, furnish

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.assets import save_asset
from habilis.engine.installs import install, plan_install
from habilis.engine.outside import Outside
from habilis.engine.projects import add_project
from habilis.home.worktree import WorkTreeHome, init_home
from habilis.records import Account, Asset
from habilis.redaction import recording
from habilis.sample.service import SampleService
from habilis.sample.story import ABILITY
from habilis.transports.http import HttpTransport

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ARTICLE = Asset(
    ref="article/hello", title="Hello", text="Some **bold** words.\n", summary="A greeting.", tags=("news", "first")
)


@dataclass
class Clock:
    """A clock that stands until a test moves it."""

    moment: datetime = NOON

    def __call__(self) -> datetime:
        return self.moment

    def move(self, step: timedelta) -> None:
        self.moment += step

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.move(timedelta(seconds=seconds))


@dataclass
class World:
    """The home and all around it, for one test."""

    home: WorkTreeHome
    service: SampleService
    outside: Outside
    clock: Clock

    def add_account(self, **fields: object) -> Account:
        """Add a signed-in account of the sample ability that may call the service."""
        keys = {"SAMPLE_SITE": self.service.url, "SAMPLE_TOKEN": self.service.new_token()}
        order = replace(AccountOrder(project="acme", ability="sample-blog", keys=keys), **fields)
        account = add_account(self.home, order, actor="tests", now=self.clock())
        allow_private(self.home, "acme", account.id, self.service.host, actor="tests")
        return account

    def add_channel(self) -> Account:
        """Add an account that is a channel, and the article to send."""
        save_asset(self.home, "acme", ARTICLE, actor="tests")
        return self.add_account(kind="sample-blog", id="blog")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service() -> Iterator[SampleService]:
    with SampleService() as service:
        yield service


@pytest.fixture
def home(tmp_path: Path, clock: Clock) -> Iterator[WorkTreeHome]:
    home = init_home(tmp_path / "home", clock=clock)
    yield home
    home.close()


@pytest.fixture
def world(home: WorkTreeHome, service: SampleService, clock: Clock) -> Iterator[World]:
    """A home with the project acme and the sample ability, a fresh ledger of keys, and the real way out."""
    add_project(home, "acme", name="Acme", actor="tests")
    install(home, plan_install(home, str(ABILITY)), actor="tests", now=clock())
    transport = HttpTransport(private="per_account")
    secrets = iter(f"state-{number:040d}" for number in range(1000))
    outside = Outside(transport=transport, now=clock, sleep=clock.sleep, token=lambda: next(secrets))
    with recording():
        yield World(home=home, service=service, outside=outside, clock=clock)
    transport.close()


@pytest.fixture
def press(world: World, tmp_path: Path) -> Iterator[Press]:
    """A service that takes articles with files in steps, an account of it, and an asset with two files."""
    with Press() as press:
        furnish(world.home, tmp_path / "press", press, now=world.clock())
        yield press
