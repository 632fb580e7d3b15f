"""Publish an asset through a channel, after asking: ask, list what waits, show one, approve, deny."""

import flask
import functions_framework

from habilis import web
from habilis.engine.approvals import find_approval, list_approvals
from habilis.engine.publishing import PublishOrder, approve, ask_publish, deny, rehearse_publish
from habilis.engine.tokens import TokenRole
from habilis.engine.workspace import open_workspace
from habilis.errors import ArgsInvalid


@functions_framework.http
def publish(request: flask.Request) -> flask.Response:
    """Serve POST {project, asset, channel} (202) and `/api/projects/{slug}/approvals[/{id}]`."""
    return web.serve(request, _publish)


def _publish(desk: web.Desk) -> object:
    match desk.route:
        case "GET", "approvals":
            project = _project(desk, "agent")
            waiting = list_approvals(desk.home, project, now=desk.outside.now())
            return {"approvals": [approval.as_data() for approval in waiting]}
        case "GET", "approvals", name:
            return find_approval(desk.home, _project(desk, "agent"), name, now=desk.outside.now()).as_data()
        case "POST", "approvals", name:
            return _decide(desk, _project(desk, "operator"), name)
    desk.require_route("POST", "publish")
    project = desk.project("agent")
    desk.only("asset", "channel", "dry_run")
    order = PublishOrder(project=project, asset=desk.text("asset"), channel=desk.text("channel"))
    if desk.flag("dry_run"):
        return {"requests": rehearse_publish(desk.home, order, desk.outside)}
    return web.Reply({"approval": ask_publish(desk.home, order, desk.outside, actor=desk.actor).as_data()}, 202)


def _decide(desk: web.Desk, project: str, name: str) -> object:
    desk.only("decision", "trace")
    decision = desk.text("decision")
    if decision == "approve":
        return approve(desk.home, project, name, desk.outside, actor=desk.actor)
    if decision == "deny":
        return {"denied": deny(desk.home, project, name, now=desk.outside.now()).as_data()}
    raise ArgsInvalid("decision: expected approve or deny")


def _project(desk: web.Desk, role: TokenRole) -> str:
    # Approvals lie beside the home: without this look, a project that is not there would only have none.
    return open_workspace(desk.home, desk.home.open(), desk.project(role)).project.slug
