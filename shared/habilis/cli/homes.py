"""`habilis init`, `projects` and `tokens`."""

import secrets
from pathlib import Path

import click

from habilis.cli.desk import ACTOR, Desk, with_changing_desk, with_desk
from habilis.engine.projects import add_project, list_projects
from habilis.engine.tokens import TokenRole, checked_origin, token_entry
from habilis.errors import BadInput
from habilis.names import project_slug

_TOKEN_BYTES = 32


@click.command()
@click.argument("directory", required=False)
@with_changing_desk
def init(desk: Desk, directory: str | None) -> None:
    """Make a home in DIRECTORY (default: --home).

    A home is a git repository of its own: abilities, projects, accounts and numbers lie in it as files, every change is
    one commit, and `git log` tells the story. Keys and activity lie beside it and are never committed.

    Running it on a home changes nothing.

    \b
    Example:
      habilis init ~/habilis
    """
    from habilis.home.worktree import WorkTreeHome, init_home

    path = Path(directory).expanduser() if directory else desk.settings.home
    if desk.dry_run:
        is_made = (path / ".git").is_dir()
        told = f"{path} is a home already." if is_made else f"A home would be made in {path}."
        desk.show({"dry_run": {"home": str(path), "is_made": is_made}}, [told])
        return
    home: WorkTreeHome = init_home(path)
    desk.show({"home": str(path), "revision": home.open().id}, [f"The home is in {path}."])


@click.group()
def projects() -> None:
    """Projects: workspaces with their own accounts, switches and content."""


@projects.command("add")
@click.argument("project")
@click.option("--name", default="", help="How people call it. [default: the slug]")
@with_changing_desk
def projects_add(desk: Desk, project: str, name: str) -> None:
    """Make a PROJECT, named by its slug: a-z, 0-9 and dashes.

    \b
    Example:
      habilis projects add acme --name "Acme Inc."
    """
    slug = add_project(desk.home, project, name=name, actor=ACTOR)
    desk.show({"project": slug}, [f"Made the project {slug}."])


@projects.command("ls")
@with_desk
def projects_ls(desk: Desk) -> None:
    """List the projects of the home."""
    slugs = list_projects(desk.home)
    desk.show({"projects": slugs}, slugs or ["No project yet. Make one: habilis projects add NAME"])


@click.group()
def tokens() -> None:
    """Tokens: what callers of the HTTP functions carry."""


@tokens.command("new", short_help="Make a token of a ROLE and print it once.")
@click.argument("role", type=click.Choice(["admin", "operator", "agent", "scheduler", "engine"]))
@click.option("--project", "only", multiple=True, metavar="P", help="Limit it to this project; may be given again.")
@click.option(
    "--origin", "origins", multiple=True, metavar="URL", help="Where an engine is reached; may be given again."
)
@with_desk
def tokens_new(desk: Desk, role: TokenRole, only: tuple[str, ...], origins: tuple[str, ...]) -> None:
    """Make a token of a ROLE and print it once; only its hash goes into the functions' settings.

    \b
    admin      everything, installing too
    operator   accounts, keys, approvals
    agent      calls and asks; it can never approve
    scheduler  the daily snapshot
    engine     another Habilis, which signs in through the relay here

    A token of an engine has the https origins of that engine, where the relay may send browsers on to.

    \b
    Examples:
      habilis tokens new agent --project acme
      habilis tokens new engine --origin https://habilis.example
    """
    if (only and role == "engine") or (origins and role != "engine"):
        raise BadInput("an engine has origins, every other role projects", where="tokens new")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    entry = token_entry(role, token, tuple(map(project_slug, only)) or tuple(map(checked_origin, origins)))
    desk.show(
        {"token": token, "entry": entry},
        [f"Token, shown once:           {token}", f"Add this to HABILIS_TOKENS:  {entry}"],
    )
