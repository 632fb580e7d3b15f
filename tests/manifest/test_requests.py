import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded, place

URL = "url: https://api.example.com/articles"
HEADERS = 'headers: { Authorization: "Bearer ${PRESS_TOKEN}" }'
FIRST_HEADER = place(PRESS, "Authorization: ")
HOSTS = 'hosts: [api.example.com, "${PRESS_SITE}"]'


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://{{host}}/x", "arguments may not be part of the host"),
        ("https://{{sub}}.example.com/x", "arguments may not be part of the host"),
        ("https://${UNDECLARED}/x", "${UNDECLARED} is not declared in auth"),
        ("${UNDECLARED}/x", "${UNDECLARED} is not declared in auth"),
        ("${PRESS_SIDE}/x", "${PRESS_SIDE} is not declared in auth; did you mean 'PRESS_SITE'?"),
        ("${PRESS_TOKEN}/x", 'the host comes from ${PRESS_TOKEN}; list "${PRESS_TOKEN}" under hosts'),
        ("https://evil.test/x", "evil.test is not in hosts"),
        ("https://evilapi.example.com/x", "evilapi.example.com is not in hosts"),
        ("https://example.com/x", "example.com is not in hosts"),
        ("https://api.example.com:8443/x", "list api.example.com:8443 under hosts"),
        ("https://u:p@api.example.com/x", "a URL may not carry a user name; use basic_auth"),
        ("http://api.example.com/x", "use https"),
        ("file:///etc/passwd", "only absolute https URLs"),
        ("/articles", "only absolute https URLs"),
        ("https://api.example.com/{{x", "the placeholder is not closed with }}"),
        ("https://api.example.com/{{x y}}", "a placeholder holds names joined by dots"),
        ("https://api.example.com/${lower}", "a key's name is upper case"),
    ],
)
def test_a_url_goes_to_a_listed_host_or_is_a_fault_at_install(url, expected):
    found = fault(changed(URL, f'url: "{url}"'))

    assert found.startswith(f"{place(PRESS, 'https://api.example.com/articles')} tools[1].request.url: ")
    assert expected in found


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "https://eu.api.example.com/v1",
        "https://API.Example.COM./v1",
        "https://api.example.com:443/v1",
        "${PRESS_SITE}",
        "${PRESS_SITE}/a?b=${PRESS_TOKEN|urlencode}",
        "https://${PRESS_SITE}/x",
        "https://${PRESS_TOKEN}.api.example.com/x",
        "https://api.${PRESS_SITE}/x",
    ],
)
def test_a_url_on_a_listed_host_is_right(url):
    loaded(changed(URL, f'url: "{url}"'))


def test_a_key_stands_for_whole_labels_of_a_host():
    assert "whole labels" in fault(changed(URL, 'url: "https://x${PRESS_TOKEN}-api.example.com/"'))
    assert "evil.test is not in hosts" in fault(changed(URL, 'url: "https://${PRESS_TOKEN}.evil.test/"'))


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:8080", "nas.local:5000", "10.0.0.5:80"])
def test_plain_http_is_written_for_a_listed_private_host_only(host):
    listed = changed(HOSTS, f'hosts: ["{host}", api.example.com, "${{PRESS_SITE}}"]')

    manifest = loaded(changed(URL, f"url: http://{host}/articles", listed))

    assert manifest.tools[1].steps[0].request.url.source == f"http://{host}/articles"
    assert "not in hosts" in fault(changed(URL, f"url: http://{host}/articles"))


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "0.0.0.0", "2130706433"])
def test_an_address_that_is_never_called_is_not_listed_either(host):
    assert fault(changed(HOSTS, f'hosts: ["{host}", api.example.com, "${{PRESS_SITE}}"]')).startswith("8:9 hosts[0]: ")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("com", "too wide: anyone can have a name under com"),
        ("co.uk", "too wide: anyone can have a name under co.uk"),
        ("github.io", "too wide: anyone can have a name under github.io"),
        ('"*"', "wildcards are not used"),
        ('"*.example.com"', "wildcards are not used"),
        ("https://example.com", "name the host alone"),
        ("example.com/path", "name the host alone"),
        ("example.com:99999", "the port is not a number from 1 to 65535"),
        ('"${NOWHERE}"', "${NOWHERE} is not declared in auth"),
        ('"${PRESS_SITE|x}"', "a key is written ${NAME}, in capitals"),
        ("443", "quote it"),
    ],
)
def test_a_host_that_is_too_wide_or_none_is_refused_with_its_line(entry, expected):
    found = fault(changed(HOSTS, f'hosts: [{entry}, api.example.com, "${{PRESS_SITE}}"]'))

    assert found.startswith("8:9 hosts[0]: ")
    assert expected in found


def test_hosts_are_never_left_out():
    empty = changed(HOSTS, "hosts: []")
    missing = changed(f"{HOSTS}\n", "")

    assert "8:8 hosts: found none; expected at least 1" in faults(empty)
    assert "1:1 hosts: missing; it is required here" in faults(missing)


@pytest.mark.parametrize(
    "header",
    [
        "Transfer-Encoding: chunked",
        "transfer-encoding: chunked",
        "Host: internal",
        'Content-Length: "3"',
        "Connection: close",
        "Keep-Alive: x",
        "Proxy-Authorization: x",
        "Proxy-Connection: x",
        "TE: trailers",
        "Trailer: x",
        "Upgrade: h2c",
        "Expect: 100-continue",
    ],
)
def test_headers_that_frame_or_route_a_request_are_the_engines(header):
    found = fault(changed(HEADERS, f"headers: {{ {header} }}"))

    name = header.partition(":")[0]
    assert found == f"{FIRST_HEADER} tools[0].request.headers.{name}: Habilis sets this header itself; leave it out"


@pytest.mark.parametrize(
    "name", ['"{{title}}"', '"X Y"', '"X:Y"', '"X\\r\\nEvil"', '"${PRESS_TOKEN}"', '""', '"X\u00e9"']
)
def test_the_name_of_a_header_is_literal(name):
    found = fault(changed(HEADERS, f"headers: {{ {name}: x }}"))

    assert found.startswith(f"{FIRST_HEADER} tools[0].request.headers[")
    assert found.endswith("expected the literal name of a header")
    assert "\r" not in found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"a\\r\\nX-Evil: 1"', "line breaks are not allowed in a header"),
        ('"a\\x00b"', "control characters are not allowed in a header"),
        ('"\u20ac"', "has characters a header cannot carry"),
        ("3", 'quote it: "3"'),
        ("[a]", "found a list; expected text"),
        ('"Bearer ${PRESS_TOKEM}"', "did you mean 'PRESS_TOKEN'?"),
        ('"{{titel}}"', "nothing fills {{titel}}; did you mean 'title'?"),
    ],
)
def test_the_value_of_a_header_is_one_line_of_latin_text(value, expected):
    assert expected in fault(changed(HEADERS, f"headers: {{ X-A: {value} }}"))


def test_a_header_is_named_once_and_not_beside_basic_auth():
    twice = fault(changed(HEADERS, "headers: { X-A: a, x-a: b }"))
    both = fault(changed(HEADERS, f'{HEADERS}\n      basic_auth: [a, "${{PRESS_TOKEN}}"]'))

    assert twice == "24:26 tools[0].request.headers.x-a: the header is named twice; first in line 24"
    assert both.endswith("`basic_auth` sets this header; write one of the two")


@pytest.mark.parametrize("value", ["[a]", "[a, b, c]", "a", '[a, "${NOT_THERE}"]'])
def test_basic_auth_is_a_user_and_a_password(value):
    assert "tools[0].request.basic_auth" in fault(changed(HEADERS, f"basic_auth: {value}"))


def test_a_fault_in_a_body_is_placed_at_its_text():
    quoted = '"{{byline.}}"'
    text = changed('author: "{{byline}}"', 'deep: [{ a: ok }, { b: "{{byline.}}" }]')

    found = fault(text)
    assert found.startswith(f"{place(text, quoted)} tools[0].request.json.deep[1].b: ")
    assert "{{byline.}}: a placeholder holds names joined by dots" in found


def test_a_placeholder_may_not_be_the_name_of_a_field():
    assert "a placeholder may not stand in a field's name" in fault(changed("author:", '"{{title}}":'))


def test_arguments_come_from_the_input_the_publish_or_the_destination():
    for name in ("title", "text", "html", "summary", "tags", "asset", "status", "byline"):
        loaded(changed('author: "{{byline}}"', f'author: "{{{{{name}}}}}"'))

    found = fault(changed(URL, "url: https://api.example.com/{{text}}"))
    assert "nothing fills {{text}}" in found


def test_an_input_that_takes_any_argument_lets_any_placeholder_be():
    listing = "  - name: list_articles\n    input: { type: object, additionalProperties: { type: string } }\n"

    loaded(changed("  - name: list_articles\n", listing).replace(URL, 'url: "https://api.example.com/{{any}}"'))


def test_branches_of_an_input_name_arguments_too():
    listing = (
        "  - name: list_articles\n"
        "    input: { type: object, oneOf: [{ properties: { slug: { type: string } } }, { required: [id] }] }\n"
    )

    text = changed("  - name: list_articles\n", listing)

    loaded(text.replace(URL, 'url: "https://api.example.com/{{slug}}"'))
    assert "nothing fills {{slog}}; did you mean 'slug'?" in fault(
        text.replace(URL, 'url: "https://api.example.com/{{slog}}"')
    )


def test_a_target_is_filled_from_arguments_and_holds_no_secret():
    unknown = fault(changed('target: "{{title}}"', 'target: "{{titel}}"'))
    secret = fault(changed('target: "{{title}}"', 'target: "${PRESS_TOKEN}/{{title}}"'))

    assert unknown == "13:13 tools[0].target: nothing fills {{titel}}; did you mean 'title'?"
    assert "a target is logged; ${PRESS_TOKEN} is a secret" in secret
    loaded(changed('target: "{{title}}"', 'target: "${PRESS_SITE}/{{title}}"'))


def test_a_result_is_a_pointer_into_the_answer():
    assert "a pointer is empty or starts with '/'" in fault(changed("text: /link", "text: link"))
    assert "a pointer is empty or starts with '/'" in fault(changed("text: /link", "text: /a~2b"))
    assert "nothing fills {{post}}" in fault(changed("text: /link", 'text: "{{post.url}}"'))
    assert loaded(changed("text: /link", 'text: "/items/*/link"')).tools[0].result.text == "/items/*/link"


def test_a_map_replaces_arguments_that_exist():
    mapped = '    map: { status: { live: publish, "*": draft } }\n    label: Publishing\n'

    tool = loaded(changed("    label: Publishing\n", mapped)).tools[0]

    assert tool.map == {"status": {"live": "publish", "*": "draft"}}
    assert "no argument has this name; did you mean 'status'?" in fault(
        changed("    label: Publishing\n", mapped.replace("status", "statis"))
    )


def test_a_map_tells_what_yaml_reads_otherwise():
    mapped = "    map: { status: { live: on } }\n    label: Publishing\n"

    assert 'YAML reads on as true; quote it: "on"' in fault(changed("    label: Publishing\n", mapped))


def test_a_provided_contract_takes_the_contracts_arguments():
    image = """\
provides:
  image:
    cost: about $0.03 per image
    map: { orientation: { landscape: 1536x1024, portrait: 1024x1536, "*": 1024x1024 } }
    request:
      method: POST
      url: https://api.example.com/images
      json: { prompt: "{{prompt}}", size: "{{orientation}}", width: "{{width|1600}}" }
    result: { text: /images/0/url }
"""

    provided = loaded(PRESS + image).provides[0]

    assert (provided.contract, provided.cost) == ("image", "about $0.03 per image")
    assert provided.map["orientation"]["*"] == "1024x1024"
    assert "nothing fills {{promt}}; did you mean 'prompt'?" in fault(PRESS + image.replace("{{prompt}}", "{{promt}}"))
    assert "unknown field; did you mean 'image'?" in fault(PRESS + image.replace("  image:", "  imag:"))
