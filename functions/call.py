"""Call a tool of an ability."""

import flask
import functions_framework

from habilis import web
from habilis.engine.approvals import Approval
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.resolve import CallOrder


@functions_framework.http
def call(request: flask.Request) -> flask.Response:
    """POST {project, tool, arguments?, account?, asset?, …}: the result, or 202 and what a person is asked."""
    return web.serve(request, _call)


def _call(desk: web.Desk) -> object:
    desk.require_route("POST", "call")
    project = desk.project("agent")
    desk.only("tool", "arguments", "account", "asset", "dry_run", "trace")
    order = CallOrder(
        project=project,
        tool=desk.text("tool"),
        arguments=desk.fields("arguments"),
        account=desk.text("account", ""),
        asset=desk.text("asset", ""),
    )
    if desk.flag("dry_run"):
        return {"requests": rehearse_call(desk.home, order, desk.outside)}
    done = call_tool(desk.home, order, desk.outside, actor=desk.actor)
    return web.Reply({"approval": done.as_data()}, 202) if isinstance(done, Approval) else done
