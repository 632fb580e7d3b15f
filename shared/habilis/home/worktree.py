"""A home in a working directory: what is read is what lies there, what is written is one commit.

A person may use git and an editor there at any time. Their edits are honoured at once. They stay theirs, uncommitted,
until a commit touches the very same file: then they are kept first, as a commit of their own.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shlex import quote

from habilis.errors import Collision, DiskFull, HabilisError, HomeConflict, HomeCorrupt, HomeReadonly, NotFound
from habilis.home.checkout import Checkout
from habilis.home.disk import Disk, DiskRevision, FileSeen, is_same
from habilis.home.durable import make_folders, sync_together, write_files
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.locks import git_lock
from habilis.home.git.objects import FILE, FOLDER, NOTHING, Entry, GitObject, Story, blob, commit
from habilis.home.git.refs import Head, Refs
from habilis.home.git.repository import PATIENCE_S, alone, make_repository
from habilis.home.journal import Journal, JournalFile
from habilis.home.lock import hold, lock_file
from habilis.home.paths import checked_path
from habilis.home.store import Change, Changes
from habilis.home.story import tell, utc_now

PRIVATE = (".env*", "activity.jsonl", "/projects/*/connections/*/data/", "/.state/", "*.habilis-tmp")
"""What the home's .gitignore names for the person's git. The engine writes explicit paths and never relies on it."""

_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touched:
    """One file of a commit: what the branch, the disk and the commit say of it."""

    head: str | None
    disk: FileSeen | None
    new: GitObject | None

    @property
    def disk_id(self) -> str | None:
        return None if self.disk is None else self.disk.id

    @property
    def new_id(self) -> str | None:
        return None if self.new is None else self.new.id


class WorkTreeHome:
    """A home in a working directory."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        """Stand for the home at `path`; NotFound when none was made there."""
        self._root = path.absolute()
        self._git_dir = self._root / ".git"
        if not self._git_dir.is_dir():
            raise NotFound("there is no home here", where=str(path), hint=f"run `habilis init {quote(str(path))}`")
        self._clock = clock
        self._database = Database(self._git_dir / "objects")
        self._refs = Refs(self._git_dir)
        self._disk = Disk(self._root)
        self._journal = JournalFile(self._git_dir)
        self._checkout = Checkout(self._git_dir, self._disk, self._database)

    @property
    def private(self) -> Path:
        """Return the root of what is never committed: the working directory itself."""
        return self._root

    def open(self) -> DiskRevision:
        """Return the newest revision. A damaged repository leaves the files readable."""
        try:
            head: Head | HomeCorrupt = self._refs.head()
        except HomeCorrupt as error:
            head = error
        journal = self._journal.read()
        # A commit that is under way, or was cut short, is either not there yet or there with all its files.
        unsettled = journal.files if journal and isinstance(head, Head) and journal.commit == head.id else ()
        return DiskRevision(self._disk, self._refs, self._database, head=head, unsettled=unsettled)

    def commit(self, change: Change, *, subject: str, action: str, actor: str) -> str:
        """Write what `change` says as one commit and return its id; see `store.Home`."""

        def checked(revision: DiskRevision) -> Changes:
            return {checked_path(path): content for path, content in change(revision).items()}

        return self._write(checked, tell(subject, action=action, actor=actor, at=self._clock()))

    def hold(self, name: str, *, timeout_s: float = 10.0) -> AbstractContextManager[None]:
        """Hold a named lock against every other thread and process; Busy after `timeout_s` seconds. Not reentrant."""
        return hold(lock_file(self._root / ".state/locks", name), timeout_s=timeout_s)

    def close(self) -> None:
        """Let go of files."""
        self._database.close()

    def begin(self) -> None:
        """Have the person's git ignore what is private, as the home's first commit; nothing when it does already."""

        def ignored(_: DiskRevision) -> Changes:
            seen = self._disk.file(".gitignore")
            present = seen.content if seen else b""
            missing = [line for line in PRIVATE if line.encode() not in present.splitlines()]
            if present and not present.endswith(b"\n"):
                present += b"\n"
            return {".gitignore": present + "".join(f"{line}\n" for line in missing).encode()} if missing else {}

        self._write(ignored, tell("Set up the home", action="init", actor="habilis", at=self._clock()))

    def _write(self, change: Callable[[DiskRevision], Changes], story: Story) -> str:
        with self._alone() as deadline:
            self._recover()
            for _ in range(_TRIES):
                # A person may have saved a file just now, or moved the branch in a way that takes no lock of the index:
                # look again from where it is.
                with suppress(HomeConflict):
                    written = self._try(change, story, deadline)
                    self._tidy()
                    return written
            raise HomeConflict("the home's branch keeps moving", where=str(self._root), hint="try again")

    @contextmanager
    def _alone(self) -> Iterator[float]:
        """Keep other writers of ours out, then the person's git; yield when to stop waiting for it."""
        deadline = time.monotonic() + PATIENCE_S
        with alone(self._git_dir), git_lock(self._git_dir, self._git_dir / "index", deadline=deadline):
            yield deadline

    def _recover(self) -> None:
        """End what a crash cut short: forward when the branch moved, back when it did not."""
        journal = self._journal.read()
        if journal is not None:
            head = self._refs.head()
            if (head.branch, head.id) == (journal.branch, journal.commit):
                sync_together(self._checkout.place(journal.files))
                self._checkout.note(journal.files, commit=journal.commit)
            elif (head.branch, head.id) == (journal.branch, journal.parent):
                # Only a machine that went down has files ahead of the branch: the disk may keep what came later.
                sync_together(self._checkout.place({path: (new, old) for path, (old, new) in journal.files.items()}))
            self._journal.drop()
        self._checkout.clear()

    def _tidy(self) -> None:
        # Housekeeping only: the commit is done, whatever comes of it.
        with suppress(OSError, DiskFull, HomeCorrupt):
            self._database.tidy()

    def _try(self, change: Callable[[DiskRevision], Changes], story: Story, deadline: float) -> str:
        head = self._refs.head()
        if not head.branch:
            raise HomeReadonly(
                "the home is on no branch, as in the middle of a rebase",
                where=str(self._root),
                hint=f"end it, or run `git -C {quote(str(self._root))} switch main`",
            )
        self._checkout.check()
        root = self._database.commit(head.id).tree if head.id else NOTHING
        revision = DiskRevision(self._disk, self._refs, self._database, head=head)
        touched = self._touched(root, change(revision))
        if any(revision.is_outdated(path, each.disk_id) for path, each in touched.items()):
            raise HomeConflict("a file was edited meanwhile", where=str(self._root), hint="try again")
        if not touched:
            return head.id
        objects = self._built(head.id, root, touched, story)
        journal = Journal(
            branch=head.branch,
            parent=head.id,
            commit=objects[-1].id,
            files={path: (each.disk_id, each.new_id) for path, each in touched.items()},
        )
        self._move(journal, objects, touched, deadline)
        with suppress(OSError):
            self._refs.log(head.branch, old=head.id, new=journal.commit, story=story)
        return journal.commit

    def _touched(self, root: str, changes: Changes) -> dict[str, _Touched]:
        touched = {}
        for path, content in changes.items():
            entry = trees.find(self._database, root, path)
            each = _Touched(
                head=entry.id if entry and entry.mode != FOLDER else None,
                disk=self._disk.file(path),
                new=None if content is None else blob(content),
            )
            if each.new_id != each.disk_id or each.new_id != each.head:
                touched[path] = each
        self._checkout.refuse_in_the_way({path: each.new is not None for path, each in touched.items()})
        return touched

    def _built(self, parent: str, root: str, touched: Mapping[str, _Touched], story: Story) -> list[GitObject]:
        """Return all objects of the commit, itself last; before it those of a person's edit to the same files."""
        objects: list[GitObject] = []
        edits = {path: each.disk for path, each in touched.items() if each.disk_id not in {each.head, each.new_id}}
        if edits:
            objects += [blob(seen.content) for seen in edits.values() if seen]
            wanted = {path: Entry(seen.mode, seen.id) if seen else None for path, seen in edits.items()}
            root, made = trees.changed(self._database, root, wanted)
            told = tell(f"Manual edit of {', '.join(edits)}", action="home.edit", actor="person", at=story.at)
            objects += [*made, commit(root, [parent] if parent else [], told)]
            parent = objects[-1].id
        objects += [each.new for each in touched.values() if each.new]
        after = {path: Entry(FILE, each.new.id) if each.new else None for path, each in touched.items()}
        root, made = trees.changed(self._database, root, after)
        return [*objects, *made, commit(root, [parent] if parent else [], story)]

    def _move(
        self, journal: Journal, objects: Sequence[GitObject], touched: Mapping[str, _Touched], deadline: float
    ) -> None:
        packed = self._database.files_for(objects)
        noted = self._journal.file_for(journal)
        moved = self._refs.file_for(journal.branch, journal.commit)
        contents = [each.new for each in touched.values() if each.new and each.new_id != each.disk_id]
        write_files([*packed, *self._checkout.files_for(contents), noted, moved])
        try:
            for file in (*packed, noted):
                file.place()
            sync_together([packed[0].path.parent, noted.path.parent])
            self._database.keep(objects)
            self._refuse_edited(touched)
            self._refs.place(moved, journal.branch, expected=journal.parent, deadline=deadline)
        except BaseException:
            # Unless it moved all the same: then the next writer ends it.
            if self._refs.head().id != journal.commit:
                self._journal.drop()
                self._checkout.clear()
            raise
        self._settle(journal, moved.path.parent)

    def _settle(self, journal: Journal, refs: Path) -> None:
        """Bring a commit that stands to the disk, and sync it all.

        When the disk cannot take a file now, readers have it from the commit, and the next writer goes on.
        """
        changed: set[Path] | None = None
        with suppress(OSError, HabilisError):
            changed = self._checkout.place(journal.files)
        sync_together([refs, *(changed or ())])
        if changed is not None:
            with suppress(OSError, HabilisError):
                self._checkout.note(journal.files, commit=journal.commit)
                self._journal.drop()

    def _refuse_edited(self, touched: Mapping[str, _Touched]) -> None:
        for path, each in touched.items():
            if not is_same(self._disk.file(path), each.disk):
                raise HomeConflict("a file was edited meanwhile", where=path, hint="try again")


def init_home(path: Path, *, clock: Callable[[], datetime] = utc_now) -> WorkTreeHome:
    """Make a home at `path`, and the folder itself where it is missing; what lies there already stays as it is.

    The repository is always the home's own, also inside another one.
    """
    root = path.absolute()
    if (root / ".git").is_file():
        raise Collision(
            "the folder is a part of another repository: a linked working directory or a submodule",
            where=str(root),
            hint="choose another folder",
        )
    make_folders(root, mode=0o700)
    make_repository(root / ".git", bare=False)
    home = WorkTreeHome(path, clock=clock)
    home.begin()
    return home
