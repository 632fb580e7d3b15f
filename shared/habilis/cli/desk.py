"""What every command shares: the home it works on, its common options, and one way to print."""

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Concatenate, ParamSpec

import click

from habilis.cli.text import document, one_line
from habilis.engine.outside import Outside, Traced
from habilis.engine.rehearsal import RehearsalHome, Rehearsed
from habilis.engine.rendering import as_json
from habilis.engine.settings import Settings, live_outside, open_home, read_settings
from habilis.home.store import Home
from habilis.redaction import clean

_P = ParamSpec("_P")
_Command = Callable[Concatenate["Desk", _P], None]
ACTOR = "user"


class Desk:
    """The home a command works on, and where it prints.

    Attributes:
        dry_run: Whether nothing may be written or sent.
    """

    def __init__(self, home: str | None, *, as_document: bool, dry_run: bool = False, trace: bool = False) -> None:
        environ = {**os.environ, **({"HABILIS_HOME": home} if home else {})}
        self.settings: Settings = read_settings(environ, private_network="per_account")
        self.dry_run = dry_run
        self._trace = trace
        self._as_document = as_document

    @functools.cached_property
    def home(self) -> Home:
        """The home, opened when it is first needed; in a dry run one whose first commit ends the command."""
        home = open_home(self.settings)
        return RehearsalHome(home) if self.dry_run else home

    @functools.cached_property
    def outside(self) -> Outside:
        """The real world; with --trace each request is told on stderr when it is over."""
        outside = live_outside(self.settings)
        return replace(outside, trace=_tell) if self._trace else outside

    def show(self, data: object, lines: Iterable[str]) -> None:
        """Print the lines, or with --json the data as one document; keys are masked in both."""
        if self._as_document:
            click.echo(document(clean(as_json(data))))
            return
        for line in lines:
            click.echo(one_line(clean(line)))

    def show_rehearsed(self, rehearsed: Rehearsed) -> None:
        """Print the commit that a dry run came to."""
        written = {path: data.decode(errors="replace") for path, data in rehearsed.changes.items() if data is not None}
        removed = [path for path, data in rehearsed.changes.items() if data is None]
        lines = [f"  {'write ' if path in written else 'remove'}  {path}" for path in rehearsed.changes]
        told = [f"{rehearsed.subject}:", *lines] if lines else ["Nothing would change."]
        self.show(
            {"dry_run": {"subject": rehearsed.subject, "writes": written, "removes": removed}},
            [*told, "", "A dry run: nothing was written."],
        )


def with_desk(command: _Command[_P]) -> Callable[_P, None]:
    """Give a command its desk, and the options --home and --json."""

    @click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
    @click.option("--home", metavar="DIR", help="The home. [default: HABILIS_HOME or ~/.habilis]")
    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        _run(command, *args, **kwargs)

    return run


def with_changing_desk(command: _Command[_P]) -> Callable[_P, None]:
    """Give a command that changes something its desk, and --dry-run beside --home and --json."""
    dry_run = click.option("--dry-run", is_flag=True, help="Show what would be done; write and send nothing.")
    return dry_run(with_desk(command))


def with_sending_desk(command: _Command[_P]) -> Callable[_P, None]:
    """Give a command that sends something its desk, and --trace beside --dry-run, --home and --json."""
    trace = click.option("--trace", is_flag=True, help="Tell each request on stderr: status, time, sizes.")
    return trace(with_changing_desk(command))


def _run(command: _Command[_P], *args: _P.args, **kwargs: _P.kwargs) -> None:
    home, as_document, dry_run = kwargs.pop("home"), kwargs.pop("as_document"), kwargs.pop("dry_run", False)
    desk = Desk(
        home if isinstance(home, str) else None,
        as_document=bool(as_document),
        dry_run=bool(dry_run),
        trace=bool(kwargs.pop("trace", False)),
    )
    try:
        command(desk, *args, **kwargs)
    except Rehearsed as rehearsed:
        desk.show_rehearsed(rehearsed)


def _tell(traced: Traced) -> None:
    took = f"{traced.elapsed_s * 1000:,.0f} ms"
    line = f"{traced.where}: waited {took}"
    if traced.method:
        ended = traced.error or traced.status
        sizes = f"{traced.sent_bytes:,} bytes up, {traced.received_bytes:,} down"
        line = f"{traced.where}: {traced.method} {traced.url} -> {ended} in {took}, {sizes}"
    click.echo(one_line(clean(line)), err=True)
