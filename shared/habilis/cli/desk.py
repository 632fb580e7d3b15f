"""What every command shares: the home it works on, `--home`, `--json`, and one way to print."""

import functools
import json
import os
from collections.abc import Callable, Iterable
from typing import Concatenate, ParamSpec

import click

from habilis.engine.outside import Outside
from habilis.engine.rendering import as_json
from habilis.engine.settings import Settings, live_outside, open_home, read_settings
from habilis.home.store import Home
from habilis.redaction import clean

_P = ParamSpec("_P")
ACTOR = "user"


class Desk:
    """The home a command works on, and where it prints."""

    def __init__(self, home: str | None, *, as_document: bool) -> None:
        environ = {**os.environ, **({"HABILIS_HOME": home} if home else {})}
        self.settings: Settings = read_settings(environ, private_network="per_account")
        self._as_document = as_document

    @functools.cached_property
    def home(self) -> Home:
        """The home, opened when it is first needed."""
        return open_home(self.settings)

    @functools.cached_property
    def outside(self) -> Outside:
        """The real world."""
        return live_outside(self.settings)

    def show(self, data: object, lines: Iterable[str]) -> None:
        """Print the lines, or with --json the data as one document; keys are masked in both."""
        if self._as_document:
            click.echo(json.dumps(clean(as_json(data)), ensure_ascii=False, indent=2))
            return
        for line in lines:
            click.echo(printable(str(clean(line))))


def with_desk(command: Callable[Concatenate[Desk, _P], None]) -> Callable[_P, None]:
    """Give a command its desk, and the options --home and --json."""

    @click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
    @click.option("--home", metavar="DIR", help="The home. [default: HABILIS_HOME or ~/.habilis]")
    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        home, as_document = kwargs.pop("home"), kwargs.pop("as_document")
        command(Desk(home if isinstance(home, str) else None, as_document=bool(as_document)), *args, **kwargs)

    return run


def printable(text: str) -> str:
    """Text that cannot steer a terminal: control characters shown escaped."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell."""
    table = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
