import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.transports.decoding import TooManyBytesError, UndecodableError, read_body

TEXT = b"hello hello hello"


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = [
    ("", TEXT),
    ("identity", TEXT),
    ("gzip", gzip.compress(TEXT)),
    (" GZIP ", gzip.compress(TEXT)),
    ("x-gzip", gzip.compress(TEXT)),
    ("gzip", gzip.compress(TEXT[:5]) + gzip.compress(TEXT[5:])),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", raw_deflate(TEXT)),
]


@pytest.mark.parametrize(("encoding", "packed"), PACKED)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_one_encoding_is_undone_however_the_body_is_cut(encoding, packed, size):
    chunks = [packed[at : at + size] for at in range(0, len(packed), size)]

    assert read_body(chunks, encoding, 100) == TEXT


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_no_body_stays_no_body(encoding):
    assert read_body([], encoding, 10) == b""


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [(encoding, packed) for encoding, packed in PACKED if encoding in {"gzip", "deflate"}],
)
def test_a_packed_body_that_breaks_off_is_not_taken_for_a_whole_one(encoding, packed):
    with pytest.raises(UndecodableError):
        read_body([packed[:-3]], encoding, 1000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("packed", [TEXT, b"\x1f\x8b\xff", gzip.compress(TEXT) + b"junk"])
def test_a_body_that_does_not_follow_its_encoding_is_undecodable(encoding, packed):
    with pytest.raises(UndecodableError):
        read_body([packed], encoding, 1000)


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "chunked", "gzip;q=1"])
def test_an_encoding_that_was_not_asked_for_is_undecodable(encoding):
    with pytest.raises(UndecodableError):
        read_body([TEXT], encoding, 1000)


def test_a_second_encoding_counts_as_too_large():
    twice = gzip.compress(gzip.compress(bytes(1000)))

    with pytest.raises(TooManyBytesError):
        read_body([twice], "gzip, gzip", 10_000)


@pytest.mark.parametrize(("encoding", "pack"), [("", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_the_limit_counts_the_unpacked_bytes_exactly(encoding, pack):
    body = bytes(5000)

    assert read_body([pack(body)], encoding, 5000) == body
    with pytest.raises(TooManyBytesError):
        read_body([pack(body)], encoding, 4999)


def test_reading_stops_where_the_limit_is_passed():
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield bytes(100)

    with pytest.raises(TooManyBytesError):
        read_body(endless(), "", 1000)
    assert len(taken) == 11


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", ""]))
def test_no_bytes_raise_anything_else(packed, encoding):
    with contextlib.suppress(TooManyBytesError, UndecodableError):
        assert len(read_body([packed], encoding, 1000)) <= 1000
