import pytest

from habilis.cassettes import Interaction, Sent, differences

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
URL = "https://api.example/v1/posts"


def recorded(body: bytes = b"", kind: str = "", *, method: str = "POST", url: str = URL) -> Interaction:
    return Interaction(
        method=method,
        url=url,
        headers={"content-type": kind} if kind else {},
        body=body,
        status=200,
        answer_headers=(),
        answer_body=b"",
        line=1,
    )


def sent(body: bytes = b"", kind: str = "", *, method: str = "POST", url: str = URL) -> Sent:
    return Sent(method=method, url=url, headers={"content-type": kind} if kind else {}, body=body, is_read=False)


def multipart(boundary: str, *parts: str, end: str = "\r\n") -> bytes:
    lines = [line for part in parts for line in (f"--{boundary}", *part.split("\n"))]
    return end.join([*lines, f"--{boundary}--", ""]).encode()


DESCRIPTION = 'form-data; name="description"'
PICTURE = 'form-data; name="file"; filename="cat.png"'
TEXT_PART = f"Content-Disposition: {DESCRIPTION}\n\nA cat"
FILE_PART = f"Content-Disposition: {PICTURE}\nContent-Type: image/png\n\nmeow"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (recorded(b'{"a": 1, "b": [true, null]}', JSON), sent(b'{"b":[true,null],"a":1.0}', f"{JSON}; charset=utf-8")),
        (recorded(b'{"a": 1}'), sent(b'{"a":1}', "application/vnd.api+json")),
        (recorded(b"a=1&b=x+y&a=2", FORM), sent(b"b=x%20y&a=1&a=2", FORM)),
        (
            recorded(multipart("one", TEXT_PART, FILE_PART), "multipart/form-data; boundary=one"),
            sent(multipart("two", TEXT_PART, FILE_PART), 'multipart/form-data; boundary="two"'),
        ),
        (
            recorded(multipart("one", TEXT_PART, FILE_PART, end="\n")),
            sent(multipart("two", TEXT_PART, FILE_PART), "multipart/form-data; boundary=two"),
        ),
        (recorded(b"plain", "text/plain"), sent(b"plain", "text/plain; charset=utf-8")),
        (recorded(url=f"{URL}?a=1&b=x+y"), sent(url=f"{URL}?b=x%20y&a=1")),
        (recorded(url="https://API.example:443/v1/%70osts"), sent()),
        (recorded(url="https://api.example"), sent(url="https://api.example/")),
        (recorded(url="https://api.example/sites/sc-domain%3aa"), sent(url="https://api.example/sites/sc-domain%3Aa")),
    ],
    ids=["json", "json-like", "form", "multipart", "multipart-by-hand", "text", "query", "address", "root", "escapes"],
)
def test_what_says_the_same_is_the_same(one, other):
    assert differences(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (recorded(method="PUT"), sent(), ["method: expected 'PUT', got 'POST'"]),
        (
            recorded(url="https://api.example/v1/posts"),
            sent(url="https://api.example:8443/v1/posts"),
            ["address: expected 'https://api.example', got 'https://api.example:8443'"],
        ),
        (recorded(), sent(url=f"{URL}/5"), ["path: expected '/v1/posts', got '/v1/posts/5'"]),
        (
            recorded(url="https://api.example/sites/a%2Fb"),
            sent(url="https://api.example/sites/a/b"),
            ["path: expected '/sites/a%2fb', got '/sites/a/b'"],
        ),
        (
            recorded(url=f"{URL}?a=1&c=3"),
            sent(url=f"{URL}?a=2&b=&a=1"),
            [
                "query a: expected '1', got '2, 1'",
                "query c: expected '3', got nothing",
                "query b: expected nothing, got ''",
            ],
        ),
        (
            recorded(b'{"text": "Hello", "ids": ["1"], "flag": true, "old": null}', JSON),
            sent(b'{"text": "Hallo", "ids": ["1", "2"], "flag": 1, "new": {}}', JSON),
            [
                """body /text: expected '"Hello"', got '"Hallo"'""",
                """body /ids: expected '["1"]', got '["1", "2"]'""",
                "body /flag: expected 'true', got '1'",
                "body /old: expected 'null', got nothing",
                "body /new: expected nothing, got '{}'",
            ],
        ),
        (recorded(b"a=1", FORM), sent(b"a=2", FORM), ["form a: expected '1', got '2'"]),
        (recorded(b"a=1", FORM), sent(b'{"a":1}', JSON), [f"content type: expected {FORM}, got {JSON}"]),
        (recorded(b"a=1", FORM), sent(), ["body: expected 'a=1', got nothing"]),
        (recorded(), sent(b"a=1", FORM), ["body: expected nothing, got 'a=1'"]),
        (recorded(b"{", JSON), sent(b"{}", JSON), ["body: expected '{', got '{}'"]),
        (
            recorded(b"\x89PNG", "image/png"),
            sent(b"\x89PNX", "image/png"),
            [
                "body: expected '4 bytes, SHA-256 0f4636c78f65d363', got '4 bytes, SHA-256 94836b0a3bdb607a'",
            ],
        ),
        (
            recorded(multipart("x", TEXT_PART, FILE_PART), "multipart/form-data; boundary=x"),
            sent(
                multipart("x", FILE_PART.replace("png", "gif").replace("meow", "woof")),
                "multipart/form-data; boundary=x",
            ),
            [
                "multipart: expected 2 parts, got 1",
                f"part 1 content-disposition: expected '{DESCRIPTION}', got '{PICTURE.replace('png', 'gif')}'",
                "part 1 content-type: expected nothing, got 'image/gif'",
                "part 1: expected 'A cat', got 'woof'",
            ],
        ),
    ],
    ids=[
        *("method", "port", "path", "slash", "query", "json", "form", "kind", "no-body", "a-body", "no-json", "binary"),
        "multipart",
    ],
)  # fmt: skip
def test_what_differs_is_told_with_its_place(one, other, expected):
    assert differences(one, other) == expected


def test_two_long_texts_are_shown_from_where_they_differ():
    (line,) = differences(recorded(b'{"a": "%s!"}' % (b"x" * 900), JSON), sent(b'{"a": "%s?"}' % (b"x" * 900), JSON))

    assert line == """body /a: expected '…xxxxxxxxxxxxxxx!"', got '…xxxxxxxxxxxxxxx?"'"""


def test_a_wholly_different_body_is_told_in_a_few_lines():
    names = b", ".join(b'"field%d": 1' % number for number in range(40))

    lines = differences(recorded(b"{%s}" % names, JSON), sent(b"{}", JSON))

    assert (len(lines), lines[-1]) == (13, "and 28 more")
