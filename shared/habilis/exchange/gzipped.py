"""A body that is a gzip file: unpacked, up to a limit.

Source: RFC 1952.
"""

import zlib

from habilis.exchange.unreadable import Unreadable

_MAGIC = b"\x1f\x8b\x08"
_LARGEST_BYTES = 10 * 1024 * 1024
"""As much as an answer that is not packed may hold."""


def is_gzip(body: bytes) -> bool:
    """Whether the bytes are those of a gzip file."""
    return body.startswith(_MAGIC)


def unpacked(body: bytes) -> bytes:
    """What is in a gzip file, all its members after one another; Unreadable when it is broken or too much."""
    pieces: list[bytes] = []
    left = _LARGEST_BYTES
    while body.startswith(_MAGIC):
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            piece = unpacking.decompress(body, left + 1)
        except zlib.error:
            raise Unreadable("a broken gzip file") from None
        left -= len(piece)
        if left < 0:
            raise Unreadable(f"a gzip file of more than {_LARGEST_BYTES >> 20} MiB")
        if not unpacking.eof:
            raise Unreadable("a gzip file that breaks off")
        pieces.append(piece)
        body = unpacking.unused_data
    return b"".join(pieces)
