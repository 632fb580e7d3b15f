"""What a home is to the rest of the engine: one revision to read, one commit to write, named locks, a private place."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

Changes = Mapping[str, bytes | None]
"""What a commit writes: path to content; None removes the file."""

Mark = object
"""What a kind of revision remembers of the files it read; it means something to that kind alone."""


class Revision(Protocol):
    """One state of a home. It never changes: what was read once reads the same."""

    @property
    def id(self) -> str:
        """The commit's id, 40 hex digits; "" before the first commit."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None where there is none; UnsafePath for a path that is never used."""

    def require(self, path: str) -> bytes:
        """Return the content of a file; NotFound where there is none."""

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder, folders with "/" at their end; [] where there is none; "" is the top."""

    def content_key(self, path: str) -> str | None:
        """Return a hash of a file's content, for caches; None where there is none. Cheap: it is kept."""

    def lies_at(self, path: str) -> Path | None:
        """Return where a file's bytes lie on this machine, without reading them; None where they lie in git alone.

        None also where there is no such file, and where what lies there is not this revision's any more.
        """

    def mark(self) -> Mark | None:
        """Return what tells a later revision whether all that was read here reads the same; None when nothing can."""

    def reads_same(self, mark: Mark) -> bool:
        """Tell whether all that was read where the mark was taken reads the same here. Cheap."""


Change = Callable[[Revision], Changes]
"""Says what to write, given the newest revision.

It is called again when the home moved on elsewhere, so it reads from the revision it is given and has no other effects.
An error raised in it ends the commit with nothing written.
"""


class Home(Protocol):
    """The git-backed directory that holds all state."""

    @property
    def private(self) -> Path:
        """Return the root of what is never committed, under the same relative paths.

        `.env`, `activity.jsonl` and `data/` beside an account's connection.yaml; `.state/` at the top.
        """

    def open(self) -> Revision:
        """Return the newest revision."""

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> str:
        """Write what `change` says as one commit and return its id; the id there was when nothing changes.

        When this returns, the change survives a crash of the process and of the machine.

        Args:
            change: See `Change`.
            subject: What happened, as one line of `git log`.
            action: For the trailer `Habilis-Action`, as "account.add".
            actor: For the trailer `Habilis-Actor`: who asked for it.

        Raises:
            UnsafePath: A path is never used or never committed.
            HomeLocked: Another program is writing and did not end in time.
            HomeConflict: The home moved on elsewhere; nothing was applied.
            HomeCorrupt: The repository is damaged; nothing was written.
            DiskFull: There is no room; what was there before is intact.
        """

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock against every other thread and process; Busy after `timeout_s` seconds. Not reentrant."""

    def close(self) -> None:
        """Let go of files and connections."""
