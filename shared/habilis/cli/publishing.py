"""`habilis publish`, `approvals` and `snapshot`."""

import click

from habilis.cli.desk import ACTOR, Desk, columns, with_desk
from habilis.engine.approvals import Approval, list_approvals
from habilis.engine.publishing import Published, PublishOrder, approve, ask_publish, deny
from habilis.engine.snapshots import snapshot_project
from habilis.records import stamp


@click.command()
@click.argument("project")
@click.argument("asset", metavar="TYPE/ID")
@click.argument("channel")
@with_desk
def publish(desk: Desk, project: str, asset: str, channel: str) -> None:
    """Ask for an asset to go out through a CHANNEL; it goes out after `habilis approvals approve`."""
    order = PublishOrder(project=project, asset=asset, channel=channel)
    asked = ask_publish(desk.home, order, desk.outside, actor=ACTOR)
    waits = f"Waits for a yes: habilis approvals approve {project} {asked.id}"
    desk.show({"approval": asked.as_data()}, [_described(asked), waits])


@click.group()
def approvals() -> None:
    """Approvals: orders that wait for a person's yes, each for exactly what was asked, used once."""


@approvals.command("ls")
@click.argument("project")
@with_desk
def approvals_ls(desk: Desk, project: str) -> None:
    """List what waits for a yes in PROJECT."""
    waiting = list_approvals(desk.home, project, now=desk.outside.now())
    rows = [(entry.id, stamp(entry.asked_at), _described(entry)) for entry in waiting]
    desk.show({"approvals": [entry.as_data() for entry in waiting]}, columns(rows) or ["Nothing waits."])


@approvals.command("approve")
@click.argument("project")
@click.argument("approval")
@with_desk
def approvals_approve(desk: Desk, project: str, approval: str) -> None:
    """Give the yes to an APPROVAL and carry it out."""
    done = approve(desk.home, project, approval, desk.outside, actor=ACTOR)
    if isinstance(done, Published):
        lines = [f"Published {done.asset} to {done.channel}: {done.link or done.text}"]
        desk.show(done, [*lines, done.notice] if done.notice else lines)
        return
    desk.show(done, [done.text])


@approvals.command("deny")
@click.argument("project")
@click.argument("approval")
@with_desk
def approvals_deny(desk: Desk, project: str, approval: str) -> None:
    """Refuse an APPROVAL; nothing is sent."""
    denied = deny(desk.home, project, approval, now=desk.outside.now())
    desk.show({"denied": denied.as_data()}, [f"Refused: {_described(denied)}"])


@click.command()
@click.argument("project")
@click.argument("source", default="", metavar="[SOURCE]")
@with_desk
def snapshot(desk: Desk, project: str, source: str) -> None:
    """Read the last 30 days of PROJECT's numbers: all its sources, or one SOURCE.

    Rows are stored by month under snapshots/ in one commit. A source that fails keeps what it had, and stops no other.
    """
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
    if approval.asset:
        return f"publish {approval.asset} to {approval.channel} with {approval.ability}.{approval.tool}"
    return f"call {approval.ability}.{approval.tool}" + (f" through {approval.account}" if approval.account else "")
