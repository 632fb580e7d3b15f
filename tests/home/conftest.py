"""A home in a working directory, with a clock that stands still."""

from datetime import UTC, datetime

import pytest

from habilis.home.worktree import init_home

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path):
    made = init_home(tmp_path / "my home é", clock=lambda: NOON)
    yield made
    made.close()


@pytest.fixture
def root(home):
    return home.private


@pytest.fixture
def write(home):
    """Commit some files; None removes one."""

    def commit(files, subject="Change something"):
        return home.commit(lambda _: files, subject=subject, action="test.write", actor="tester")

    return commit
