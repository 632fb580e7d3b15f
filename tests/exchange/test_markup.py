import time

import pytest

from habilis.exchange.markup import read_markup
from habilis.exchange.unreadable import Unreadable


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<a/>", {"a": ""}),
        ("<a> Tea \n</a>", {"a": "Tea"}),
        ("<a><b>1</b></a>", {"a": {"b": "1"}}),
        ("<a><b>1</b><b>2</b></a>", {"a": {"b": ["1", "2"]}}),
        ("<a><b><c>1</c></b></a>", {"a": {"b": [{"c": "1"}]}}),
        ("<a><b><c>1</c></b><b/></a>", {"a": {"b": [{"c": "1"}, ""]}}),
        ("<a><b/><b/></a>", {"a": {"b": ["", ""]}}),
        ('<a id="5">Tea</a>', {"a": {"@id": "5", "#text": "Tea"}}),
        ('<a id="5"/>', {"a": {"@id": "5"}}),
        ("<a>one <b>two</b> three</a>", {"a": {"b": "two", "#text": "one  three"}}),
        ("<a><![CDATA[<b> & c]]></a>", {"a": "<b> & c"}),
        ("<a>&lt;&amp;&#233;&#x1F642;</a>", {"a": "<&é🙂"}),
        ("<?xml version='1.0' encoding='latin-1'?><!-- x --><a><?php y ?>é<!-- z --></a>", {"a": "é"}),
        ('<a xmlns="urn:x" xmlns:dc="urn:y"><dc:by>Ann</dc:by></a>', {"a": {"dc:by": "Ann"}}),
        ("\ufeff<a>1</a>\n", {"a": "1"}),
    ],
)
def test_an_element_is_its_text_or_an_object_of_what_it_holds(text, value):
    assert read_markup(text) == value


def test_one_row_is_read_as_many_are():
    rows = "<row><id>1</id></row>"

    assert read_markup(f"<rows>{rows}</rows>") == {"rows": {"row": [{"id": "1"}]}}
    assert read_markup(f"<rows>{rows * 2}</rows>") == {"rows": {"row": [{"id": "1"}, {"id": "1"}]}}


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/x">%x;]><a/>',
        "<!DOCTYPE a><a/>",
        '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;&l;&l;">]><a>&m;</a>',
    ],
)
def test_a_document_type_and_with_it_every_entity_is_refused(text):
    with pytest.raises(Unreadable, match="a document type, which is not read"):
        read_markup(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("<a>", 1), ("<a>\n</b>", 2), ("<a/><b/>", 1), ("<a>&x;</a>", 1), ("text", 1),
     ("<a b=1/>", 1), ("<a>\0</a>", 1)],
)  # fmt: skip
def test_what_is_not_well_formed_is_unreadable_and_the_line_is_told(text, line):
    with pytest.raises(Unreadable, match=f"no well-formed XML in line {line}"):
        read_markup(text)


def test_half_a_character_makes_it_unreadable():
    with pytest.raises(Unreadable):
        read_markup("<a>\ud800</a>")


def test_200_levels_are_read_and_more_are_not():
    def nested(levels):
        return "<a>" * levels + "</a>" * levels

    assert read_markup(nested(200))
    for levels in (201, 100_000):
        with pytest.raises(Unreadable, match="nested past 200 levels"):
            read_markup(nested(levels))


def test_too_many_elements_are_refused_before_they_fill_the_memory():
    started = time.monotonic()

    with pytest.raises(Unreadable, match="more than 500,000 elements"):
        read_markup(f"<a>{'<b/>' * 2_500_000}</a>")

    assert time.monotonic() - started < 5


def test_no_text_of_the_document_is_in_the_error_or_behind_it():
    with pytest.raises(Unreadable) as caught:
        read_markup("<a>canary</b>")

    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"
