"""Git's packs: many objects in one file, and the index that finds them.

What is written here holds whole objects only. A pack of another program may hold objects as differences to others;
those are left to dulwich.

Source: git's Documentation/gitformat-pack.txt, pack version 2 and index version 2.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from struct import pack, unpack_from

from habilis.home.git.objects import GitObject, Kind

_KINDS: dict[int, Kind] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_NUMBERS = {kind: number for number, kind in _KINDS.items()}
_INDEX_HEAD = b"\377tOc\0\0\0\2"
_NAMES_AT = len(_INDEX_HEAD) + 256 * 4
_CHUNK = 4096
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack and its index, ready to be stored under one name."""

    name: str
    pack: bytes
    index: bytes


def pack_objects(objects: Sequence[GitObject]) -> Packed:
    """Return a pack of the objects, each one whole; no id may come twice."""
    chunks = [pack(">4sII", b"PACK", 2, len(objects))]
    places: list[tuple[bytes, int, int]] = []
    at = len(chunks[0])
    for each in objects:
        chunk = _head(_NUMBERS[each.kind], len(each.body)) + zlib.compress(each.body, 1)
        places.append((bytes.fromhex(each.id), at, zlib.crc32(chunk)))
        chunks.append(chunk)
        at += len(chunk)
    if at > _LARGEST:
        raise ValueError("a pack of more than 2 GiB is never written")
    body = b"".join(chunks)
    checksum = sha1(body, usedforsecurity=False).digest()
    return Packed(checksum.hex(), body + checksum, _index(sorted(places), checksum))


def _head(number: int, size: int) -> bytes:
    first, size = number << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    head.append(first)
    return bytes(head)


def _index(places: Sequence[tuple[bytes, int, int]], checksum: bytes) -> bytes:
    counts = [0] * 256
    for name, _, _ in places:
        counts[name[0]] += 1
    total, fan = 0, []
    for count in counts:
        total += count
        fan.append(total)
    body = b"".join(
        [
            _INDEX_HEAD,
            pack(">256I", *fan),
            b"".join(name for name, _, _ in places),
            pack(f">{total}I", *(crc for _, _, crc in places)),
            pack(f">{total}I", *(at for _, at, _ in places)),
            checksum,
        ]
    )
    return body + sha1(body, usedforsecurity=False).digest()


class StoredPack:
    """A pack on disk. Its file stays open, so that it can be read after another program put it away."""

    _close_file = staticmethod(os.close)  # kept here: when the process ends, modules are emptied before objects go

    def __init__(self, path: Path) -> None:
        """Open the pack at `path`, which ends with ".pack"; ValueError when its index is of another version."""
        self.path = path
        self._index = path.with_suffix(".idx").read_bytes()
        if len(self._index) < _NAMES_AT + 40 or not self._index.startswith(_INDEX_HEAD):
            raise ValueError("the pack's index is of another version or cut off")
        self._fan: tuple[int, ...] = unpack_from(">256I", self._index, len(_INDEX_HEAD))
        self._count = self._fan[255]
        if len(self._index) < _NAMES_AT + self._count * 28 + 40:
            raise ValueError("the pack's index is cut off")
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __len__(self) -> int:
        return self._count

    def ids(self) -> Iterator[str]:
        """Return the ids of all objects in the pack."""
        return (self._name(place).hex() for place in range(self._count))

    def place_of(self, name: bytes) -> int | None:
        """Return where an object lies, None when it does not lie here."""
        low = self._fan[name[0] - 1] if name[0] else 0
        high = self._fan[name[0]]
        while low < high:
            middle = (low + high) // 2
            found = self._name(middle)
            if found == name:
                return self._place(middle)
            low, high = (middle + 1, high) if found < name else (low, middle)
        return None

    def read(self, at: int) -> tuple[Kind, bytes] | None:
        """Return the kind and content of the object at a place; None when it is kept as a difference.

        Raises:
            ValueError: The pack is damaged there.
        """
        chunk = os.pread(self._file, _CHUNK, at)
        try:
            number, size, start = _read_head(chunk)
            if number not in _KINDS:
                return None
            return _KINDS[number], self._inflate(chunk[start:], at + len(chunk), size)
        except (IndexError, zlib.error):
            raise ValueError("the pack is damaged") from None

    def close(self) -> None:
        """Close the pack's file."""
        if self._file >= 0:
            self._close_file(self._file)
            self._file = -1

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

    def _name(self, place: int) -> bytes:
        return self._index[_NAMES_AT + place * 20 : _NAMES_AT + place * 20 + 20]

    def _place(self, number: int) -> int:
        at: int = unpack_from(">I", self._index, _NAMES_AT + self._count * 24 + number * 4)[0]
        if at > _LARGEST:
            at = unpack_from(">Q", self._index, _NAMES_AT + self._count * 28 + (at - _LARGEST - 1) * 8)[0]
        return at

    def _inflate(self, chunk: bytes, at: int, size: int) -> bytes:
        inflater = zlib.decompressobj()
        pieces: list[bytes] = []
        left = size
        while chunk and left >= 0:
            # One more than is left, so that content that is too long shows; 0 would mean all there is.
            pieces.append(inflater.decompress(chunk, left + 1))
            left -= len(pieces[-1])
            if inflater.eof:
                break
            chunk = inflater.unconsumed_tail
            if not chunk:
                chunk = os.pread(self._file, _CHUNK * 16, at)
                at += len(chunk)
        if left or not inflater.eof:
            raise ValueError("the pack is damaged")
        return b"".join(pieces)


def _read_head(chunk: bytes) -> tuple[int, int, int]:
    number, size, start, shift = chunk[0] >> 4 & 7, chunk[0] & 15, 1, 4
    while chunk[start - 1] & 0x80:
        size |= (chunk[start] & 0x7F) << shift
        shift, start = shift + 7, start + 1
    return number, size, start
