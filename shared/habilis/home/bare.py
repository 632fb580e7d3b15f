"""A home without a working directory: files are read from trees, and a commit writes the trees above its files only.

So a commit costs the same however large the home is. `BareHome` is a bare repository on this machine; `RemoteHome` is
one elsewhere, by way of a copy in a cache.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shlex import quote
from shutil import rmtree
from typing import TYPE_CHECKING

from habilis.errors import DiskFull, HomeConflict, HomeCorrupt, HomeReadonly
from habilis.home.durable import replace_file, sync_folder, write_files
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.objects import FILE, Entry, GitObject, Story, blob, commit
from habilis.home.git.refs import Head, Refs
from habilis.home.git.repository import PATIENCE_S, alone, lay_out, make_repository
from habilis.home.lock import hold, lock_file
from habilis.home.paths import checked_path
from habilis.home.reach import Reach
from habilis.home.revision import TreeRevision
from habilis.home.store import Change
from habilis.home.story import tell, utc_now

if TYPE_CHECKING:
    from habilis.home.remote import Remote

_PUSH_PATIENCE_S = 60.0


class _Bare:
    """A bare repository: what it holds, and what a commit to it consists of."""

    def __init__(self, git_dir: Path, private: Path) -> None:
        self.git_dir = git_dir
        self.private = private
        self.database = Database(git_dir / "objects")
        self.refs = Refs(git_dir)

    def head(self) -> Head:
        """Return where the repository stands; HomeReadonly when it is on no branch."""
        head = self.refs.head()
        if not head.branch:
            raise HomeReadonly(
                "the home's repository is on no branch",
                where=str(self.git_dir),
                hint=f"run `git -C {quote(str(self.git_dir))} symbolic-ref HEAD refs/heads/main`",
            )
        return head

    def built(self, head: Head, change: Change, story: Story) -> list[GitObject]:
        """Return the objects of the commit that a change makes, itself last; [] when nothing changes."""
        revision = TreeRevision(self.database, head.id)
        wanted = {checked_path(path): content for path, content in change(revision).items()}
        blobs = {path: blob(content) for path, content in wanted.items() if content is not None}
        entries = {path: Entry(FILE, blobs[path].id) if path in blobs else None for path in wanted}
        root, made = trees.changed(self.database, revision.root, entries)
        if root == revision.root:
            return []
        return [*blobs.values(), *made, commit(root, [head.id] if head.id else [], story)]

    def store(self, head: Head, objects: Sequence[GitObject]) -> None:
        """Store a commit's objects and move the branch to it, durably."""
        packed = self.database.files_for(objects)
        moved = self.refs.file_for(head.branch, objects[-1].id)
        write_files([*packed, moved])
        for file in packed:
            file.place()
        sync_folder(packed[0].path.parent)
        self.database.keep(objects)
        deadline = time.monotonic() + PATIENCE_S
        self.refs.place(moved, head.branch, expected=head.id, deadline=deadline)
        sync_folder(moved.path.parent)
        # Housekeeping only: the commit is done, whatever comes of it.
        with suppress(OSError, DiskFull, HomeCorrupt):
            self.database.tidy()

    def hold(self, name: str, timeout_s: float) -> AbstractContextManager[None]:
        """Hold a named lock."""
        return hold(lock_file(self.private / ".state/locks", name), timeout_s=timeout_s)


class BareHome:
    """A home in a bare repository on this machine, shared by its processes."""

    def __init__(self, path: Path, *, private: Path, clock: Callable[[], datetime] = utc_now) -> None:
        """Stand for the repository at `path`, which is made where it is missing.

        Args:
            path: The repository's folder, as `home.git`.
            private: Where everything lies that is never committed.
            clock: The time of commits.
        """
        make_repository(path, bare=True)
        self._bare = _Bare(path, private)
        self._clock = clock

    @property
    def private(self) -> Path:
        """Return the root of what is never committed."""
        return self._bare.private

    def open(self) -> TreeRevision:
        """Return the newest revision."""
        return TreeRevision(self._bare.database, self._bare.head().id)

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> str:
        """Write what `change` says as one commit and return its id; see `store.Home`."""
        story = tell(subject, action=action, actor=actor, at=self._clock())
        with alone(self._bare.git_dir):
            head = self._bare.head()
            objects = self._bare.built(head, change, story)
            if not objects:
                return head.id
            self._bare.store(head, objects)
            return objects[-1].id

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock against every other thread and process; Busy after `timeout_s` seconds. Not reentrant."""
        return self._bare.hold(name, timeout_s)

    def close(self) -> None:
        """Let go of files."""
        self._bare.database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a home follows its remote.

    Attributes:
        refresh_s: How old, in seconds, what is known of the remote may be when a revision is opened; 0 asks each time.
        tries: How often a commit is placed on top of what others pushed meanwhile.
        pause: Waits for a number of seconds.
        chance: A number from 0 to 1, so that two writers do not meet again and again.
    """

    refresh_s: float = 0.0
    tries: int = 8
    pause: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random  # noqa: S311 - spreads writers, hides nothing


_PUBLIC = Reach()
_STEADY = Pace()


class RemoteHome:
    """A home in a repository elsewhere. A commit has reached it when `commit` returns."""

    def __init__(
        self,
        remote: str,
        cache: Path,
        *,
        private: Path,
        clock: Callable[[], datetime] = utc_now,
        reach: Reach = _PUBLIC,
        pace: Pace = _STEADY,
    ) -> None:
        """Stand for the repository at an address.

        Args:
            remote: `https://[user:password@]host/path`; `file:///path` for one on this machine.
            cache: A folder for the copy, shared by the processes of this machine; it may be lost at any time.
            private: Where everything lies that is never committed.
            clock: The time of commits.
            reach: How the remote may be reached.
            pace: How it is followed.

        Raises:
            BadInput: The address is of another kind.
            PlainHttpRefused: It is unencrypted, and not of a host that was opted in.
        """
        self._address, self._reach, self._pace, self._clock = reach.address(remote), reach, pace, clock
        self._kept_remote: Remote | None = None
        make_repository(cache, bare=True)
        self._bare = _Bare(cache, private)

    @property
    def private(self) -> Path:
        """Return the root of what is never committed."""
        return self._bare.private

    def open(self) -> TreeRevision:
        """Return the newest revision, after asking the remote for it when what is known is too old.

        Raises:
            RemoteUnreachable: The remote does not answer, or refuses the user name and password.
        """
        try:
            return self._newest()
        except (HomeCorrupt, HomeReadonly):
            with self._alone():
                self._start_over()
                self._follow()
            return self._newest()

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> str:
        """Write what `change` says as one commit, push it, and return its id; see `store.Home`.

        Raises:
            HomeConflict: The remote refuses the commit, or others were faster each time; nothing was applied.
            HomeReadonly: The remote takes no pushes from this user.
            RemoteUnreachable: The remote could not be reached. The outcome is `unknown` where it may have the commit.
        """
        story = tell(subject, action=action, actor=actor, at=self._clock())
        with self._alone():
            if not self._is_usable():
                self._start_over()
                self._follow()
            for turn in range(self._pace.tries):
                head = self._bare.head()
                objects = self._bare.built(head, change, story)
                if objects and self._remote().push(head, objects):
                    self._keep(head, objects)
                    return objects[-1].id
                if not objects and self._remote().head() == head:
                    return head.id
                if objects:
                    self._pace.pause(min(0.02 * 2**turn, 1.0) * self._pace.chance())
                self._follow()
        raise HomeConflict(
            f"others changed the home {self._pace.tries} times while this change was being pushed; nothing was applied",
            where=self._address.url,
            hint="try again",
        )

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock against the threads and processes of this machine; Busy after `timeout_s` seconds."""
        return self._bare.hold(name, timeout_s)

    def close(self) -> None:
        """Let go of files and connections."""
        self._bare.database.close()
        if self._kept_remote is not None:
            self._kept_remote.close()
            self._kept_remote = None

    def _alone(self) -> AbstractContextManager[None]:
        return alone(self._bare.git_dir, timeout_s=_PUSH_PATIENCE_S)

    def _remote(self) -> "Remote":
        if self._kept_remote is None:
            from habilis.home.remote import Remote

            self._kept_remote = Remote(self._address, self._reach)
        return self._kept_remote

    def _checked(self) -> Path:
        return self._bare.git_dir / "habilis-checked"

    def _is_fresh(self) -> bool:
        try:
            age = time.time() - self._checked().stat().st_mtime
        except FileNotFoundError:
            return False
        return 0 <= age < self._pace.refresh_s

    def _newest(self) -> TreeRevision:
        head = self._bare.head()
        if not self._is_fresh():
            if self._remote().head() != head:
                with self._alone():
                    self._follow()
                head = self._bare.head()
            self._checked().touch()
        revision = TreeRevision(self._bare.database, head.id)
        self._bare.database.tree(revision.root)
        return revision

    def _is_usable(self) -> bool:
        """Tell whether the copy was brought to where the remote stood once, and is whole as far as it shows at once."""
        try:
            revision = TreeRevision(self._bare.database, self._bare.head().id)
            self._bare.database.tree(revision.root)
        except (HomeCorrupt, HomeReadonly):
            return False
        return self._checked().exists()

    def _follow(self) -> None:
        """Bring the copy to where the remote stands. The remote is the home: whatever it says holds."""
        there = self._remote().head()
        head = self._bare.head()
        if head.id and not there.id:
            self._start_over()
        if there.id and there.id != head.id:
            self._remote().fetch(self._bare.git_dir, there, is_first=not head.id)
            deadline = time.monotonic() + PATIENCE_S
            self._bare.refs.move(there.branch, expected=None, new=there.id, deadline=deadline)
        if there.branch != head.branch:
            replace_file(self._bare.git_dir / "HEAD", f"ref: {there.branch}\n".encode())
        self._checked().touch()

    def _start_over(self) -> None:
        git_dir, private = self._bare.git_dir, self._bare.private
        self._bare.database.close()
        for part in ("objects", "refs"):
            rmtree(git_dir / part, ignore_errors=True)
        for part in ("HEAD", "packed-refs", "shallow", "habilis-checked"):
            (git_dir / part).unlink(missing_ok=True)
        lay_out(git_dir, bare=True)
        self._bare = _Bare(git_dir, private)

    def _keep(self, head: Head, objects: Sequence[GitObject]) -> None:
        # The remote has the commit: what goes wrong with the copy is put right when it follows next.
        with suppress(OSError, DiskFull, HomeCorrupt, HomeConflict):
            self._bare.store(head, objects)
            self._checked().touch()
            return
        self._checked().unlink(missing_ok=True)
