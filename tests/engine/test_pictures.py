"""How large a picture is, from its first bytes."""

import io
import struct

import pytest

from habilis.engine.pictures import picture_size


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII5B", 13, b"IHDR", width, height, 8, 6, 0, 0, 0)


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH3B", width, height, 0, 0, 0)


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(width, height, *before, frame=0xC0):
    return b"\xff\xd8" + b"".join(before) + segment(frame, struct.pack(">BHHB", 8, height, width, 3) + bytes(9))


def exif(orientation, order=">"):
    entries = struct.pack(f"{order}HHIH2x", 0x0100, 3, 1, 9) + struct.pack(f"{order}HHIH2x", 0x0112, 3, 1, orientation)
    tiff = (b"MM" if order == ">" else b"II") + struct.pack(f"{order}HIH", 42, 8, 2) + entries + bytes(4)
    return segment(0xE1, b"Exif\0\0" + tiff)


def webp(kind, body):
    return b"RIFF" + struct.pack("<I", 22) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


def size(data):
    return picture_size(io.BytesIO(data))


@pytest.mark.parametrize(
    "picture",
    [
        png(1600, 900),
        gif(1600, 900),
        jpeg(1600, 900),
        jpeg(1600, 900, frame=0xC2),
        jpeg(1600, 900, segment(0xE0, b"JFIF\0" + bytes(9)), segment(0xE2, bytes(60_000)), b"\xff\xff\xff\x01"),
        jpeg(1600, 900, segment(0xC4, bytes(30))),
        webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 1600 | 0x4000, 900)),
        webp(b"VP8L", b"\x2f" + struct.pack("<I", (1600 - 1) | (900 - 1) << 14)),
        webp(b"VP8X", bytes(4) + (1600 - 1).to_bytes(3, "little") + (900 - 1).to_bytes(3, "little")),
    ],
    ids=[
        "png",
        "gif",
        "jpeg",
        "progressive jpeg",
        "jpeg with much before",
        "jpeg tables",
        "webp",
        "lossless",
        "extended",
    ],
)
def test_a_picture_says_its_width_and_height(picture):
    assert size(picture) == (1600, 900)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("orientation", "shown"), [(1, (4000, 3000)), (3, (4000, 3000)), (6, (3000, 4000)), (8, (3000, 4000))]
)
def test_a_photo_is_as_large_as_it_is_shown(order, orientation, shown):
    assert size(jpeg(4000, 3000, exif(orientation, order))) == shown


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no picture",
        png(1600, 900)[:20],
        png(0, 900),
        gif(1600, 900)[:7],
        b"\xff\xd8\xff",
        jpeg(1600, 900)[:9],
        b"\xff\xd8" + segment(0xE0, bytes(10)) + b"\x00\x00",
        b"\xff\xd8\xff\xe0\x00\x00",
        b"\xff\xd8" + segment(0xE0, b"") * 5000,
        webp(b"VP8 ", bytes(20)),
        webp(b"ALPH", bytes(20)),
        jpeg(0, 0, segment(0xE1, b"Exif\0\0MM\0*\xff\xff\xff\xff")),
    ],
)
def test_what_is_no_whole_picture_has_no_size(data):
    assert size(data) is None
