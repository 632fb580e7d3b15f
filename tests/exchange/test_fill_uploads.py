"""Files in requests: as the whole body, as parts among others, and as facts in JSON."""

import json
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.formparser import parse_form_data

from habilis.errors import ArgsInvalid
from habilis.exchange.uploads import upload_name
from habilis.messages import FileSlice, Streamed
from habilis.templating import FileValue, Made


@pytest.fixture
def parsed(sent):
    """Read a multipart request as a real server does: names with values, and names with file name, type and bytes."""

    def parse(request):
        body = sent(request.body)
        types = [value for name, value in request.headers if name.lower() == "content-type"]
        assert len(types) == 1
        environ = {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": types[0],
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": BytesIO(body),
        }
        _, form, files = parse_form_data(environ, silent=False)
        found = []
        for name, file in files.items(multi=True):
            with file.stream:
                found.append((name, file.filename, file.content_type, file.read()))
        return list(form.items(multi=True)), found

    return parse


def test_a_file_is_the_body_with_its_own_type_and_none_of_its_bytes_in_memory(filling, file_at):
    file = file_at(content=b"x" * 3000)
    request = filling({"files": [file]}, body_file="{{files.0}}")

    assert request.body == Streamed(pieces=(FileSlice(path=file.path, size=3000),))
    assert request.headers == (("Content-Type", "image/png"),)


def test_a_header_of_the_manifest_says_the_type_of_a_file_otherwise(filling, file_at):
    headers = {"content-type": "application/octet-stream", "Content-Disposition": "attachment"}
    request = filling({"files": [file_at()]}, headers=headers, body_file="{{files.0}}")

    assert request.headers == tuple(headers.items())


def test_both_the_disposition_of_the_manifest_and_the_type_of_the_file_are_sent(filling, file_at):
    headers = {"Content-Disposition": 'attachment; filename="{{files.0.name}}"'}
    request = filling({"files": [file_at()]}, headers=headers, body_file="{{files.0}}")

    assert request.headers == (
        ("Content-Disposition", 'attachment; filename="a.png"'),
        ("Content-Type", "image/png"),
    )


@pytest.mark.parametrize("mime", ["", None, "png", "image/png\r\nX-Evil: 1", "bild/ü"])
def test_a_file_without_a_good_type_goes_as_bytes(filling, file_at, mime):
    request = filling({"files": [file_at(mime=mime)]}, body_file="{{files.0}}")

    assert request.headers == (("Content-Type", "application/octet-stream"),)


def test_a_part_of_a_file_is_sent_from_where_it_begins(filling, sent, file_at):
    whole = file_at(content=b"0123456789")
    part = FileValue({**whole, "size": 4}, path=whole.path, offset=3)
    request = filling({"item": part}, method="PUT", body_file="{{item}}")

    assert request.body.size == 4
    assert sent(request.body) == b"3456"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the body is a file, and the call has none"),
        ({"file": None}, "the body is a file, and the call has none"),
        ({"file": "/etc/passwd"}, "the body is a file, and what fills it is none"),
        ({"file": {"name": "x", "path": "/etc/passwd"}}, "the body is a file, and what fills it is none"),
    ],
)
def test_a_body_that_is_no_file_of_the_call_is_refused(filling, given, message):
    with pytest.raises(ArgsInvalid) as caught:
        filling(given, body_file="{{file}}")

    assert (caught.value.message, caught.value.where) == (message, "tool 'post'")


def test_in_json_a_file_is_its_facts_and_its_bytes_only_where_the_facts_hold_them(filling, file_at):
    file = file_at(base64="iVBORw0K", alt="A cat")
    request = filling({"files": [file]}, json={"all": "{{files}}", "data": "{{files.0.base64}}"})

    facts = {"name": "a.png", "mime": "image/png", "size": 9, "base64": "iVBORw0K", "alt": "A cat"}
    assert json.loads(request.body) == {"all": [facts], "data": "iVBORw0K"}
    assert file.path.encode() not in request.body


def test_parts_keep_their_order_names_types_and_bytes(filling, sent, parsed, file_at):
    request = filling(
        {"text": "Grüße 🙂", "files": [file_at("b.png", b"\0\xff--x\r\n"), file_at("c.txt", b"c", mime="text/plain")]},
        multipart=[
            {"name": "caption", "value": "{{text}}"},
            {"name": "fileInput", "file": "{{files.0}}"},
            {"name": "on", "value": True},
            {"name": "second", "file": "{{files.1}}", "filename": "other.md", "mime": "text/markdown"},
            {"name": "n", "value": 5},
            {"name": "left", "value": "{{none}}"},
            {"name": "gone", "file": "{{files.7}}"},
        ],
    )

    assert isinstance(request.body, Streamed)
    assert parsed(request) == (
        [("caption", "Grüße 🙂"), ("on", "true"), ("n", "5")],
        [
            ("fileInput", "b.png", "image/png", b"\0\xff--x\r\n"),
            ("second", "other.md", "text/markdown", b"c"),
        ],
    )
    body = sent(request.body)
    assert len(body) == request.body.size
    assert [body.index(name) for name in (b'"caption"', b'"fileInput"', b'"on"', b'"second"', b'"n"')] == sorted(
        body.index(name) for name in (b'"caption"', b'"fileInput"', b'"on"', b'"second"', b'"n"')
    )


def test_a_list_repeats_its_part_be_it_of_values_or_of_files(filling, parsed, file_at):
    request = filling(
        {"tags": ["a", None, "b"], "files": [file_at("1.png", b"1"), file_at("2.png", b"2")]},
        multipart=[{"name": "tags[]", "value": "{{tags}}"}, {"name": "files[]", "file": "{{files}}"}],
    )

    assert parsed(request) == (
        [("tags[]", "a"), ("tags[]", "b")],
        [("files[]", "1.png", "image/png", b"1"), ("files[]", "2.png", "image/png", b"2")],
    )


def test_a_part_of_json_is_one_document_with_its_type(filling, parsed, sent):
    request = filling(
        {"tags": ["ä", "b"]},
        multipart=[
            {"name": "meta", "value": {"tags": "{{tags}}", "left": "{{none}}"}, "mime": "application/json"},
            {"name": "list", "value": "{{tags}}", "mime": "application/vnd.api+json; v=1"},
            {"name": "lines", "value": '{"a": 1}\n', "filename": "batch.jsonl", "mime": "application/jsonl"},
        ],
    )

    assert parsed(request) == (
        [("meta", '{"tags":["ä","b"]}'), ("list", '["ä","b"]')],
        [("lines", "batch.jsonl", "application/jsonl", b'{"a": 1}\n')],
    )
    assert b'name="meta"\r\nContent-Type: application/json\r\n\r\n{' in sent(request.body)


@pytest.mark.parametrize("name", ["Content-Type", "content-type"])
def test_only_the_body_names_the_boundary_whatever_the_manifest_says(filling, sent, name):
    request = filling(
        headers={"X-A": "1", name: "multipart/form-data; boundary=other"}, multipart=[{"name": "a", "value": "b"}]
    )

    (_, (kind, value)) = request.headers
    boundary = value.removeprefix("multipart/form-data; boundary=").encode()
    assert (kind, b"other" in boundary) == ("Content-Type", False)
    assert request.body == (
        b'--%b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--%b--\r\n' % (boundary, boundary)
    )


def test_a_boundary_is_the_same_for_the_same_call_and_another_for_any_other(filling):
    made = [Made(now=datetime(2026, 11, 30, tzinfo=UTC), call_id=call_id) for call_id in ("one", "one", "two")]
    said = [
        filling({"x": value}, made=each, multipart=[{"name": "a", "value": "{{x}}"}]).headers
        for value, each in (("1", made[0]), ("1", made[1]), ("2", made[0]), ("1", made[2]))
    ]

    assert said[0] == said[1]
    assert len(set(said)) == 3


@pytest.mark.parametrize(
    ("name", "on_the_wire"),
    [
        ("çiçek ş.png", 'filename="çiçek ş.png"'),
        ("🙂.png", 'filename="🙂.png"'),
        ('a"; name="evil".png', 'filename="a%22; name=%22evil%22.png"'),
        ("a\r\nX-Evil: 1.png", 'filename="a%0D%0AX-Evil: 1.png"'),
        ("a\0\x1b\x7f.png", 'filename="a%00%1B%7F.png"'),
        ("100%.png", 'filename="100%.png"'),
        ("../../etc/pass\\wd", 'filename=".._.._etc_pass_wd"'),
        ("", 'filename="file.png"'),
        ("  ", 'filename="file.png"'),
        (None, 'filename="file.png"'),
        ("a", 'filename="a"'),
    ],
)
def test_a_file_always_has_a_name_that_cannot_break_out(filling, sent, file_at, name, on_the_wire):
    request = filling({"files": [file_at(name)]}, multipart=[{"name": "media", "file": "{{files.0}}"}])

    head = sent(request.body).decode(errors="replace").split("\r\n")[1]
    assert head == f'Content-Disposition: form-data; name="media"; {on_the_wire}'


def test_a_filename_that_fills_to_nothing_is_the_files_own(filling, parsed, file_at):
    part = {"name": "f", "file": "{{files.0}}", "filename": "{{title}}", "mime": "{{kind}}"}
    request = filling({"files": [file_at("own.png")]}, multipart=[part])

    assert parsed(request)[1] == [("f", "own.png", "image/png", b"\x89PNG data")]


@pytest.mark.parametrize(
    ("mime", "name"),
    [("image/jpeg", "file.jpg"), ("image/webp", "file.webp"), ("Video/MP4; a=b", "file.mp4"), ("x/y", "file.bin")],
)
def test_a_file_without_a_name_has_the_ending_of_its_type(mime, name):
    assert upload_name("", mime) == name


@pytest.mark.parametrize("value", ["image/png\r\nX-Evil: 1", "image", "bild/ü", 'a/b; x="\n"'])
def test_a_type_that_is_none_is_refused_unsaid(filling, value):
    with pytest.raises(ArgsInvalid) as caught:
        filling({"kind": value}, multipart=[{"name": "a", "value": "b", "mime": "{{kind}}"}])

    assert caught.value.message == "part 'a': its type is no media type such as image/png"


@pytest.mark.parametrize("part", [{"value": "{{x}}"}, {"value": "b", "filename": "{{x}}"}, {"value": ["{{x}}"]}])
def test_half_of_a_character_in_a_part_is_refused_without_the_text(filling, part):
    with pytest.raises(ArgsInvalid) as caught:
        filling({"x": "s3cret\ud800"}, multipart=[{"name": "a", **part}])

    assert caught.value.message == "part 'a': a text holds half of a character (a lone surrogate)"
    assert caught.value.__context__ is None


def test_a_part_that_is_no_file_of_the_call_is_refused(filling):
    with pytest.raises(ArgsInvalid) as caught:
        filling({"x": "/etc/passwd"}, multipart=[{"name": "a", "file": "{{x}}"}])

    assert caught.value.message == "part 'a' is a file, and what fills it is none"


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(names)
def test_no_name_of_a_file_ends_its_header(name):
    sent_as = upload_name(name, "image/png")

    assert sent_as
    assert not set("/\\") & set(sent_as)


def test_answers_that_are_files_go_where_the_call_says_unless_they_are_read_as_text(filling):
    bounds = {"download_to": "/tmp/x", "largest_file_bytes": 5}

    assert (filling(bounds=bounds).download_to, filling(bounds=bounds).largest_file_bytes) == ("/tmp/x", 5)
    assert filling(bounds=bounds, decode="bytes").download_to == "/tmp/x"
    assert filling(bounds=bounds, decode="csv").download_to == ""
    assert filling().download_to == ""


@pytest.mark.parametrize(("method", "is_read"), [("GET", True), ("HEAD", True), ("POST", False), ("DELETE", False)])
def test_a_request_that_asks_is_a_read_whatever_the_call_does(filling, method, is_read):
    assert filling(method=method).is_read is is_read
