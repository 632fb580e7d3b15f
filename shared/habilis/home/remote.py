"""The repository a home is kept in elsewhere: where it stands, what is new there, and a push from where it was seen."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dulwich.client import GitClient, LocalGitClient
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository, SendPackError
from dulwich.objects import ObjectID
from dulwich.pack import UnpackedObject
from dulwich.refs import Ref
from dulwich.repo import Repo

from habilis.errors import HabilisError, HomeConflict, RemoteUnreachable
from habilis.home.durable import sync_file, sync_folder
from habilis.home.git.objects import GitObject
from habilis.home.git.refs import FIRST_BRANCH, Head
from habilis.home.reach import Address, Reach
from habilis.home.wire import WireClient, connections

_NUMBERS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_LOST_RACE = re.compile(
    r"lock|fetch first|non-fast-forward|stale|already exists|old value|failed to update|unable to set"
)
_UNPRINTABLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x1f\x7f-\x9f]+")


class _Moved(Exception):
    """The remote stands elsewhere; nothing was sent."""


class Remote:
    """One remote repository. Each call has a client of its own, so several threads may ask at once."""

    def __init__(self, address: Address, reach: Reach) -> None:
        self._address = address
        self._path = bytes(address.folder) if address.folder else b""
        self._pools = None if address.folder else connections(address, reach)

    def head(self) -> Head:
        """Return where the remote stands, in one request; RemoteUnreachable when it does not say."""
        with self._told():
            answer = self._client().get_refs(self._path, protocol_version=0)
            branch = answer.symrefs.get(Ref(b"HEAD"), Ref(FIRST_BRANCH.encode()))
            return Head(branch.decode(), (answer.refs.get(branch) or b"").decode())

    def fetch(self, git_dir: Path, head: Head, *, is_first: bool) -> None:
        """Bring what is new at the remote into a repository, durably.

        Args:
            git_dir: The repository; its caller holds its lock.
            head: Where the remote was seen.
            is_first: Whether the repository holds nothing yet: then the history before `head` is left out.
        """
        packs = git_dir / "objects/pack"
        before = set(packs.iterdir())
        wanted = [ObjectID(head.id.encode())]
        with self._told(), Repo(str(git_dir)) as repository:
            self._client().fetch(
                self._path,
                repository,
                determine_wants=lambda _refs, depth=None: wanted,
                depth=1 if is_first else None,
                protocol_version=0,
            )
        for path in set(packs.iterdir()) - before:
            sync_file(path)
        sync_folder(packs)

    def push(self, head: Head, objects: Sequence[GitObject]) -> bool:
        """Move the remote's branch to a new commit if it still stands where it was seen.

        Args:
            head: Where it was seen.
            objects: What the remote lacks, the new commit last: nothing else is looked at or sent.

        Returns:
            True when it moved; False when somebody else was faster, and nothing was applied.

        Raises:
            HomeConflict: The remote refuses the commit, as a hook of it does.
            HomeReadonly: It takes no pushes from this user.
            RemoteUnreachable: It could not be reached; or it broke off, and the outcome is unknown.
        """
        words: list[bytes] = []
        client = self._client()
        try:
            with self._told():
                problem = self._sent(client, head, objects, words)
        except _Moved:
            return False
        except RemoteUnreachable as error:
            if getattr(client, "has_sent", True):
                return self._settled(head, objects[-1].id, error)
            raise
        if problem is None:
            return True
        if _LOST_RACE.search(problem) and "hook" not in problem:
            return False
        raise HomeConflict(
            f"the home's remote refused the change: {_said(words) or _line(problem)}",
            where=self._address.url,
            hint="nothing was applied; ask who keeps the remote",
            retryable=False,
        )

    def close(self) -> None:
        """Close the connections."""
        if self._pools is not None:
            self._pools.clear()

    def _client(self) -> GitClient:
        return WireClient(self._address, self._pools) if self._pools is not None else LocalGitClient()

    def _sent(self, client: GitClient, head: Head, objects: Sequence[GitObject], words: list[bytes]) -> str | None:
        """Push, and return why the branch was not moved, None when it was."""
        branch = Ref(head.branch.encode())

        def update(refs: dict[Ref, ObjectID]) -> dict[Ref, ObjectID]:
            if refs.get(branch, b"").decode() != head.id:
                raise _Moved
            return {branch: ObjectID(objects[-1].id.encode())}

        def pack(*_: object, **__: object) -> tuple[int, Iterator[UnpackedObject]]:
            return len(objects), (_unpacked(each) for each in objects)

        result = client.send_pack(self._path, update, pack, progress=words.append)
        return (result.ref_status or {}).get(branch)

    def _settled(self, head: Head, new: str, error: RemoteUnreachable) -> bool:
        """Find out whether a push that got no answer arrived; RemoteUnreachable when that stays open."""
        unknown = RemoteUnreachable(
            f"{error.message}; the change may have arrived there",
            where=self._address.url,
            hint="look at the home before trying again",
            retryable=False,
            outcome="unknown",
        )
        try:
            there = self.head()
        except HabilisError:
            raise unknown from None
        if there.id == new:
            return True
        # It stands where it was: the push may still be under way there. Elsewhere: ours may be below what came since.
        raise unknown

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the git library raises into our errors; its words may hold the address with its keys."""
        try:
            yield
        except SendPackError as error:
            raise HomeConflict(
                f"the home's remote could not store the change: {_line(str(error))}", where=self._address.url
            ) from None
        except NotGitRepository:
            raise self._unreachable("there is no repository at the home's remote", "check the address") from None
        except (GitProtocolError, HangupException, AssertionError, ValueError, OSError):
            raise self._unreachable("the home's remote broke off, or does not speak git", "try again later") from None

    def _unreachable(self, message: str, hint: str) -> RemoteUnreachable:
        return RemoteUnreachable(message, where=self._address.url, hint=hint)


def _unpacked(each: GitObject) -> UnpackedObject:
    return UnpackedObject(_NUMBERS[each.kind], sha=bytes.fromhex(each.id), decomp_chunks=[each.body])


def _said(words: Sequence[bytes]) -> str:
    """Return what a hook told the pusher, as one line."""
    return _line(b"".join(words).decode("utf-8", "replace"))


def _line(text: str) -> str:
    return " ".join(_UNPRINTABLE.sub(" ", text).split())[:200]
