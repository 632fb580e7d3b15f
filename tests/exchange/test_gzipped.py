import gzip
import tracemalloc

import pytest

from habilis.exchange.gzipped import is_gzip, unpacked
from habilis.exchange.unreadable import Unreadable

TEXT = b"name,price\nTea,3\n"


def test_a_gzip_file_is_unpacked_with_all_its_members():
    packed = gzip.compress(TEXT) + gzip.compress(b"Milk,2\n")

    assert is_gzip(packed)
    assert unpacked(packed) == TEXT + b"Milk,2\n"


def test_padding_after_the_file_is_passed_over():
    assert unpacked(gzip.compress(TEXT) + b"\0" * 10) == TEXT


@pytest.mark.parametrize("body", [b"", b"\x1f", b"PK\3\4", TEXT])
def test_other_bytes_are_no_gzip_file(body):
    assert not is_gzip(body)


@pytest.mark.parametrize(
    ("packed", "fault"),
    [
        (gzip.compress(TEXT)[:-9], "breaks off"),
        (gzip.compress(TEXT)[:-4], "breaks off"),
        (b"\x1f\x8b\x08" + b"\xff" * 40, "broken"),
        (gzip.compress(TEXT)[:-8] + b"\0" * 8, "broken"),
    ],
)
def test_a_file_that_breaks_off_or_is_broken_is_unreadable(packed, fault):
    with pytest.raises(Unreadable, match=fault):
        unpacked(packed)


def test_a_file_that_unpacks_to_ten_mib_is_read_and_a_larger_one_is_given_up_at_the_limit():
    limit = 10 * 1024 * 1024
    bomb = gzip.compress(b"\0" * (5 * limit))

    assert len(unpacked(gzip.compress(b"\0" * limit))) == limit
    tracemalloc.start()
    with pytest.raises(Unreadable, match="more than 10 MiB"):
        unpacked(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * limit
