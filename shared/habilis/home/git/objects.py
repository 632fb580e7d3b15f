"""Git's objects as bytes: blobs, trees and commits, and the ids that follow from their content."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha1
from typing import Literal, NamedTuple

Kind = Literal["commit", "tree", "blob", "tag"]

FILE = 0o100644
PROGRAM = 0o100755
FOLDER = 0o040000

_COMMIT_HEAD = re.compile(rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author ")

NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of a tree without entries; git knows it without storing it."""


class Entry(NamedTuple):
    """One entry of a tree: its mode and the id it leads to."""

    mode: int
    id: str


Entries = Mapping[bytes, Entry]
"""A tree: name to entry."""


@dataclass(frozen=True, slots=True)
class GitObject:
    """An object that is ready to be stored; equal content has an equal id."""

    kind: Kind
    body: bytes
    id: str


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What a commit says of others: its tree and its parents."""

    tree: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a commit tells: the whole message, and when."""

    message: str
    at: datetime


AUTHOR = "Habilis <habilis@localhost>"


def object_id(kind: str, body: bytes) -> str:
    """Return the id of an object's content, 40 hex digits."""
    digest = sha1(f"{kind} {len(body)}\0".encode(), usedforsecurity=False)
    digest.update(body)
    return digest.hexdigest()


def blob(content: bytes) -> GitObject:
    """Return a file's content as an object."""
    return GitObject("blob", content, object_id("blob", content))


def tree(entries: Entries) -> GitObject:
    """Return a folder as an object; git's order is by name, a folder's name counting with a slash at its end."""
    ordered = sorted(entries.items(), key=lambda each: each[0] + b"/" if each[1].mode == FOLDER else each[0])
    body = b"".join(b"%o %b\0%b" % (entry.mode, name, bytes.fromhex(entry.id)) for name, entry in ordered)
    return GitObject("tree", body, object_id("tree", body))


def commit(root: str, parents: Sequence[str], story: Story) -> GitObject:
    """Return a commit as an object, under the engine's own name whatever the machine's git is told."""
    zone = story.at.strftime("%z")[:5] or "+0000"
    who = f"{AUTHOR} {int(story.at.timestamp())} {zone}"
    lines = [f"tree {root}", *(f"parent {parent}" for parent in parents), f"author {who}", f"committer {who}", ""]
    body = ("\n".join(lines) + "\n" + story.message).encode("utf-8", "replace")
    return GitObject("commit", body, object_id("commit", body))


def read_tree(body: bytes) -> dict[bytes, Entry]:
    """Return the entries of a stored tree; ValueError when it is none."""
    entries: dict[bytes, Entry] = {}
    at, end = 0, len(body)
    while at < end:
        space = body.index(b" ", at)
        nul = body.index(b"\0", space)
        name = body[nul + 1 : nul + 21]
        if len(name) != 20:
            raise ValueError("a tree ends within an entry")
        entries[body[space + 1 : nul]] = Entry(int(body[at:space], 8), name.hex())
        at = nul + 21
    return entries


def read_commit(body: bytes) -> CommitFacts:
    """Return the tree and the parents a stored commit names; ValueError when it is none."""
    head = _COMMIT_HEAD.match(body)
    if head is None:
        raise ValueError("a commit does not start as one")
    return CommitFacts(head[1].decode(), tuple(line[7:].decode() for line in head[2].splitlines()))
