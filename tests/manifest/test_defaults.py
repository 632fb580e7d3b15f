import pytest
from tests.manifest.samples import PRESS, changed, fault, loaded

DEFAULTS = """\
defaults:
  base: https://api.example.com/v1/
  headers: { Authorization: "Bearer ${PRESS_TOKEN}", X-Version: "2" }
  query: { lang: en, key: "${PRESS_TOKEN}" }
  timeout_s: 9
  retry: { tries: 2 }
  ok: { status: [404] }
"""
URL = "url: https://api.example.com/articles"
WITH_DEFAULTS = DEFAULTS + changed(URL, "url: /articles")


def listing(*lines: str, text: str = WITH_DEFAULTS):
    request = changed("url: /articles", "\n      ".join(["url: /articles", *lines]), text)
    return loaded(request).tools[1].steps[0].request


def pairs(request) -> dict:
    return {name: value.source for name, value in (*request.headers, *request.query)}


def test_a_request_takes_what_it_does_not_say_from_the_defaults():
    request = listing()

    assert request.url.source == "https://api.example.com/v1/articles"
    assert pairs(request) == {
        "Authorization": "Bearer ${PRESS_TOKEN}",
        "X-Version": "2",
        "lang": "en",
        "key": "${PRESS_TOKEN}",
    }
    assert (request.timeout_s, request.ok.statuses) == (9.0, {404})
    assert request.retry is not None
    assert request.retry.tries == 2


def test_what_a_request_says_itself_counts():
    request = listing(
        'headers: { x-version: "3" }', "query: { lang: de }", "timeout_s: 5", "retry: {}", "ok: { status: [410] }"
    )

    assert pairs(request) == {
        "Authorization": "Bearer ${PRESS_TOKEN}",
        "x-version": "3",
        "lang": "de",
        "key": "${PRESS_TOKEN}",
    }
    assert (request.timeout_s, request.ok.statuses) == (5.0, {410})
    assert request.retry is not None
    assert request.retry.tries == 3


def test_a_request_leaves_a_default_out_by_saying_nothing_for_it():
    request = listing("headers: { Authorization: }", "query: { key: null }")

    assert pairs(request) == {"X-Version": "2", "lang": "en"}


def test_a_sign_in_of_a_request_takes_the_place_of_the_defaults():
    basic = listing('basic_auth: [a, "${PRESS_TOKEN}"]')
    bearer = listing("headers: { Authorization: x }", text=WITH_DEFAULTS.replace(
        'headers: { Authorization: "Bearer ${PRESS_TOKEN}", X-Version: "2" }', 'basic_auth: [a, "${PRESS_TOKEN}"]', 1
    ))  # fmt: skip

    assert ("Authorization" in pairs(basic), basic.basic_auth is not None) == (False, True)
    assert (pairs(bearer)["Authorization"], bearer.basic_auth) == ("x", None)


def test_nobody_signs_in_where_a_request_says_so():
    text = WITH_DEFAULTS.replace("  query:", "  basic_auth: [a, b]\n  query:").replace(
        'Authorization: "Bearer ${PRESS_TOKEN}", ', "", 1
    )

    assert listing(text=text).basic_auth is not None
    assert listing("basic_auth: null", text=text).basic_auth is None


def test_sources_and_choices_take_the_defaults_too():
    text = WITH_DEFAULTS.replace('"https://api.example.com/stats?from={{from}}&to={{to}}"', '"/stats?from={{from}}"')

    request = loaded(text).sources[0].requests[0].request

    assert request.url.source == "https://api.example.com/v1/stats?from={{from}}"
    assert request.timeout_s == 9.0


def test_a_query_alone_is_put_behind_the_base():
    assert listing(text=WITH_DEFAULTS.replace("url: /articles", "url: /articles")).url.source.endswith("/v1/articles")
    text = WITH_DEFAULTS.replace("v1/\n", "v1\n").replace("url: /articles", 'url: "?action=list"')

    assert loaded(text).tools[1].steps[0].request.url.source == "https://api.example.com/v1?action=list"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("https://api.example.com/v1/", "https://evil.test/", "evil.test is not in hosts"),
        ("https://api.example.com/v1/", '"https://api.example.com/{{title}}"', "nothing fills {{title}}"),
        ("Authorization:", "Content-Length:", "Habilis sets this header itself"),
        ('${PRESS_TOKEN}", X', '${PRES_TOKEN}", X', "did you mean 'PRESS_TOKEN'?"),
        ("lang: en", 'lang: "{{title}}"', "defaults.query.lang: nothing fills {{title}}"),
        ("timeout_s: 9", "timeout_s: 0", "defaults.timeout_s: expected 1 or more"),
        ("timeout_s: 9", "method: GET", "defaults.method: unknown field here; it belongs in `request`"),
        ("ok: { status: [404] }", "ok: { message: x }", "a place is a pointer"),
    ],
)
def test_defaults_that_cannot_hold_are_a_fault_at_install(old, new, expected):
    found = fault(WITH_DEFAULTS.replace(old, new, 1))

    assert expected in found


def test_a_relative_url_needs_a_base():
    found = fault(PRESS.replace(URL, "url: /articles"))

    assert found.endswith("`/…` is put behind the `base` of `defaults`")


def steps_with(second: str) -> str:
    steps = f"""\
  - name: fetch_report
    steps:
      - name: job
        request: {{ method: GET, url: /reports }}
        save: {{ address: /address }}
      - name: report
        request: {second}
"""
    return WITH_DEFAULTS.replace("channels:\n", f"{steps}channels:\n")


def test_an_address_that_an_answer_gave_takes_no_key_of_the_defaults():
    given = loaded(steps_with('{ method: GET, url: "{{job.address}}" }')).tools[2].steps[1].request
    own = loaded(steps_with('{ method: GET, url: "{{job.address}}", headers: { X-A: "1" } }')).tools[2].steps[1].request

    assert (pairs(given), given.basic_auth, given.timeout_s) == ({}, None, 9.0)
    assert pairs(own) == {"X-A": "1"}


@pytest.mark.parametrize(
    "body",
    [
        'multipart: [{ name: a, value: "{{title}}{{html}}{{byline}}" }]',
        'form: { a: "{{title}}{{html}}{{byline}}" }',
        'body_file: "{{files.0}}"',
    ],
)
def test_a_form_parts_and_a_file_bring_their_own_type_whatever_the_defaults_say(body):
    text = WITH_DEFAULTS.replace('X-Version: "2"', "Content-Type: application/json", 1)
    parts = text.replace(
        'json: { title: "{{title}}", body: "{{html}}", status: "{{status|draft}}", author: "{{byline}}" }',
        body,
    )

    plain, upload = loaded(text).tools[1].steps[0].request, loaded(parts).tools[0].steps[0].request

    assert "Content-Type" in pairs(plain)
    assert [name for name, _ in upload.headers] == ["Authorization"]
