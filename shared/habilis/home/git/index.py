"""The index of a working directory: entries of some files replaced in its bytes, all others left as the user has them.

Source: git's Documentation/gitformat-index.txt, versions 2 to 4.
"""

import os
from bisect import bisect_left
from collections.abc import Iterable
from hashlib import sha1
from itertools import pairwise
from struct import pack, unpack_from

from habilis.errors import HomeReadonly
from habilis.home.git.objects import FILE, Entry

_STATE = 62
"""Bytes of an entry before its name: state of the file, id, flags."""

_MORE_FLAGS = 0x4000
_NAME_LENGTH = 0x0FFF


class DamagedIndex(ValueError):
    """The index cannot be read; what it held is lost, and it can be made anew from a commit."""


class Index:
    """The entries of an index: sorted, each one as its bytes.

    Attributes:
        names: The path of each entry; one in conflict comes once for each of its stages.
        raw: The bytes of each entry, padded, without compression of paths.
        version: 3 when entries may have more flags, else 2.
    """

    def __init__(self, names: list[bytes], raw: list[bytes], *, version: int = 2) -> None:
        self.names = names
        self.raw = raw
        self.version = version

    @classmethod
    def read(cls, content: bytes) -> "Index":
        """Return the index that a file's content is.

        Raises:
            DamagedIndex: It is cut off, garbage, or of an unknown version.
            HomeReadonly: It is kept in a way that cannot be changed from here: split, or sparse.
        """
        if len(content) < 32 or content[:4] != b"DIRC":
            raise DamagedIndex("no index")
        version, count = unpack_from(">II", content, 4)
        if version not in {2, 3, 4}:
            raise DamagedIndex("an unknown version")
        trailer = content[-20:]
        if trailer != bytes(20) and trailer != sha1(content[:-20], usedforsecurity=False).digest():
            raise DamagedIndex("a wrong checksum")
        try:
            names, raw, end = _entries(content, count, is_short=version == 4)
        except (IndexError, ValueError):
            raise DamagedIndex("an entry is cut off") from None
        _refuse_shared(content, end)
        return cls(names, raw, version=2 if version == 2 else 3)

    def place(self, path: str, entry: bytes | None) -> None:
        """Put the entry of a file where it belongs, in place of all its stages; None takes the file out."""
        name = path.encode()
        low = bisect_left(self.names, name)
        high = low
        while high < len(self.names) and self.names[high] == name:
            high += 1
        self.names[low:high] = [name] if entry else []
        self.raw[low:high] = [entry] if entry else []
        if entry:
            self._make_way(name)

    def content(self) -> bytes:
        """Return the bytes of the index. Its extensions only save git time; git makes them anew."""
        body = b"".join([pack(">4sII", b"DIRC", self.version, len(self.raw)), *self.raw])
        return body + sha1(body, usedforsecurity=False).digest()

    def _make_way(self, name: bytes) -> None:
        """Take out files that are where this one needs a folder, and files below where it is."""
        folder = name
        while b"/" in folder:
            folder = folder.rpartition(b"/")[0]
            at = bisect_left(self.names, folder)
            while at < len(self.names) and self.names[at] == folder:
                del self.names[at], self.raw[at]
        low, high = bisect_left(self.names, name + b"/"), bisect_left(self.names, name + b"0")
        del self.names[low:high], self.raw[low:high]


def file_entry(path: str, name: str, state: os.stat_result, *, mode: int = FILE) -> bytes:
    """Return the bytes of an index entry for a file that lies on the disk as `state` says."""
    created, changed = divmod(state.st_ctime_ns, 10**9), divmod(state.st_mtime_ns, 10**9)
    numbers = (*created, *changed, state.st_dev, state.st_ino, mode, state.st_uid, state.st_gid, state.st_size)
    return _entry(path.encode(), numbers, name)


def unseen_entry(path: str, name: str) -> bytes:
    """Return the bytes of an index entry for a file that was not looked at on the disk: git will when it needs to."""
    return _unseen(path.encode(), FILE, name)


def rebuilt(files: Iterable[tuple[bytes, Entry]]) -> Index:
    """Return an index of a commit's files, none of which was looked at on the disk."""
    ordered = sorted(files, key=lambda each: each[0])
    return Index([path for path, _ in ordered], [_unseen(path, entry.mode, entry.id) for path, entry in ordered])


def _unseen(path: bytes, mode: int, name: str) -> bytes:
    return _entry(path, (0, 0, 0, 0, 0, 0, mode, 0, 0, 0), name)


def _entry(path: bytes, numbers: Iterable[int], name: str) -> bytes:
    head = pack(">10I", *(number & 0xFFFFFFFF for number in numbers))
    return _padded(head + bytes.fromhex(name) + pack(">H", min(len(path), _NAME_LENGTH)), path)


def _padded(head: bytes, path: bytes) -> bytes:
    size = len(head) + len(path)
    return head + path + bytes(8 - size % 8)


def _entries(content: bytes, count: int, *, is_short: bool) -> tuple[list[bytes], list[bytes], int]:
    names: list[bytes] = []
    raw: list[bytes] = []
    at, name = 12, b""
    for _ in range(count):
        flags = content[at + 60] << 8 | content[at + 61]
        start = at + (64 if flags & _MORE_FLAGS else _STATE)
        if is_short:
            kept, begin = _number(content, start)
            end = content.index(b"\0", begin)
            name = name[: len(name) - kept] + content[begin:end]
            raw.append(_padded(content[at:start], name))
            at = end + 1
        else:
            length = flags & _NAME_LENGTH
            end = start + length if length < _NAME_LENGTH else content.index(b"\0", start)
            name = content[start:end]
            following = at + (end - at + 8) // 8 * 8
            raw.append(content[at:following])
            at = following
        names.append(name)
    if at > len(content) - 20 or any(low > high for low, high in pairwise(names)):
        raise ValueError("cut off or out of order")
    return names, raw, at


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Read a number as git writes it in version 4: seven bits a byte, and one added for each byte that follows."""
    value = content[at] & 0x7F
    while content[at] & 0x80:
        at += 1
        value = (value + 1) << 7 | content[at] & 0x7F
    return value, at + 1


def _refuse_shared(content: bytes, at: int) -> None:
    """Refuse an index with an extension that changes what its entries mean; their names start in lower case."""
    while at + 8 <= len(content) - 20:
        signature, size = content[at : at + 4], unpack_from(">I", content, at + 4)[0]
        if not 0x41 <= signature[0] <= 0x5A:
            raise HomeReadonly(
                "the home's index is split or sparse, which cannot be written from here",
                where=".git/index",
                hint="run `git update-index --no-split-index`, or `git sparse-checkout disable`",
            )
        at += 8 + size
