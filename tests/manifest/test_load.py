import hashlib
import time

import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded, problems

from habilis.errors import ManifestInvalid
from habilis.manifest.load import load_manifest

WRITTEN_FOR_THE_FIRST_SYSTEM = """\
id: wordpress                  # lowercase letters, digits, dashes
name: Publish articles to WordPress   # the ability's name in the UI: an action
version: 0.1.0
summary: Publish articles to our WordPress site.
homepage: https://example.com/wp-admin
transport: http                # http | command | mcp | builtin
auth:                          # keys by variable name
  - { env: WP_USER, label: User name }
  - { env: WP_APP_PASSWORD, label: Application password, help: https://example.com/wp-admin/profile.php }
service: wordpress             # optional
hosts: [myblog.com]            # the only hosts an http ability may call
exclusive: true                # one call at a time per account
daily_cap: 20                  # actions per account per day
tools:
  - name: publish_article
    label: Publishing to WordPress
    description: Create a post from a title and HTML body.
    input: { type: object, properties: { title: { type: string }, html: { type: string }, status: { type: string } }, required: [title, html] }
    request:
      method: POST
      url: https://myblog.com/wp-json/wp/v2/posts
      basic_auth: ["${WP_USER}", "${WP_APP_PASSWORD}"]   # or headers: { Authorization: "Bearer ${TOKEN}" }
      headers: { Content-Type: application/json }
      json: { title: "{{title}}", content: "{{html}}", status: "{{status|draft}}" }
      timeout_s: 60
    result: { text: /link }
channels:
  - kind: wordpress
    label: WordPress blog
    publish: publish_article
    destination:
      site: { type: string, label: Site, help: "https://myblog.com" }
"""  # noqa: E501 -- as it is written there


def test_a_manifest_of_the_first_system_is_read_as_it_is():
    manifest = loaded(WRITTEN_FOR_THE_FIRST_SYSTEM)

    tool, kind = manifest.tools[0], manifest.channels[0]
    assert (manifest.id, manifest.version, manifest.service) == ("wordpress", "0.1.0", "wordpress")
    assert (manifest.exclusive, manifest.daily_cap) == (True, 20)
    assert [key.env for key in manifest.auth] == ["WP_USER", "WP_APP_PASSWORD"]
    assert manifest.auth[1].help == "https://example.com/wp-admin/profile.php"
    assert (tool.steps[0].request.method, tool.steps[0].request.timeout_s, tool.result.text) == ("POST", 60.0, "/link")
    assert (kind.publish, kind.does, kind.destination[0].label) == ("publish_article", ("publish",), "Site")


def test_what_a_network_says_of_itself_is_carried_as_facts():
    network = """\
  - kind: press
    label: Press site
    publish: publish_article
    name: LinkedIn                   # as people write it
    icon: send                       # a lucide icon name
    profile_hosts: [linkedin.com]    # the brand crawl recognises the business's profile there
    text_limit: 3000                 # characters a post may have
    image: { width: 1200, height: 627 }
    preview: feed                    # previewed as a feed card
    writing: "600 to 1,300 characters, short paragraphs, at most three hashtags."
"""

    manifest = loaded(changed("  - kind: press\n    label: Press site\n    publish: publish_article\n", network))

    assert manifest.channels[0].facts == {
        "name": "LinkedIn",
        "icon": "send",
        "profile_hosts": ["linkedin.com"],
        "text_limit": 3000,
        "image": {"width": 1200, "height": 627},
        "preview": "feed",
        "writing": "600 to 1,300 characters, short paragraphs, at most three hashtags.",
    }


def test_a_kind_that_says_nothing_of_a_network_has_no_facts():
    assert loaded(PRESS).channels[0].facts == {}


def test_what_is_left_out_has_its_default():
    manifest = loaded(PRESS)

    publish, listing = manifest.tools
    rows = manifest.sources[0].requests[0]
    assert (manifest.service, manifest.transport, manifest.daily_cap) == ("press", "http", None)
    assert (publish.role, listing.role) == ("publish", "read")
    assert (listing.label, listing.description) == ("List articles", "List articles")
    assert listing.input == {"type": "object", "properties": {}}
    assert listing.steps[0].request.timeout_s == 60.0
    assert rows.totals == ("sessions", "key_events")
    assert rows.breakdown == ("sessions", "key_events")


def test_a_key_is_secret_unless_the_manifest_says_otherwise():
    site, token = loaded(PRESS).auth

    assert (site.secret, token.secret) == (False, True)


def test_a_breakdown_is_empty_without_dimensions_and_an_empty_total_list_means_none():
    text = changed("        dims: { channel: /channel }\n", "        totals: []\n")
    text = text[: text.index("    derive:")]

    rows = loaded(text).sources[0].requests[0]

    assert (rows.totals, rows.breakdown) == ((), ())


def test_a_date_may_be_a_template_for_every_row():
    rows = loaded(changed("date: /day", 'date: "{{to}}"')).sources[0].requests[0]

    assert rows.date_pointer == ""
    assert rows.date_template is not None
    assert rows.date_template.source == "{{to}}"


def test_the_id_is_the_folders_name_when_the_manifest_names_none():
    manifest = loaded(changed("id: press\n", ""), folder="our-press")

    assert (manifest.id, manifest.service) == ("our-press", "our-press")


def test_a_folder_whose_name_is_no_id_needs_an_id_in_the_manifest():
    found = fault(changed("id: press\n", ""), folder="Our Press")

    assert found.startswith("1:1: no `id`, and the folder's name cannot be one: 'Our Press'")


def test_the_content_hash_is_the_texts_own():
    assert loaded(PRESS).content_hash == hashlib.sha256(PRESS.encode()).hexdigest()


def test_every_fault_comes_in_one_answer_each_with_its_place():
    text = """\
id: press
name: Press
version: 1.10
summary: Articles.
hots: [api.example.com]
hosts: [api.example.com]
tools:
  - name: list
    request: { method: GET, url: "https://api.example.com/{{x}}", timeout_s: soon }
  - name: list
    request: { method: get, url: https://evil.test/ }
id: second
"""

    assert faults(text) == [
        '3:10 version: expected text; YAML reads 1.10 as the number 1.1; quote it: "1.10"',
        "5:1 hots: unknown field; did you mean 'hosts'?",
        "9:34 tools[0].request.url: nothing fills {{x}}; known here are files",
        "9:78 tools[0].request.timeout_s: found text; expected a number, without quotes",
        "10:11 tools[1].name: named twice: the first tool of this name is in line 8",
        "11:24 tools[1].request.method: found 'get'; expected one of GET, HEAD, POST, PUT, PATCH, DELETE; did you mean 'GET'?",  # noqa: E501
        "11:34 tools[1].request.url: evil.test is not in hosts (api.example.com)",
        "12:1 id: 'id' is given twice, first in line 1",
    ]


def test_a_file_of_nothing_but_faults_is_given_up_after_a_hundred():
    found = problems(PRESS + "".join(f"f{number}: 1\n" for number in range(20_000)))

    assert len(found) == 100


def test_a_mapping_where_a_list_belongs_is_said_plainly():
    text = PRESS[: PRESS.index("tools:")] + "tools: { name: x }\n"

    assert fault(text) == "9:8 tools: found a mapping; expected a list, each entry beginning with '- '"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('version: "0.1.0"', "version: 1.10", 'YAML reads 1.10 as the number 1.1; quote it: "1.10"'),
        ("env: PRESS_TOKEN", "env: NO", 'YAML reads NO as false; quote it: "NO"'),
        ('status: "{{status|draft}}"', "status: on", 'YAML reads on as true; quote it: "on"'),
        ('status: "{{status|draft}}"', "port: 22:22", 'YAML reads 22:22 as the number 1342; quote it: "22:22"'),
        ('status: "{{status|draft}}"', "zip: 01234", 'YAML reads 01234 as the number 668; quote it: "01234"'),
        ("title: { type: string }", "title: { default: yes }", 'YAML reads yes as true; quote it: "yes"'),
    ],
)
def test_what_yaml_reads_otherwise_is_told_with_the_way_out(old, new, expected):
    found = faults(changed(old, new))

    assert any(one.endswith(expected) for one in found), found


def test_a_date_that_no_calendar_has_is_text_where_text_belongs():
    manifest = loaded(changed('version: "0.1.0"', "version: 2024-02-30"))

    assert manifest.version == "2024-02-30"


def test_a_bare_placeholder_is_told_to_be_quoted_beside_the_other_faults():
    text = changed('url: "${PRESS_SITE}/articles"', "url: {{x}}").replace("timeout_s: 60", "timeout_s: 600")

    found = faults(text)

    assert [one.partition(" ")[0] for one in found] == ["23:12", "23:12", "26:18"]
    assert "must be quoted: YAML reads bare braces as a mapping" in found[0] + found[1]


def test_a_colon_in_bare_text_is_told_to_be_quoted():
    text = changed("description: Create an article.", "description: When asked: write")

    assert fault(text).startswith("12:")
    assert "a colon and a blank in it must be quoted" in fault(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"- id: press\n",
        b"id: !!python/object/apply:os.system [id]\n",
        b"id: !foo x\n",
        b"id: press\n---\nid: other\n",
        b"id: pre\0ss\n",
        "id: press\n".encode("utf-16"),
        b"id: \xff\n",
        b"a: &a [*a]\n",
        b"a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d]\n",
        b"a: " + b"[" * 2000,
        b"a: [" + b"x," * 200_000 + b"x]\n",
        b"a: " + b"9" * 5000 + b"\n",
    ],
    ids=[
        "empty", "list", "python-object", "tag", "two-documents", "nul", "utf-16", "no-utf-8", "self-alias",
        "alias-bomb", "deep", "long-list", "5000-digits",
    ],
)  # fmt: skip
def test_text_that_is_no_plain_mapping_is_refused_at_once_with_a_line(text):
    begin = time.monotonic()
    found = problems(text)

    assert time.monotonic() - begin < 0.5
    assert found[0].line >= 1
    assert found[0].message


def test_no_value_and_no_text_of_a_library_reaches_a_message():
    canary = "sk-canary-7f3a"
    text = changed("timeout_s: 60", f"timeout_s: {canary}").replace("method: POST", f"method: {canary}")
    text = text.replace("type: object", f"type: {canary}").replace("[title]", canary)
    text = text.replace('"Bearer ${PRESS_TOKEN}"', f"[{canary}]").replace("text: /link", f"text: [{canary}]")

    with pytest.raises(ManifestInvalid) as caught:
        load_manifest(text.encode(), folder="press")

    said = "\n".join([*map(str, caught.value.problems), str(caught.value), repr(caught.value)])
    assert canary not in said
    assert "pydantic" not in said.lower()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert [one.path for one in caught.value.problems] == [
        "tools[0].input.type",
        "tools[0].input.required",
        "tools[0].request.method",
        "tools[0].request.headers.Authorization",
        "tools[0].request.timeout_s",
        "tools[0].result.text",
    ]


@pytest.mark.parametrize(
    ("transport", "expected"),
    [
        ("command", "runs no programs"),
        ("mcp", "hosts no MCP servers"),
        ("builtin", "keeps `builtin` for parts of its own"),
    ],
)
def test_another_transport_is_the_one_fault_told(transport, expected):
    text = f"id: other\nname: Other\nversion: '1'\nsummary: S.\ntransport: {transport}\ncommand: npx\nargs: [x]\n"

    assert fault(text) == (
        f"5:12 transport: this version of Habilis {expected}; it carries `transport: http` and `transport: smtp`"
    )


def test_a_misspelt_transport_gets_a_suggestion():
    found = fault("transport: htpp\n" + PRESS)

    assert found == "1:12 transport: found 'htpp'; expected http or smtp; did you mean 'http'?"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id: press\n", "id: press\nprivate_hosts: [a]\n", "an operator allows it on the account"),
        ("    label: Publishing\n", "    undo: { request: {} }\n", "nor takes one back"),
        (
            "    request:\n      method: POST\n",
            "    command: { command: x }\n    requests:\n      method: POST\n",
            "no programs",
        ),
    ],
)
def test_what_comes_later_is_said_instead_of_unknown_field(old, new, expected):
    assert any(expected in one for one in faults(changed(old, new)))


def test_a_field_in_the_wrong_place_is_told_its_place():
    text = changed("    label: Publishing\n", "    timeout_s: 30\n")

    assert fault(text) == "11:5 tools[0].timeout_s: unknown field here; it belongs in `request`"


def test_a_call_without_a_request_is_told_what_to_write():
    text = PRESS[: PRESS.index("    request:\n      method: GET")] + PRESS[PRESS.index("channels:") :]

    assert fault(text) == "28:5 tools[1].request: missing; say what is sent: a `request`, or `steps`"


def test_there_is_no_way_to_switch_off_certificate_checks():
    text = changed("      timeout_s: 60", "      verify: false")

    assert fault(text).startswith("26:7 tools[0].request.verify: unknown field")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("daily_cap", "0", "expected 1 or more"),
        ("daily_cap", '"20"', "found text; expected a whole number, without quotes"),
        ("daily_cap", "20.5", "found the number 20.5; expected a whole number"),
        ("exclusive", "1", "found the number 1; expected true or false"),
        ("homepage", "javascript:alert(1)", "expected a web address"),
        ("avatar", "../../x.svg", "expected the path of an .svg file inside the ability's folder"),
        ("icon", "Book Open", "expected the name of a lucide icon"),
        ("categories", "[Big Writing]", "expected a-z, 0-9 and dashes"),
        ("service", "my service", "expected a-z, 0-9 and dashes"),
        ("author", '"a\\nb"', "expected one line, without control characters"),
        ("connect", "[]", "found none; expected at least 1"),
    ],
)
def test_a_field_of_the_file_holds_what_it_may(field, value, expected):
    assert expected in fault(f"{field}: {value}\n{PRESS}")


def test_a_field_left_blank_is_a_field_left_out():
    manifest = loaded(f'author: ""\nicon:\nhomepage:\n{PRESS}')

    assert (manifest.author, manifest.icon, manifest.homepage) == ("", "", "")


@pytest.mark.parametrize("seconds", ["0.5", "301", "-1"])
def test_a_timeout_is_from_1_to_300_seconds(seconds):
    assert "timeout_s: expected " in fault(changed("timeout_s: 60", f"timeout_s: {seconds}"))
