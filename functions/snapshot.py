"""Read the numbers of one project, or of all, and keep sign-ins alive: what the daily schedule calls."""

import flask
import functions_framework

from habilis import web
from habilis.engine.keeping import keep_alive
from habilis.engine.snapshots import snapshot_all, snapshot_project


@functions_framework.http
def snapshot(request: flask.Request) -> flask.Response:
    """POST {project?, source?}: how each source was read and each sign-in renewed; 207 when one of them failed."""
    return web.serve(request, _snapshot)


def _snapshot(desk: web.Desk) -> object:
    desk.require_route("POST", "snapshot")
    project = desk.project_or_all("scheduler")
    desk.only("trace", *(["source"] if project else []))
    source = ""
    if project:
        source = desk.text("source", "")
        reports = [snapshot_project(desk.home, project, desk.outside, actor=desk.actor, source=source)]
    else:
        reports = snapshot_all(desk.home, desk.outside, actor=desk.actor)
    renewed = [] if source else keep_alive(desk.home, desk.outside, project=project)
    is_partial = any(report.is_partial for report in reports) or any(one.fault for one in renewed)
    return web.Reply({"snapshots": reports, "renewed": renewed}, 207 if is_partial else 200)
