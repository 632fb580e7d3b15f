"""Publish an asset through a channel, after asking: ask, list what waits, approve, deny."""

import flask
import functions_framework

from habilis import web
from habilis.engine.approvals import list_approvals
from habilis.engine.publishing import PublishOrder, approve, ask_publish, deny
from habilis.errors import ArgsInvalid, NotFound


@functions_framework.http
def publish(request: flask.Request) -> flask.Response:
    """Serve POST {project, asset, channel} (202) and `/api/projects/{slug}/approvals[/{id}]`."""
    return web.serve(request, _publish)


def _publish(desk: web.Desk) -> object:
    project = desk.project()
    match (desk.method, *desk.path[1:]):
        case ("POST",) | ("POST", "publish"):
            desk.caller.require("agent", project)
            desk.only("asset", "channel")
            order = PublishOrder(project=project, asset=desk.text("asset"), channel=desk.text("channel"))
            asked = ask_publish(desk.home, order, desk.outside, actor=desk.actor)
            return web.Reply({"approval": asked.as_data()}, 202)
        case ("GET", "approvals"):
            desk.caller.require("agent", project)
            waiting = list_approvals(desk.home, project, now=desk.outside.now())
            return {"approvals": [approval.as_data() for approval in waiting]}
        case ("POST", "approvals", approval):
            desk.caller.require("operator", project)
            desk.only("decision")
            return _decide(desk, project, approval)
    raise NotFound("there is no such address", hint="see docs/http.md")


def _decide(desk: web.Desk, project: str, approval: str) -> object:
    decision = desk.text("decision")
    if decision == "approve":
        return approve(desk.home, project, approval, desk.outside, actor=desk.actor)
    if decision == "deny":
        return {"denied": deny(desk.home, project, approval, now=desk.outside.now()).as_data()}
    raise ArgsInvalid("decision: expected approve or deny")
