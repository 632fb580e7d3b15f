import json
import re
from pathlib import Path

import pytest
from tests.manifest.conversation import Conversation

from habilis.errors import ManifestInvalid
from habilis.manifest.load import load_manifest
from habilis.manifest.schema import json_schema
from habilis.policy.rules import decide, load_rules
from habilis.skill import load_skill

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(yaml fault|yaml|markdown|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(PAGE)
WHOLE, *EXAMPLES = [text for kind, text in BLOCKS if kind == "yaml"]
CONVERSATIONS = [
    (BLOCKS[number][1], call)
    for number, (kind, _) in enumerate(BLOCKS[:-1])
    if kind == "yaml" and BLOCKS[number + 1][0] == "text"
    for call in BLOCKS[number + 1][1].strip().split("\n\n")
]
FAULTS = [(BLOCKS[number][1], BLOCKS[number + 1][1]) for number, (kind, _) in enumerate(BLOCKS) if kind == "yaml fault"]


def fields(text: str) -> dict[str, str]:
    """Return the top-level fields, each with its lines as written."""
    parts = re.split(r"^(?=[a-z_]+:)", text, flags=re.MULTILINE)
    return {part.partition(":")[0]: part for part in parts if part}


def laid_over(example: str) -> bytes:
    """Return the whole with the example's fields in the place of its own; one that is left empty takes its away."""
    laid = fields(WHOLE) | fields(example)
    return "".join(lines for name, lines in laid.items() if lines.strip() != f"{name}:").encode()


@pytest.mark.parametrize("example", [WHOLE, *EXAMPLES])
def test_every_example_of_the_page_loads(example):
    assert load_manifest(laid_over(example), folder="press").id == "press"


@pytest.mark.parametrize(("example", "call"), CONVERSATIONS)
def test_what_the_page_says_a_call_does_is_what_it_does(example, call, tmp_path):
    Conversation(call, load_manifest(laid_over(example), folder="press"), tmp_path).hold()


def test_the_instructions_of_the_page_load():
    (text,) = [text for kind, text in BLOCKS if kind == "markdown"]

    assert load_skill(text.encode()).name == "Write product update posts"


@pytest.mark.parametrize(("example", "said"), FAULTS)
def test_the_faults_of_the_page_are_the_ones_told(example, said):
    with pytest.raises(ManifestInvalid) as caught:
        load_manifest(example.encode(), folder="press")

    assert [str(problem) for problem in caught.value.problems] == said.splitlines()


def test_the_rules_of_the_page_load():
    (text,) = re.findall(r"^```yml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

    rules = load_rules(text.encode(), "actauth.yml")

    assert [decide("manage", tool, rules).verdict for tool in ("delete_post", "reply", "look")] == [
        "deny",
        "ask",
        "allow",
    ]


def test_the_page_explains_every_field():
    schema = json.loads(json.dumps(json_schema()))
    names = {name for shape in [schema, *schema["$defs"].values()] for name in shape["properties"]}

    assert {name for name in names if f"`{name}`" not in PAGE} == set()


def test_the_page_leads_to_its_own_sections():
    headings = {re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-") for title in _headings()}

    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= headings


def _headings() -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
