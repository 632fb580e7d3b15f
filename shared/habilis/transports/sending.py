"""What leaves: headers that may be sent, and bodies read from disk while they are sent."""

import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from habilis import __version__
from habilis.errors import BadInput, EngineFailed, SecretMalformed
from habilis.messages import FileSlice, Request, Streamed
from habilis.transports.pieces import read_pieces
from habilis.transports.wire import Exchange

_PIECE_BYTES = 64 * 1024
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OURS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
    "proxy-authorization", "proxy-connection",
})  # fmt: skip
"""Headers that say how a request is carried: another value would change where it goes or where it ends."""

_DEFAULTS = (
    ("accept", (b"Accept", b"*/*")),
    ("accept-encoding", (b"Accept-Encoding", b"gzip, deflate")),
    ("user-agent", (b"User-Agent", f"habilis/{__version__}".encode())),
)


def headers_of(request: Request, host: bytes) -> list[tuple[bytes, bytes]]:
    """The headers as they are sent, each one ours or checked; the body's length among them.

    Raises:
        BadInput: A header has no good name, or is one that the engine alone sets.
        SecretMalformed: A header, or the user name, cannot carry its value.
    """
    headers = [(b"Host", host)]
    given = set()
    for name, value in request.headers:
        headers.append(_header(name, value, request.where))
        given.add(name.lower())
    headers.extend(pair for name, pair in _DEFAULTS if name not in given)
    if request.basic_auth is not None:
        headers.append((b"Authorization", _basic(request.basic_auth, request.where)))
    body = request.body or b""
    size = body.size if isinstance(body, Streamed) else len(body)
    if size or request.method in {"POST", "PUT", "PATCH"}:
        headers.append((b"Content-Length", b"%d" % size))
    return headers


def require_files(body: Streamed, exchange: Exchange) -> None:
    """Raise EngineFailed, with nothing sent, when a file of the body is gone or shorter than it was."""
    for piece in body.pieces:
        if isinstance(piece, FileSlice) and _size(piece.path) < piece.offset + piece.size:
            raise EngineFailed(
                f"the file {Path(piece.path).name!r} is gone or shorter than it was when the call was made",
                where=exchange.where,
                hint="see that it is whole, then make the call again",
                outcome=exchange.outcome,
            )


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return -1


def pieces_of(body: Streamed, exchange: Exchange) -> Iterator[bytes]:
    """The body, from its start, in pieces of at most 64 KiB where they are read from disk.

    Raises:
        EngineFailed: A file is gone or ends too early; the outcome is unknown when bytes have left.
    """
    for piece in body.pieces:
        if isinstance(piece, bytes):
            yield piece
            continue
        try:
            yield from read_pieces(piece, _PIECE_BYTES, where=exchange.where)
        except EngineFailed as error:
            error.outcome = exchange.outcome
            if error.outcome == "unknown":
                error.hint = "a part of it was sent: look what became of it before making the call again"
            raise


def _header(name: str, value: str, where: str) -> tuple[bytes, bytes]:
    if not _HEADER_NAME.fullmatch(name):
        raise BadInput("a header's name has characters a name cannot have", where=where)
    if name.lower() in _OURS:
        raise BadInput(f"header {name} is set by the engine alone", where=where)
    if not _HEADER_VALUE.fullmatch(value):
        raise SecretMalformed(f"header {name} has characters a header cannot carry", where=where)
    return name.encode(), value.strip(" \t").encode("latin-1")


def _basic(pair: tuple[str, str], where: str) -> bytes:
    """The value of Authorization, in UTF-8. Source: RFC 7617."""
    user, password = pair
    if ":" in user or _SURROGATE.search(user + password):
        raise SecretMalformed("the user name or password of basic_auth has characters it cannot carry", where=where)
    return b"Basic " + b64encode(f"{user}:{password}".encode())
