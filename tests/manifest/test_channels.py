import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded

PUBLISH = "    publish: publish_article\n"


def test_a_kind_that_only_reads_leaves_publish_out():
    kind = loaded(changed(PUBLISH, "    does: [read, reply]\n")).channels[0]

    assert (kind.publish, kind.does) == (None, ("read", "reply"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", "publish: missing; name the tool that publishes, or say `does: [read, reply]`"),
        ("    does: [publish, read]\n", "publish: missing; name the tool"),
        (f"{PUBLISH}    does: [read]\n", "`does` leaves publish out"),
        (f"{PUBLISH}    does: []\n", "does: found none; expected at least 1"),
        (f"{PUBLISH}    does: [publsh]\n", "did you mean 'publish'?"),
        ("    publish: publish_artcle\n", "no tool has this name; did you mean 'publish_article'?"),
    ],
)
def test_a_kind_that_publishes_names_one_of_the_tools(lines, expected):
    text = changed(PUBLISH, lines).replace("{{byline}}", "{{title}}").replace("{{html}}", "{{title}}")

    assert any(expected in one for one in faults(text))


MAIL = """\
provides:
  email:
    request:
      method: POST
      url: https://api.example.com/mail
      json: { to: "{{to}}", subject: "{{subject|-}}", text: "{{text}}" }
"""


def test_a_channel_may_publish_by_the_mail_that_is_provided():
    text = changed(PUBLISH, "    publish: email\n").replace("{{byline}}", "{{title}}") + MAIL

    manifest = loaded(text)

    assert manifest.channels[0].publish == "email"
    assert manifest.tool("email") == manifest.provides[0]
    assert manifest.provides[0].role == "publish"


def test_of_what_is_provided_only_mail_publishes():
    text = changed(PUBLISH, "    publish: image\n").replace("{{byline}}", "{{title}}") + (
        "provides:\n  image:\n    request: { method: GET, url: https://api.example.com/i }\n"
    )

    assert fault(text).endswith("of what is provided, only `email` publishes; name a tool")


@pytest.mark.parametrize("role", ["read", "manage", "reply"])
def test_a_publish_tool_cannot_call_itself_something_harmless(role):
    text = changed("    label: Publishing\n", f"    role: {role}\n")

    assert fault(text) == "11:11 tools[0].role: a channel kind publishes with this tool; expected publish"


def test_roles_are_four():
    assert "expected one of read, publish, reply, manage; did you mean 'reply'?" in fault(
        changed("  - name: list_articles\n", "  - name: list_articles\n    role: replay\n")
    )
    assert fault(changed("  - name: list_articles\n", "  - name: list_articles\n    role: write\n")).endswith(
        "role: expected one of read, publish, reply, manage"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("text_limit: 0", "expected 1 or more"),
        ("text_limit: { max: 300 }", "found a mapping; expected a whole number"),
        ("image: { width: 1200 }", "image.height: missing"),
        ("image: { width: 1200, height: 0 }", "expected 1 or more"),
        ("profile_hosts: [https://linkedin.com]", "expected a host name, as linkedin.com"),
        ("wirting: Short.", "unknown field; did you mean 'writing'?"),
        ("caps: []", "counts one cap; write `daily_cap`"),
        ("kind: Big Press", "given twice"),
    ],
)
def test_the_facts_of_a_network_hold_what_they_may(line, expected):
    assert expected in fault(changed(PUBLISH, f"{PUBLISH}    {line}\n"))


def test_a_kinds_name_is_dashed():
    assert "expected a-z, 0-9 and dashes" in fault(changed("  - kind: press\n", "  - kind: Press_Site\n"))


def test_a_destination_field_has_a_name_a_label_and_a_type():
    plain = loaded(changed("{ type: string, label: Author line }", "{}")).channels[0].destination[0]

    assert (plain.name, plain.label, plain.type, plain.help) == ("byline", "byline", "string", "")
    assert "expected one of string, integer, number, boolean" in fault(
        changed("{ type: string, label", "{ type: text, label")
    )


def test_one_tool_may_publish_to_two_kinds():
    assert (
        len(
            loaded(
                PRESS.replace("channels:\n", "channels:\n  - { kind: blog, label: Blog, publish: publish_article }\n")
            ).channels
        )
        == 2
    )
