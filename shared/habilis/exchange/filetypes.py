"""What a file is, told from its first bytes: a name on it proves nothing.

Source: the specifications of the formats; ISO/IEC 14496-12 section 4.3 for the brands of `ftyp`.
"""

import re

HEAD_BYTES = 4096
"""As many of a file's first bytes are looked at."""

_STARTS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"MThd", "audio/midi"),
    *((b"\xff" + layer3, "audio/mpeg") for layer3 in (b"\xfb", b"\xfa", b"\xf3", b"\xf2", b"\xe3", b"\xe2")),
    *((b"\xff" + adts, "audio/aac") for adts in (b"\xf1", b"\xf9")),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS = {
    b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"heix": "image/heic", b"mif1": "image/heif",
    b"M4A ": "audio/mp4", b"M4B ": "audio/mp4", b"qt  ": "video/quicktime",
}  # fmt: skip
_EBML = b"\x1a\x45\xdf\xa3"
# Atomic and possessive: each way to read on is tried once, so that no run of comments makes it slow.
_BEFORE_ROOT = rb"(?:\xef\xbb\xbf)?(?>\s|<\?[^>]*>|<!--.*?-->|<!doctype svg[^>]*>)*+"
_PAGE_ROOT = rb"<(?:!doctype html|html|head|body|title|meta|script|iframe)\b"
_PAGE = re.compile(_BEFORE_ROOT + _PAGE_ROOT, re.IGNORECASE | re.DOTALL)
_SVG = re.compile(_BEFORE_ROOT + rb"<(?:\w+:)?svg\b", re.IGNORECASE | re.DOTALL)

ENDINGS = {
    "image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif",
    "image/heic": ".heic", "image/heif": ".heif", "image/tiff": ".tiff", "image/svg+xml": ".svg",
    "video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov", "video/x-matroska": ".mkv",
    "video/x-msvideo": ".avi", "video/ogg": ".ogv",
    "audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a",
    "audio/aac": ".aac", "audio/webm": ".weba", "audio/midi": ".mid",
    "application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json",
    "application/xml": ".xml", "text/plain": ".txt", "text/csv": ".csv", "text/html": ".html", "text/xml": ".xml",
    "text/markdown": ".md", "text/vtt": ".vtt", "application/x-subrip": ".srt",
}  # fmt: skip
"""Types and the endings of their files."""

TOLD_BY_BYTES = frozenset(ENDINGS) - {
    "application/json", "application/xml", "text/plain", "text/csv", "text/xml", "text/markdown", "text/vtt",
    "application/x-subrip",
}  # fmt: skip
"""Types that have a sign in their first bytes: a file without it is none of them."""


_ANY_START = tuple(start for start, _ in _STARTS)


def type_of(head: bytes) -> str:
    """The media type that a file's first bytes are of; "" when they have no sign of any."""
    return _binary_type(head) or _markup_type(head[:HEAD_BYTES])


def is_binary(head: bytes) -> bool:
    """Whether the first bytes are those of a file that is no text."""
    return _binary_type(head) != ""


def is_page(head: bytes) -> bool:
    """Whether the first bytes are those of a web page."""
    return _PAGE.match(head[:HEAD_BYTES]) is not None


def _binary_type(head: bytes) -> str:
    if head.startswith(_ANY_START):
        return next(name for start, name in _STARTS if head.startswith(start))
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _brand_type(head)
    if head.startswith(b"OggS"):
        return "video/ogg" if b"theora" in head[:512] else "audio/ogg"
    if head.startswith(_EBML):
        return "video/webm" if b"webm" in head[:64] else "video/x-matroska"
    return ""


def _brand_type(head: bytes) -> str:
    """The type of an MP4-like file: its first brand, or one that it is compatible with, says."""
    size = min(int.from_bytes(head[:4]), 256)
    brands = [head[8:12], *(head[at : at + 4] for at in range(16, size, 4))]
    if brands[0] == b"mif1" and b"avif" in brands:
        return "image/avif"
    return _BRANDS.get(brands[0], "video/mp4")


def _markup_type(head: bytes) -> str:
    if _PAGE.match(head):
        return "text/html"
    return "image/svg+xml" if _SVG.match(head) else ""
