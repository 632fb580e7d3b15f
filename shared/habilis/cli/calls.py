"""`habilis tools` and `habilis call`."""

from pathlib import Path

import click

from habilis.cli.desk import ACTOR, Desk, with_desk, with_sending_desk
from habilis.cli.text import columns
from habilis.engine.offer import offer_instructions, offer_tools
from habilis.engine.resolve import CallOrder
from habilis.errors import ArgsInvalid, BadInput
from habilis.messages import Json
from habilis.reading import read_json


@click.command()
@click.argument("project")
@with_desk
def tools(desk: Desk, project: str) -> None:
    """List what an agent is offered in PROJECT: tools by ability, and the instructions it may read.

    A tool that is not ready says what it needs. With --json each tool has its input schema.

    \b
    Example:
      habilis tools acme --json
    """
    offered = offer_tools(desk.home, project)
    skills = offer_instructions(desk.home, project)
    lines: list[str] = []
    for group in dict.fromkeys(tool.group for tool in offered):
        rows = [
            (tool.name, tool.role, f"needs {tool.needs}" if tool.needs else tool.label, tool.cost)
            for tool in offered
            if tool.group == group
        ]
        lines += [group, *(f"  {line}" for line in columns(rows))]
    if skills:
        lines += [
            "Instructions",
            *(f"  {line}" for line in columns((skill.ability, skill.applies) for skill in skills)),
        ]
    empty = ["Nothing yet. Install an ability: habilis abilities ls --shipped"]
    desk.show({"tools": offered, "instructions": skills}, lines or empty)


@click.command()
@click.argument("project")
@click.argument("tool")
@click.option("--arg", "pairs", multiple=True, metavar="NAME=VALUE", help="An argument; may be given again.")
@click.option("--input", "source", metavar="JSON|@FILE", help="All arguments as a JSON object.")
@click.option("--account", default="", help="The account to go through. [default: the service's]")
@click.option("--asset", default="", metavar="TYPE/ID", help="Send this asset's files; put on it what comes back.")
@with_sending_desk
def call(desk: Desk, /, project: str, tool: str, pairs: tuple[str, ...], source: str | None, **about: str) -> None:
    """Call a TOOL of PROJECT and print what comes back.

    TOOL is a tool's name, or ABILITY.TOOL where two abilities have one of that name. What abilities provide is called
    by its contract: image, video, music, email; of several the first that is ready does it.

    A tool that publishes is not carried out at once: it waits for `habilis approvals approve`. A dry run shows the
    exact requests, keys masked; what an answer will fill in stands there as its placeholder. With --trace each request
    is told on stderr when it is over, and each wait between two.

    Files that come back are put on the --asset, else kept under .state/downloads of the home.

    \b
    Examples:
      habilis call acme list_recent_posts
      habilis call acme publish_article --arg title=Hello --arg html='<p>Hi</p>' --dry-run
      habilis call acme upload --asset article/hello-world --trace
      habilis call acme image --arg prompt='A lighthouse at dawn' --arg size=landscape --asset article/hello-world
    """
    from habilis.cli.requests import request_lines, result_lines, show_unsent
    from habilis.engine.approvals import Approval
    from habilis.engine.calls import call_tool, rehearse_call

    arguments = _arguments(desk, project, tool, pairs, source)
    order = CallOrder(project=project, tool=tool, arguments=arguments, **about)
    if desk.dry_run:
        show_unsent(desk, rehearse_call(desk.home, order, desk.outside))
        return
    done = call_tool(desk.home, order, desk.outside, actor=ACTOR)
    if isinstance(done, Approval):
        waits = f"Waits for a yes: habilis approvals approve {project} {done.id}"
        desk.show({"approval": done.as_data()}, [*request_lines(done.requests), waits])
        return
    desk.show(done, result_lines(desk.home, done))


def _arguments(desk: Desk, project: str, tool: str, pairs: tuple[str, ...], source: str | None) -> dict[str, Json]:
    arguments: dict[str, Json] = {}
    if source is not None:
        parsed = read_json(_read(source), what="--input")
        if not isinstance(parsed, dict):
            raise ArgsInvalid("--input must be a JSON object")
        arguments = parsed
    types = _types(desk, project, tool) if pairs else {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"{pair!r} is no NAME=VALUE", where="--arg")
        arguments[name] = value if types.get(name, "string") == "string" else _typed(value)
    return arguments


def _read(source: str) -> bytes:
    if not source.startswith("@"):
        return source.encode(errors="surrogateescape")
    path = Path(source[1:]).expanduser()
    if not path.is_file():
        raise BadInput(f"there is no file {source[1:]!r}", where="--input")
    return path.read_bytes()


def _types(desk: Desk, project: str, tool: str) -> dict[str, Json]:
    """What the schema says of each argument's type: a command line has only text."""
    for offered in offer_tools(desk.home, project):
        if tool in {offered.name, f"{offered.ability}.{offered.name}"}:
            properties = offered.input.get("properties")
            if isinstance(properties, dict):
                return {name: entry.get("type") for name, entry in properties.items() if isinstance(entry, dict)}
    return {}


def _typed(value: str) -> Json:
    """A value as JSON where it is some; else as text, which the check of the arguments then names."""
    try:
        return read_json(value.encode(errors="surrogateescape"), what="--arg")
    except ArgsInvalid:
        return value
