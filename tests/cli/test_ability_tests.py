"""`habilis abilities test`: what it prints, and how it ends."""

from pathlib import Path

import pytest

from habilis.marketplace import shipped


@pytest.fixture
def ability(tmp_path: Path) -> Path:
    """A copy of an ability that ships, with the one cassette that its tests may change."""
    folder = tmp_path / "plausible"
    (folder / "cassettes").mkdir(parents=True)
    for file in ("extension.yaml", "cassettes/traffic.yaml"):
        (folder / file).write_bytes((shipped("plausible") / file).read_bytes())
    return folder


def test_cases_that_pass_are_a_line_each(shell):
    said = shell.ok("abilities", "test", "plausible").out.splitlines()

    assert said == [
        "ok  cassettes/refused-key.yaml  source 'conversions', 1 request",
        "ok  cassettes/traffic.yaml  source 'traffic', 2 requests",
        "2 of 2 cases passed.",
    ]


def test_a_case_that_fails_shows_what_happened_and_where_it_differs_and_the_exit_code_is_1(shell, ability):
    cassette = ability / "cassettes" / "traffic.yaml"
    cassette.write_text(cassette.read_text().replace('"limit": 10000', '"limit": 500'))

    outcome = shell.run("abilities", "test", ability)

    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[0] == "failed  cassettes/traffic.yaml  source 'traffic', 1 request"
    assert lines[1] == "    POST https://plausible.io/api/v2/query  200"
    assert lines[2].startswith("  ! request 2 is not the recorded one: POST https://plausible.io/api/v2/query")
    assert lines[3:] == ["  !   body /pagination/limit: expected '500', got '10000'", "1 of 1 cases failed."]


def test_a_fault_shows_what_the_ability_did_then(shell, ability):
    said = shell.ok("abilities", "test", ability, "--fault", "401").out.splitlines()

    assert said[:3] == [
        "ok  cassettes/traffic.yaml  source 'traffic', 2 requests",
        "    POST https://plausible.io/api/v2/query  200",
        "    POST https://plausible.io/api/v2/query  401  fault: 401",
    ]
    assert said[3].startswith("    it ended in upstream_error, outcome not_sent: source 'traffic': answered 401")


def test_a_fault_without_a_place_says_so(shell, ability):
    said = shell.ok("abilities", "test", ability, "--fault", "429@9").out.splitlines()

    assert said[1] == "    the fault has no place here"


def test_a_program_reads_the_same_as_one_document(shell, ability):
    data = shell.ok("abilities", "test", ability, "--fault", "401@1", "--json").data

    (case,) = data["cases"]
    assert (data["failed"], case["file"], case["ended"]) == (0, "cassettes/traffic.yaml", "upstream_error")
    assert case["events"] == [
        {"method": "POST", "url": "https://plausible.io/api/v2/query", "status": 401, "fault": "401"}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "there is no ability 'nothing'"),
        (["sample-blog"], "the ability 'sample-blog' has no cassettes"),
        (["plausible", "--fault", "500"], "there is no such fault"),
    ],
)
def test_what_cannot_be_run_is_told_and_ends_with_1(shell, words, said):
    outcome = shell.run("abilities", "test", *words)

    assert (outcome.code, said in outcome.err) == (1, True)


def test_a_folder_needs_no_home(shell, ability, monkeypatch, tmp_path):
    monkeypatch.setenv("HABILIS_HOME", str(tmp_path / "none"))

    shell.ok("abilities", "test", ability)
