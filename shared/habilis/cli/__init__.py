"""The `habilis` command: reads, prints, and turns errors into exit codes.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Progress and notices go to stderr; with `--json` stdout holds
exactly one document.
"""

import importlib
import json
import os
import sys

import click

from habilis import __version__
from habilis.cli.desk import printable
from habilis.engine.rendering import error_data
from habilis.errors import HabilisError
from habilis.redaction import clean, recording

_COMMANDS = {
    "init": "habilis.cli.homes:init",
    "projects": "habilis.cli.homes:projects",
    "abilities": "habilis.cli.abilities:abilities",
    "accounts": "habilis.cli.accounts:accounts",
    "tools": "habilis.cli.calls:tools",
    "call": "habilis.cli.calls:call",
    "publish": "habilis.cli.publishing:publish",
    "approvals": "habilis.cli.publishing:approvals",
    "snapshot": "habilis.cli.publishing:snapshot",
    "tokens": "habilis.cli.homes:tokens",
}


class _LazyGroup(click.Group):
    """A group that imports a command's file when the command is used: a command line answers at once or not at all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, name = target.split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="habilis")
def habilis() -> None:
    r"""Give AI agents abilities: install them, sign accounts in, call their tools, publish after asking.

    A home is a folder under git that holds everything; --home or HABILIS_HOME names it, else it is ~/.habilis.

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
    with recording():
        sys.exit(_run())


def _run() -> int:
    try:
        habilis.main(standalone_mode=False)
    except HabilisError as error:
        if "--json" in sys.argv:
            click.echo(json.dumps({"error": clean(error_data(error))}, ensure_ascii=False))
        else:
            _complain(error)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("stopped", err=True)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(error: HabilisError) -> None:
    problems = [str(problem) for problem in getattr(error, "problems", ())]
    lines = problems or [f"{error.where}: {error.message}" if error.where else error.message]
    for line in lines:
        click.echo(f"habilis: {printable(str(clean(line)))}", err=True)
    if error.hint:
        click.echo(f"  try: {printable(str(clean(error.hint)))}", err=True)
