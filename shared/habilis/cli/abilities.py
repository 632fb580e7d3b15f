"""`habilis abilities`: install, list, show, test."""

import sys

import click

from habilis.cassettes.faults import FAULTS, read_fault
from habilis.cli.desk import ACTOR, Desk, with_changing_desk, with_desk
from habilis.cli.text import columns, one_line
from habilis.engine.installs import Plan, install, list_installed, plan_install, show_ability
from habilis.marketplace import index
from habilis.messages import Json


@click.group()
def abilities() -> None:
    """Abilities: what an agent can do. Each is one folder with instructions, a connection to a service, or both."""


@abilities.command("install", short_help="Install an ability: a folder, or one that ships.")
@click.argument("spec")
@click.option("--project", default="", metavar="P", help="Install for this project only.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_changing_desk
def abilities_install(desk: Desk, spec: str, project: str, *, yes: bool) -> None:
    """Install an ability from SPEC: a folder, or the id of one that Habilis ships.

    Everything is checked before anything is written, what it brings is shown, and it lands in one commit. On a terminal
    you are asked first.

    \b
    Examples:
      habilis abilities install wordpress
      habilis abilities install ./my-ability --dry-run
    """
    plan = plan_install(desk.home, spec, project=project)
    lines = _described(plan.includes())
    if desk.dry_run:
        told = [*lines, "", "A dry run: nothing was written."]
        desk.show({"includes": plan.includes(), "commit": "", "dry_run": True}, told)
        return
    if not yes and not plan.is_same and sys.stdin.isatty():
        for line in lines:
            click.echo(one_line(line), err=True)
        click.confirm(f"Install {plan.id}?", abort=True, err=True)
    commit = install(desk.home, plan, actor=ACTOR, now=desk.outside.now())
    done = "is installed already, unchanged" if plan.is_same else "is installed"
    desk.show({"includes": plan.includes(), "commit": commit}, [*lines, "", f"{plan.id} {done}.", *_next(plan)])


@abilities.command("ls", short_help="List what is installed, or what ships.")
@click.argument("project", default="", metavar="[P]")
@click.option("--shipped", is_flag=True, help="List what Habilis ships instead.")
@with_desk
def abilities_ls(desk: Desk, project: str, *, shipped: bool) -> None:
    """List the installed abilities, with those of project P where it is named; a fault stands beside its ability."""
    if shipped:
        entries = index()
        rows = [(str(entry["id"]), str(entry["version"]), str(entry["summary"])) for entry in entries]
        desk.show({"abilities": entries}, columns(rows))
        return
    found = list_installed(desk.home, project)
    rows = [(view.id, view.version or "-", view.fault or view.name) for view in found]
    desk.show({"abilities": found}, columns(rows) or ["None yet. See: habilis abilities ls --shipped"])


@abilities.command("show", short_help="Show what an ABILITY brings.")
@click.argument("ability")
@with_desk
def abilities_show(desk: Desk, ability: str) -> None:
    """Show what an installed ABILITY, or one that Habilis ships, brings: keys, hosts, tools, channels."""
    includes = show_ability(desk.home, ability)
    desk.show(includes, _described(includes))


@abilities.command("test", short_help="Run an ABILITY's own cassettes; nothing is sent.")
@click.argument("ability")
@click.option("--project", default="", metavar="P", help="Look among this project's own abilities as well.")
@click.option("--fault", default="", metavar="F", help=f"Play a fault: {', '.join(FAULTS)}; @N for the Nth request.")
@with_desk
def abilities_test(desk: Desk, ability: str, project: str, fault: str) -> None:
    """Run the cassettes of ABILITY, a folder or the id of one that is installed or ships; nothing is sent.

    Each file in its folder cassettes/ says what is called and holds the recorded conversation with the service. Every
    request has to be the recorded one, and the result the expected one; else the exit code is 1. Pauses are counted,
    not made. With --fault the service misbehaves once, and what the ability did then is shown.

    \b
    Examples:
      habilis abilities test ./my-ability
      habilis abilities test wordpress --fault cut-body@2
    """
    from habilis.cli.cases import told_case
    from habilis.engine.ability_tests import run_cassettes

    played = read_fault(fault) if fault else None
    reports = run_cassettes(ability, home=lambda: desk.home, project=project, fault=played)
    failed = sum(1 for report in reports if report.problems)
    lines = [line for report in reports for line in told_case(report)]
    total = f"{failed} of {len(reports)} cases failed." if failed else f"{len(reports)} of {len(reports)} cases passed."
    desk.show({"cases": reports, "failed": failed}, [*lines, total])
    if failed:
        raise SystemExit(1)


def _described(includes: dict[str, Json]) -> list[str]:
    """What an ability brings, a line each."""
    lines = [f"{includes['name']} ({includes['id']} {includes['version'] or 'without a version'})"]
    rows: list[tuple[str, str]] = []
    if includes["instructions"]:
        rows.append(("instructions", "SKILL.md, read before acting"))
    rows += [
        ("key", f"{key['name']}: {key['label']}{' (optional)' if key['optional'] else ''}")
        for key in _dicts(includes.get("keys"))
    ]
    rows += [("calls", host) for host in _texts(includes.get("hosts"))]
    rows += [("fetches files from", host) for host in _texts(includes.get("fetches_files_from"))]
    rows += [("sends mail through", host) for host in _texts([includes.get("mails_through") or None])]
    rows += [(f"tool, {tool['role']}", f"{tool['name']}: {tool['does']}") for tool in _dicts(includes.get("tools"))]
    for name, label in (("publishes_to", "publishes to"), ("provides", "provides"), ("reads", "reads")):
        rows += [(label, entry) for entry in _texts(includes.get(name))]
    return [*lines, *(f"  {line}" for line in columns(rows))]


def _next(plan: Plan) -> list[str]:
    if plan.manifest is not None and plan.manifest.auth:
        return [f"Give it an account: habilis accounts add PROJECT {plan.id}"]
    return []


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
