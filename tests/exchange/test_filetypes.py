import pytest

from habilis.exchange.filetypes import ENDINGS, TOLD_BY_BYTES, is_binary, is_page, type_of

HEADS = [
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
    (b"GIF89a\1\0\1\0", "image/gif"),
    (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    (b"\0\0\0\x20ftypavif\0\0\0\0avifmif1", "image/avif"),
    (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avif\0\0\0\0", "image/avif"),
    (b"\0\0\0\x18ftypheic\0\0\0\0heic", "image/heic"),
    (b"\0\0\0\x18ftypisom\0\0\2\0isommp41", "video/mp4"),
    (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "video/mp4"),
    (b"\0\0\0\x14ftypqt  \0\0\0\0", "video/quicktime"),
    (b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42", "audio/mp4"),
    (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x84webm", "video/webm"),
    (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x88matroska", "video/x-matroska"),
    (b"ID3\4\0\0\0\0\0\0", "audio/mpeg"),
    (b"\xff\xfb\x90\x44", "audio/mpeg"),
    (b"\xff\xf1\x50\x80", "audio/aac"),
    (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
    (b"OggS\0\2" + b"\0" * 22 + b"\1\x1e\1vorbis", "audio/ogg"),
    (b"OggS\0\2" + b"\0" * 22 + b"\1\x2a\x80theora", "video/ogg"),
    (b"fLaC\0\0\0\x22", "audio/flac"),
    (b"%PDF-1.7\n", "application/pdf"),
    (b"PK\3\4\x14\0", "application/zip"),
    (b"\x1f\x8b\x08\0", "application/gzip"),
]


@pytest.mark.parametrize(("head", "mime"), HEADS)
def test_a_file_is_known_by_its_first_bytes(head, mime):
    assert type_of(head) == mime
    assert is_binary(head)
    assert mime in ENDINGS
    assert mime in TOLD_BY_BYTES


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE html><html>",
        b"\xef\xbb\xbf\r\n<html lang='en'>",
        b"<!-- a - b -- c --><HTML>",
        b"<script>alert(1)</script>",
        b"<?xml version='1.0'?><!doctype html><html>",
    ],
)
def test_a_web_page_is_known_whatever_stands_before_it(head):
    assert type_of(head) == "text/html"
    assert is_page(head)
    assert not is_binary(head)


@pytest.mark.parametrize(
    "head",
    [
        b'<svg xmlns="http://www.w3.org/2000/svg">',
        b"<?xml version='1.0'?>\n<!-- made by x -->\n<svg:svg>",
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg>',
    ],
)
def test_a_drawing_is_known_by_its_root(head):
    assert type_of(head) == "image/svg+xml"
    assert not is_binary(head)


@pytest.mark.parametrize(
    "head", [b"", b"\xff", b"\xff\xd8", b"RIFF", b"RIFF\0\0\0\0XXXX", b"\0\0\0\x18ftyx", b"hello", b'{"a": 1}', b"<a>",
    "text".encode("utf-16"), "text".encode("utf-32"), b"<!-- never ends",
     b"<!--" * 1000, b"<!---->" * 580 + b"x", b"MZ\x90\0", b"\x7fELF"],
)  # fmt: skip
def test_bytes_without_a_sign_are_of_no_known_type(head):
    assert type_of(head) == ""
    assert not is_page(head)
