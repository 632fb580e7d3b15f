import json

import pytest

from habilis.exchange.fill import Bounds
from habilis.exchange.result import is_link, make_result
from habilis.exchange.seen import seen_of
from habilis.hosts import AllowedHosts
from habilis.manifest.model import RequestTemplate, ResultTemplate, Tool
from habilis.messages import Answer, Result
from habilis.names import ToolName
from habilis.redaction import recording
from habilis.templating import Scope, compile_text, compile_url

LINK = "https://blog.example/2026/hello"
BOUNDS = Bounds(hosts=AllowedHosts.of(["blog.example"], {}), private_hosts=frozenset(), is_read=False)
REQUEST = RequestTemplate(method="POST", url=compile_url("https://blog.example/"))


def answer(body=b"", *, status=200, content_type="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status=status, headers={"content-type": content_type}, body=data)


def told(of, template=None, **saved):
    """The result of a call whose last answer this is; nothing more is sent for it."""
    tool = Tool(
        name=ToolName("post"), label="", description="", input={}, steps=(), result=template or ResultTemplate()
    )
    exchange = make_result(
        tool, seen_of(of, REQUEST), of, Scope(arguments=saved, keys={}), BOUNDS, lambda request: None
    )
    with pytest.raises(StopIteration) as end:
        next(exchange)
    return end.value.value


def picked(body, text, **options):
    return told(answer(body, **options), ResultTemplate(text=text))


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
    created = Answer(status=201, headers={"x-restli-id": "urn:li:share:1"}, body=b"")

    assert told(created, ResultTemplate(text="/id")) == Result(text="no text in the answer")


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


def test_a_template_tells_of_everything_saved():
    template = ResultTemplate(said=compile_text("{{post.title}} is at {{post.url}}"))

    result = told(answer({"ok": True}), template, post={"title": "Hello", "url": LINK})

    assert result == Result(text=f"Hello is at {LINK}")


def test_a_template_that_is_one_address_is_the_link():
    template = ResultTemplate(said=compile_text("{{post.url}}"))

    assert told(answer({"url": "https://other.example/"}), template, post={"url": LINK}) == Result(text=LINK, link=LINK)


def test_a_template_that_fills_to_nothing_leaves_the_link_to_the_top_of_the_last_answer():
    template = ResultTemplate(said=compile_text("{{post.url}}"))

    assert told(answer({"url": LINK}), template) == Result(text="no text in the answer", link=LINK)


@pytest.mark.parametrize("pointer", ["/id", "/rows/*/id"])
def test_a_web_page_in_place_of_data_is_said_plainly_and_the_call_is_done(pointer):
    page = b"<!doctype html><html><body>Critical error</body></html>"

    assert picked(page, pointer, content_type="text/html").text == "no text in the answer: it is a web page"


def test_a_body_of_bytes_without_a_known_type_is_told_by_its_size():
    body = b"\0\1\2\xff" * 1000

    result = told(answer(body, content_type="application/x-thing"))

    assert result == Result(text="a file (application/x-thing, 4,000 bytes)")


def test_xml_is_told_as_the_values_it_holds():
    assert picked(b"<a><b>5</b></a>", "/a/b", content_type="application/xml").text == "5"
