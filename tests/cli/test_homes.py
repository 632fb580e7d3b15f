import os
import re
import subprocess

import pytest

from habilis.engine.tokens import find_principal
from habilis.errors import NotFound
from habilis.home.worktree import WorkTreeHome


def test_a_home_is_made_where_it_was_asked_for_and_only_once(shell, tmp_path):
    made = shell.json("init", tmp_path / "a home")
    again = shell.json("init", tmp_path / "a home")

    assert made == again == {"home": str(tmp_path / "a home"), "revision": WorkTreeHome(tmp_path / "a home").open().id}


def test_the_home_is_the_one_of_the_option_before_that_of_the_environment(shell, tmp_path):
    shell.ok("init", "--home", tmp_path / "other")
    shell.ok("projects", "add", "beta", "--home", tmp_path / "other")

    assert shell.json("projects", "ls", "--home", tmp_path / "other") == {"projects": ["beta"]}
    assert shell.json("projects", "ls") == {"projects": ["acme"]}


def test_without_either_it_is_that_of_the_user(shell, tmp_path, monkeypatch):
    monkeypatch.delenv("HABILIS_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))

    assert shell.json("init")["home"] == str(tmp_path / "user" / ".habilis")


@pytest.mark.parametrize(
    "words",
    [
        ["projects", "ls"],
        ["tools", "acme"],
        ["accounts", "ls", "acme"],
        ["call", "acme", "x"],
        ["abilities", "ls"],
        ["snapshot", "acme"],
    ],
)
@pytest.mark.parametrize("made", [False, True])
def test_where_no_home_is_the_next_step_is_said(shell, tmp_path, words, made):
    missing = tmp_path / "nowhere"
    if made:
        missing.mkdir()

    outcome = shell.run(*words, "--home", missing)

    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err == f"habilis: {missing}: there is no home here\n  try: run `habilis init {missing}`\n"
    assert missing.exists() is made


def test_a_home_that_cannot_be_made_is_told_in_one_line(shell, tmp_path):
    (tmp_path / "file").write_text("x")

    outcome = shell.run("init", tmp_path / "file" / "home")

    assert outcome.code == 1
    assert outcome.err.startswith("habilis: ")
    assert len(outcome.err.splitlines()) <= 2
    assert "Traceback" not in outcome.err


def test_projects_are_made_and_listed(shell):
    made = shell.ok("projects", "add", "beta", "--name", "Beta Inc.")

    assert made.out == "Made the project beta.\n"
    assert shell.ok("projects", "ls").out == "acme\nbeta\n"
    assert b"name: Beta Inc." in shell.files()["projects/beta/project.yaml"]


@pytest.mark.parametrize("slug", ["A", "../x", "-x", "con", "acme"])
def test_an_odd_or_taken_slug_is_refused(shell, slug):
    before = shell.files()

    outcome = shell.run("projects", "add", "--", slug)

    assert outcome.code == 1
    assert shell.files() == before


def test_a_token_is_shown_once_beside_its_entry(shell):
    made = shell.json("tokens", "new", "agent", "--project", "acme", "--project", "beta")

    caller = find_principal(made["entry"], f"Bearer {made['token']}")
    assert (caller.role, caller.projects) == ("agent", frozenset({"acme", "beta"}))
    assert made["token"] not in made["entry"]
    with pytest.raises(NotFound):
        caller.require("agent", "gamma")


def test_a_token_of_an_engine_has_its_origins(shell):
    made = shell.json("tokens", "new", "engine", "--origin", "https://a.example", "--origin", "https://b.example:8443")

    caller = find_principal(made["entry"], f"Bearer {made['token']}")
    assert (caller.role, caller.origins) == ("engine", frozenset({"https://a.example", "https://b.example:8443"}))


@pytest.mark.parametrize(
    "words",
    [
        ("engine", "--origin", "http://a.example"),
        ("engine", "--origin", "https://a.example/"),
        ("engine", "--origin", "https://A.example"),
        ("engine", "--project", "acme"),
        ("agent", "--origin", "https://a.example"),
    ],
)
def test_origins_are_https_and_for_engines_only(shell, words):
    assert shell.run("tokens", "new", *words).code == 1


def test_tokens_need_no_home_and_are_not_kept(shell, tmp_path):
    outcome = shell.ok("tokens", "new", "admin", "--home", tmp_path / "nowhere")

    assert re.search(r"^Token, shown once: +\S{43}$", outcome.out, re.MULTILINE)
    assert not (tmp_path / "nowhere").exists()


def test_a_token_is_limited_to_real_slugs_only(shell):
    assert shell.run("tokens", "new", "agent", "--project", "acme,beta").code == 1
    assert shell.run("tokens", "new", "root").code == 2


def test_an_ability_shows_where_its_files_come_from_and_its_mail_goes_out(shell):
    pictures = shell.ok("abilities", "show", "fal-image").out
    mail = shell.ok("abilities", "show", "smtp-mail").out

    assert [line.split("  ")[-1] for line in pictures.splitlines() if "fetches files from" in line] == [
        "fal.media",
        "storage.googleapis.com",
    ]
    assert re.search(r"sends mail through +\$\{SMTP_HOST\}", mail)


@pytest.mark.part("git")
def test_the_log_of_a_home_tells_what_was_done(shell):
    shell.ok("projects", "add", "beta")
    shell.ok("abilities", "install", "wordpress", "--project", "beta")
    shell.ok("accounts", "add", "beta", "wordpress", "--label", "Our blog")
    shell.ok("accounts", "rm", "beta", "wordpress", "--yes")

    log = subprocess.run(
        ["git", "-C", shell.folder, "log", "-4", "--format=%s|%(trailers:key=Habilis-Actor,valueonly,separator=%x2C)"],
        capture_output=True, text=True, check=True, env={**os.environ},
    ).stdout.splitlines()  # fmt: skip

    assert log == [
        "Remove the account wordpress of beta|user",
        "Add an account of wordpress to beta|user",
        "Install wordpress 0.2.0|user",
        "Make the project beta|user",
    ]
