"""The body of an answer: one content encoding undone, never more bytes than allowed."""

import zlib
from collections.abc import Iterable, Iterator

_PIECE_BYTES = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class TooManyBytesError(Exception):
    """The body is bigger than allowed, packed or unpacked, or packed more than once.

    Attributes:
        largest_bytes: How many are allowed.
    """

    def __init__(self, largest_bytes: int) -> None:
        super().__init__()
        self.largest_bytes = largest_bytes


class UndecodableError(Exception):
    """The body does not follow the encoding it says, or is in one that was not asked for."""


def read_body(chunks: Iterable[bytes], encoding: str, largest_bytes: int) -> bytes:
    """The whole decoded body; see `decoded`."""
    # Not a list of chunks: of an answer sent in chunks of two bytes it would take twenty times the memory.
    body = bytearray()
    for piece in decoded(chunks, encoding, largest_bytes):
        body += piece
    return bytes(body)


def decoded(chunks: Iterable[bytes], encoding: str, largest_bytes: int) -> Iterator[bytes]:
    """The body piece by piece, none of them empty; reading and unpacking stop at the limit.

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
        raise TooManyBytesError(largest_bytes)
    packed = _limited(chunks, largest_bytes)
    if name in {"", "identity"}:
        return packed
    if name in {"gzip", "x-gzip"}:
        return _limited(_unpacked(packed, _GZIP), largest_bytes)
    if name == "deflate":
        return _limited(_undeflated(packed), largest_bytes)
    raise UndecodableError


def _limited(chunks: Iterable[bytes], largest_bytes: int) -> Iterator[bytes]:
    left = largest_bytes
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise TooManyBytesError(largest_bytes)
        if chunk:
            yield chunk


def _undeflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    # Two forms go by this name: with the zlib header, as specified, and without it, as some servers send it.
    start = b""
    while len(start) < 2 and (chunk := next(packed, b"")):
        start += chunk
    has_header = len(start) > 1 and start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(start[:2]) % 31 == 0
    yield from _unpacked(_after(start, packed), _ZLIB if has_header else _RAW_DEFLATE)


def _after(start: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if start:
        yield start
    yield from rest


def _unpacked(packed: Iterator[bytes], window_bits: int) -> Iterator[bytes]:
    """The unpacked body; a few bytes may unpack to very many, so no piece is more than 64 KiB."""
    unpacker = zlib.decompressobj(window_bits)
    is_begun = False
    for chunk in packed:
        is_begun, waiting, is_full = True, chunk, False
        while waiting or is_full:
            if unpacker.eof:  # a gzip body may have several members
                unpacker = zlib.decompressobj(window_bits)
            try:
                piece = unpacker.decompress(waiting, _PIECE_BYTES)
            except zlib.error:
                raise UndecodableError from None
            yield piece
            # A full piece may leave more inside the unpacker although it took all that was given.
            is_full = len(piece) == _PIECE_BYTES and not unpacker.eof
            waiting = unpacker.unused_data or unpacker.unconsumed_tail
    if is_begun and not unpacker.eof:
        raise UndecodableError
