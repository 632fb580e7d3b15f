"""The body of an answer: one content encoding undone, never more bytes than allowed."""

import zlib
from collections.abc import Iterable

_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class TooManyBytesError(Exception):
    """The body is bigger than allowed, packed or unpacked, or packed more than once."""


class UndecodableError(Exception):
    """The body does not follow the encoding it says, or is in one that was not asked for."""


def read_body(chunks: Iterable[bytes], encoding: str, largest_bytes: int) -> bytes:
    """Return the decoded body; reading and unpacking stop at the limit.

    Args:
        chunks: The body as it comes.
        encoding: The value of Content-Encoding; "" for none.
        largest_bytes: Most bytes, of the packed and of the unpacked body.

    Raises:
        TooManyBytesError: There are more, or a second encoding could hide more.
        UndecodableError: The encoding is unknown, or the body breaks off or does not follow it.
    """
    name = encoding.strip().lower()
    if "," in name:
        raise TooManyBytesError
    packed = _joined(chunks, largest_bytes)
    if name in {"", "identity"}:
        return packed
    if name in {"gzip", "x-gzip"}:
        return _inflated(packed, _GZIP, largest_bytes)
    if name == "deflate":
        # Two forms go by this name: with the zlib header, as specified, and without it, as some servers send it.
        has_header = len(packed) > 1 and packed[0] & 0x0F == zlib.DEFLATED and int.from_bytes(packed[:2]) % 31 == 0
        return _inflated(packed, _ZLIB if has_header else _RAW_DEFLATE, largest_bytes)
    raise UndecodableError


def _joined(chunks: Iterable[bytes], largest_bytes: int) -> bytes:
    # Not a list of chunks: of an answer sent in chunks of two bytes it would take twenty times the memory.
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > largest_bytes:
            raise TooManyBytesError
    return bytes(body)


def _inflated(packed: bytes, window_bits: int, largest_bytes: int) -> bytes:
    parts: list[bytes] = []
    left = largest_bytes
    while packed:  # a gzip body may have several members
        unpacker = zlib.decompressobj(window_bits)
        try:
            part = unpacker.decompress(packed, left + 1)  # one more than allowed tells that there is more
        except zlib.error:
            raise UndecodableError from None
        left -= len(part)
        if left < 0:
            raise TooManyBytesError
        if not unpacker.eof:
            raise UndecodableError
        parts.append(part)
        packed = unpacker.unused_data
    return b"".join(parts)
