"""Trees by path: look one up, list it, and change some files by writing the folders above them only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from habilis.errors import Collision
from habilis.home.git.database import Database
from habilis.home.git.objects import FOLDER, NOTHING, Entry, GitObject, tree


def find(database: Database, root: str, path: str) -> Entry | None:
    """Return the entry at a path, the root itself for ""; None where there is none."""
    found = Entry(FOLDER, root)
    for name in path.split("/") if path else ():
        if found.mode != FOLDER:
            return None
        entry = database.tree(found.id).get(name.encode())
        if entry is None:
            return None
        found = entry
    return found


def walk(database: Database, root: str, above: bytes = b"") -> Iterator[tuple[bytes, Entry]]:
    """Return all entries below a tree that are no folders, with their whole paths."""
    for name, entry in database.tree(root).items():
        if entry.mode == FOLDER:
            yield from walk(database, entry.id, above + name + b"/")
        else:
            yield above + name, entry


@dataclass(slots=True)
class _Node:
    """What is to happen at one name: a file set or removed, and changes below it."""

    is_named: bool = False
    entry: Entry | None = None
    below: dict[bytes, "_Node"] = field(default_factory=dict)


def changed(database: Database, root: str, changes: Mapping[str, Entry | None]) -> tuple[str, list[GitObject]]:
    """Return the id of a tree with some files changed, and the trees that have to be stored for it.

    Args:
        database: Where the present trees are.
        root: The present tree, `NOTHING` for none.
        changes: Path to what belongs there; None removes it. A folder that becomes empty goes too.

    Raises:
        Collision: A path is a file and a folder at once, or differs from another one in upper and lower case only.
    """
    top = _Node()
    for path, entry in changes.items():
        node = top
        for name in path.split("/"):
            node = node.below.setdefault(name.encode(), _Node())
        node.is_named, node.entry = True, entry
    made: list[GitObject] = []
    result = _apply(database, root, top, "", made)
    if result is None:
        # Git reads the empty tree without having it, but its check misses it.
        made.append(tree({}))
    return result or NOTHING, made


def _apply(database: Database, name: str, node: _Node, path: str, made: list[GitObject]) -> str | None:
    entries = dict(database.tree(name))
    before = len(made)
    # Removals first: a file may make way for a folder of its name in the same change, and the other way round.
    for child, wanted in sorted(node.below.items(), key=lambda each: each[1].entry is not None):
        there = f"{path}{child.decode()}"
        if wanted.is_named and wanted.entry is None and entries.get(child, Entry(0, "")).mode != FOLDER:
            entries.pop(child, None)
        if wanted.below:
            _apply_folder(database, entries, child, wanted, there, made)
        if wanted.entry is not None:
            _put(entries, child, wanted.entry, there)
    if entries == database.tree(name):
        del made[before:]
        return name
    if not entries:
        return None
    result = tree(entries)
    database.keep_tree(result.id, entries)
    made.append(result)
    return result.id


def _apply_folder(
    database: Database, entries: dict[bytes, Entry], child: bytes, wanted: _Node, path: str, made: list[GitObject]
) -> None:
    present = entries.get(child)
    if present is not None and present.mode != FOLDER:
        if all(node.entry is None and not node.below for node in wanted.below.values()):
            return
        raise Collision("a file is where a folder is to be", where=path)
    below = _apply(database, present.id if present else NOTHING, wanted, path + "/", made)
    if below is None or below == NOTHING:
        entries.pop(child, None)
    else:
        _put(entries, child, Entry(FOLDER, below), path)


def _put(entries: dict[bytes, Entry], name: bytes, entry: Entry, path: str) -> None:
    present = entries.get(name)
    if present is not None and (present.mode == FOLDER) != (entry.mode == FOLDER):
        raise Collision("a folder is where a file is to be", where=path)
    if present is None:
        lowered = name.decode("utf-8", "replace").casefold()
        twin = next((each for each in entries if each.decode("utf-8", "replace").casefold() == lowered), None)
        if twin is not None:
            raise Collision("another name there differs in upper and lower case only", where=path)
    entries[name] = entry
