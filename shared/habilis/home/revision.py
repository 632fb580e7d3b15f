"""A revision read from a commit's trees, without a checkout."""

from habilis.errors import NotFound, UnsafePath
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.objects import FILE, FOLDER, NOTHING, PROGRAM, Entry
from habilis.home.paths import checked_folder, checked_path, is_visible


class TreeRevision:
    """One commit of a home."""

    def __init__(self, database: Database, commit: str) -> None:
        """Stand for a commit, "" for a home that has none."""
        self._database = database
        self._id = commit
        self._root = database.commit(commit).tree if commit else NOTHING

    @property
    def id(self) -> str:
        """The commit's id; "" before the first commit."""
        return self._id

    @property
    def root(self) -> str:
        """The id of the commit's tree."""
        return self._root

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None where there is none; UnsafePath for a path that is never used."""
        entry = self._file(path)
        return None if entry is None else self._database.blob(entry.id)

    def require(self, path: str) -> bytes:
        """Return the content of a file; NotFound where there is none."""
        content = self.read(path)
        if content is None:
            raise no_such_file(path)
        return content

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder, folders with "/" at their end; [] where there is none; "" is the top."""
        entry = trees.find(self._database, self._root, checked_folder(path))
        if entry is None or entry.mode != FOLDER:
            return []
        names = []
        for name, below in self._database.tree(entry.id).items():
            text = name.decode("utf-8", "replace")
            if below.mode in {FILE, PROGRAM, FOLDER} and is_visible(path, text):
                names.append(f"{text}/" if below.mode == FOLDER else text)
        return sorted(names)

    def content_key(self, path: str) -> str | None:
        """Return the id of a file's content; None where there is none."""
        entry = self._file(path)
        return None if entry is None else entry.id

    def lies_at(self, path: str) -> None:
        """Return None: all of it lies in git."""

    def mark(self) -> str:
        """Return the id of the tree: while it is the same, everything is."""
        return self._root

    def reads_same(self, mark: object) -> bool:
        """Tell whether the tree is the one that was marked."""
        return mark == self._root

    def _file(self, path: str) -> Entry | None:
        entry = trees.find(self._database, self._root, checked_path(path))
        if entry is None or entry.mode == FOLDER:
            return None
        if entry.mode not in {FILE, PROGRAM}:
            raise UnsafePath("a link or another repository lies there, and neither is followed", where=path)
        return entry


def no_such_file(path: str) -> NotFound:
    """Return the error for a file that must be there."""
    return NotFound("there is no such file in the home", where=path)
