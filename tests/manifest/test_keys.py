"""What may be said of keys beside their names, and how they are proved."""

import pytest
from tests.manifest.samples import changed, fault, loaded

TOKEN = "  - { env: PRESS_TOKEN, label: Token }\n"
CHOICES = """\
  - env: PRESS_PAGE
    label: Page
    optional: true
    choices:
      request: { method: GET, url: "https://api.example.com/pages", pages: { by: link_header } }
      list: /accounts/*/pages/*
      value: /id
      label: "{{name}} of {{owner.name}}"
      where: { field: /role, op: eq, value: admin }
      depends: [PRESS_TOKEN]
"""
PROOF = 'request: { method: GET, url: "https://api.example.com/me" }'


def with_keys(text):
    return changed(TOKEN, TOKEN + text)


def top(text):
    return changed("hosts:", f"{text}\nhosts:")


def test_a_key_says_what_its_value_is():
    key = loaded(with_keys("  - { env: PRESS_DESK, format: int, pattern: '[0-9]+', multiline: true }\n")).auth[-1]

    assert (key.format, key.pattern, key.multiline) == ("int", "[0-9]+", True)


def test_choices_are_read_with_all_that_they_may_say():
    choices = loaded(with_keys(CHOICES)).auth[-1].choices

    assert choices.label_text.source == "{{name}} of {{owner.name}}"
    assert choices.where.source == {"field": "/role", "op": "eq", "value": "admin"}
    assert choices.depends == ("PRESS_TOKEN",)
    assert choices.request.pages.items.source == "/accounts"


def test_a_proof_and_an_identity_are_requests():
    made = loaded(top(f"verify: {{ {PROOF} }}\nidentity: {{ {PROOF}, id: /id, label: 'header:X-Name' }}"))

    assert made.verify.url.source == "https://api.example.com/me"
    assert (made.identity.id.source, made.identity.label.source) == ("/id", "header:X-Name")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (with_keys("  - { env: X, pattern: '(' }\n"), "auth[2].pattern: the pattern is no regular expression"),
        (with_keys("  - { env: X, pattern: '(?=a)' }\n"), "back-references and look-around are not known here"),
        (with_keys("  - { env: X, pattern: 'a)|(b' }\n"), "auth[2].pattern: the pattern is no regular expression"),
        (with_keys("  - { env: X, format: date }\n"), "auth[2].format"),
        (with_keys("  - { env: X, scope: shared }\n"), "the keys of an account are its own"),
        (with_keys(CHOICES.replace("PRESS_TOKEN", "PRESS_TOKN")), "is not declared in auth; did you mean"),
        (with_keys(CHOICES.replace("[PRESS_TOKEN]", "[PRESS_PAGE]")), "a key cannot depend on itself"),
        (with_keys(CHOICES.replace("{{name}}", "{{name|}}x{{")), "auth[2].choices.label"),
        (with_keys(CHOICES.replace("op: eq", "op: like")), "auth[2].choices.where"),
        (with_keys(CHOICES.replace("value: /id", "value: id")), "auth[2].choices.value"),
        (top('verify: { request: { method: GET, url: "https://evil.example.net/" } }'), "verify.request.url"),
        (top("verify: {}"), "verify.request: missing"),
        (top(f"identity: {{ {PROOF} }}"), "identity.id: missing"),
        (top(f"identity: {{ {PROOF}, id: id }}"), "identity.id"),
    ],
)
def test_what_cannot_be_is_told_at_its_place(text, said):
    assert said in fault(text)
