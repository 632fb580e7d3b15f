"""Requests as people read them before they go out."""

import pytest

from habilis.engine.showing import request_as_data
from habilis.messages import FileSlice, Request, Streamed
from habilis.redaction import recording

PHOTO = FileSlice(path="/home/.state/files/5f2c", size=123_456)


def request(body, kind, *headers):
    return Request(
        where="tool 'post'",
        method="POST",
        url="https://api.example.com/posts?key=hunter2-hunter2",
        headers=(("Content-Type", kind), *headers),
        body=body,
    )


def shown(body, kind, names=None):
    return request_as_data(request(body, kind), names)["body"]


def test_keys_are_masked_wherever_they_stand():
    with recording() as ledger:
        ledger.add("KEY", "hunter2-hunter2")
        data = request_as_data(request(b'{"key": "hunter2-hunter2"}', "application/json", ("X-Key", "hunter2-hunter2")))

    assert "hunter2" not in str(data)
    assert data["url"] == "https://api.example.com/posts?key=[redacted KEY]"


def test_a_form_is_shown_as_names_and_values_decoded():
    body = b"status=Hi+there%21&media_ids%5B%5D=1&media_ids%5B%5D=2&media_ids%5B%5D=3&empty="

    assert shown(body, "application/x-www-form-urlencoded") == {
        "status": "Hi there!",
        "media_ids[]": ["1", "2", "3"],
        "empty": "",
    }


def multipart(*parts, boundary=b"b0"):
    pieces = []
    for head, content in parts:
        pieces += [b"--" + boundary + b"\r\n" + head + b"\r\n\r\n", content, b"\r\n"]
    return Streamed(pieces=(*pieces, b"--" + boundary + b"--\r\n"))


def test_parts_are_shown_with_file_names_types_and_sizes():
    body = multipart(
        (b'Content-Disposition: form-data; name="caption; 1"', "Hi\r\nü".encode()),
        (b'Content-Disposition: form-data; name="media"; filename="a%22b.jpg"\r\nContent-Type: image/jpeg', PHOTO),
        (b'Content-Disposition: form-data; name="meta"\r\nContent-Type: application/json', b'{"a": 1}'),
    )

    assert shown(body, "multipart/form-data; boundary=b0", {PHOTO.path: "photo.jpg"}) == [
        {"name": "caption; 1", "content": "Hi\r\nü"},
        {"name": "media", "filename": "a%22b.jpg", "type": "image/jpeg", "content": "<123,456 bytes of photo.jpg>"},
        {"name": "meta", "type": "application/json", "content": '{"a": 1}'},
    ]


def test_a_value_cannot_be_shown_as_a_file():
    body = multipart(
        (b'Content-Disposition: form-data; name="a"', b"<9 bytes of x>"),
        (b'Content-Disposition: form-data; name="b"', PHOTO),
    )

    first, second = shown(body, "multipart/form-data; boundary=b0")

    assert first["content"] == "<9 bytes of x>"
    assert second["content"] == "<123,456 bytes of 5f2c>"


@pytest.mark.parametrize(
    ("piece", "told"),
    [
        (PHOTO, "<123,456 bytes of photo.jpg>"),
        (FileSlice(path=PHOTO.path, size=1000, offset=5000), "<1,000 bytes of photo.jpg, from byte 5,000 on>"),
    ],
)
def test_a_file_as_the_body_is_shown_by_name_and_size(piece, told):
    assert shown(Streamed(pieces=(piece,)), "image/jpeg", {PHOTO.path: "photo.jpg"}) == told


@pytest.mark.parametrize(
    ("body", "told"), [(b"just text", "just text"), (b"\xff\xfe\x00", "<3 bytes>"), (b"[1, 2]", [1, 2]), (None, None)]
)
def test_any_other_body_is_shown_as_what_it_reads_as(body, told):
    assert shown(body, "text/plain") == told
