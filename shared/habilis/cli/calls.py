"""`habilis tools` and `habilis call`."""

import json
from pathlib import Path

import click

from habilis.cli.desk import ACTOR, Desk, columns, with_desk
from habilis.engine.approvals import Approval, request_as_data
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.offer import offer_instructions, offer_tools
from habilis.engine.resolve import CallOrder
from habilis.errors import ArgsInvalid, BadInput
from habilis.messages import Json
from habilis.reading import read_json


@click.command()
@click.argument("project")
@with_desk
def tools(desk: Desk, project: str) -> None:
    """List what an agent is offered in PROJECT: tools by ability, and the instructions it may read."""
    offered = offer_tools(desk.home, project)
    skills = offer_instructions(desk.home, project)
    lines: list[str] = []
    for group in dict.fromkeys(tool.group for tool in offered):
        rows = [
            (tool.name, tool.role, f"needs {tool.needs}" if tool.needs else tool.label)
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
@click.option("--input", "document", metavar="JSON|@FILE", help="All arguments as a JSON object.")
@click.option("--account", default="", help="The account to go through. [default: the service's]")
@click.option("--dry-run", is_flag=True, help="Show the exact request, keys masked; send nothing.")
@with_desk
def call(  # noqa: PLR0913 - one parameter an option
    desk: Desk, project: str, tool: str, pairs: tuple[str, ...], document: str | None, account: str, *, dry_run: bool
) -> None:
    r"""Call a TOOL of PROJECT and print what comes back.

    A tool that publishes is not carried out at once: it waits for `habilis approvals approve`.

    \b
    Examples:
      habilis call acme list_recent_posts
      habilis call acme publish_article --arg title=Hello --arg html='<p>Hi</p>' --dry-run
    """
    order = CallOrder(
        project=project, tool=tool, arguments=_arguments(desk, project, tool, pairs, document), account=account
    )
    if dry_run:
        request = request_as_data(rehearse_call(desk.home, order))
        desk.show({"request": request}, _request_lines(request))
        return
    done = call_tool(desk.home, order, desk.outside, actor=ACTOR)
    if isinstance(done, Approval):
        waits = f"Waits for a yes: habilis approvals approve {project} {done.id}"
        desk.show({"approval": done.as_data()}, [*_request_lines(dict(done.request)), "", waits])
        return
    desk.show(done, [done.text])


def _arguments(desk: Desk, project: str, tool: str, pairs: tuple[str, ...], document: str | None) -> dict[str, Json]:
    arguments: dict[str, Json] = {}
    if document is not None:
        parsed = read_json(_document_text(document), what="--input")
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


def _document_text(document: str) -> bytes:
    if not document.startswith("@"):
        return document.encode()
    path = Path(document[1:]).expanduser()
    if not path.is_file():
        raise BadInput(f"there is no file {document[1:]!r}", where="--input")
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
    try:
        typed: Json = json.loads(value)
    except ValueError:
        return value
    return typed


def _request_lines(request: dict[str, Json]) -> list[str]:
    headers = request["headers"]
    lines = [f"{request['method']} {request['url']}"]
    lines += [f"{name}: {value}" for name, value in (headers.items() if isinstance(headers, dict) else ())]
    if request["body"] is not None:
        lines += ["", json.dumps(request["body"], ensure_ascii=False, indent=2)]
    return lines
