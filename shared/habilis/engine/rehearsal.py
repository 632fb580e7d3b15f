"""A home in which nothing is written: for a dry run of any order whose change is one commit.

Every verb of the engine makes its commit before it writes anything beside the home. So the commit is where a dry run
ends: it is worked out like any other, and told instead of made.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

from habilis.home.store import Change, Home, Revision


class Rehearsed(Exception):
    """An order came as far as its commit, which was not made.

    Attributes:
        subject: As it would stand in the home's log.
        changes: What it would write, by path; None removes a file. Empty when nothing would change.
    """

    def __init__(self, subject: str, changes: Mapping[str, bytes | None]) -> None:
        super().__init__(subject)
        self.subject = subject
        self.changes = changes


class RehearsalHome:
    """A home to read from; its first commit ends the order with `Rehearsed`."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @property
    def private(self) -> Path:
        """Return the root of what is never committed."""
        return self._home.private

    def open(self) -> Revision:
        """Return the newest revision."""
        return self._home.open()

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> NoReturn:
        """Work out what `change` says, and raise it as `Rehearsed`."""
        revision = self.open()
        wanted = change(revision)
        raise Rehearsed(subject, {path: data for path, data in wanted.items() if data != revision.read(path)})

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock, as of the home itself."""
        return self._home.hold(name, timeout_s=timeout_s)

    def close(self) -> None:
        """Let go of files and connections."""
        self._home.close()
