import gzip
import json

import pytest

from habilis.errors import UpstreamError, UpstreamProtocol
from habilis.exchange.checking import check_answer
from habilis.exchange.seen import seen_of
from habilis.manifest.model import ErrorRule, OkRule, RequestTemplate
from habilis.messages import Answer
from habilis.redaction import recording
from habilis.templating import Scope, compile_condition, compile_place, compile_text, compile_url

PAGE = b"<!doctype html><title>Sign in</title>"


def answer(body=b"", *, status=200, content_type="application/json", file=""):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status=status, headers={"content-type": content_type}, body=data, file=file, size=len(data))


def request(**fields):
    return RequestTemplate(method="POST", url=compile_url("https://api.example.com/x"), **fields)


def check(of, *, is_read=False, template=None, **arguments):
    template = template or request()
    scope = Scope(arguments=arguments, keys={})
    check_answer(seen_of(of, template), of, template, scope=scope, where="tool 'post'", is_read=is_read)


def failure(of, error=UpstreamError, **options):
    with pytest.raises(error) as caught:
        check(of, **options)
    return caught.value


def reason(body, **options):
    message = failure(answer(body, status=400, **options)).message
    return message.removeprefix("answered 400").removeprefix(": ")


def holds(pointer, value):
    """A condition on an answer: what lies at a pointer is this value."""
    return compile_condition({"field": pointer, "op": "eq", "value": value})


@pytest.mark.parametrize("status", [100, 200, 201, 204, 206, 304, 399])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_status_below_400_is_no_error(status, is_read):
    assert check(answer(status=status), is_read=is_read) is None


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


def test_what_a_sign_in_was_not_granted_is_told_where_a_service_forbids():
    with pytest.raises(UpstreamError) as caught:
        check_answer(
            seen_of(answer(status=403), request()), answer(status=403), request(),
            scope=Scope({}, {"X_TOKEN": "t", "X_TOKEN_MISSING_SCOPES": "write"}), where="tool 'post'", is_read=False,
        )  # fmt: skip

    assert caught.value.hint == "its sign-in lacks permissions (write); sign in again and allow them"


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
        ({"error": "BlobTooLarge", "message": "1.01 MB is too much"}, "BlobTooLarge: 1.01 MB is too much"),
        ({"error": "Bad Request", "message": "No title"}, "No title"),
        ({"error": {"code": "badtoken", "info": "Invalid CSRF token."}}, "Invalid CSRF token."),
        ({"detail": [{"loc": ["body", "prompt"], "msg": "field required"}]}, "field required"),
        ({"errors": [{"status": "422", "detail": "Too long"}]}, "Too long"),
        ({"errors": ["too long", "too late"]}, "too long"),
        ({"errcode": 40001, "errmsg": "invalid credential"}, "invalid credential"),
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
        b'<?xml version="1.0"?><Error>x</Error>',
        {"message": "<!DOCTYPE html><html>...</html>"},
        {"error": {"message": " <html><head></head></html>"}},
        b'"<html></html>"',
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html; charset=utf-8", ""])
def test_markup_is_never_quoted(body, content_type):
    assert reason(body, content_type=content_type) == ""


@pytest.mark.parametrize("body", [PAGE, b"\n <HTML><body>Bad gateway</body></HTML>", b"\xef\xbb\xbf<html>"])
@pytest.mark.parametrize("content_type", ["application/json", "text/html; charset=utf-8", ""])
def test_a_page_in_place_of_an_error_is_called_one_and_not_quoted(body, content_type):
    error = failure(answer(body, status=502, content_type=content_type))

    assert error.message == "answered 502 with a web page"


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


def test_words_in_an_xml_error_are_told():
    body = b"<Error><Code>AccessDenied</Code><Message>Access denied</Message></Error>"

    assert reason(body, content_type="application/xml") == "Access denied"


def test_words_are_told_from_where_the_manifest_says_they_are():
    template = request(ok=OkRule(message=compile_place("/fault/text")))
    body = {"fault": {"text": "No such list"}, "message": "failed"}

    error = failure(answer(body, status=400), template=template)

    assert error.message == "answered 400: No such list"


def test_words_that_are_no_text_are_told_as_json():
    template = request(ok=OkRule(message=compile_place("/problems")))

    error = failure(answer({"problems": [{"field": "title"}]}, status=400), template=template)

    assert error.message == 'answered 400: [{"field": "title"}]'


@pytest.mark.parametrize(
    "body", [{"message": "x"}, {"fault": {}, "message": "x"}, {"fault": {"text": ""}, "message": "x"}]
)
def test_words_that_are_not_where_the_manifest_says_are_looked_for(body):
    template = request(ok=OkRule(message=compile_place("/fault/text")))

    assert failure(answer(body, status=400), template=template).message == "answered 400: x"


def test_words_may_be_in_a_header():
    of = Answer(status=400, headers={"x-error": "Quota"}, body=b"")

    error = failure(of, template=request(ok=OkRule(message=compile_place("header:X-Error"))))

    assert error.message == "answered 400: Quota"


def test_a_status_that_the_manifest_calls_good_is_no_error():
    template = request(ok=OkRule(statuses=frozenset({404, 409})))

    assert check(answer({"message": "No such term"}, status=404), template=template) is None
    assert failure(answer(status=400), template=template).message == "answered 400"


@pytest.mark.parametrize("status", [200, 201, 404])
def test_an_error_inside_an_answer_of_a_good_status_is_one_and_says_that_nothing_happened(status):
    ok = OkRule(statuses=frozenset({404}), fail_when=holds("/errcode", 40001))

    error = failure(answer({"errcode": 40001, "errmsg": "invalid credential"}, status=status), template=request(ok=ok))

    assert error.message.endswith(": invalid credential")
    assert (error.code, error.outcome, error.retryable) == ("upstream_error", "not_sent", False)


def test_an_error_inside_a_200_is_called_one():
    ok = OkRule(fail_when=holds("/ok", False))

    error = failure(answer({"ok": False, "error": "channel_not_found"}), template=request(ok=ok))

    assert error.message == "answered 200 with an error: channel_not_found"


def test_an_answer_to_which_no_failure_rule_holds_is_good():
    ok = OkRule(fail_when=holds("/ok", False))

    assert check(answer({"ok": True}), template=request(ok=ok)) is None
    assert check(answer(b""), template=request(ok=ok)) is None


def test_an_error_of_500_stays_unknown_where_a_failure_rule_holds_too():
    ok = OkRule(fail_when=holds("/ok", False))

    assert failure(answer({"ok": False}, status=500), template=request(ok=ok)).outcome == "unknown"


def test_a_person_is_told_what_the_first_rule_that_holds_says_and_the_services_words_beside_it():
    rules = (
        ErrorRule(when=holds("/code", "other"), say=compile_text("Something else")),
        ErrorRule(when=holds("/code", "no_page"), say=compile_text("The page {{page}} is not yours.")),
        ErrorRule(when=holds("/code", "no_page"), say=compile_text("Never said")),
    )

    error = failure(
        answer({"code": "no_page", "message": "E1203"}, status=403), template=request(errors=rules), page="News"
    )

    assert error.message == "answered 403: The page News is not yours."
    assert error.hint == "it said: E1203"


def test_where_no_rule_holds_the_service_speaks_for_itself():
    rules = (ErrorRule(when=holds("/code", "other"), say=compile_text("Something else")),)

    error = failure(answer({"code": "x", "message": "E1203"}, status=403), template=request(errors=rules))

    assert (error.message, error.hint) == ("answered 403: E1203", "the account may not do this there")


def test_what_a_rule_says_is_one_line_and_holds_no_key():
    rules = (ErrorRule(when=holds("/code", 1), say=compile_text("Bad\n{{page}}")),)
    with recording() as ledger:
        ledger.add("TOKEN", "canary-5e1f7a-canary")

        error = failure(answer({"code": 1}, status=400), template=request(errors=rules), page="canary-5e1f7a-canary")

    assert error.message == "answered 400: Bad [redacted TOKEN]"


@pytest.mark.parametrize(
    ("decode", "body", "what"),
    [
        ("json", PAGE, "a web page in place of JSON"),
        ("json", b"<br />\n<b>Warning</b>: x", "a body that is no JSON"),
        ("json", b'{"rows": [1, 2', "a body that is no JSON"),
        ("jsonl", b'{"a": 1}\n{"a"', "a body that is no JSON"),
        ("csv", b'a,b\n1,"cut', "a body that is a table with a quote that does not fit"),
        ("xml", b"<a><b></a>", "a body that is no well-formed XML in line 1"),
        ("csv", PAGE, "a web page in place of CSV"),
        ("csv", b"<!DOCTYPE html><title>Log in</title>", "a web page in place of CSV"),
        ("xml", PAGE, "a web page in place of XML"),
        ("json", gzip.compress(b"[1]")[:-4], "a body that is a gzip file that breaks off"),
        ("json", b"\x89PNG\r\n\x1a\n\0", "a body that is no JSON"),
    ],
)
def test_a_body_that_is_not_what_the_manifest_names_is_said_plainly(decode, body, what):
    error = failure(answer(body), UpstreamProtocol, template=request(decode=decode))

    assert error.message == f"answered 200 with {what}"
    assert (error.where, error.outcome) == ("tool 'post'", "unknown")
    assert failure(answer(body), UpstreamProtocol, template=request(decode=decode), is_read=True).outcome == "not_sent"


def test_a_file_in_place_of_data_is_said_plainly():
    of = Answer(status=200, headers={}, body=b"\x89PNG", file="/tmp/x", size=5000)

    error = failure(of, UpstreamProtocol, template=request(decode="json"))

    assert error.message == "answered 200 with a file in place of JSON"


@pytest.mark.parametrize("decode", ["json", "jsonl", "csv", "xml", "text", "bytes"])
def test_an_empty_body_is_good_whatever_it_should_be(decode):
    assert check(answer(b"", status=204), template=request(decode=decode)) is None


@pytest.mark.parametrize(
    ("decode", "body"),
    [("json", b'"a text"'), ("json", b"null"), ("text", PAGE), ("bytes", PAGE), ("csv", b"<5,<10\n1,2\n")],
)
def test_a_body_that_is_what_the_manifest_names_is_good(decode, body):
    assert check(answer(body), template=request(decode=decode)) is None


def test_a_web_page_where_the_manifest_does_not_say_what_comes_is_left_to_the_result():
    assert check(answer(PAGE, content_type="text/html"), template=request()) is None
