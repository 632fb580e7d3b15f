"""Every command of the command line: that it is there, that its help is worth reading, and that it starts fast."""

import subprocess
import sys

import click
import pytest

from habilis.cli import habilis

WANTED = {
    "init", "projects add", "projects ls", "abilities install", "abilities ls", "abilities show", "abilities test",
    "accounts add", "accounts ls", "accounts set", "accounts default", "accounts rm", "accounts allow-private",
    "accounts connect", "accounts choices", "accounts verify",
    "tools", "call", "publish", "approvals ls", "approvals show", "approvals approve", "approvals deny", "snapshot",
    "tokens new",
}  # fmt: skip
CHANGES = {
    "init", "projects add", "abilities install", "accounts add", "accounts set", "accounts default", "accounts rm",
    "accounts allow-private", "accounts connect", "call", "publish", "approvals approve", "approvals deny", "snapshot",
}  # fmt: skip
NEEDS_NO_EXAMPLE = {
    "projects ls", "abilities ls", "abilities show", "accounts ls", "accounts default", "accounts rm", "approvals ls",
    "approvals show", "approvals approve", "approvals deny",
}  # fmt: skip
HEAVY = {"pydantic", "dulwich", "httpx", "httpcore", "jsonschema_rs", "flask", "markdown_it", "nh3", "croniter"}


def walk(group, names=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield " ".join([*names, name]), command
        if isinstance(command, click.Group):
            yield from walk(command, (*names, name))


EVERY = dict(walk(habilis))
COMMANDS = {name: command for name, command in EVERY.items() if not isinstance(command, click.Group)}


def options(command):
    return {option for parameter in command.params for option in parameter.opts}


def test_every_command_is_there():
    assert set(COMMANDS) == WANTED


@pytest.mark.parametrize("name", EVERY)
def test_help_begins_with_a_sentence_and_explains_every_option(name):
    command = EVERY[name]

    first, _, _ = command.help.partition("\n\n")

    assert first[0].isupper()
    assert first.rstrip().endswith((".", "channels.", ","))
    assert len(first) > 15
    assert all(parameter.help for parameter in command.params if isinstance(parameter, click.Option))


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - NEEDS_NO_EXAMPLE))
def test_help_has_an_example_that_begins_with_the_command(name):
    assert "Example" in COMMANDS[name].help
    assert f"\n  habilis {name} " in COMMANDS[name].help.replace("      ", "  ")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - NEEDS_NO_EXAMPLE))
def test_help_shows_an_example_on_a_line_of_its_own(shell, name):
    said = shell.ok(*name.split(), "--help")

    assert f"\n    habilis {name}" in said.out
    assert "\\b" not in said.out


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(COMMANDS)))
def test_the_list_of_a_group_cuts_no_summary_short(shell, name):
    said = shell.ok(*name.split(), "--help")

    assert "..." not in said.out.partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_argument(name):
    usage = COMMANDS[name].help

    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Argument):
            shown = parameter.metavar or parameter.name.upper()
            assert any(word.strip("[]") in usage for word in shown.split("/")), shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_home_and_every_change_a_dry_run(name):
    assert {"--json", "--home"} <= options(COMMANDS[name])
    assert ("--dry-run" in options(COMMANDS[name])) is (name in CHANGES)


def test_the_list_of_commands_is_shown_without_loading_them(shell):
    for words in ([], ["--help"], ["-h"]):
        said = shell.run(*words)
        assert "  abilities  Abilities: what an agent can do, installed from folders.\n" in said.out + said.err


@pytest.mark.parametrize("name", ["init", "accounts add", "approvals"])
def test_help_is_printed_with_exit_code_0(shell, name):
    said = shell.ok(*name.split(), "--help")

    assert said.out.startswith(f"Usage: habilis {name} ")
    assert said.err == ""


@pytest.mark.parametrize(
    ("words", "also"),
    [
        (["--help"], set()),
        (["tools", "acme"], {"yaml"}),
        (["accounts", "ls", "acme"], set()),
        (["approvals", "ls", "acme"], set()),
    ],
)
def test_a_command_loads_only_what_it_needs(shell, words, also):
    program = (
        "import sys\n"
        "from habilis.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "sys.stderr.write('loaded ' + ' '.join(sys.modules))\n"
    )
    command = [sys.executable, "-c", program, *words]
    subprocess.run(command, capture_output=True, check=True)  # the compiled ability lies beside the home from here on

    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stderr.partition("loaded ")[2].split()

    assert set(loaded) & (HEAVY | {"yaml"}) <= also
