"""A home with one project, in which a story installs abilities, adds accounts and makes calls."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.actions import activity_log
from habilis.engine.approvals import Approval
from habilis.engine.assets import asset_folder, save_asset
from habilis.engine.calls import call_tool
from habilis.engine.downloads import CallResult
from habilis.engine.installs import install, plan_install
from habilis.engine.outside import Outside
from habilis.engine.projects import add_project
from habilis.engine.publishing import approve
from habilis.engine.resolve import CallOrder
from habilis.home.activity import Entry
from habilis.home.worktree import WorkTreeHome, init_home
from habilis.records import Account, Asset
from habilis.redaction import recording
from habilis.transports.http import HttpTransport

ABILITIES = Path(__file__).resolve().parents[1] / "abilities"


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """The home, and short words for what people do in it.

    Attributes:
        pauses: Seconds of every pause that a call asked for; none is made.
    """

    home: WorkTreeHome
    outside: Outside
    pauses: list[float] = field(default_factory=list)

    def add(self, ability: str, keys: dict[str, str], *, private: str = "", kind: str = "") -> Account:
        """Install an ability, of `tests/abilities` or one that ships, and add an account of it.

        Args:
            ability: Its id.
            keys: What the account holds.
            private: An address on this machine that it may call.
            kind: The channel kind; "" for a plain account.
        """
        folder = ABILITIES / ability
        spec = str(folder) if folder.is_dir() else ability
        install(self.home, plan_install(self.home, spec), actor="tests", now=self.outside.now())
        order = AccountOrder(project="acme", ability=ability, id=ability, keys=keys, kind=kind)
        account = add_account(self.home, order, actor="tests", now=self.outside.now())
        if private:
            allow_private(self.home, "acme", account.id, private.removeprefix("http://"), actor="tests")
        return account

    def add_asset(self, asset: Asset, contents: dict[str, bytes]) -> None:
        """Save an asset with its files, each by the name of its file."""
        folder = self.home.private / asset_folder("acme", asset.ref)
        folder.mkdir(parents=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        save_asset(self.home, "acme", asset, actor="tests")

    def call(self, tool: str, *, asset: str = "", **arguments: object) -> CallResult:
        """Make a call, and say yes where a person is asked."""
        order = CallOrder(project="acme", tool=tool, arguments=arguments, asset=asset)
        done = call_tool(self.home, order, self.outside, actor="tests")
        if isinstance(done, Approval):
            done = approve(self.home, "acme", done.id, self.outside, actor="tests")
        assert isinstance(done, CallResult)
        return done

    def actions(self, account: Account) -> list[Entry]:
        """What the account's log says, the newest first."""
        return activity_log(self.home, account).entries()


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """A home with the project acme, the real way out, a clock that stands, and pauses that are only counted."""
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    numbers = count(1)
    pauses: list[float] = []
    transport = HttpTransport(private="per_account")
    outside = Outside(
        transport=transport, now=lambda: now, sleep=pauses.append, token=lambda: f"call-{next(numbers):040d}"
    )
    home = init_home(tmp_path / "home", clock=lambda: now)
    add_project(home, "acme", name="Acme", actor="tests")
    with recording():
        yield Studio(home=home, outside=outside, pauses=pauses)
    home.close()
    transport.close()
