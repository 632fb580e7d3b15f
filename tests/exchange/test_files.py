import base64
import gzip
import json
from dataclasses import replace

import pytest

from habilis.errors import (
    AddressNotAllowed,
    HostNotAllowed,
    PlainHttpRefused,
    ResponseTooLarge,
    UpstreamError,
    UpstreamTimeout,
)
from habilis.exchange.files import brings_files
from habilis.exchange.fill import Bounds
from habilis.exchange.result import make_result
from habilis.exchange.seen import seen_of
from habilis.hosts import AllowedHosts
from habilis.manifest.model import RequestTemplate, ResultTemplate, Step, Tool
from habilis.messages import Answer, ResultFile
from habilis.names import ToolName
from habilis.templating import Scope, compile_place, compile_text, compile_url

JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF" + b"x" * 100
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100
MP4 = b"\0\0\0\x18ftypisom\0\0\2\0isommp41" + b"x" * 100
PAGE = b"<!doctype html><title>Not found</title>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
URL = "https://fal.media/files/kangaroo/abc.jpeg"
REQUEST = RequestTemplate(method="POST", url=compile_url("https://fal.run/"))
AT_URL = ResultTemplate(file_url=compile_place("/images/*/url"))
AT_B64 = ResultTemplate(file_b64=compile_place("/data/*/b64"))


def bounds(*, is_read=False, **options):
    return Bounds(
        hosts=AllowedHosts.of(["fal.run"], {}),
        private_hosts=frozenset(),
        is_read=is_read,
        result_hosts=AllowedHosts.of(["fal.media"], {}),
        **options,
    )


def tool(result=AT_URL, *, contract="image", **fields):
    return Tool(
        name=ToolName("image"), label="", description="", input={}, steps=(), result=result, contract=contract, **fields
    )


def answer(body, content_type="application/json", **fields):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status=200, headers={"content-type": content_type} if content_type else {}, body=data, **fields)


def images(*urls):
    return answer({"images": [{"url": url} for url in urls]})


def b64(*files):
    return answer({"data": [{"b64": base64.b64encode(data).decode()} for data in files]})


def made(of, last, replies=(), limits=None, template=REQUEST, **arguments):
    """The result that a call's last answer leads to, and the requests for its files; each reply answers one."""
    requests = []

    def fetch(request):
        requests.append(request)
        return (yield request), None

    scope = Scope(arguments=arguments, keys={})
    exchange = make_result(of, seen_of(last, template), last, scope, limits or bounds(), fetch)
    waiting = list(replies)
    try:
        next(exchange)
        while True:
            reply = waiting.pop(0)
            exchange.throw(reply) if isinstance(reply, Exception) else exchange.send(reply)
    except StopIteration as end:
        return end.value, requests


def fault(error, *given, **options):
    with pytest.raises(error) as caught:
        made(*given, **options)
    return caught.value


def test_a_file_at_an_address_is_fetched_without_any_key():
    limits = bounds(download_to="/tmp/new", largest_file_bytes=1000)

    _, (request,) = made(tool(), images(URL), [answer(JPEG, "image/jpeg")], limits)

    assert (request.method, request.url, request.headers, request.basic_auth) == ("GET", URL, (), None)
    assert (request.is_read, request.download_to, request.largest_file_bytes) == (True, "/tmp/new", 1000)
    assert request.where == "tool 'image' (file)"


def test_a_file_that_was_written_to_disk_is_told_with_its_type_and_size():
    fetched = answer(JPEG, "image/jpeg", file="/tmp/new/1", size=70_000)

    result, _ = made(tool(), images(URL), [fetched])

    assert result.files == (ResultFile(name="abc.jpg", mime="image/jpeg", size=70_000, path="/tmp/new/1"),)
    assert (result.text, result.link, result.data) == ("abc.jpg (image/jpeg, 70,000 bytes)", "", None)


def test_a_small_file_in_memory_is_handed_over_as_it_is():
    result, _ = made(tool(), images(URL), [answer(PNG, "")])

    assert result.files == (ResultFile(name="abc.png", mime="image/png", size=len(PNG), data=PNG),)


def test_several_files_are_fetched_one_after_the_other_and_have_names_of_their_own():
    of = images(URL, "https://eu.fal.media/y/abc.jpeg")

    result, requests = made(tool(), of, [answer(JPEG), answer(JPEG)])

    assert [request.where for request in requests] == ["tool 'image' (file 1)", "tool 'image' (file 2)"]
    assert [file.name for file in result.files] == ["abc.jpg", "abc-2.jpg"]
    assert result.text.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:9000/x.png", AddressNotAllowed),
        ("https://127.0.0.1/x.png", AddressNotAllowed),
        ("https://evil.test/x.png", HostNotAllowed),
        ("http://fal.media/x.png", PlainHttpRefused),
        ("file:///etc/passwd", HostNotAllowed),
        ("ftp://fal.media/x.png", HostNotAllowed),
        ("//fal.media/x.png", HostNotAllowed),
        ("/files/x.png", HostNotAllowed),
        ("javascript:alert(1)", HostNotAllowed),
        ("https://fal.media@evil.test/x.png", HostNotAllowed),
        ("https://fal.media/\r\nX: y", HostNotAllowed),
    ],
)
def test_the_address_of_a_file_passes_the_same_gate_as_any_other(url, error):
    caught = fault(error, tool(), images(url))

    assert (caught.where, caught.outcome, caught.retryable) == ("tool 'image' (file)", "done", False)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/files/x.png", "javascript:alert(1)"])
def test_what_is_no_address_is_not_to_be_listed(url):
    assert "result_hosts" not in fault(HostNotAllowed, tool(), images(url)).hint


def test_a_host_that_only_files_come_from_is_told_where_to_list():
    assert fault(HostNotAllowed, tool(), images("https://evil.test/x")).hint == "list the host under result_hosts"


@pytest.mark.parametrize(("is_read", "outcome"), [(True, "not_sent"), (False, "done")])
def test_a_file_that_does_not_come_leaves_an_action_done(is_read, outcome):
    error = UpstreamError("answered 404", where="tool 'image' (file)", outcome="not_sent")

    caught = fault(UpstreamError, tool(), images(URL), [error], limits=bounds(is_read=is_read))

    assert (caught.message, caught.outcome) == ("answered 404", outcome)


def test_a_person_is_told_that_a_file_not_fetched_was_made():
    error = UpstreamTimeout("fal.media gave no whole answer within 120 s", retryable=True)

    caught = fault(UpstreamTimeout, tool(), images(URL), [error])

    assert (caught.outcome, caught.retryable) == ("done", False)
    assert caught.hint == "the service did its part; another call makes another file"


def test_one_file_of_several_that_does_not_come_leaves_the_others():
    of = images(URL, "https://evil.test/x.png", "https://fal.media/c.png")

    result, _ = made(tool(), of, [UpstreamError("answered 404"), answer(PNG)])

    assert [file.name for file in result.files] == ["c.png"]
    assert result.notes == (
        "tool 'image' (file 1): answered 404",
        "tool 'image' (file 2): evil.test is not in hosts (fal.run, fal.media)",
    )


def test_no_more_files_are_fetched_than_a_step_may_run():
    result, requests = made(tool(most_runs=2), images(*[URL] * 5), [answer(JPEG)] * 2)

    assert (len(requests), len(result.files)) == (2, 2)
    assert result.notes == ("3 more files were not fetched",)


@pytest.mark.parametrize("text", ["{}", "data:image/jpeg;base64,{}"])
def test_a_file_in_the_answer_is_decoded(text):
    of = answer({"data": [{"b64": text.format(base64.encodebytes(JPEG).decode())}]})

    result, requests = made(tool(AT_B64), of)

    assert requests == []
    assert result.files == (ResultFile(name="image.jpg", mime="image/jpeg", size=len(JPEG), data=JPEG),)
    assert result.data is None


def test_an_address_that_holds_the_file_itself_is_decoded_and_not_called():
    of = images("data:image/png;base64," + base64.b64encode(PNG).decode())

    result, requests = made(tool(), of)

    assert requests == []
    assert result.files[0].data == PNG


@pytest.mark.parametrize("text", ["data:text/html;base64,PGh0bWw+", "data:text/html,<html>", "DATA:,<html>"])
def test_a_web_page_in_an_address_is_no_image(text):
    assert fault(UpstreamError, tool(), images(text)).message == "a web page came in place of the file"


def test_what_is_no_base64_is_said_plainly():
    caught = fault(UpstreamError, tool(AT_B64), answer({"data": [{"b64": "https://fal.media/x"}]}))

    assert caught.message == "a text that is no base64 stands where a file should be"
    assert caught.outcome == "done"


@pytest.mark.parametrize(
    "of",
    [{"images": []}, {"images": [{}]}, {"images": [{"url": None}, {"url": ""}, {"url": {"x": 1}}]}, {}, [], None],
)  # fmt: skip
def test_an_answer_without_a_file_where_it_should_be_is_a_failure_of_a_call_that_was_done(of):
    caught = fault(UpstreamError, tool(), answer(of))

    assert (caught.message, caught.where) == ("the answer holds no file where it should", "tool 'image'")
    assert caught.outcome == "done"


@pytest.mark.parametrize("result", [ResultTemplate(), AT_URL])
@pytest.mark.parametrize("content_type", ["image/jpeg; charset=binary", "", "application/octet-stream", "text/plain"])
def test_a_body_that_is_no_json_is_the_file(result, content_type):
    got, _ = made(tool(result), answer(JPEG, content_type))

    assert got.files == (ResultFile(name="image.jpg", mime="image/jpeg", size=len(JPEG), data=JPEG),)


def test_a_body_on_disk_is_the_file():
    of = answer(MP4, "video/mp4", file="/tmp/new/1", size=9_000_000)

    got, _ = made(tool(ResultTemplate(), contract="video"), of)

    assert got.files == (ResultFile(name="image.mp4", mime="video/mp4", size=9_000_000, path="/tmp/new/1"),)


def test_a_drawing_is_a_picture():
    got, _ = made(tool(ResultTemplate()), answer(SVG, "image/svg+xml"))

    assert got.files == (ResultFile(name="image.svg", mime="image/svg+xml", size=len(SVG), data=SVG),)


@pytest.mark.parametrize(
    ("contract", "body", "content_type", "message"),
    [
        ("image", PAGE, "image/png", "a web page came in place of the file"),
        ("image", PAGE, "text/html", "a web page came in place of the file"),
        ("video", PAGE, "video/mp4", "a web page came in place of the file"),
        ("image", b"", "image/png", "the file is empty"),
        ("image", b"Not found", "image/png", "application/octet-stream came in place of an image"),
        ("image", b"Not found", "text/plain", "text/plain came in place of an image"),
        ("image", b'{"error": 1}', "image/bmp", "text/plain came in place of an image"),
        ("image", b"%PDF-1.7", "image/png", "application/pdf came in place of an image"),
        ("image", MP4, "image/png", "video/mp4 came in place of an image"),
        ("video", PNG, "video/mp4", "image/png came in place of a video"),
        ("music", PNG, "audio/mpeg", "image/png came in place of music"),
        ("music", b"\0\1\2\3", "audio/mpeg", "application/octet-stream came in place of music"),
    ],
)
def test_the_bytes_decide_what_a_file_is_and_no_name_or_header_does(contract, body, content_type, message):
    of = ResultTemplate(file_url=compile_place("/url"), mime="image/png" if contract == "image" else "")

    caught = fault(UpstreamError, tool(of, contract=contract), answer({"url": URL}), [answer(body, content_type)])

    assert caught.message == message


@pytest.mark.parametrize(
    ("contract", "mime", "body", "content_type", "kept"),
    [
        ("image", "image/jpeg", PNG, "image/jpeg", "image/png"),
        ("image", "", b"BM\0\0\0\0", "image/bmp", "image/bmp"),
        ("video", "", b"GIF89a", "", "image/gif"),
        ("music", "", MP4, "", "audio/mp4"),
        ("", "audio/mp4", MP4, "", "audio/mp4"),
        ("", "", MP4, "", "video/mp4"),
        ("", "", b"a,b\n", "text/csv; charset=utf-8", "text/csv"),
        ("", "", b'{"a": 1}', "application/json", "application/json"),
        ("", "", b"\0\1", "image/png", "application/octet-stream"),
        ("", "", b"\0\1", "", "application/octet-stream"),
        ("", "application/x-thing", b"\0\1", "application/octet-stream", "application/x-thing"),
        ("", "text/html", PAGE, "text/html", "text/html"),
    ],
)
def test_a_file_without_a_sign_of_its_own_is_what_it_is_said_to_be(contract, mime, body, content_type, kept):
    of = ResultTemplate(file_url=compile_place("/url"), mime=mime)

    result, _ = made(tool(of, contract=contract), answer({"url": URL}), [answer(body, content_type)])

    assert result.files[0].mime == kept


def test_the_types_of_several_files_may_lie_in_the_answer():
    of = ResultTemplate(file_url=compile_place("/files/*/url"), mime="/files/*/type")
    files = [{"url": URL, "type": "text/csv; charset=utf-8"}, {"url": URL, "type": "TEXT/VTT"}]

    result, _ = made(tool(of, contract=""), answer({"files": files}), [answer(b"a", ""), answer(b"b", "")])

    assert [file.name for file in result.files] == ["abc.csv", "abc.vtt"]


def test_a_file_larger_than_allowed_is_refused():
    limits = bounds(largest_file_bytes=100)

    assert fault(ResponseTooLarge, tool(AT_B64), b64(PNG), limits=limits).outcome == "done"
    assert (
        fault(ResponseTooLarge, tool(), images(URL), [answer(PNG, file="/tmp/x", size=101)], limits=limits).message
        == "the file is larger than 100 bytes"
    )
    assert made(tool(), images(URL), [answer(PNG[:100])], limits)[0].files


@pytest.mark.parametrize(
    ("template", "arguments", "name"),
    [
        (compile_text("{{title}} cover"), {"title": "Spring"}, "Spring cover.jpg"),
        (compile_text("{{missing}}"), {"name": "teaser.png", "title": "Spring"}, "teaser.jpg"),
        (None, {"name": "../x", "title": "Spring"}, "x.jpg"),
        (None, {"name": "  ", "title": "Spring"}, "Spring.jpg"),
        (None, {"name": 5}, "abc.jpg"),
    ],
)
def test_a_file_is_called_as_the_manifest_or_the_call_wants_it(template, arguments, name):
    of = ResultTemplate(file_url=compile_place("/url"), name=template)

    result, _ = made(tool(of), answer({"url": URL}), [answer(JPEG)], **arguments)

    assert result.files[0].name == name


def test_a_result_may_tell_a_text_beside_its_files():
    of = ResultTemplate(file_url=compile_place("/url"), text="/id")

    result, _ = made(tool(of), answer({"url": URL, "id": 5}), [answer(JPEG)])

    assert (result.text, result.link, len(result.files)) == ("5", URL, 1)


def test_a_tool_that_is_not_called_for_files_keeps_one_that_comes_and_needs_none():
    plain = tool(ResultTemplate(), contract="")

    assert made(plain, answer(PNG, "image/png"))[0].files[0].mime == "image/png"
    assert made(plain, answer({"id": 5}))[0].files == ()
    assert made(plain, answer(b"done", "text/plain"))[0].files == ()
    assert made(plain, answer(PAGE, "text/html"))[0].files == ()
    assert made(plain, answer(b""))[0].files == ()


@pytest.mark.parametrize(("decode", "text"), [("csv", '[{"id": "1"}]'), ("text", "id\n1\n"), ("json", "")])
def test_a_gzip_file_that_was_unpacked_is_told_as_what_it_holds(decode, text):
    packed = gzip.compress(b'{"id": 1}' if decode == "json" else b"id\n1\n")
    read = RequestTemplate(method="GET", url=REQUEST.url, decode=decode)
    plain = replace(tool(ResultTemplate(), contract=""), steps=(Step(name="", request=read),))

    result, _ = made(plain, answer(packed, "application/gzip"), template=read)

    assert (result.files, result.text) == ((), text or '{"id": 1}')


def test_a_gzip_file_that_nobody_unpacks_is_kept():
    kept = made(tool(ResultTemplate(), contract=""), answer(gzip.compress(b"id"), "application/gzip"))[0]

    assert [file.mime for file in kept.files] == ["application/gzip"]


def test_a_tool_is_called_for_files_where_its_result_or_its_contract_says_so():
    assert brings_files(tool(contract=""))
    assert brings_files(tool(AT_B64, contract=""))
    assert brings_files(tool(ResultTemplate(), contract="music"))
    assert not brings_files(tool(ResultTemplate(text="/id"), contract=""))
    assert not brings_files(tool(ResultTemplate(), contract="email"))
