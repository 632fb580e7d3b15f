"""The objects of one repository: found wherever git put them, kept once read, written as one synced pack."""

import errno
import secrets
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import finalize

from habilis.errors import HomeCorrupt
from habilis.home.durable import NewFile, make_folders, sync_folder, write_files
from habilis.home.git.kept import Kept
from habilis.home.git.objects import (
    NOTHING,
    CommitFacts,
    Entries,
    GitObject,
    Kind,
    object_id,
    read_commit,
    read_tree,
)
from habilis.home.git.packs import StoredPack, pack_objects

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID

T = TypeVar("T")

_DAMAGE = frozenset({errno.EIO, errno.EISDIR, errno.ENOTDIR})
_KEPT_BYTES = 32 * 1024 * 1024
_KEPT_ENTRIES = 200_000
_TEMPORARY = "tmp_habilis_"
_MANY = 16
_TIERS = (64 * 1024, 1024 * 1024, 16 * 1024 * 1024)
_LARGEST_MERGE = 64 * 1024 * 1024
_LARGEST_LOOSE = 256 * 1024 * 1024


class Database:
    """The objects of one repository.

    Reading is safe from several threads. Writing is for one holder of the repository's lock at a time.
    """

    def __init__(self, folder: Path) -> None:
        """Stand for the objects in `folder`, a repository's `objects`; nothing is opened before it is needed."""
        self.folder = folder
        self._packs: dict[str, StoredPack] = {}
        self._guard = threading.Lock()
        self._bodies: Kept[tuple[Kind, bytes]] = Kept(_KEPT_BYTES)
        self._trees: Kept[Entries] = Kept(_KEPT_ENTRIES)
        self._foreign: DiskObjectStore | None = None

    def blob(self, name: str) -> bytes:
        """Return a file's content; HomeCorrupt when it is missing or damaged."""
        return self._body("blob", name)

    def tree(self, name: str) -> Entries:
        """Return a folder's entries; HomeCorrupt when it is missing or damaged. `NOTHING` needs no object."""
        if name == NOTHING:
            return {}
        kept = self._trees.get(name)
        if kept is None:
            kept = self._parsed(read_tree, "tree", name)
            self.keep_tree(name, kept)
        return kept

    def keep_tree(self, name: str, entries: Entries) -> None:
        """Keep the entries of a tree that is known, so that the next commit need not read it."""
        self._trees.put(name, entries, len(entries) + 1)

    def commit(self, name: str) -> CommitFacts:
        """Return what a commit names; HomeCorrupt when it is missing or damaged."""
        return self._parsed(read_commit, "commit", name)

    def has(self, name: str) -> bool:
        """Tell whether an object is there and whole."""
        try:
            self._read(name)
        except HomeCorrupt:
            return False
        return True

    def write(self, objects: Iterable[GitObject]) -> None:
        """Store objects; when this returns they survive a crash of the machine.

        They go into one pack: two files to sync, instead of one for each object.

        Raises:
            DiskFull: There is no room; nothing that was there before is touched.
        """
        fresh = list(objects)
        if fresh:
            self._store(fresh)
        self.keep(fresh)

    def files_for(self, objects: Iterable[GitObject]) -> list[NewFile]:
        """Return the files that store objects: a pack, and its index, which has to be placed after it."""
        folder = self.folder / "pack"
        make_folders(folder)
        packed = pack_objects(list({each.id: each for each in objects}.values()))
        path = folder / f"pack-{packed.name}.pack"
        parts = ((path, packed.pack), (path.with_suffix(".idx"), packed.index))
        return [
            NewFile(path=part, beside=folder / f"{_TEMPORARY}{secrets.token_hex(8)}", content=content, mode=0o444)
            for part, content in parts
        ]

    def keep(self, objects: Iterable[GitObject]) -> None:
        """Keep objects that were just stored, so that the next commit need not read them."""
        for each in objects:
            self._bodies.put(each.id, (each.kind, each.body), len(each.body))

    def tidy(self) -> None:
        """Put many small packs together, so that finding an object stays quick however many commits there are."""
        sizes = self._plain_packs()
        lower = 0
        for upper in _TIERS:
            tier = [path for path, size in sizes.items() if lower <= size < upper]
            lower = upper
            if len(tier) >= _MANY and sum(sizes[path] for path in tier) <= _LARGEST_MERGE:
                self._merge(tier)
                return

    def close(self) -> None:
        """Close all files."""
        with self._guard:
            for each in self._packs.values():
                each.close()
            self._packs = {}
            if self._foreign is not None:
                self._foreign.close()
                self._foreign = None

    def _parsed(self, parse: Callable[[bytes], T], kind: Kind, name: str) -> T:
        try:
            return parse(self._body(kind, name))
        except ValueError:
            raise self._corrupt(name, f"is no {kind} inside") from None

    def _body(self, kind: Kind, name: str) -> bytes:
        kept = self._bodies.get(name)
        found = kept or self._read(name)
        if found[0] != kind:
            raise self._corrupt(name, f"is a {found[0]} where a {kind} belongs")
        if kept is None:
            self._bodies.put(name, found, len(found[1]))
        return found[1]

    def _read(self, name: str) -> tuple[Kind, bytes]:
        try:
            found = self._packed(name) or self._loose(name) or self._newly_packed(name) or self._elsewhere(name)
        except (ValueError, zlib.error):
            raise self._corrupt(name, "is damaged") from None
        except OSError as error:
            if error.errno not in _DAMAGE:
                raise
            raise self._corrupt(name, "is damaged") from None
        if found is None:
            raise self._corrupt(name, "is missing")
        if object_id(*found) != name:
            raise self._corrupt(name, "is damaged")
        return found

    def _packed(self, name: str) -> tuple[Kind, bytes] | None:
        raw = bytes.fromhex(name)
        for each in list(self._packs.values()):
            at = each.place_of(raw)
            if at is not None:
                return each.read(at)
        return None

    def _loose(self, name: str) -> tuple[Kind, bytes] | None:
        try:
            stored = (self.folder / name[:2] / name[2:]).read_bytes()
        except FileNotFoundError:
            return None
        inflater = zlib.decompressobj()
        content = inflater.decompress(stored, _LARGEST_LOOSE)
        head, nul, body = content.partition(b"\0")
        kind, _, size = head.decode("ascii", "replace").partition(" ")
        if not inflater.eof or not nul or kind not in {"commit", "tree", "blob", "tag"} or size != str(len(body)):
            raise ValueError("the object is damaged")
        return cast("Kind", kind), body

    def _newly_packed(self, name: str) -> tuple[Kind, bytes] | None:
        return self._packed(name) if self._scan() else None

    def _scan(self) -> bool:
        """Open the packs that came since; True when there are any."""
        found = {path.name: path for path in (self.folder / "pack").glob("pack-*.pack")}
        with self._guard:
            fresh = {}
            for file_name in found.keys() - self._packs.keys():
                # Without its index it is still being written; one that is gone again was put together with others.
                with suppress(FileNotFoundError, ValueError):
                    fresh[file_name] = StoredPack(found[file_name])
            kept = {file_name: each for file_name, each in self._packs.items() if file_name in found}
            self._packs = fresh | kept
        return bool(fresh)

    def _elsewhere(self, name: str) -> tuple[Kind, bytes] | None:
        """Look where only dulwich can: differences within a pack, older indexes, objects borrowed from elsewhere."""
        from dulwich.errors import ChecksumMismatch, FileFormatException
        from dulwich.object_store import DiskObjectStore

        with self._guard:
            if self._foreign is None:
                self._foreign = DiskObjectStore(str(self.folder))
                # Dulwich complains of what is left open, also at the end of the program.
                finalize(self, self._foreign.close)
            try:
                number, body = self._foreign.get_raw(cast("ObjectID", name.encode()))
            except KeyError:
                return None
            except (AssertionError, IndexError, ChecksumMismatch, FileFormatException, struct.error):
                raise ValueError("the object is damaged") from None
        kinds: dict[int, Kind] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
        return kinds[number], body

    def _store(self, objects: Sequence[GitObject]) -> Path:
        files = self.files_for(objects)
        write_files(files)
        for each in files:
            each.place()
        sync_folder(self.folder / "pack")
        return files[0].path

    def _plain_packs(self) -> dict[Path, int]:
        """Return the size of each pack that nothing but its index belongs to."""
        sizes: dict[Path, int] = {}
        beside: dict[str, int] = {}
        for path in (self.folder / "pack").iterdir():
            if path.name.startswith(_TEMPORARY):
                path.unlink(missing_ok=True)  # a killed writer's: the caller holds the lock
            beside[path.stem] = beside.get(path.stem, 0) + 1
            if path.suffix == ".pack":
                sizes[path] = path.stat().st_size
        return {path: size for path, size in sizes.items() if beside[path.stem] == 2}

    def _merge(self, paths: Sequence[Path]) -> None:
        names = {name for path in paths for name in _ids(path)}
        merged = self._store([GitObject(*self._read(name), name) for name in sorted(names)])
        for path in paths:
            if path != merged:
                path.with_suffix(".idx").unlink(missing_ok=True)
                path.unlink(missing_ok=True)
        self._scan()

    def _corrupt(self, name: str, what: str) -> HomeCorrupt:
        return HomeCorrupt(
            f"the object {name[:12]} of the home's repository {what}",
            where=f"{self.folder.parent.name}/objects/{name[:2]}/{name[2:]}",
            hint="`git fsck` lists the damage; bring the objects back from a backup or the remote, or reset the branch "
            "to a commit of `git reflog`",
        )


def _ids(path: Path) -> list[str]:
    stored = StoredPack(path)
    try:
        return list(stored.ids())
    finally:
        stored.close()
