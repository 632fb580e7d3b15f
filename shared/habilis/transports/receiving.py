"""What comes back: the answer to a request, in memory, or in a file where it is one."""

import errno
import os
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from habilis.errors import DiskFull, EngineFailed, HabilisError, RedirectRefused, ResponseTooLarge
from habilis.hosts import origin_of
from habilis.messages import Answer, Request
from habilis.transports.decoding import TooManyBytesError, UndecodableError, decoded, read_body
from habilis.transports.wire import Exchange

_LARGEST_HEAD_BYTES = 64 * 1024
_SHOWN_BYTES = 4096
_MEDIA = ("image/", "audio/", "video/", "font/")
_TEXT_ENDINGS = ("json", "xml", "jsonl", "csv", "javascript", "yaml", "x-www-form-urlencoded")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def take_answer(
    status: int, raw_headers: list[tuple[bytes, bytes]], chunks: Iterable[bytes], request: Request, exchange: Exchange
) -> Answer:
    """The answer, read to its end.

    Args:
        status: As it came.
        raw_headers: As they came.
        chunks: The body as it comes, still packed.
        request: Says how large an answer may be, and where a file goes.
        exchange: Says what a failure means.

    Raises:
        RedirectRefused: The status is 3xx.
        ResponseTooLarge: The body is larger than the request allows.
        UpstreamProtocol: The body is not in the encoding it names, or this is no HTTP.
        EngineFailed: The file cannot be written.
    """
    if status < 200:
        raise exchange.broken("wants to speak something else than HTTP")
    headers = _joined(raw_headers, exchange)
    if 300 <= status < 400:
        raise RedirectRefused(
            f"{exchange.host} answered {status}, a redirect to {_target(headers.get('location', ''))}",
            where=request.where,
            hint="redirects are not followed; name the final address",
            outcome=exchange.outcome,
        )
    try:
        if request.download_to and status < 300 and not _is_text(headers.get("content-type", "")):
            body, file, size = _taken_as_file(chunks, headers, request, exchange)
        else:
            body, file = read_body(chunks, headers.get("content-encoding", ""), request.largest_bytes), ""
            size = len(body)
    except TooManyBytesError as error:
        raise ResponseTooLarge(
            f"{exchange.host} answered with more than {error.largest_bytes} bytes",
            where=request.where,
            hint="ask for less at a time",
            outcome=exchange.outcome,
        ) from None
    except UndecodableError:
        raise exchange.broken("sent a body that is not in the encoding it names") from None
    return Answer(status=status, headers=headers, body=body, file=file, size=size, elapsed_s=exchange.elapsed_s)


def _joined(raw: list[tuple[bytes, bytes]], exchange: Exchange) -> dict[str, str]:
    headers: dict[str, str] = {}
    size = 0
    for raw_name, raw_value in raw:
        size += len(raw_name) + len(raw_value)
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if size > _LARGEST_HEAD_BYTES:
        raise exchange.broken(f"sent headers of more than {_LARGEST_HEAD_BYTES} bytes")
    return headers


def _target(location: str) -> str:
    """The host a redirect points to; nothing else of it, since queries carry keys."""
    if location.startswith("/") and not location.startswith("//"):
        return "the same host"
    try:
        return origin_of(location)[1]
    except HabilisError:
        return "another address"


def _is_text(content_type: str) -> bool:
    """Whether a content type is of something to be read, not of a file; no type is none."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or (kind.endswith(_TEXT_ENDINGS) and not kind.startswith(_MEDIA))


def _taken_as_file(
    chunks: Iterable[bytes], headers: Mapping[str, str], request: Request, exchange: Exchange
) -> tuple[bytes, str, int]:
    """The start of the body, the path of the file that holds it whole, and its size.

    An empty body, and one that says no type and looks like text, is held in memory all the same.
    """
    pieces = decoded(chunks, headers.get("content-encoding", ""), request.largest_file_bytes)
    first = next(pieces, b"")
    if first and _length(headers) > request.largest_file_bytes:
        raise TooManyBytesError(request.largest_file_bytes)
    pieces = chain((first,), pieces)
    if not first or (not headers.get("content-type") and _looks_like_text(first)):
        body = read_body(pieces, "", request.largest_bytes)
        return body, "", len(body)
    return _written(pieces, request.download_to, exchange)


def _length(headers: Mapping[str, str]) -> int:
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() else 0


def _looks_like_text(data: bytes) -> bool:
    if _CONTROL.search(data):
        return False
    # The last character may go on in the next piece.
    return "\ufffd" not in data.decode(errors="replace")[:-1]


def _written(pieces: Iterable[bytes], folder: str, exchange: Exchange) -> tuple[bytes, str, int]:
    from tempfile import mkstemp  # only a call that brings a file back needs it

    start = b""
    size = 0
    path = ""
    is_whole = False
    try:
        descriptor, path = mkstemp(prefix="answer-", dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
                size += len(piece)
                start += piece[: _SHOWN_BYTES - len(start)]
        is_whole = True
        return start, path, size
    except OSError as error:
        is_full = error.errno in _FULL
    finally:
        if path and not is_whole:
            Path(path).unlink(missing_ok=True)
    kind = DiskFull if is_full else EngineFailed
    raise kind(
        f"the file that {exchange.host} answered with cannot be written",
        where=exchange.where,
        hint="make room on the disk" if is_full else "see that the folder for files may be written to",
        outcome=exchange.outcome,
        retryable=is_full and exchange.outcome == "not_sent",
    )
