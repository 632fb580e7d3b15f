"""The command as a program: exit codes, pipes, terminals, and machines that lack something."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from types import SimpleNamespace

import click
import pytest

from habilis import cli

HABILIS = [sys.executable, "-c", "from habilis.cli import main; main()"]
AT_A_TERMINAL = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {HABILIS[2]}"
"""As above, once the terminal on standard input is this process's own, so that Ctrl-C reaches it."""

TOKEN = "tok-9f2c41d7a8b3"


def run(*words, **environment):
    env = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    return subprocess.run(
        [*HABILIS, *map(str, words)], capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL
    )


def converse(answers, *words):
    """Run a command on a terminal of its own, type an answer at each prompt; returns its exit code and the screen."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", AT_A_TERMINAL, *map(str, words)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as program:
        os.close(terminal)
        screen = ""
        for prompt, answer in answers:
            screen = read_on(controller, screen, prompt)
            time.sleep(0.2)  # a hidden prompt switches the echo off just after it is shown, and drops what was typed
            os.write(controller, answer.encode())
        screen = read_on(controller, screen, None)
        os.close(controller)
        code = program.wait(10)
    return code, screen


def read_on(controller, screen, prompt):
    """Read a terminal until it shows the prompt, or without one until its program ends; at most half a minute."""
    until = time.monotonic() + 30
    while (prompt is None or prompt not in screen) and time.monotonic() < until:
        if not select.select([controller], [], [], 1)[0]:
            continue
        try:
            data = os.read(controller, 4096)
        except OSError:
            break  # the other end of the terminal is closed
        if not data:
            break
        screen += data.decode()
    return screen


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["projects", "add", "acme"], 1, "collision"),
        (["tools", "nowhere"], 1, "not_found"),
        (["call", "acme", "list_posts"], 1, "secret_missing"),
        (["accounts", "ls", "acme", "--home", "nowhere"], 1, "not_found"),
        (["call", "acme"], 2, "args_invalid"),
        (["nothing"], 2, "args_invalid"),
        (["tools", "acme", "--wrong"], 2, "args_invalid"),
        (["tokens", "new", "root"], 2, "args_invalid"),
    ],
)
def test_with_json_an_error_is_the_one_document_on_stdout(shell, words, code, error):
    outcome = shell.run(*words, "--json")

    assert outcome.code == code
    assert outcome.data["error"]["code"] == error
    assert outcome.data.keys() == {"error"}
    assert outcome.err == ""


def test_every_fault_of_a_file_is_shown_in_a_line_of_its_own(shell, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "extension.yaml").write_text("id: broken\nversion: 1.10\nhots: [api.example.com]\n")

    outcome = shell.run("abilities", "install", folder)
    document = shell.run("abilities", "install", folder, "--json")

    lines = outcome.err.splitlines()
    assert outcome.code == 1
    assert len(lines) >= 3
    assert all(line.startswith("habilis: extension.yaml:") for line in lines)
    assert [f"habilis: {problem}" for problem in document.data["error"]["problems"]] == lines


def test_wrong_usage_is_told_on_stderr_with_exit_code_2(shell):
    outcome = shell.run("call", "acme")

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Usage: habilis call ")


def test_without_words_it_shows_its_help_as_wrong_usage(shell):
    outcome = shell.run()

    assert outcome.code == 2
    assert "First steps:" in outcome.out + outcome.err


def test_the_version_is_told(shell):
    assert shell.ok("--version").out.startswith("habilis, version ")


def test_a_path_that_the_system_refuses_is_one_line(shell):
    outcome = shell.run("projects", "ls", "--home", "x" * 5000)

    assert outcome.code == 1
    assert outcome.err.endswith(": file name too long\n")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_fault_of_ours_is_one_line_that_names_its_place_and_no_value(shell, monkeypatch, more):
    @click.command()
    @click.option("--json", is_flag=True)
    def fault(json):
        raise ValueError(f"bad token {TOKEN}")

    monkeypatch.setitem(sys.modules, "habilis.cli.faulty", SimpleNamespace(fault=fault))
    monkeypatch.setitem(cli._COMMANDS, "fault", ("faulty:fault", "Fail."))

    outcome = shell.run("fault", *more)

    told = outcome.data["error"] if more else outcome.err
    assert outcome.code == 1
    assert "something went wrong inside Habilis: ValueError" in str(told)
    assert "cli/__init__.py:" in str(told)
    assert TOKEN not in outcome.out + outcome.err
    assert len(outcome.err.splitlines()) == (0 if more else 1)


@pytest.mark.parametrize("value", ["sometimes", ""])
def test_a_wrong_setting_is_named(shell, monkeypatch, value):
    monkeypatch.setenv("HABILIS_PRIVATE_NETWORK", value)

    outcome = shell.run("projects", "ls")

    assert outcome.code == (1 if value else 0)
    assert ("HABILIS_PRIVATE_NETWORK: expected per_account or never" in outcome.err) is bool(value)


def test_a_reader_that_goes_away_is_no_fault(shell):
    with subprocess.Popen(
        [*HABILIS, "tools", "acme"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        program.stdout.close()
        complaint = program.stderr.read()

    assert complaint == ""
    assert program.returncode in {0, 1}


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": None}, {"HOME": None}, {"HOME": None, "LANG": "C"}])
def test_it_runs_on_a_machine_that_lacks_something(shell, environment):
    done = run("tools", "acme", **environment)

    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_a_terminal_that_cannot_show_a_character_gets_it_escaped(shell):
    shell.ok("accounts", "add", "acme", "sample-blog", "--id", "blog")
    record = shell.folder / "projects/acme/connections/blog/connection.yaml"
    record.write_text(record.read_text().replace("service: sample-blog", "service: 世界"), encoding="utf-8")

    done = run("accounts", "ls", "acme", PYTHONIOENCODING="latin-1")

    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u4e16\\u754c" in done.stdout


def test_on_a_terminal_keys_are_asked_for_and_secret_ones_are_not_echoed(shell):
    answers = [("Site address", "https://blog.example\n"), ("Token", f"{TOKEN}\n")]

    code, screen = converse(answers, "accounts", "add", "acme", "sample-blog")

    assert code == 0, screen
    assert "https://blog.example" in screen
    assert "Comes with the sign-in." in screen
    assert TOKEN not in screen
    assert f"SAMPLE_TOKEN={TOKEN}" in shell.key_text("sample-blog")


def test_on_a_terminal_a_key_is_set_without_an_echo(shell):
    shell.ok("accounts", "add", "acme", "sample-blog")

    code, screen = converse([("SAMPLE_TOKEN", f"{TOKEN}\n")], "accounts", "set", "acme", "sample-blog", "SAMPLE_TOKEN")

    assert code == 0, screen
    assert TOKEN not in screen
    assert f"SAMPLE_TOKEN={TOKEN}" in shell.key_text("sample-blog")


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\x03", 1)])
def test_on_a_terminal_an_install_and_a_removal_ask_first(shell, answer, code):
    shell.ok("accounts", "add", "acme", "sample-blog")

    installed, screen = converse([("[y/N]", answer)], "abilities", "install", "wordpress")
    removed, _ = converse([("[y/N]", answer)], "accounts", "rm", "acme", "sample-blog")

    assert (installed, removed) == (code, code)
    assert "Application password" in screen
    assert "Traceback" not in screen
    assert (shell.folder / "abilities/wordpress").exists() is (code == 0)
    assert (shell.folder / "projects/acme/connections/sample-blog").exists() is (code == 1)


def test_yes_answers_beforehand(shell):
    code, screen = converse([], "abilities", "install", "wordpress", "--yes")

    assert code == 0, screen
    assert "[y/N]" not in screen


def test_with_json_on_a_terminal_stdout_still_holds_one_document(shell):
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*HABILIS, "abilities", "install", "wordpress", "--json"],
        stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as program:  # fmt: skip
        os.write(controller, b"y\n")
        out, err = program.communicate(timeout=60)
    os.close(controller)
    os.close(terminal)

    assert json.loads(out)["includes"]["id"] == "wordpress"
    assert "Install wordpress?" in err


def test_a_terminal_is_asked_for_what_a_person_has_and_not_for_what_a_sign_in_brings(shell):
    shell.ok("abilities", "install", "google-analytics", "--yes")

    asked = [("GA4 property", "\n"), ("key file", "\n")]
    code, screen = converse(asked, "accounts", "add", "acme", "google-analytics")

    assert code == 0, screen
    assert "such as " in screen
    assert "refresh token" not in screen.lower()
