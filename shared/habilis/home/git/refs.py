"""The branch a repository is on: where it stands, and moving it only from where it was seen."""

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from habilis.errors import HomeConflict, HomeCorrupt
from habilis.home.durable import NewFile, make_folders, sync_folder, write_files
from habilis.home.git.locks import git_lock
from habilis.home.git.objects import AUTHOR, Story

FIRST_BRANCH = "refs/heads/main"
YOUNG_NS = 50_000_000
"""A file this young, in nanoseconds, may change again without its time showing it."""

_ID = re.compile(rb"([0-9a-f]{40})\n?")
_BRANCH = re.compile(rb"ref: (refs/heads/[\x21-\x7e]+)\n?")
_LOGGED = re.compile(rb"[0-9a-f]{40} ([0-9a-f]{40}) ")


@dataclass(frozen=True, slots=True)
class Head:
    """Where a repository stands.

    Attributes:
        branch: As `refs/heads/main`; "" when it is on none, as in the middle of a rebase.
        id: The commit there; "" before the first.
    """

    branch: str
    id: str


class Refs:
    """The refs of one repository."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._prefix = f"{git_dir}/"
        self._kept: dict[str, tuple[tuple[int, int, int], bytes]] = {}
        self._branch: tuple[bytes | None, str] = (None, "")

    def head(self) -> Head:
        """Return where the repository stands; HomeCorrupt when HEAD or the branch's file is damaged."""
        content = self._content("HEAD") or b""
        if content == self._branch[0]:
            return Head(self._branch[1], self.value(self._branch[1]))
        named = _BRANCH.fullmatch(content)
        if named is not None and b".." not in content:
            branch = named[1].decode()
            self._branch = (content, branch)
            return Head(branch, self.value(branch))
        found = _ID.fullmatch(content)
        if found is None:
            raise self._corrupt("HEAD", f"echo 'ref: {FIRST_BRANCH}' > {quote(self._prefix + 'HEAD')}")
        return Head("", found[1].decode())

    def value(self, ref: str) -> str:
        """Return the commit a ref stands at, "" where there is none; HomeCorrupt when its file is damaged."""
        content = self._content(ref)
        if content is None:
            return self._packed(ref) or self._unborn(ref)
        found = _ID.fullmatch(content)
        if found is None:
            raise self._corrupt(ref, self._repair(ref))
        return found[1].decode()

    def move(self, branch: str, *, expected: str | None, new: str, deadline: float) -> None:
        """Move a branch from one commit to another, durably. The caller holds the repository's own lock.

        Args:
            branch: As `refs/heads/main`.
            expected: Where it must stand now; "" when it must not exist, None when it may be anywhere.
            new: Where it stands then.
            deadline: How long to wait for somebody else's lock, on the clock of `time.monotonic`.

        Raises:
            HomeConflict: It stands elsewhere; nothing was moved.
            HomeLocked: Somebody else keeps it locked.
        """
        file = self.file_for(branch, new)
        write_files([file])
        self.place(file, branch, expected=expected, deadline=deadline)
        sync_folder(file.path.parent)

    def file_for(self, branch: str, new: str) -> NewFile:
        """Return the file of a branch that stands at a commit; `place` brings it to its place once it is written."""
        # It grows outside refs/, so that git never takes a half for a ref.
        beside = self._git_dir / "habilis-ref"
        beside.unlink(missing_ok=True)
        return NewFile(path=self._git_dir / branch, beside=beside, content=f"{new}\n".encode())

    def place(self, file: NewFile, branch: str, *, expected: str | None, deadline: float) -> None:
        """Move a branch to where its written file says; arguments and errors as for `move`, the caller syncs."""
        with git_lock(self._git_dir, file.path, deadline=deadline):
            if expected is not None and self.value(branch) != expected:
                raise HomeConflict("the home's branch moved meanwhile", where=branch, hint="try again")
            make_folders(file.path.parent)
            file.place()

    def log(self, branch: str, *, old: str, new: str, story: Story) -> None:
        """Note a move in the logs that `git reflog` shows, and that a damaged branch is repaired from."""
        what = "commit" if old else "commit (initial)"
        subject = story.message.split("\n", 1)[0]
        line = f"{old or '0' * 40} {new} {AUTHOR} {int(story.at.timestamp())} +0000\t{what}: {subject}\n"
        for name in ("HEAD", branch):
            path = self._git_dir / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(line.encode("utf-8", "replace"))

    def _content(self, name: str) -> bytes | None:
        """Return a file's content, kept as long as the file looks the same."""
        path = self._prefix + name
        try:
            state = os.stat(path)  # noqa: PTH116 - every opening of the home asks
            stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
            kept = self._kept.get(name)
            if kept is not None and kept[0] == stamp:
                return kept[1]
            content = Path(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        if time.time_ns() - stamp[0] > YOUNG_NS:
            self._kept[name] = (stamp, content)
        return content

    def _packed(self, ref: str) -> str:
        """Return where `git pack-refs` noted the ref, "" where it did not."""
        for line in (self._content("packed-refs") or b"").splitlines():
            name, _, found = line.partition(b" ")
            if found == ref.encode() and _ID.fullmatch(name):
                return name.decode()
        return ""

    def _unborn(self, ref: str) -> str:
        """Return "" for a branch that was never there; one that has a log was lost."""
        if self._last_logged(ref):
            raise self._corrupt(ref, self._repair(ref))
        return ""

    def _last_logged(self, ref: str) -> str:
        with suppress(OSError):
            log = (self._git_dir / "logs" / ref).read_bytes()
            for line in reversed(log.splitlines()):
                found = _LOGGED.match(line)
                if found is not None and found[1].strip(b"0"):
                    return found[1].decode()
        return ""

    def _repair(self, ref: str) -> str:
        last = self._last_logged(ref)
        commit = last or "COMMIT (one that `git fsck --lost-found` shows)"
        return f"git -C {quote(str(self._git_dir))} update-ref {ref} {commit}"

    def _corrupt(self, name: str, repair: str) -> HomeCorrupt:
        return HomeCorrupt(
            "the home's repository does not say where it stands; nothing was written",
            where=str(self._git_dir / name),
            hint=f"run `{repair}`",
        )
