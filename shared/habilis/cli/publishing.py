"""`habilis publish`, `approvals` and `snapshot`."""

import click

from habilis.cli.desk import ACTOR, Desk, with_changing_desk, with_desk, with_sending_desk
from habilis.cli.requests import file_lines, request_lines, result_lines, show_unsent
from habilis.cli.text import columns
from habilis.engine.approvals import Approval, find_approval, list_approvals
from habilis.engine.publishing import (
    Published,
    PublishOrder,
    approve,
    ask_publish,
    deny,
    rehearse_approval,
    rehearse_publish,
)
from habilis.records import stamp


@click.command()
@click.argument("project")
@click.argument("asset", metavar="TYPE/ID")
@click.argument("channel")
@with_changing_desk
def publish(desk: Desk, project: str, asset: str, channel: str) -> None:
    """Ask for the asset TYPE/ID of PROJECT to go out through a CHANNEL.

    It goes out after `habilis approvals approve`.

    \b
    Examples:
      habilis publish acme article/hello-world blog
      habilis publish acme article/hello-world blog --dry-run     shows the exact request, keys masked
    """
    order = PublishOrder(project=project, asset=asset, channel=channel)
    if desk.dry_run:
        show_unsent(desk, rehearse_publish(desk.home, order, desk.outside))
        return
    asked = ask_publish(desk.home, order, desk.outside, actor=ACTOR)
    waits = f"Waits for a yes: habilis approvals approve {project} {asked.id}"
    desk.show({"approval": asked.as_data()}, [_described(asked), "", *request_lines(asked.requests), waits])


@click.group()
def approvals() -> None:
    """Approvals: orders that wait for a person's yes, each for exactly what was asked, used once."""


@approvals.command("ls")
@click.argument("project")
@with_desk
def approvals_ls(desk: Desk, project: str) -> None:
    """List what waits for a yes in PROJECT."""
    waiting = list_approvals(desk.home, project, now=desk.outside.now())
    rows = [(entry.id, stamp(entry.asked_at), entry.asked_by, _described(entry)) for entry in waiting]
    desk.show({"approvals": [entry.as_data() for entry in waiting]}, columns(rows) or ["Nothing waits."])


@approvals.command("show", short_help="Show the request that would go out.")
@click.argument("project")
@click.argument("approval")
@with_desk
def approvals_show(desk: Desk, project: str, approval: str) -> None:
    """Show an APPROVAL of PROJECT with the request that would go out, keys masked."""
    waiting = find_approval(desk.home, project, approval, now=desk.outside.now())
    asked = f"asked by {waiting.asked_by} at {stamp(waiting.asked_at)}, until {stamp(waiting.expires_at)}"
    desk.show(waiting.as_data(), [_described(waiting), asked, "", *request_lines(waiting.requests)])


@approvals.command("approve")
@click.argument("project")
@click.argument("approval")
@with_sending_desk
def approvals_approve(desk: Desk, project: str, approval: str) -> None:
    """Give the yes to an APPROVAL of PROJECT and carry it out, once."""
    if desk.dry_run:
        show_unsent(desk, rehearse_approval(desk.home, project, approval, desk.outside))
        return
    done = approve(desk.home, project, approval, desk.outside, actor=ACTOR)
    if isinstance(done, Published):
        lines = [f"Published {done.asset} to {done.channel}: {done.link or done.text}"]
        desk.show(done, [*lines, *file_lines(desk.home, done.files), *filter(None, [done.notice]), *done.notes])
        return
    desk.show(done, result_lines(desk.home, done))


@approvals.command("deny")
@click.argument("project")
@click.argument("approval")
@with_changing_desk
def approvals_deny(desk: Desk, project: str, approval: str) -> None:
    """Refuse an APPROVAL of PROJECT; nothing is sent."""
    now = desk.outside.now()
    if desk.dry_run:
        found = find_approval(desk.home, project, approval, now=now)
        told = f"Would be refused: {_described(found)}. A dry run: it goes on waiting."
        desk.show({"dry_run": {"denied": found.as_data()}}, [told])
        return
    denied = deny(desk.home, project, approval, now=now)
    desk.show({"denied": denied.as_data()}, [f"Refused: {_described(denied)}"])


@click.command()
@click.argument("project")
@click.argument("source", default="", metavar="[SOURCE]")
@with_sending_desk
def snapshot(desk: Desk, project: str, source: str) -> None:
    """Read the last 30 days of PROJECT's numbers: all its sources, or one SOURCE.

    Rows are stored by month under snapshots/ in one commit. A source that fails keeps what it had, and stops no other;
    the exit code is then 1.

    \b
    Example:
      habilis snapshot acme traffic
    """
    from habilis.engine.snapshots import snapshot_project

    report = snapshot_project(desk.home, project, desk.outside, actor=ACTOR, source=source)
    rows = [
        (entry.account, entry.source, entry.fault or f"{entry.rows} rows", "; ".join(entry.notes))
        for entry in report.sources
    ]
    none = ["No source is ready: add an account of an ability that reads numbers."]
    desk.show(report, [f"{report.first_day} to {report.last_day}", *columns(rows)] if rows else none)
    if report.is_partial:
        raise SystemExit(1)


def _described(approval: Approval) -> str:
    if approval.is_publish:
        return f"publish {approval.asset} to {approval.channel} with {approval.ability}.{approval.tool}"
    return f"call {approval.ability}.{approval.tool}" + (f" through {approval.account}" if approval.account else "")
