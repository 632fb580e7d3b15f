"""Every change can be rehearsed: it shows what it would do, and leaves the home to the byte as it was."""

import pytest

ACCOUNT = ("acme", "blog")
CHANGES = {
    "projects add": ["projects", "add", "beta"],
    "accounts add": ["accounts", "add", "acme", "sample-blog", "--id", "second", "--keys", "-"],
    "accounts set": ["accounts", "set", *ACCOUNT, "SAMPLE_TOKEN"],
    "accounts default": ["accounts", "default", "acme", "second"],
    "accounts allow-private": ["accounts", "allow-private", *ACCOUNT, "localhost:8080"],
    "accounts rm": ["accounts", "rm", *ACCOUNT],
    "abilities install": ["abilities", "install", "wordpress"],
    "call": ["call", "acme", "create_post", "--arg", "title=Hi", "--arg", "html=x"],
    "publish": ["publish", "acme", "article/hello", "blog"],
    "snapshot": ["snapshot", "acme"],
    "init": ["init"],
}


@pytest.fixture
def second(shell, channel):
    """Another account, so that there is a default to change."""
    shell.ok("accounts", "add", "acme", "sample-blog", "--id", "second")


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("name", CHANGES)
def test_a_rehearsed_change_leaves_the_home_as_it_was(shell, second, service, name, more):
    words = CHANGES[name] if name != "accounts add" else [word.replace("second", "third") for word in CHANGES[name]]
    before = shell.files()

    outcome = shell.ok(*words, "--dry-run", *more, stdin=b"SAMPLE_TOKEN=tok-0123456789\n")

    assert shell.files() == before
    assert service.posts == []
    assert "tok-0123456789" not in outcome.out + outcome.err
    assert outcome.data if more else outcome.out


@pytest.mark.parametrize("verb", ["approve", "deny"])
def test_a_rehearsed_decision_goes_on_waiting(shell, channel, service, verb):
    approval = shell.json("publish", "acme", "article/hello", "blog")["approval"]["id"]
    before = shell.files()

    outcome = shell.ok("approvals", verb, "acme", approval, "--dry-run")

    assert (shell.files(), service.posts) == (before, [])
    assert "A dry run:" in outcome.out
    shell.ok("approvals", "approve", "acme", approval)
    assert len(service.posts) == 1


def test_the_commit_that_would_be_made_is_shown_with_its_files(shell, second):
    shown = shell.ok("accounts", "default", "acme", "second", "--dry-run").out
    document = shell.json("accounts", "default", "acme", "second", "--dry-run")

    assert shown == (
        "Use second by default in acme:\n"
        "  write   projects/acme/connections/blog/connection.yaml\n"
        "  write   projects/acme/connections/second/connection.yaml\n"
        "\n"
        "A dry run: nothing was written.\n"
    )
    assert document["dry_run"]["subject"] == "Use second by default in acme"
    assert "default: true" in document["dry_run"]["writes"]["projects/acme/connections/second/connection.yaml"]


def test_a_removal_is_shown_as_one(shell, second):
    shown = shell.json("accounts", "rm", *ACCOUNT, "--dry-run")["dry_run"]

    assert shown["removes"] == ["projects/acme/connections/blog/connection.yaml"]
    assert list(shown["writes"]) == ["projects/acme/connections/second/connection.yaml"]


def test_a_change_that_changes_nothing_says_so(shell, second):
    assert shell.ok("accounts", "default", "acme", "blog", "--dry-run").out.startswith("Nothing would change.\n")


def test_a_rehearsed_yes_shows_what_would_be_sent(shell, channel, service):
    approval = shell.json("publish", "acme", "article/hello", "blog")["approval"]
    rehearsed = shell.json("publish", "acme", "article/hello", "blog", "--dry-run")

    requests = shell.json("approvals", "approve", "acme", approval["id"], "--dry-run")["requests"]

    assert requests == approval["requests"] == rehearsed["requests"]


def test_numbers_are_read_and_shown_and_not_stored(shell, channel):
    shown = shell.json("snapshot", "acme", "--dry-run")["dry_run"]

    assert shown["subject"].startswith("Read 1 source of acme up to ")
    assert all(path.startswith("projects/acme/snapshots/blog/traffic/") for path in shown["writes"])


@pytest.mark.parametrize(
    "words",
    [
        ["projects", "add", "acme"],
        ["accounts", "add", "acme", "nothing"],
        ["accounts", "rm", "acme", "nobody", "--yes"],
        ["accounts", "set", "acme", "blog", "NOBODY"],
        ["abilities", "install", "nothing"],
        ["publish", "acme", "article/none", "blog"],
        ["approvals", "approve", "acme", "none"],
    ],
)
def test_what_would_be_refused_is_refused_in_a_rehearsal_too(shell, channel, words):
    rehearsed = shell.run(*words, "--dry-run")
    tried = shell.run(*words)

    assert (rehearsed.code, rehearsed.err) == (tried.code, tried.err)
    assert rehearsed.code == 1
