"""The `habilis` command: reads, prints, and turns errors into exit codes.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Progress and notices go to stderr; with `--json` stdout holds
exactly one document, an error too.
"""

import importlib
import io
import os
import sys
import traceback
from pathlib import Path

import click

from habilis import __version__
from habilis.cli.text import document, one_line
from habilis.errors import ArgsInvalid, EngineFailed, HabilisError, ManifestInvalid, Unexpected
from habilis.redaction import clean, recording

_COMMANDS = {
    "init": ("homes:init", "Make a home."),
    "projects": ("homes:projects", "Projects: workspaces with their own accounts, switches and content."),
    "abilities": ("abilities:abilities", "Abilities: what an agent can do, installed from folders."),
    "accounts": ("accounts:accounts", "Accounts: a project's sign-ins to services, and its channels."),
    "tools": ("calls:tools", "List what an agent is offered in a project."),
    "call": ("calls:call", "Call a tool and print what comes back."),
    "publish": ("publishing:publish", "Ask for an asset to go out through a channel."),
    "approvals": ("publishing:approvals", "Approvals: orders that wait for a person's yes."),
    "snapshot": ("publishing:snapshot", "Read the last 30 days of a project's numbers."),
    "tokens": ("homes:tokens", "Tokens: what callers of the HTTP functions carry."),
}


class _LateGroup(click.Group):
    """A group that imports a command's file when the command is used, and lists them all without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(importlib.import_module(f"habilis.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(cls=_LateGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="habilis")
def habilis() -> None:
    """Give AI agents abilities: install them, sign accounts in, call their tools, publish after asking.

    A home is a folder under git that holds everything; --home or HABILIS_HOME names it, else it is ~/.habilis.
    Every command takes --home and --json, every change --dry-run; they stand behind the command.

    \b
    First steps:
      habilis init                                   make the home
      habilis projects add acme                      make a project in it
      habilis abilities ls --shipped                 see what Habilis ships
      habilis abilities install wordpress            install one
      habilis accounts add acme wordpress            give it keys
      habilis tools acme                             see what an agent can now do
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets it escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with recording():
        sys.exit(_run())


def _run() -> int:
    try:
        code = habilis.main(prog_name="habilis", standalone_mode=False)
    except HabilisError as error:
        return _fail(error)
    except click.ClickException as error:
        if "--json" in sys.argv and not isinstance(error, click.exceptions.NoArgsIsHelpError):
            return _fail(ArgsInvalid(error.format_message()), code=error.exit_code)
        error.show()
        return error.exit_code
    except click.Abort:
        return _fail(EngineFailed("stopped before anything was done", outcome="refused"))
    except OSError as error:
        place = "" if error.filename is None else os.fsdecode(error.filename)
        return _fail(EngineFailed((error.strerror or "the system refused").lower(), where=place))
    except Exception as error:  # noqa: BLE001 - the edge: nobody may see a traceback
        ours = Path(__file__).parents[1]
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if ours in Path(frame.filename).parents]
        where = f"{Path(frames[-1].filename).relative_to(ours)}:{frames[-1].lineno}"
        return _fail(Unexpected(f"something went wrong inside Habilis: {type(error).__name__}", where=where))
    return code if isinstance(code, int) else 0


def _fail(error: HabilisError, *, code: int = 1) -> int:
    if "--json" in sys.argv:
        from habilis.engine.rendering import error_data

        click.echo(document({"error": clean(error_data(error))}))
        return code
    problems = [str(problem) for problem in error.problems] if isinstance(error, ManifestInvalid) else []
    for line in problems or [f"{error.where}: {error.message}" if error.where else error.message]:
        click.echo(f"habilis: {one_line(clean(line))}", err=True)
    if error.outcome == "unknown" and not isinstance(error, Unexpected):
        click.echo("  it may have happened: look there before you do it again", err=True)
    if error.hint:
        click.echo(f"  try: {one_line(clean(error.hint))}", err=True)
    return code
