"""The command line over a real home with the sample ability, beside the real sample service."""

import io
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from habilis.cli import main
from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.assets import save_asset
from habilis.engine.installs import install, plan_install
from habilis.engine.projects import add_project
from habilis.home.worktree import WorkTreeHome, init_home
from habilis.records import Asset
from habilis.sample.service import SampleService
from habilis.sample.story import ABILITY

ARTICLE = Asset(ref="article/hello", title="Hello", text="Some **bold** words.\n")


@dataclass(frozen=True)
class Outcome:
    """What a command came to: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, object]:
        """The one document on stdout."""
        return json.loads(self.out)


class Shell:
    """Runs commands as `habilis` does, with HABILIS_HOME set to a home of the test's own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._patch, self._capsys = patch, capsys
        patch.setenv("HABILIS_HOME", str(folder))

    def run(self, *words: object, stdin: bytes = b"") -> Outcome:
        self._patch.setattr(sys, "argv", ["habilis", *map(str, words)])
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        return Outcome(int(ended.value.code or 0), said.out, said.err)

    def ok(self, *words: object, stdin: bytes = b"") -> Outcome:
        """Run a command that comes to its end."""
        outcome = self.run(*words, stdin=stdin)
        assert outcome.code == 0, outcome
        return outcome

    def json(self, *words: object, stdin: bytes = b"") -> dict[str, object]:
        """Run a command with --json and return the document."""
        return self.ok(*words, "--json", stdin=stdin).data

    def files(self) -> dict[str, bytes]:
        """Return every file of the home that says something: not locks and caches, and of git the branch only."""
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        shown = {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}
        silent = (".git/objects/", ".git/habilis", ".git/index", ".state/locks/", ".state/compiled/")
        return {name: data for name, data in shown.items() if not name.startswith(silent)}

    def key_text(self, account: str) -> str:
        path = self.folder / f"projects/acme/connections/{account}/.env"
        return path.read_text() if path.exists() else ""


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the project acme, the sample ability and an article, to be copied."""
    folder = tmp_path_factory.mktemp("furnished") / "home"
    home = init_home(folder)
    add_project(home, "acme", actor="tests")
    install(home, plan_install(home, str(ABILITY)), actor="tests", now=datetime.now(UTC))
    save_asset(home, "acme", ARTICLE, actor="tests")
    home.close()
    return folder


@pytest.fixture
def shell(
    furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    folder = tmp_path / "home"
    shutil.copytree(furnished, folder, symlinks=True)
    return Shell(folder, monkeypatch, capsys)


@pytest.fixture
def service() -> Iterator[SampleService]:
    with SampleService() as service:
        yield service


@pytest.fixture
def channel(shell: Shell, service: SampleService) -> str:
    """A signed-in channel of the sample service; returns its id."""
    home = WorkTreeHome(shell.folder)
    keys = {"SAMPLE_SITE": service.url, "SAMPLE_TOKEN": service.new_token()}
    order = AccountOrder(project="acme", ability="sample-blog", id="blog", kind="sample-blog", keys=keys)
    add_account(home, order, actor="tests", now=datetime.now(UTC))
    allow_private(home, "acme", "blog", service.host, actor="tests")
    home.close()
    return "blog"
