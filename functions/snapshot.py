"""Read the numbers of one project, or of all: what the daily schedule calls."""

import flask
import functions_framework

from habilis import web
from habilis.engine.snapshots import snapshot_all, snapshot_project


@functions_framework.http
def snapshot(request: flask.Request) -> flask.Response:
    """POST {project?, source?}: how the reading of each source went; 207 when one of them failed."""
    return web.serve(request, _snapshot)


def _snapshot(desk: web.Desk) -> object:
    desk.require_route("POST", "snapshot")
    project = desk.project_or_all("scheduler")
    desk.only("trace", *(["source"] if project else []))
    if project:
        source = desk.text("source", "")
        reports = [snapshot_project(desk.home, project, desk.outside, actor=desk.actor, source=source)]
    else:
        reports = snapshot_all(desk.home, desk.outside, actor=desk.actor)
    return web.Reply({"snapshots": reports}, 207 if any(report.is_partial for report in reports) else 200)
