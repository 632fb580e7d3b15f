from datetime import UTC, datetime
from textwrap import dedent

import pytest

from habilis.cassettes import CaseFile, read_cassette
from habilis.cassettes.read import LARGEST_CASSETTE
from habilis.errors import ManifestInvalid

FILE = "cassettes/post.yaml"
POST = """\
case:
  tool: post_status
  arguments: {text: Hello, count: 2}
  keys: {SITE: https://social.example}
  files:
  - {name: cat.png, mime: image/png, alt: A cat, text: meow}
  - {name: dot.gif, mime: image/gif, base64: R0lGODlh}
  now: 2026-03-01T08:30:00+01:00
  expect: {text: Posted, link: https://social.example/1, pauses_s: [2, 2.5], files: [{name: a.png, mime: image/png}]}
interactions:
- request:
    body: text=Hello
    headers:
      Content-Type:
      - application/x-www-form-urlencoded
    method: post
    uri: https://social.example/posts
  response:
    body:
      string: !!binary |
        iVBO
        Rw==
    headers:
      Set-Cookie:
      - a=1
      - b=2
      Content-Type: image/png
    status: {code: 201, message: Created}
version: 1
"""


def faults(text: str) -> list[str]:
    with pytest.raises(ManifestInvalid) as caught:
        read_cassette(text.encode(), FILE)
    return [str(problem) for problem in caught.value.problems]


def test_a_cassette_says_what_is_run_and_what_is_expected():
    case = read_cassette(POST.encode(), FILE).case

    assert (case.tool, case.source, case.arguments) == ("post_status", "", {"text": "Hello", "count": 2})
    assert case.keys == {"SITE": "https://social.example"}
    assert case.files == (
        CaseFile(name="cat.png", mime="image/png", alt="A cat", content=b"meow"),
        CaseFile(name="dot.gif", mime="image/gif", content=b"GIF89a"),
    )
    assert case.now == datetime(2026, 3, 1, 7, 30, tzinfo=UTC)
    assert (case.expected.text, case.expected.link) == ("Posted", "https://social.example/1")
    assert (case.expected.pauses_s, case.expected.files) == ((2.0, 2.5), (("a.png", "image/png"),))
    assert (case.expected.error, case.expected.says, case.expected.rows) == ("", "", None)


def test_a_cassette_holds_requests_and_answers_as_recorders_write_them():
    (one,) = read_cassette(POST.encode(), FILE).interactions

    assert (one.method, one.url, one.body) == ("POST", "https://social.example/posts", b"text=Hello")
    assert one.headers == {"content-type": "application/x-www-form-urlencoded"}
    assert (one.status, one.answer_body) == (201, b"\x89PNG")
    assert one.answer_headers == (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Type", "image/png"))
    assert one.line == 11


def test_a_case_that_says_no_more_than_its_source_runs_at_a_fixed_time():
    cassette = read_cassette(b"case: {source: traffic}\ninteractions: []\nversion: 1\n", FILE)

    assert (cassette.case.source, cassette.case.now.isoformat()) == ("traffic", "2026-01-31T12:00:00+00:00")
    assert (cassette.case.expected.link, cassette.interactions) == (None, ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("tool: post_status", "toll: post_status", "2:3 case.toll: there is no such field; did you mean 'tool'?"),
        ("tool: post_status", "source: traffic\n  tool: x", "2:3 case: expected a tool or a source, one of them"),
        ("SITE: https://social.example}", "SITE: 5}", "4:16 case.keys.SITE: found the number 5; expected text"),
        ("name: cat.png, ", "", "6:5 case.files[0].name: missing; it is required here"),
        ("text: meow}", "alt: x}", "6:50 case.files[0].alt: 'alt' is given twice"),
        (", text: meow}", "}", "6:5 case.files[0]: expected the file's content as text or as base64, one of them"),
        ("base64: R0lGODlh", "base64: R0lGOD=lh", "7:46 case.files[1].base64: expected base64"),
        ("2026-03-01T08:30:00+01:00", "2026-03-01T08:30:00", "8:8 case.now: expected a moment with its zone"),
        ("2026-03-01T08:30:00+01:00", "soon", "8:8 case.now: expected a moment with its zone"),
        ("[2, 2.5]", "[soon]", "9:69 case.expect.pauses_s[0]: found text; expected a number of seconds"),
        ("link:", "lnik:", "9:26 case.expect.lnik: there is no such field; did you mean 'link'?"),
        ("    method: post\n", "", "12:5 interactions[0].request.method: missing; it is required here"),
        ("uri: https://social.example/posts", "uri: /posts", "17:10 interactions[0].request.uri: expected a whole"),
        ("https://social.example/posts", "https://[x/", "17:10 interactions[0].request.uri: expected a whole"),
        ("https://social.example/posts", "https://x:y/", "17:10 interactions[0].request.uri: expected a whole"),
        ("code: 201", "code: 99", "28:20 interactions[0].response.status.code: expected a status, as 200"),
        ("code: 201", "code: yes", "28:20 interactions[0].response.status.code: expected a status, as 200"),
        ("code: 201", "code: fine", "28:20 interactions[0].response.status.code: expected a status, as 200"),
        ("        iVBO", "        iVB", "20:15 interactions[0].response.body.string: expected base64"),
        ("version: 1", "version: 2", "29:10 version: expected 1, the version of the format that vcrpy writes"),
        ("a=1", "!!python/object:os.system a", "25:9 interactions[0].response.headers.Set-Cookie[0]: tags (!name)"),
    ],
)
def test_a_fault_says_where_it_is(old, new, expected):
    assert old in POST

    found = faults(POST.replace(old, new, 1))

    assert any(one.startswith(f"{FILE}:{expected}") for one in found), found


def test_a_recording_without_a_case_is_told_to_need_one():
    text = dedent(POST[POST.index("interactions") :])

    assert faults(text) == [f"{FILE}:1:1 case: missing; it says which tool or source is run, and what is expected"]


def test_every_fault_comes_in_one_answer():
    text = POST.replace("version: 1", "version: 3").replace("code: 201", "code: x").replace("tool:", "tol:")

    assert len(faults(text)) == 4


def test_a_cassette_has_room_for_a_small_picture_and_no_film():
    long = f"# {'x' * LARGEST_CASSETTE}\n{POST}"

    assert faults(long) == [f"{FILE}:1:1: the file is larger than 1024 KiB"]
