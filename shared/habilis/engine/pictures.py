"""How large a picture is, read from the first bytes of its file.

Source: PNG (third edition) section 11.2.1; GIF89a section 18; ITU-T T.81 annex B and Exif 2.32 section 4.6.4 for JPEG;
the WebP container specification, "Simple" and "Extended File Format".
"""

from typing import BinaryIO, Literal

_MOST_SEGMENTS = 500
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers of a JPEG that have no length."""

_LYING = frozenset({5, 6, 7, 8})
"""Orientations of a camera that was held upright: the picture is shown turned by a quarter."""

_ORIENTATION = 0x0112


def picture_size(file: BinaryIO) -> tuple[int, int] | None:
    """Width and height in pixels, as it is shown, of a PNG, JPEG, GIF or WebP; None for anything else."""
    head = file.read(32)
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        size = _number(head[16:20]), _number(head[20:24])
    elif head.startswith((b"GIF87a", b"GIF89a")):
        size = _small(head[6:8]), _small(head[8:10])
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp(head)
    elif head.startswith(b"\xff\xd8\xff"):
        file.seek(2)
        size = _jpeg(file)
    else:
        return None
    return size if all(size) else None


def _webp(head: bytes) -> tuple[int, int]:
    kind, body = head[12:16], head[20:]
    if kind == b"VP8X":
        return _small(body[4:7]) + 1, _small(body[7:10]) + 1
    if kind == b"VP8L" and body[:1] == b"\x2f":
        bits = _small(body[1:5])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and body[3:6] == b"\x9d\x01\x2a":
        return _small(body[6:8]) & 0x3FFF, _small(body[8:10]) & 0x3FFF
    return 0, 0


def _jpeg(file: BinaryIO) -> tuple[int, int]:
    """Width and height from the frame header, turned as the camera noted; (0, 0) where there is none."""
    is_lying = False
    for _ in range(_MOST_SEGMENTS):
        marker = _next_marker(file)
        if marker in _BARE:
            continue
        length = _number(file.read(2)) - 2
        if marker is None or length < 0:
            break
        if marker in _START_OF_FRAME:
            frame = file.read(5)
            height, width = _number(frame[1:3]), _number(frame[3:5])
            return (height, width) if is_lying else (width, height)
        if marker == 0xE1:
            segment = file.read(length)
            is_lying = is_lying or _orientation(segment) in _LYING
        else:
            file.seek(length, 1)
    return 0, 0


def _next_marker(file: BinaryIO) -> int | None:
    if file.read(1) != b"\xff":
        return None
    marker = file.read(1)
    while marker == b"\xff":  # any number of these may stand before it
        marker = file.read(1)
    return marker[0] if marker else None


def _orientation(segment: bytes) -> int:
    """The orientation that an Exif segment notes, 1 to 8; 0 for none."""
    if not segment.startswith(b"Exif\0\0"):
        return 0
    tiff = segment[6:]
    order: Literal["big", "little"] = "big" if tiff.startswith(b"MM") else "little"

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], order)

    first = number(4, 4)
    for entry in range(first + 2, min(first + 2 + 12 * number(first, 2), len(tiff)), 12):
        if number(entry, 2) == _ORIENTATION:
            return number(entry + 8, 2)
    return 0


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _small(data: bytes) -> int:
    return int.from_bytes(data, "little")
