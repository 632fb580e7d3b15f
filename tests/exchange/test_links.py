import time

import pytest

from habilis.exchange.links import next_link


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ('<https://api.example.com/items?page=2>; rel="next"', "https://api.example.com/items?page=2"),
        ('<https://a.test/1>; rel="prev", <https://a.test/3>; rel="next"', "https://a.test/3"),
        ("</items?page=2>;rel=next", "/items?page=2"),
        ('<a>; rel="first", <b,c;d>; title="x, y; rel=next"; rel="next"', "b,c;d"),
        ('<a>; REL="last Next"', "a"),
        ('<a>; rel="prev"; rel="next", <b>; rel=next', "b"),
        ('<a>; anchor="#x"; rel="next", <b>; rel="next"', "b"),
        (r'<a>; title="say \"no\""; rel="next"', "a"),
        ("< b > ; rel = next", "b"),
        ('<a>; rel="nextpage"', ""),
        ("a; rel=next", ""),
        ("<a>", ""),
        ("", ""),
    ],
)
def test_the_next_link_is_found_among_all(header, target):
    assert next_link(header) == target


@pytest.mark.parametrize(
    "header", ["<" * 60_000, "<a>" + "; x" * 20_000 + "!", "<a>" + " " * 60_000 + "!", '<a>;x="' + "\\" * 60_000]
)
def test_a_header_made_to_be_slow_is_read_in_no_time(header):
    started = time.perf_counter()

    assert next_link(header) == ""
    assert time.perf_counter() - started < 1.0
