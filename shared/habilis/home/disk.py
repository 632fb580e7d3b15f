"""A revision read from a working directory: what lies there counts, also a person's edits that are in no commit yet.

A look at a file tells whether it changed, so that reading it again costs microseconds. While commits go on beside it,
a revision keeps what it began with: what a later commit wrote is told from what lay there before by comparing the trees
of the two commits.
"""

import os
import stat
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from habilis.errors import HomeCorrupt, UnsafePath
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.kept import Kept
from habilis.home.git.objects import FILE, PROGRAM, object_id
from habilis.home.git.refs import YOUNG_NS, Head, Refs
from habilis.home.paths import checked_folder, checked_path, is_visible
from habilis.home.revision import TreeRevision, no_such_file

_KEPT_BYTES = 32 * 1024 * 1024
_KEPT_NAMES = 200_000
_TRIES = 5

Stamp = tuple[int, ...]
Looks = tuple[tuple[str, Stamp | None], ...]
"""Paths with what each looked like; None for nothing there."""
Names = list[str]


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file as it was read.

    Attributes:
        stamp: What tells whether it changed.
        since: When it was first seen so, on the clock of `time.monotonic_ns`.
        id: The id of its content, as git names it.
        content: All of it.
        mode: Its mode, of the two that git knows.
    """

    stamp: Stamp
    since: int
    id: str
    content: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class FolderSeen:
    """The names in a folder that may be part of a revision, folders with "/" at their end."""

    stamp: Stamp
    since: int
    names: tuple[str, ...]
    has_files: bool


class Disk:
    """The files of a working directory, kept as long as they look the same."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._prefix = f"{root}/"
        self._files: Kept[FileSeen] = Kept(_KEPT_BYTES)
        self._folders: Kept[FolderSeen] = Kept(_KEPT_NAMES)

    def file(self, path: str) -> FileSeen | None:
        """Return a file; None where there is none, or a folder.

        Raises:
            UnsafePath: It is a link, leads through one, or is a device.
        """
        state = self._look(path)
        if state is None:
            return None
        kept = self._files.get(path)
        if kept is not None and kept.stamp == stamp(state):
            return kept
        return self._read(path)

    def place(self, path: str) -> Path | None:
        """Return where a file lies, without a look into it; None where there is none. UnsafePath as for `file`."""
        if self._look(path) is None:
            return None
        self.refuse_links(path)
        return self.root / path

    def folder(self, path: str) -> FolderSeen | None:
        """Return the names in a folder, "" for the top; None where there is none. UnsafePath as for a file."""
        try:
            state = os.lstat(self._prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(state.st_mode):
            raise _not_followed(path)
        if not stat.S_ISDIR(state.st_mode):
            return None
        kept = self._folders.get(path)
        if kept is not None and kept.stamp == stamp(state):
            return kept
        self.refuse_links(path)
        with os.scandir(self._prefix + path) as entries:
            names = [_shown(each) for each in entries if is_visible(path, each.name)]
        shown = tuple(sorted(name for name in names if name))
        has_files = any(not name.endswith("/") for name in shown)
        seen = FolderSeen(stamp(state), time.monotonic_ns(), shown, has_files)
        if _is_settled(state):
            self._folders.put(path, seen, len(names) + 1)
        return seen

    def keeps_file(self, path: str, seen: FileSeen) -> bool:
        """Tell whether a file is kept as it was seen: a further change would show in its stamp."""
        return self._files.get(path) is seen

    def keeps_folder(self, path: str, seen: FolderSeen) -> bool:
        """Tell the same of a folder."""
        return self._folders.get(path) is seen

    def looks_same(self, looks: Looks) -> bool:
        """Tell whether every path looks as it did."""
        for path, seen in looks:
            try:
                now: Stamp | None = stamp(os.lstat(self._prefix + path))
            except (FileNotFoundError, NotADirectoryError):
                now = None
            if now != seen:
                return False
        return True

    def refuse_links(self, path: str) -> None:
        """Raise UnsafePath when a folder above `path` is a link."""
        above = path.rpartition("/")[0]
        while above:
            try:
                if stat.S_ISLNK(os.lstat(self._prefix + above).st_mode):
                    raise _not_followed(path)
            except (FileNotFoundError, NotADirectoryError):
                pass
            above = above.rpartition("/")[0]

    def _look(self, path: str) -> os.stat_result | None:
        try:
            state = os.lstat(self._prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(state.st_mode):
            return None
        if not stat.S_ISREG(state.st_mode):
            raise _not_followed(path)
        return state

    def _read(self, path: str) -> FileSeen | None:
        self.refuse_links(path)
        for _ in range(_TRIES):
            try:
                file = os.open(self._prefix + path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            except PermissionError:
                raise HomeCorrupt(
                    "a file of the home cannot be read", where=path, hint="check its owner and mode"
                ) from None
            with os.fdopen(file, "rb") as stream:
                before = os.fstat(file)
                content = stream.read()
                after = os.fstat(file)
            if stamp(before) == stamp(after) and len(content) == after.st_size:
                break
        mode = PROGRAM if after.st_mode & stat.S_IXUSR else FILE
        seen = FileSeen(stamp(after), time.monotonic_ns(), object_id("blob", content), content, mode)
        if _is_settled(after):
            self._files.put(path, seen, len(content) + 200)
        return seen


class DiskRevision:
    """What lies in a working directory, as it was when the revision was opened."""

    def __init__(
        self, disk: Disk, refs: Refs, database: Database, *, head: Head | HomeCorrupt, unsettled: Collection[str] = ()
    ) -> None:
        """Open what lies there now.

        Args:
            disk: The files.
            refs: The repository's refs.
            database: Its objects.
            head: Where it stands; or why that is not known, in which case the files are readable all the same.
            unsettled: Paths that the newest commit wrote and that are not on the disk yet.
        """
        self._disk, self._refs, self._database = disk, refs, database
        self._head = head
        self._unsettled = unsettled
        self._opened = time.monotonic_ns()
        self._files: dict[str, tuple[bytes, str] | None] = {}
        self._lists: dict[str, tuple[str, ...]] = {}
        self._tree: TreeRevision | None = None
        self._looks: dict[str, Stamp | None] = {}
        self._is_marked = True

    @property
    def id(self) -> str:
        """The commit's id; "" before the first commit; HomeCorrupt when the repository does not say."""
        if isinstance(self._head, HomeCorrupt):
            raise self._head
        return self._head.id

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None where there is none; UnsafePath for a path that is never used."""
        found = self._file(path)
        return None if found is None else found[0]

    def require(self, path: str) -> bytes:
        """Return the content of a file; NotFound where there is none."""
        found = self._file(path)
        if found is None:
            raise no_such_file(path)
        return found[0]

    def content_key(self, path: str) -> str | None:
        """Return the id of a file's content; None where there is none."""
        found = self._file(path)
        return None if found is None else found[1]

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder, folders with "/" at their end; [] where there is none; "" is the top."""
        if path not in self._lists:
            self._lists[path] = tuple(self._names(checked_folder(path)))
        return list(self._lists[path])

    def lies_at(self, path: str) -> Path | None:
        """Return where a file lies; None where there is none, or another commit changed it since the opening."""
        place = self._disk.place(checked_path(path))
        is_ours = path not in self._unsettled and not self._is_rewritten(path)
        return place if is_ours else None

    def mark(self) -> Looks | None:
        """Return what everything that was read looked like; None when a look cannot tell a further change."""
        return tuple(self._looks.items()) if self._is_marked else None

    def reads_same(self, mark: object) -> bool:
        """Tell whether everything that was read where the mark was taken looks the same now."""
        return isinstance(mark, tuple) and not self._unsettled and self._disk.looks_same(mark)

    def is_outdated(self, path: str, now: str | None) -> bool:
        """Tell whether a file was read here and has another content by now.

        Args:
            path: The file.
            now: The id of its content now; None for no file.
        """
        if path not in self._files:
            return False
        read = self._files[path]
        return (read and read[1]) != now

    def _file(self, path: str) -> tuple[bytes, str] | None:
        try:
            return self._files[path]
        except KeyError:
            pass
        seen = self._disk.file(checked_path(path))
        self._looks[path] = None if seen is None else seen.stamp
        self._is_marked &= seen is None or self._disk.keeps_file(path, seen)
        is_old = seen is not None and seen.since <= self._opened
        if path in self._unsettled or (not is_old and self._is_rewritten(path)):
            self._is_marked = False
            found = self._committed(path)
        else:
            found = None if seen is None else (seen.content, seen.id)
        return self._files.setdefault(path, found)

    def _committed(self, path: str) -> tuple[bytes, str] | None:
        tree = self._own_tree()
        name = tree.content_key(path)
        return None if name is None else (tree.require(path), name)

    def _names(self, path: str) -> Names:
        names, is_old = self._disk_names(path)
        above = f"{path}/" if path else ""
        if any(each.startswith(above) for each in self._unsettled) or (not is_old and self._is_rewritten(path)):
            self._is_marked = False
            return self._own_tree().list(path)
        return names

    def _disk_names(self, path: str) -> tuple[Names, bool]:
        """Return the names in a folder but for folders that hold nothing, and whether all was known at the opening."""
        seen = self._folder(path)
        if seen is None:
            return [], False
        is_old = seen.since <= self._opened
        names = []
        for name in seen.names:
            if name.endswith("/"):
                has_some, is_known = self._holds_some(f"{path}/{name[:-1]}" if path else name[:-1])
                is_old = is_old and is_known
                if not has_some:
                    continue
            names.append(name)
        return names, is_old

    def _holds_some(self, path: str) -> tuple[bool, bool]:
        """Tell whether there is a file in or below a folder, and whether that was known at the opening."""
        seen = self._folder(path)
        if seen is None:
            return False, False
        is_old = seen.since <= self._opened
        if seen.has_files:
            return True, is_old
        for name in seen.names:
            has_some, is_known = self._holds_some(f"{path}/{name[:-1]}")
            is_old = is_old and is_known
            if has_some:
                return True, is_old
        return False, is_old

    def _folder(self, path: str) -> FolderSeen | None:
        seen = self._disk.folder(path)
        self._looks[path] = None if seen is None else seen.stamp
        self._is_marked &= seen is None or self._disk.keeps_folder(path, seen)
        return seen

    def _is_rewritten(self, path: str) -> bool:
        """Tell whether a commit since the opening changed what is at a path."""
        if isinstance(self._head, HomeCorrupt) or not self._head.id:
            return False
        now = self._refs.head().id
        if now == self._head.id:
            return False
        then = trees.find(self._database, self._own_tree().root, path)
        return then != trees.find(self._database, TreeRevision(self._database, now).root, path)

    def _own_tree(self) -> TreeRevision:
        if self._tree is None:
            self._tree = TreeRevision(self._database, self.id)
        return self._tree


def stamp(state: os.stat_result) -> Stamp:
    """Return what differs once a file changed."""
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino, state.st_dev)


def is_same(one: FileSeen | None, other: FileSeen | None) -> bool:
    """Tell whether a file was not changed between two looks."""
    return (one and one.stamp) == (other and other.stamp)


def _is_settled(state: os.stat_result) -> bool:
    """Tell whether a further change would show: within one tick of the disk's clock it would not."""
    return time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) > YOUNG_NS


def _shown(entry: os.DirEntry[str]) -> str:
    if entry.is_dir(follow_symlinks=False):
        return f"{entry.name}/"
    return entry.name if entry.is_file(follow_symlinks=False) else ""


def _not_followed(path: str) -> UnsafePath:
    return UnsafePath(
        "a link or a device lies there, and neither is followed", where=path, hint="put the file itself in its place"
    )
