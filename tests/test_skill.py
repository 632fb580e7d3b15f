import pytest

from habilis.errors import ManifestInvalid
from habilis.skill import Skill, load_skill

WRITTEN_FOR_THE_FIRST_SYSTEM = """\
---
name: Write product update posts          # the action, as the user says it
description: When asked for a post about something we shipped.   # the trigger
categories: [writing]        # optional, for the marketplace shelves
icon: book-open              # optional, a lucide icon name
author: acme-digital         # optional, the vendor when shared; empty for your own
abilities: [image]           # optional: contracts it needs
channels: [wordpress]        # optional
---

1. Lead with what changed for the customer, in one sentence.
2. One concrete example or number.
3. End with where to try it. No hype words.
"""
BODY = """\
1. Lead with what changed for the customer, in one sentence.
2. One concrete example or number.
3. End with where to try it. No hype words.
"""


def faults(text: str | bytes) -> list[str]:
    raw = text.encode() if isinstance(text, str) else text
    with pytest.raises(ManifestInvalid) as caught:
        load_skill(raw)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return [str(one).removeprefix("SKILL.md:") for one in caught.value.problems]


def test_instructions_of_the_first_system_are_read_as_they_are():
    assert load_skill(WRITTEN_FOR_THE_FIRST_SYSTEM.encode()) == Skill(
        name="Write product update posts",
        description="When asked for a post about something we shipped.",
        categories=("writing",),
        icon="book-open",
        author="acme-digital",
        abilities=("image",),
        channels=("wordpress",),
        body=BODY,
    )


def test_a_name_and_a_description_are_enough():
    skill = load_skill(b'---\nname: Greet\ndescription: When someone says hello.\nauthor: ""\nicon:\n---\nSay hello.')

    assert skill == Skill(name="Greet", description="When someone says hello.", body="Say hello.")


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN_FOR_THE_FIRST_SYSTEM.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + WRITTEN_FOR_THE_FIRST_SYSTEM.encode(),
        b"\xef\xbb\xbf" + WRITTEN_FOR_THE_FIRST_SYSTEM.replace("\n", "\r\n").encode(),
        WRITTEN_FOR_THE_FIRST_SYSTEM.replace("---\n", "---  \n").encode(),
    ],
    ids=["crlf", "bom", "both", "blanks"],
)
def test_how_an_editor_ends_lines_makes_no_difference(text):
    assert load_skill(text) == load_skill(WRITTEN_FOR_THE_FIRST_SYSTEM.encode())


def test_a_rule_in_the_text_is_text():
    body = "Before.\n\n```\n---\nname: not a field\n---\n```\n\n---\nAfter.\n"

    skill = load_skill(f"---\nname: A\ndescription: B\n---\n{body}".encode())

    assert skill.body == body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: expected a first line ---"),
        ("Just text.\n", "1:1: expected a first line ---"),
        ("name: A\n---\n", "1:1: expected a first line ---"),
        ("---\nname: A\ndescription: B\nText.\n", "1:1: the frontmatter that begins here has no closing line ---"),
        ("---\n---\nText.\n", "1:1: the frontmatter is empty; expected `name` and `description`"),
        ("---\n\n  \n---\nText.\n", "1:1: the frontmatter is empty; expected `name` and `description`"),
        ("---\nname: 123\ndescription: B\n---\n", '2:7 name: expected text; found the number 123; quote it: "123"'),
        ("---\nname: on\ndescription: B\n---\n", '2:7 name: expected text; YAML reads on as true; quote it: "on"'),
        ("---\ndescription: B\n---\n", "2:1 name: missing; it is required here"),
        ("---\nname: A\n---\n", "2:1 description: missing; it is required here"),
        ("---\nname: A\ndescription:\n---\n", "3:13 description: missing; it is required here"),
        ("---\nname: ''\ndescription: B\n---\n", "2:7 name: found nothing; expected text"),
        ("---\nname: [A]\ndescription: B\n---\n", "2:7 name: found a list; expected text"),
        ('---\nname: "a\\nb"\ndescription: B\n---\n', "2:7 name: expected one line, without control characters"),
        (
            f"---\nname: A\ndescription: {'x' * 5000}\n---\n",
            "3:14 description: found 5,000 characters; expected at most 1,024",
        ),
        (f"---\nname: A\ndescription: B\n---\n{'x' * 300_000}\n", "1:1: the file is larger than 256 KiB"),
        ("---\nname: A\nname: B\ndescription: C\n---\n", "3:1 name: 'name' is given twice, first in line 2"),
        ("---\nname: A\ndescription: When: asked\n---\n", "3:18: no valid YAML; text with a colon"),
        ("---\nname: A\ndescripton: B\n---\n", "3:1 descripton: unknown field; did you mean 'description'?"),
        ("---\nname: A\ndescription: B\nchannels: web\n---\n", "4:11 channels: found text; expected a list"),
        ("---\nname: A\ndescription: B\nabilities: [A B]\n---\n", "4:13 abilities[0]: found 'A B'; expected a-z"),
        (
            "---\nname: A\ndescription: B\nabilities: [no]\n---\n",
            "4:13 abilities[0]: expected text; YAML reads no as false",
        ),
        ("---\n- name\n---\n", "2:1: expected fields (name: value), found a list"),
    ],
)
def test_instructions_that_cannot_be_read_get_a_fault_with_its_line(text, expected):
    assert any(one.startswith(expected) for one in faults(text)), faults(text)


def test_every_fault_comes_in_one_answer():
    text = "---\nname: 1\ndescripton: B\nicon: [x]\nchannels: web\n---\n"

    assert [one.partition(":")[0] for one in faults(text)] == ["2", "2", "3", "4", "5"]


def test_text_that_is_no_utf_8_is_told_with_its_line_and_never_shown():
    text = b"---\nname: A\ndescription: B\n---\nsecret-\xff\n"

    assert faults(text) == ["5:1: the file is not UTF-8; save it as UTF-8"]


def test_fields_of_other_makers_are_passed_over():
    text = (
        "---\nname: A\ndescription: B\nlicense: MIT\nallowed-tools: Read\nmetadata: { version: 1.0 }\nversion: 2\n---\n"
    )

    assert load_skill(text.encode()).name == "A"
