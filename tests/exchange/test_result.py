import json

import pytest

from habilis.exchange.result import is_link, pick_result
from habilis.manifest.model import ResultTemplate
from habilis.messages import Answer, Result
from habilis.redaction import recording

LINK = "https://blog.example/2026/hello"


def answer(body=b"", *, status=200, content_type="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status=status, headers={"content-type": content_type}, body=data)


def picked(body, text, **options):
    return pick_result(ResultTemplate(text=text), answer(body, **options))


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/title", "Hello"),
        ("/id", "5"),
        ("/price", "2.5"),
        ("/live", "true"),
        ("/zero", "0"),
        ("/off", "false"),
        ("/author", '{"name": "Žofie"}'),
        ("/tags", '["a", "b"]'),
        ("/tags/1", "b"),
        ("/none", "[]"),
        ("/rows/*/id", "[1, 2]"),
        ("/a~1b/m~0n", "deep"),
        ("/n", "1e400"),
    ],
)
def test_the_result_is_what_the_pointer_leads_to_as_text(pointer, text):
    body = (
        '{"title": "Hello", "id": 5, "price": 2.5, "live": true, "zero": 0, "off": false, "author": {"name": "Žofie"},'
        '"tags": ["a", "b"], "none": [], "rows": [{"id": 1}, {"id": 2}], "a/b": {"m~n": "deep"}, "n": 1e400}'
    ).encode()

    assert picked(body, pointer) == Result(text=text)


@pytest.mark.parametrize("pointer", ["/missing", "/data/-", "/data/5", "/data/01", "/title/x", "/nothing", "/empty"])
def test_a_pointer_to_nothing_leaves_the_call_done(pointer):
    body = {"data": [1], "title": "Hello", "nothing": None, "empty": ""}

    assert picked(body, pointer) == Result(text="no text in the answer")


@pytest.mark.parametrize(
    "body", [b"", b"created", b"\xff\xfe\xff", "plain".encode("utf-16"), b"[" * 5000, b"null", b'"x"']
)
def test_an_answer_without_fields_leaves_the_call_done(body):
    assert picked(body, "/data/id", status=201) == Result(text="no text in the answer")


def test_a_created_thing_with_an_empty_answer_is_a_success_without_a_link():
    assert pick_result(ResultTemplate(text="/id"), answer(b"", status=201)) == Result(text="no text in the answer")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"text": "Žofie"}'.encode("utf-16"), "Žofie"),
        (b'{"text": "caf\xe9"}', "caf\ufffd"),
        (b'{"text": "a\\ud800"}', "a?"),
    ],
)
def test_an_answer_in_an_odd_encoding_gives_readable_text(body, text):
    assert picked(body, "/text").text == text


def test_without_a_pointer_the_whole_answer_is_told_and_handed_over():
    result = picked({"id": 5, "link": LINK}, None)

    assert result == Result(text=json.dumps({"id": 5, "link": LINK}), link=LINK, data={"id": 5, "link": LINK})


@pytest.mark.parametrize("body", [b"", b"null", b'""', b"  \n", b'" "'])
def test_an_empty_answer_is_told_in_words(body):
    assert picked(body, None).text == "an empty answer"


def test_plain_text_is_told_as_it_is():
    assert picked("Vytvořeno\n".encode(), None, content_type="text/plain").text == "Vytvořeno\n"


@pytest.mark.parametrize("text", [LINK, f" {LINK}\n", "HTTP://blog.example/", "https://xn--bcher-kva.example?p=1#a"])
def test_a_text_that_is_one_address_is_the_link(text):
    assert picked({"at": text}, "/at").link == text.strip()


def test_a_text_that_is_none_leaves_the_link_to_the_top_of_the_answer():
    assert picked({"id": 5, "link": LINK}, "/id") == Result(text="5", link=LINK)
    assert picked({"id": 5, "url": LINK, "link": "https://other.example/"}, "/missing").link == LINK
    assert picked({"id": 5, "url": 7, "link": LINK}, "/id").link == LINK


@pytest.mark.parametrize(
    "body", [[{"link": LINK}], {"data": {"link": LINK}}, {"link": [LINK]}, {"url": "/2026"}, LINK[8:]]
)
def test_a_link_anywhere_else_is_not_guessed(body):
    assert picked(body, None).link == ""


@pytest.mark.parametrize(
    "text",
    [
        "", "https://", "http:///x", "https://?", "ftp://blog.example/", "javascript:alert(1)", "data:text/html,x",
        "//blog.example/", "blog.example", "see https://blog.example/", "https://blog.example/ https://evil.test/",
        "https://blog.example/a b", "https://blog.example/\nX", "https://blog.example/\u202e", "https://user@evil.test/",
        "https://blog.example@evil.test/", "https://blog.example\\@evil.test/", "https://<b>/", 'https://a/"onclick=',
        "https://blog.example/\x1b]8;;", "https://blog.example/" + "a" * 2048,
    ],
)  # fmt: skip
def test_anything_but_one_web_address_is_no_link(text):
    assert not is_link(text)


def test_a_text_of_64_kib_is_told_whole_and_a_longer_one_is_cut():
    at_limit, beyond = "a" * 65536, "a" * 65537

    assert picked({"t": at_limit}, "/t").text == at_limit
    assert picked({"t": beyond}, "/t").text == at_limit + "\n[cut: 65537 bytes in all]"


@pytest.mark.parametrize("letter", ["é", "€", "🙂"])
@pytest.mark.parametrize("shift", range(4))
def test_a_cut_never_falls_inside_a_character(letter, shift):
    text = "x" * shift + letter * 40_000

    shown, _, note = picked({"t": text}, "/t").text.rpartition("\n")

    assert text.startswith(shown)
    assert 65536 - 4 < len(shown.encode()) <= 65536
    assert note == f"[cut: {len(text.encode())} bytes in all]"


def test_a_key_that_a_cut_would_part_is_masked_before():
    with recording() as ledger:
        ledger.add("TOKEN", "canary-5e1f7a-canary")

        text = picked({"t": "x" * 65530 + "canary-5e1f7a-canary" + "x" * 100}, "/t").text

    assert "canary" not in text


def test_what_is_handed_over_whole_is_not_cut():
    rows = [{"n": number} for number in range(10_000)]

    result = picked(rows, None)

    assert result.text.endswith(" bytes in all]")
    assert result.data == rows
