import socket
from pathlib import Path
from textwrap import dedent

import pytest

from habilis.cassettes import Exchanged, read_fault
from habilis.engine.ability_tests import run_cassettes
from habilis.engine.installs import install, plan_install
from habilis.errors import ManifestInvalid, NotFound
from habilis.marketplace import index

SHIPPED = [entry["id"] for entry in index() if entry["path"]]
MANIFEST = """
    id: notes
    name: Notes
    version: "1.0.0"
    summary: Write notes down.
    author: tests
    transport: http
    service: notes
    auth:
      - { env: NOTES_SITE, label: Site, secret: false }
      - { env: NOTES_TOKEN, label: Token }
    hosts: ["${NOTES_SITE}"]
    tools:
      - name: write_note
        label: Writing a note
        description: Write a note down.
        role: publish
        input: { type: object, properties: { text: { type: string } }, required: [text] }
        request:
          method: POST
          url: "${NOTES_SITE}/notes"
          headers: { Authorization: "Bearer ${NOTES_TOKEN}" }
          json: { text: "{{text}}" }
        result: { text: /url }
"""
CASSETTE = """
    case:
      tool: write_note
      arguments: {text: Hello}
      keys: {NOTES_SITE: https://notes.example}
      expect: {link: https://notes.example/1}
    interactions:
    - request:
        body: '{"text": "Hello"}'
        headers: {Content-Type: application/json}
        method: POST
        uri: https://notes.example/notes
      response:
        body: {string: '{"url": "https://notes.example/1"}'}
        headers: {Content-Type: application/json}
        status: {code: 201, message: Created}
    version: 1
"""


def no_home():
    raise NotFound("there is no home")


@pytest.fixture
def ability(tmp_path: Path) -> Path:
    """An ability of one tool, with one cassette that it fits."""
    folder = tmp_path / "notes"
    (folder / "cassettes").mkdir(parents=True)
    (folder / "extension.yaml").write_text(dedent(MANIFEST))
    (folder / "cassettes" / "write.yaml").write_text(dedent(CASSETTE))
    return folder


def change(ability: Path, old: str, new: str, *, file: str = "cassettes/write.yaml") -> None:
    text = (ability / file).read_text()
    assert old in text
    (ability / file).write_text(text.replace(old, new, 1))


def only(ability: Path, fault: str = ""):
    (report,) = run_cassettes(str(ability), home=no_home, fault=read_fault(fault) if fault else None)
    return report


@pytest.mark.parametrize("name", SHIPPED)
def test_every_ability_that_ships_has_cassettes_and_passes_them(name):
    reports = run_cassettes(name, home=no_home)

    assert [(report.file, report.problems) for report in reports if report.problems] == []
    assert reports


@pytest.mark.parametrize("fault", ["429", "401", "cut-body", "repeated-cursor"])
@pytest.mark.parametrize("name", SHIPPED)
def test_no_ability_that_ships_does_a_thing_twice_or_reports_a_wrong_result_after_a_fault(name, fault):
    reports = run_cassettes(name, home=no_home, fault=read_fault(fault))

    assert [(report.file, report.problems) for report in reports if report.problems] == []


def test_a_case_that_fits_its_cassette_passes_and_says_what_happened(ability):
    report = only(ability)

    assert (report.file, report.runs, report.problems) == ("cassettes/write.yaml", "tool 'write_note'", ())
    assert (report.ended, report.told, report.fault) == ("done", "https://notes.example/1", "")
    assert report.events == (Exchanged(method="POST", url="https://notes.example/notes", status=201),)


def test_cassettes_run_in_the_order_of_their_names(ability):
    for name in ("z", "a"):
        (ability / "cassettes" / f"{name}.yml").write_text((ability / "cassettes" / "write.yaml").read_text())

    reports = run_cassettes(str(ability), home=no_home)

    assert [report.file for report in reports] == ["cassettes/a.yml", "cassettes/write.yaml", "cassettes/z.yml"]


RECORDED = "request 1 is not the recorded one: POST https://notes.example/notes, recorded POST"
IN_KEYS = "it ended in args_invalid: cassettes/write.yaml: case.keys: "
ONE_MORE = """\
- request: {method: GET, uri: "https://notes.example/1"}
  response: {status: {code: 200}}
version: 1"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"text": "Hello"',
            '"text": "Hi"',
            [
                f"{RECORDED} https://notes.example/notes (line 8)",
                """  body /text: expected '"Hi"', got '"Hello"'""",
            ],
        ),
        (
            "uri: https://notes.example/notes",
            "uri: https://notes.example/notes?draft=1",
            [f"{RECORDED} https://notes.example/notes?draft=1 (line 8)", "  query draft: expected '1', got nothing"],
        ),
        ("version: 1", ONE_MORE, ["request 2 was not sent: GET https://notes.example/1 (line 17)"]),
        (
            "link: https://notes.example/1",
            "link: https://notes.example/2",
            ["link: expected 'https://notes.example/2', got 'https://notes.example/1'"],
        ),
        ("link: https://notes.example/1", "error: not_found", ["error: expected not_found, and it went well"]),
        ("expect: {", "expect: {pauses_s: [2], ", ["pauses /: expected '[2.0]', got '[]'"]),
        (
            "expect: {",
            "expect: {files: [{name: a.png, mime: image/png}], ",
            ["""files /: expected '[{"name": "a.png", "mime": "image/png"}]', got '[]'"""],
        ),
        (
            "tool: write_note",
            "tool: write",
            ["it ended in not_found: cassettes/write.yaml: case.tool: the ability has no tool 'write'"],
        ),
        (
            "tool: write_note",
            "source: traffic",
            ["it ended in not_found: cassettes/write.yaml: case.source: the ability has no source 'traffic'"],
        ),
        ("NOTES_SITE:", "NOTES_SITES:", [f"{IN_KEYS}the ability has no key 'NOTES_SITES'"]),
        (
            "keys: {NOTES_SITE: https://notes.example}",
            "keys: {}",
            [f"{IN_KEYS}the case gives no value for NOTES_SITE"],
        ),
    ],
    ids=["body", "query", "missing", "link", "error", "pauses", "files", "tool", "source", "key", "no-key"],
)
def test_what_is_not_as_the_cassette_has_it_fails_with_its_place(ability, old, new, expected):
    change(ability, old, new)

    assert list(only(ability).problems) == expected


def test_a_request_too_many_fails(ability):
    change(ability, "interactions:", "interactions: []\nmetadata:")

    assert only(ability).problems == ("request 1 is not in the cassette: POST https://notes.example/notes",)


def test_an_error_may_be_what_is_expected(ability):
    change(ability, "code: 201", "code: 422")
    change(ability, """'{"url": "https://notes.example/1"}'""", """'{"error": "Text is too long"}'""")
    change(ability, "link: https://notes.example/1", "error: upstream_error, says: Text is too long")

    report = only(ability)

    assert (report.problems, report.ended, report.outcome) == ((), "upstream_error", "not_sent")


def test_another_error_than_the_expected_one_fails(ability):
    change(ability, "code: 201", "code: 422")
    change(ability, "link: https://notes.example/1", "error: upstream_timeout, says: too late")

    problems = only(ability).problems

    assert problems[0] == "error: expected 'upstream_timeout', got 'upstream_error'"
    assert problems[1].startswith("error: expected words with 'too late', got tool 'write_note': answered 422")


@pytest.mark.parametrize(
    ("fault", "ended", "outcome"),
    [
        ("429", "upstream_error", "not_sent"),
        ("401", "upstream_error", "not_sent"),
        ("cut-body", "upstream_protocol", "unknown"),
    ],
)
def test_a_fault_shows_what_the_ability_does_then(ability, fault, ended, outcome):
    report = only(ability, fault)

    assert (report.fault, report.ended, report.outcome, report.problems) == ("played", ended, outcome, ())
    assert report.events[0].fault == fault


def test_a_fault_that_has_no_place_leaves_the_case_as_it_is(ability):
    report = only(ability, "repeated-cursor")

    assert (report.fault, report.ended, report.problems) == ("no place", "done", ())


def test_a_fault_that_the_run_does_not_come_to_leaves_the_case_as_it_is(ability):
    change(ability, "tool: write_note", "tool: write")

    report = only(ability, "429")

    assert (report.fault, report.ended, len(report.problems)) == ("no place", "not_found", 1)


def test_the_keys_of_a_case_are_made_up_where_it_says_nothing_of_them(ability):
    change(
        ability,
        'json: { text: "{{text}}" }',
        'json: { text: "{{text}}", key: "${NOTES_TOKEN}" }',
        file="extension.yaml",
    )
    change(ability, '"text": "Hello"', '"text": "Hello", "key": "placeholder"')

    assert only(ability).problems == ()


def test_an_installed_ability_is_run_from_the_home(world, ability):
    install(world.home, plan_install(world.home, str(ability)), actor="tests", now=world.clock())

    (report,) = run_cassettes("notes", home=lambda: world.home)

    assert report.problems == ()


def test_a_projects_own_ability_is_found_where_the_project_is_named(world, ability):
    install(world.home, plan_install(world.home, str(ability), project="acme"), actor="tests", now=world.clock())

    assert run_cassettes("notes", home=lambda: world.home, project="acme")
    with pytest.raises(NotFound, match="there is no ability 'notes'"):
        run_cassettes("notes", home=lambda: world.home)


def test_an_ability_without_cassettes_is_told_so(ability):
    (ability / "cassettes" / "write.yaml").unlink()

    with pytest.raises(NotFound, match="the ability 'notes' has no cassettes"):
        run_cassettes(str(ability), home=no_home)


def test_a_cassette_that_cannot_be_read_stops_the_run_with_its_faults(ability):
    change(ability, "version: 1", "version: 2")

    with pytest.raises(ManifestInvalid, match="the version of the format that vcrpy writes"):
        run_cassettes(str(ability), home=no_home)


def test_a_case_sends_nothing_and_needs_no_network(ability, monkeypatch):

    def refuse(*_args, **_kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert only(ability).problems == ()
