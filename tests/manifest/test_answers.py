import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded

URL = "url: https://api.example.com/articles"


def reading(*lines: str) -> str:
    """Return the sample whose listing request has more lines."""
    return changed(URL, "\n      ".join([URL, *lines]))


def request(*lines: str):
    return loaded(reading(*lines)).tools[1].steps[0].request


def test_an_answer_is_read_as_its_type_says_or_as_the_manifest_does():
    assert request().decode == ""
    assert request("decode: csv").decode == "csv"
    assert "expected one of json, jsonl, csv, xml, text, bytes; did you mean 'jsonl'?" in fault(
        reading("decode: jsonln")
    )


def test_what_counts_as_good_is_carried():
    ok = request(
        'ok: { status: [404], fail_when: "{{x}}", message: "header:X-Reason" }'.replace("{{x}}", "{{files}}")
    ).ok

    assert ok.statuses == {404}
    assert ok.fail_when is not None
    assert ok.message is not None
    assert (ok.fail_when.source, ok.message.source) == ("{{files}}", "header:X-Reason")
    assert request().ok.statuses == frozenset()


def test_what_a_person_is_told_of_errors_is_carried():
    (rule,) = request('errors: [{ when: "{{files}}", say: "Send fewer files than {{files}}" }]').errors

    assert (rule.when.source, rule.say.source) == ("{{files}}", "Send fewer files than {{files}}")


def test_a_retry_has_its_defaults_and_may_be_said_otherwise():
    plain, own = request("retry: {}").retry, request(
        'retry: { tries: 5, on: [500, 429], wait: 2, reset: "header:X-Reset", unit: unix_ms }'
    ).retry  # fmt: skip

    assert plain is not None
    assert own is not None
    assert (plain.tries, plain.statuses, plain.on_network, plain.wait_s, plain.reset) == (
        3,
        {429, 503},
        True,
        None,
        None,
    )
    assert (own.tries, own.statuses, own.on_network, own.wait_s, own.unit) == (5, {429, 500}, False, 2.0, "unix_ms")
    assert request().retry is None


@pytest.mark.parametrize(
    ("lines", "source", "start", "most"),
    [
        ("{ by: page, into: query:page, size: 100 }", "", 1, 100),
        ("{ by: offset, into: query:offset, total: /total, max: 7 }", "", 0, 7),
        ('{ by: cursor, into: "header:X-Cursor", from: /next }', "/next", 1, 100),
        ("{ by: cursor, into: query, from: /continue }", "/continue", 1, 100),
        ("{ by: next_url, from: /links/next, items: /data }", "/links/next", 1, 100),
        ("{ by: link_header, start: null }", "", 1, 100),
    ],
)
def test_the_ways_to_read_on_are_carried(lines, source, start, most):
    pages = request(f"pages: {lines}").pages

    assert pages is not None
    assert (pages.next.source if pages.next else "", pages.start, pages.most) == (source, start, most)


def test_a_page_may_be_asked_for_in_the_body():
    text = changed("      timeout_s: 60\n", "      timeout_s: 60\n      pages: { by: page, into: /page }\n")

    assert "may act each time; use GET" in fault(text)
    source = PRESS.replace(
        'request: { method: GET, url: "https://api.example.com/stats?from={{from}}&to={{to}}" }',
        "request: { method: POST, url: https://api.example.com/stats, json: { page: 1 }, "
        "pages: { by: page, into: /page } }",
    )
    pages = loaded(source).sources[0].requests[0].request.pages
    assert pages is not None
    assert (pages.into, pages.items and pages.items.source) == ("/page", "/rows")


def test_waiting_has_its_defaults_and_may_be_said_otherwise():
    plain = request('until: { when: "{{files}}" }').until
    own = request('until: { when: "{{files}}", fail: "{{files.0}}", every: /check_after_secs, max_s: 600 }').until

    assert plain is not None
    assert own is not None
    assert (plain.every_s, plain.most_s, plain.fail, plain.every) == (2.0, 120.0, None, None)
    assert (own.every and own.every.source, own.most_s, own.fail is not None) == ("/check_after_secs", 600.0, True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ok: { status: [99] }", "ok.status[0]: expected 100 or more"),
        ("ok: { statuses: [404] }", "unknown field; did you mean 'status'?"),
        ("ok: { message: error }", "a place is a pointer such as /data/id, header:NAME or status"),
        ('ok: { fail_when: "{{x" }', "the placeholder is not closed"),
        ('ok: { fail_when: "{{nothing}}" }', "nothing fills {{nothing}}"),
        ("errors: [{ when: x }]", "errors[0].say: missing"),
        ('errors: [{ when: "{{files}}", say: "{{nothing}}" }]', "nothing fills {{nothing}}"),
        ("retry: { tries: 6 }", "expected 5 or less"),
        ("retry: { on: [200] }", "expected a status from 400 to 599, or network"),
        ("retry: { on: [timeout] }", "expected a status from 400 to 599, or network"),
        ("retry: { wait: soon }", "expected exponential, or seconds from 0 to 300"),
        ("retry: { unit: unix }", "`unit` says how `reset` is read"),
        ("retry: { reset: soon }", "a place is a pointer"),
        ("pages: { by: pages, into: query:p }", "did you mean 'page'?"),
        ("pages: { by: page }", "pages.into: `by: page` needs `into`"),
        ("pages: { by: cursor, into: query:c }", "pages.from: `by: cursor` needs `from`"),
        ("pages: { by: next_url }", "pages.from: `by: next_url` needs `from`"),
        ("pages: { by: next_url, from: /n, into: query:c }", "pages.into: `by: next_url` takes no `into`"),
        ("pages: { by: link_header, from: /n }", "pages.from: `by: link_header` takes no `from`"),
        ("pages: { by: page, into: page }", "expected query:NAME, query, header:NAME or a pointer into the body, as"),
        ("pages: { by: page, into: query }", "`query` alone takes the fields of a cursor; write query:NAME"),
        ("pages: { by: page, into: /page }", "the request has no body to put it into"),
        ("pages: { by: page, into: query:p, items: data }", "a pointer is empty or starts with '/'"),
        ("pages: { by: page, into: query:p, total: x }", "a place is a pointer"),
        ("pages: { by: page, into: query:p, max: 1001 }", "pages.max: expected 1000 or less"),
        ("pages: { by: page, into: query:p, size: 0 }", "pages.size: expected 1 or more"),
        ("until: { every_s: 2 }", "until.when: missing"),
        ('until: { when: "{{files}}", every_s: 0.01 }', "until.every_s: expected 0.1 or more"),
        ('until: { when: "{{files}}", max_s: 901 }', "until.max_s: expected 900 or less"),
        ('until: { when: "{{files}}", every_s: 1, every: /a }', "`every_s` is there too; write one of the two"),
        ('until: { when: "{{files}}" }\n      pages: { by: link_header }', "a request does one of the two"),
    ],
)
def test_a_rule_of_answers_that_cannot_hold_is_a_fault_at_install(line, expected):
    assert any(expected in one for one in faults(reading(line))), faults(reading(line))


def test_an_action_is_never_sent_again_and_again_to_see_whether_it_is_done():
    waiting = changed("      timeout_s: 60\n", '      timeout_s: 60\n      until: { when: "{{title}}" }\n')

    assert "until: `until` sends it again and again, and POST may act each time; use GET" in fault(waiting)
    loaded(waiting.replace("method: POST", "method: GET").replace("      json:", "      query:"))


def test_a_request_that_is_known_again_carries_a_header_of_its_own():
    text = changed("      timeout_s: 60\n", '      idempotency: { header: Idempotency-Key, value: "{{title}}" }\n')

    known = loaded(text).tools[0].steps[0].request.idempotency
    assert known is not None
    assert (known.header, known.value.source) == ("Idempotency-Key", "{{title}}")
    twice = text.replace('Bearer ${PRESS_TOKEN}" }', 'Bearer ${PRESS_TOKEN}", idempotency-key: x }', 1)
    assert "`idempotency` sets this header; leave it out here" in fault(twice)


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "TE"])
def test_no_header_of_the_engines_own_carries_an_id_or_a_page(name):
    known = changed("      timeout_s: 60\n", f"      idempotency: {{ header: {name} }}\n")
    paged = changed("      timeout_s: 60\n", f'      pages: {{ by: page, into: "header:{name}" }}\n')

    said = f"Habilis sets the header {name} itself; name another one"
    assert f"request.idempotency.header: {said}" in "\n".join(faults(known))
    assert f"request.pages.into: {said}" in "\n".join(faults(paged))


def result(text: str) -> str:
    return changed("result: { text: /link }", f"result: {{ {text} }}")


def test_files_of_an_answer_are_named_and_typed():
    found = loaded(result('file_url: /images/*/url, mime: /images/0/type, name: "{{title}}"')).tools[0].result

    assert (found.file_url and found.file_url.source, found.mime, found.name and found.name.source) == (
        "/images/*/url",
        "/images/0/type",
        "{{title}}",
    )
    assert (found.is_file, loaded(result("file_b64: /b64, mime: image/png")).tools[0].result.is_file) == (True, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file_url: /a, file_b64: /b", "`file_url` is there too; write one of the two"),
        ("file_url: url", "a place is a pointer"),
        ('file_url: "{{x}}"', "expected a place in the answer, as /id or header:ETag, without placeholders"),
        ("file_url: /a, mime: png", "expected a type, as image/png, or a pointer to it"),
        ("file_url: /a, mime: /a~2", "a pointer is empty or starts with '/'"),
        ('file_url: /a, name: "{{nme}}"', "nothing fills {{nme}}"),
        ("file: /a", "unknown field"),
    ],
)
def test_a_result_that_leads_nowhere_is_a_fault_at_install(text, expected):
    assert any(expected in one for one in faults(result(text))), faults(result(text))
