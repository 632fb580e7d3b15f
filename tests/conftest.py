"""What every test shares: real counterparts, cassettes by module, and none of the machine's own settings."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.parts.plugin"]

ROOT = Path(__file__).resolve().parents[1]

# A property must not fail because the machine was busy for a moment.
settings.register_profile("habilis", deadline=None)
settings.load_profile("habilis")


@pytest.fixture(autouse=True, scope="session")
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the machine's home, git settings, proxies and HABILIS_* settings out of every test and its programs."""
    foreign = ("HABILIS_", "GIT_", "XDG_")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if (name.startswith(foreign) and name not in {"HABILIS_PARTS", "HABILIS_GHOST"}) or name.lower().endswith(
                "_proxy"
            ):
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("nobody")))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """Return the folder of a module's cassettes: cassettes/<module>/."""
    return str(ROOT / "cassettes" / request.path.stem.removeprefix("test_"))
