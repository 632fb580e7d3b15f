import json

import pytest

from habilis.errors import UpstreamError
from habilis.exchange.result import check_status, is_link, pick_result
from habilis.manifest.model import ResultTemplate
from habilis.messages import Answer, Result
from habilis.redaction import recording

LINK = "https://blog.example/2026/hello"


def answer(body=b"", *, status=200, content_type="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status=status, headers={"content-type": content_type}, body=data)


def picked(body, text, **options):
    return pick_result(ResultTemplate(text=text), answer(body, **options))


def failure(of, *, is_read=False):
    with pytest.raises(UpstreamError) as caught:
        check_status(of, where="tool 'post'", is_read=is_read)
    return caught.value


def reason(body, **options):
    message = failure(answer(body, status=400, **options)).message
    return message.removeprefix("answered 400").removeprefix(": ")


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
    of = answer(b"", status=201)

    check_status(of, where="tool 'post'", is_read=False)

    assert pick_result(ResultTemplate(text="/id"), of) == Result(text="no text in the answer")


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


@pytest.mark.parametrize("status", [100, 200, 201, 204, 206, 304, 399])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_status_below_400_is_no_error(status, is_read):
    assert check_status(answer(status=status), where="tool 'post'", is_read=is_read) is None


@pytest.mark.parametrize(
    ("status", "is_read", "outcome", "retryable"),
    [
        (400, False, "not_sent", False),
        (401, False, "not_sent", False),
        (403, False, "not_sent", False),
        (404, False, "not_sent", False),
        (409, False, "not_sent", False),
        (413, False, "not_sent", False),
        (422, False, "not_sent", False),
        (429, False, "not_sent", True),
        (408, False, "unknown", False),
        (425, False, "unknown", False),
        (499, False, "unknown", False),
        (500, False, "unknown", False),
        (502, False, "unknown", False),
        (503, False, "unknown", False),
        (504, False, "unknown", False),
        (599, False, "unknown", False),
        (400, True, "not_sent", False),
        (404, True, "not_sent", False),
        (408, True, "not_sent", True),
        (425, True, "not_sent", True),
        (429, True, "not_sent", True),
        (500, True, "not_sent", True),
        (503, True, "not_sent", True),
    ],
)
def test_a_status_says_what_it_proves_and_no_more(status, is_read, outcome, retryable):
    error = failure(answer(status=status), is_read=is_read)

    assert (error.code, error.where, error.message) == ("upstream_error", "tool 'post'", f"answered {status}")
    assert (error.outcome, error.retryable) == (outcome, retryable)


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "check the account's keys, or sign it in again"),
        (403, "the account may not do this there"),
        (404, "check the address and what the call names"),
        (429, "the service asks for a pause; try again later"),
        (400, ""),
        (500, ""),
    ],
)
def test_a_status_that_one_can_do_something_about_says_what(status, hint):
    assert failure(answer(status=status)).hint == hint


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "No such post."}, "No such post."),
        ({"error": {"message": "Bad prompt", "code": 7}}, "Bad prompt"),
        ({"error": "invalid_grant", "error_description": "Token expired"}, "Token expired"),
        ({"errors": [{"message": "First"}, {"message": "Second"}]}, "First"),
        ({"detail": "Quota is used up"}, "Quota is used up"),
        ({"error": "not found"}, "not found"),
        ({"title": "Unprocessable"}, "Unprocessable"),
        ({"message": "", "error": "empty"}, "empty"),
        ({"message": {"en": "Hi"}, "detail": ["x"]}, ""),
        ({"code": 5}, ""),
        (["No"], ""),
        (b"Rate limit exceeded", "Rate limit exceeded"),
        (b'"a text as JSON"', "a text as JSON"),
        (b"", ""),
        (b"5", ""),
    ],
)
def test_the_services_own_words_are_told(body, words):
    assert reason(body) == words


@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><title>502</title>",
        b"\n <HTML><body>Bad gateway</body></HTML>",
        b'<?xml version="1.0"?><Error><Message>x</Message></Error>',
        {"message": "<!DOCTYPE html><html>...</html>"},
        {"error": {"message": " <html><head></head></html>"}},
        b'"<html></html>"',
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html; charset=utf-8", ""])
def test_a_page_is_never_quoted(body, content_type):
    assert reason(body, content_type=content_type) == ""


def test_text_that_the_service_calls_html_is_not_quoted():
    assert reason(b"Bad gateway", content_type="text/html") == ""


def test_a_page_in_one_place_leaves_the_words_in_another():
    assert reason({"message": "<html></html>", "title": "Bad gateway"}) == "Bad gateway"


@pytest.mark.parametrize(
    "body", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\n\0\0", b"\xff\xd8\xff\xe0", bytes(range(256))]
)
def test_bytes_are_never_quoted(body):
    assert reason(body, content_type="image/png") == ""


def test_words_cannot_steer_a_terminal_or_fake_a_line():
    words = "Hi\r\nERROR fake\x1b[2J\x1b]52;c;x\x07 \u202egnp\u2028end\ud800"

    assert reason(json.dumps({"message": words}).encode()) == "Hi ERROR fake [2J ]52;c;x gnp end?"


def test_words_of_200_characters_are_told_whole_and_longer_ones_cut():
    assert reason({"message": "é" * 200}) == "é" * 200
    assert reason({"message": "é" * 201}) == "é" * 199 + "…"
    assert reason(b"word " * 1_000_000, content_type="text/plain").endswith("…")


@pytest.mark.parametrize("before", ["x" * 190, " " * 1990])
def test_a_key_in_the_words_that_a_cut_would_part_is_masked_before(before):
    with recording() as ledger:
        ledger.add("TOKEN", "canary-5e1f7a-canary")

        message = failure(answer({"message": f"{before} canary-5e1f7a-canary {'y' * 100}"}, status=401)).message

    assert "canary" not in message
