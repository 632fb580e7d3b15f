import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded
from tests.manifest.test_steps import WITH_STEPS

BODY = 'json: { title: "{{title}}", body: "{{html}}", status: "{{status|draft}}", author: "{{byline}}" }'


def with_body(body: str) -> str:
    return changed(BODY, body)


def test_a_form_takes_lists_and_nested_names():
    form = loaded(with_body('form: { status: "{{title}}", "media_ids[]": ["{{html}}"], a: { b: 1 } }')).tools[0]

    assert form.steps[0].request.form is not None
    assert form.steps[0].request.form.source == {"status": "{{title}}", "media_ids[]": ["{{html}}"], "a": {"b": 1}}


def test_a_body_of_parts_holds_values_and_files():
    parts = loaded(
        with_body(
            'multipart: [{ name: caption, value: "{{title}}" }, '
            "{ name: meta, value: { a: 1 }, mime: application/json }, "
            '{ name: media, file: "{{files.0}}", filename: "{{files.0.name}}", mime: image/png }]'
        )
    ).tools[0]

    caption, meta, media = parts.steps[0].request.multipart
    assert (caption.name, caption.value and caption.value.source, caption.file) == ("caption", "{{title}}", None)
    assert (meta.value and meta.value.source, meta.mime and meta.mime.source) == ({"a": 1}, "application/json")
    assert (media.file and media.file.source, media.filename and media.filename.source) == (
        "{{files.0}}",
        "{{files.0.name}}",
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('json: { a: 1 }\n      form: { b: "1" }', "form: a request has one body, and `json` is there too"),
        ('form: { b: "1" }\n      body_file: "{{files.0}}"', "body_file: a request has one body, and `form` is"),
        ("multipart: []", "found none; expected at least 1"),
        ("multipart: [{ name: a }]", "multipart[0]: expected either `value` or `file`"),
        ('multipart: [{ name: a, value: x, file: "{{files.0}}" }]', "expected either `value` or `file`"),
        ("multipart: [{ name: a, value: x, filename: y }]", "a name is for a file; leave it out beside `value`"),
        ('multipart: [{ value: "{{title}}" }]', "multipart[0].name: missing"),
        ("multipart: [{ name: a, valeu: x }]", "multipart[0].valeu: unknown field; did you mean 'value'?"),
        ("multipart: [{ name: a, file: x.png }]", "expected one placeholder that leads to a file, as {{files.0}}"),
        ('multipart: [{ name: a, file: "{{title}}" }]', "leads to no file; files are {{files.0}}"),
        ('multipart: [{ name: a, file: "{{files.0.name}}" }]', "leads to a fact of a file"),
        ('multipart: [{ name: a, file: "{{files}}{{files}}" }]', "expected one placeholder that leads to a file"),
        ('multipart: [{ name: a, file: "{{file}}" }]', "nothing fills {{file}} here: {{file}} is one of"),
        ('multipart: [{ name: a, file: "{{files.0}}", filename: "{{nme}}" }]', "nothing fills {{nme}}"),
        ('body_file: "{{files}}"', "{{files}} are several; write {{files.0}} for the first"),
        ('body_file: "{{files.*}}"', "{{files}} are several; write {{files.0}} for the first"),
        ("form: [a]", "found a list; expected a mapping of names to values"),
        ('form: { on: "{{titel}}" }', "nothing fills {{titel}}; did you mean 'title'?"),
        ("form: { zip: 01234 }", 'YAML reads 01234 as the number 668; quote it: "01234"'),
    ],
)
def test_a_body_that_cannot_be_sent_is_a_fault_at_install(body, expected):
    assert any(expected in one for one in faults(with_body(body))), faults(with_body(body))


def test_parts_may_repeat_for_every_file():
    loaded(with_body('multipart: [{ name: "media[]", file: "{{files}}" }]'))


def test_the_item_of_a_loop_over_uploads_is_no_file_and_its_file_is():
    assert loaded(WITH_STEPS).tools[2].steps[1].request.body_file is not None


def test_the_type_of_a_body_of_parts_is_its_own():
    text = with_body('multipart: [{ name: a, value: "{{title}}" }]').replace(
        'Bearer ${PRESS_TOKEN}" }', 'Bearer ${PRESS_TOKEN}", content-type: multipart/form-data }', 1
    )

    found = fault(text)

    assert "headers.content-type: the body brings its own, with the boundary between its parts; leave it out" in found


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_that_asks_carries_no_body(method):
    text = changed("      method: GET\n", f"      method: {method}\n      json: {{ a: 1 }}\n")

    assert f"request.json: {method} carries no body; write `query`, or another method" in fault(text)


def test_what_stands_in_the_address_is_a_query():
    request = loaded(
        changed(
            "url: https://api.example.com/articles",
            'url: https://api.example.com/a\n      query: { "f[]": [1, a], q: x }',
        )
    ).tools[1]

    assert [(name, value.source) for name, value in request.steps[0].request.query] == [("f[]", [1, "a"]), ("q", "x")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('{ "{{x}}": a }', "expected the literal name of a query parameter"),
        ('{ q: "{{nothing}}" }', "nothing fills {{nothing}}"),
        ("{ q: 22:22 }", "quote it"),
        ("[a]", "found a list; expected a mapping"),
    ],
)
def test_a_query_that_cannot_be_sent_is_a_fault_at_install(query, expected):
    text = PRESS.replace(
        "url: https://api.example.com/articles", f"url: https://api.example.com/a\n      query: {query}"
    )

    assert expected in fault(text)
