"""Install an ability into the home."""

import flask
import functions_framework

from habilis import web
from habilis.engine.installs import install as write_install
from habilis.engine.installs import plan_install


@functions_framework.http
def install(request: flask.Request) -> flask.Response:
    """POST {spec, project?, dry_run?}: what the ability brings, and the commit that holds it."""
    return web.serve(request, _install)


def _install(desk: web.Desk) -> object:
    desk.require_route("POST")
    project = desk.project_or_all("admin")
    desk.only("spec", "dry_run")
    plan = plan_install(desk.home, desk.text("spec"), project=project)
    if desk.flag("dry_run"):
        return {"includes": plan.includes(), "commit": ""}
    commit = write_install(desk.home, plan, actor=desk.actor, now=desk.outside.now())
    return web.Reply({"includes": plan.includes(), "commit": commit}, 200 if plan.is_same else 201)
