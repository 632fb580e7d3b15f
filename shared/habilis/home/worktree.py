"""A home in a working directory: what is read is what lies there, what is written is one commit."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.errors import Busy, HomeLocked, NotFound, UnsafePath
from habilis.home.durable import make_folders, replace_file
from habilis.home.lock import hold, lock_file
from habilis.home.paths import checked_folder, checked_path, is_visible
from habilis.home.store import Change

if TYPE_CHECKING:
    from dulwich.repo import Repo

IGNORED = (".env*", "activity.jsonl", "/projects/*/connections/*/data/", "/.state/", "*.habilis-tmp")


def utc_now() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


class DiskRevision:
    """What lies in a working directory, read once and kept."""

    def __init__(self, root: Path, commit: str) -> None:
        self._root = root
        self._kept: dict[str, bytes | None] = {}
        self.id = commit

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None where there is none; UnsafePath for a path that is never used."""
        if path in self._kept:
            return self._kept[path]
        full = self._root / checked_path(path)
        for folder in (full, *full.parents):
            if folder == self._root:
                break
            if folder.is_symlink():
                raise UnsafePath("a link is in the way", where=path)
        content = full.read_bytes() if full.is_file() else None
        self._kept[path] = content
        return content

    def require(self, path: str) -> bytes:
        """Return the content of a file; NotFound where there is none."""
        content = self.read(path)
        if content is None:
            raise NotFound("there is no such file in the home", where=path)
        return content

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder, folders with "/" at their end; [] where there is none."""
        folder = self._root / checked_folder(path)
        if not folder.is_dir():
            return []
        return sorted(
            entry.name + ("/" if entry.is_dir() else "")
            for entry in os.scandir(folder)
            if not entry.is_symlink() and is_visible(path, entry.name)
        )

    def content_key(self, path: str) -> str | None:
        """Return a hash of a file's content; None where there is none."""
        content = self.read(path)
        return (
            None
            if content is None
            else sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
        )


class WorkTreeHome:
    """A home in a working directory."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        if not (path / ".git").is_dir():
            raise NotFound("there is no home here", where=str(path), hint=f"run `habilis init {path}`")
        self._root = path
        self._clock = clock

    @property
    def private(self) -> Path:
        """Return the root of what is never committed."""
        return self._root

    def open(self) -> DiskRevision:
        """Return the newest revision."""
        with self._repo() as repo:
            try:
                return DiskRevision(self._root, repo.refs[b"HEAD"].decode())
            except KeyError:
                return DiskRevision(self._root, "")

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> str:
        """Write what `change` says as one commit and return its id."""
        try:
            with hold(self._root / ".git/habilis.lock"), self._repo() as repo:
                revision = self.open()
                wanted = {checked_path(path): content for path, content in change(revision).items()}
                touched = {path: content for path, content in wanted.items() if content != revision.read(path)}
                return self._write(repo, touched, subject, action, actor) if touched else revision.id
        except Busy:
            raise HomeLocked("another program is writing to the home", where=str(self._root)) from None

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock."""
        return hold(lock_file(self._root / ".state/locks", name), timeout_s=timeout_s)

    def close(self) -> None:
        """Let go of files."""

    def _repo(self) -> "Repo":
        from dulwich.repo import Repo

        return Repo(str(self._root))

    def _write(self, repo: "Repo", touched: dict[str, bytes | None], subject: str, action: str, actor: str) -> str:
        for path, content in touched.items():
            full = self._root / path
            if content is None:
                full.unlink()
            else:
                make_folders(full.parent)
                replace_file(full, content)
        repo.get_worktree().stage(list(touched))
        message = f"{subject}\n\nHabilis-Action: {action}\nHabilis-Actor: {actor}\n".encode()
        who = b"Habilis <habilis@localhost>"
        at = self._clock().timestamp()
        commit = repo.get_worktree().commit(
            message=message,
            author=who,
            committer=who,
            commit_timestamp=at,
            author_timestamp=at,
            no_verify=True,
            sign=False,
        )
        return commit.decode()


def init_home(path: Path, *, clock: Callable[[], datetime] = utc_now) -> WorkTreeHome:
    """Make a home at `path`, and the folder itself where it is missing; what lies there already stays."""
    from dulwich.repo import Repo

    make_folders(path)
    if not (path / ".git").is_dir():
        Repo.init(str(path), default_branch=b"main").close()
    if not (path / ".gitignore").exists():
        replace_file(path / ".gitignore", "".join(f"{line}\n" for line in IGNORED).encode())
    return WorkTreeHome(path, clock=clock)
