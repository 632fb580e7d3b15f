"""Bringing a commit's files to the disk and to the index; the same steps end what a crash cut short."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from habilis.errors import Collision, UnsafePath
from habilis.home.disk import Disk, Stamp, stamp
from habilis.home.durable import NewFile, make_folders, replace_file, write_all
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.index import DamagedIndex, Index, file_entry, rebuilt, unseen_entry
from habilis.home.git.objects import GitObject

FileMoves = Mapping[str, tuple[str | None, str | None]]
"""Path to the ids of the content that was on the disk and that belongs there; None for no file."""


class Checkout:
    """The working directory of a repository. Its caller holds the repository's lock and the lock of its index."""

    def __init__(self, git_dir: Path, disk: Disk, database: Database) -> None:
        self._git_dir, self._disk, self._database = git_dir, disk, database
        self._stage = git_dir / "habilis-stage"
        self._index: tuple[Stamp, Index] | None = None

    def check(self) -> None:
        """Raise HomeReadonly when the index is one that cannot be written from here."""
        self._load()

    def refuse_in_the_way(self, wanted: Mapping[str, bool]) -> None:
        """Check that files can be written: no link above them, no file where a folder is needed, nor the other way.

        Args:
            wanted: Path to whether the file is written; those that are not are removed.

        Raises:
            UnsafePath: A folder above a file is a link.
            Collision: A file or folder that stays is in the way.
        """
        for path, is_written in wanted.items():
            if not is_written:
                continue
            self._disk.refuse_links(path)
            above = path.rpartition("/")[0]
            while above:
                if (self._disk.root / above).is_file() and wanted.get(above, True):
                    raise Collision("a file is where a folder is to be", where=above)
                above = above.rpartition("/")[0]
            if (self._disk.root / path).is_dir() and any(wanted.get(each, True) for each in self._files_below(path)):
                raise Collision("a folder is where a file is to be", where=path)

    def _files_below(self, path: str) -> Iterator[str]:
        for folder, _, names in os.walk(self._disk.root / path):
            for name in names:
                yield (Path(folder) / name).relative_to(self._disk.root).as_posix()

    def files_for(self, contents: Iterable[GitObject]) -> list[NewFile]:
        """Return the files that hold contents where a rename brings them into place: after that no room is needed."""
        make_folders(self._stage)
        paths = {each.id: (self._stage / each.id, each.body) for each in contents}
        for path, _ in paths.values():
            path.unlink(missing_ok=True)
        return [NewFile(path=path, beside=path, content=content) for path, content in paths.values()]

    def clear(self) -> None:
        """Take away what was staged and not used."""
        with suppress(FileNotFoundError):
            for path in self._stage.iterdir():
                path.unlink(missing_ok=True)

    def place(self, files: FileMoves) -> set[Path]:
        """Bring files into place, and return the folders to sync; done again, it ends what it began.

        A file that is neither as it was nor as it is to be was edited since, and is left as it is.
        """
        changed: set[Path] = set()
        # Removals first: a file may make way for a folder, and a folder for a file.
        for path, (old, new) in sorted(files.items(), key=lambda each: each[1][1] is not None):
            if self._id_at(path) != old or old == new:
                continue
            target = self._disk.root / path
            if new is None:
                target.unlink()
                changed.add(self._without_empty_folders(target.parent))
            else:
                make_folders(target.parent)
                self._staged(new).rename(target)
                changed.add(target.parent)
        return {folder for folder in changed if folder.is_dir()}

    def _id_at(self, path: str) -> str | None:
        try:
            seen = self._disk.file(path)
        except UnsafePath:
            return "not a file"
        return None if seen is None else seen.id

    def _staged(self, name: str) -> Path:
        path = self._stage / name
        if not path.exists():
            # As a whole or not at all: after a crash what is staged is taken for complete.
            make_folders(self._stage)
            replace_file(path, self._database.blob(name), alone=True)
        return path

    def _without_empty_folders(self, folder: Path) -> Path:
        while folder != self._disk.root:
            try:
                folder.rmdir()
            except OSError:
                break
            folder = folder.parent
        return folder

    def note(self, files: FileMoves, *, commit: str) -> None:
        """Say in the index what belongs at the files' places; one that is lost is made anew from the commit."""
        index = self._load()
        self._index = None
        if index is None:
            index = rebuilt(trees.walk(self._database, self._database.commit(commit).tree))
        for path, (_, new) in files.items():
            index.place(path, None if new is None else self._entry(path, new))
        beside = self._git_dir / "habilis-index"
        # Not synced, as git does not either: an index that is lost is made anew from the commit.
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            write_all(file, index.content())
        finally:
            os.close(file)
        placed = beside.rename(self._git_dir / "index")
        self._index = (stamp(placed.stat()), index)

    def _load(self) -> Index | None:
        """Return the index, None when it is missing or damaged."""
        path = self._git_dir / "index"
        try:
            seen = stamp(path.stat())
            if self._index is None or self._index[0] != seen:
                self._index = (seen, Index.read(path.read_bytes()))
        except (FileNotFoundError, DamagedIndex):
            return None
        return self._index[1]

    def _entry(self, path: str, name: str) -> bytes:
        with suppress(FileNotFoundError):
            state = (self._disk.root / path).lstat()
            if self._id_at(path) == name:
                return file_entry(path, name, state)
        return unseen_entry(path, name)
