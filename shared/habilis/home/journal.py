"""What a commit is about to do to a working directory, noted so that the next one can end what a crash cut short."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from habilis.home.durable import LEFTOVER, NewFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A commit in progress.

    Attributes:
        branch: The branch that moves.
        parent: Where it stood before; "" before the first commit.
        commit: Where it stands then. Before it does nothing on the disk is changed; from then on all of it will be.
        files: Path to the ids of the content that was on the disk and that belongs there; None for no file.
    """

    branch: str
    parent: str
    commit: str
    files: Mapping[str, tuple[str | None, str | None]]


class JournalFile:
    """The one journal of a repository."""

    def __init__(self, git_dir: Path) -> None:
        self._path = git_dir / "habilis-journal"
        self._name = str(self._path)

    def read(self) -> Journal | None:
        """Return the commit in progress, None where there is none. One that is not whole was never begun."""
        if not os.path.exists(self._name):  # noqa: PTH110 - every opening of the home asks
            return None
        try:
            noted = json.loads(self._path.read_bytes())
            files = {path: (old, new) for path, (old, new) in noted["files"].items()}
            return Journal(branch=noted["branch"], parent=noted["parent"], commit=noted["commit"], files=files)
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def file_for(self, journal: Journal) -> NewFile:
        """Return the file that notes a commit. The caller holds the repository's lock."""
        beside = self._path.with_name(self._path.name + LEFTOVER)
        beside.unlink(missing_ok=True)
        return NewFile(path=self._path, beside=beside, content=json.dumps(asdict(journal)).encode())

    def drop(self) -> None:
        """Note that nothing is in progress."""
        self._path.unlink(missing_ok=True)
