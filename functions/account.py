"""Accounts of a project: list, add, set keys, choose the default, sign in, remove."""

import flask
import functions_framework

from habilis import web
from habilis.engine import accounts
from habilis.engine.connecting import start_sign_in
from habilis.errors import NotFound


@functions_framework.http
def account(request: flask.Request) -> flask.Response:
    """Serve `/api/projects/{slug}/connections[/{id}[/keys|default|connect|private-hosts]]`."""
    return web.serve(request, _account)


def _account(desk: web.Desk) -> object:
    project = desk.project()
    desk.caller.require("agent" if desk.method == "GET" else "operator", project)
    match (desk.method, *desk.path[1:]):
        case ("GET", "connections"):
            return {"accounts": accounts.list_accounts(desk.home, project)}
        case ("POST", "connections"):
            return web.Reply(_add(desk, project), 201)
        case ("PUT", "connections", name, "keys"):
            for key in desk.order:
                accounts.set_key(desk.home, project, name, key, desk.text(key))
        case ("PUT", "connections", name, "default"):
            desk.only()
            accounts.set_default(desk.home, project, name, actor=desk.actor)
        case ("POST", "connections", name, "private-hosts"):
            desk.only("host")
            accounts.allow_private(desk.home, project, name, desk.text("host"), actor=desk.actor)
        case ("POST", "connections", name, "connect"):
            desk.only()
            return start_sign_in(desk.home, project, name, desk.outside)
        case ("DELETE", "connections", name):
            accounts.remove_account(desk.home, project, name, actor=desk.actor)
        case _:
            raise NotFound("there is no such address", hint="see docs/http.md")
    return {"accounts": accounts.list_accounts(desk.home, project)}


def _add(desk: web.Desk, project: str) -> object:
    desk.only("ability", "id", "label", "kind", "destination", "keys")
    order = accounts.AccountOrder(
        project=project,
        ability=desk.text("ability"),
        id=desk.text("id", ""),
        label=desk.text("label", ""),
        kind=desk.text("kind", ""),
        destination=desk.fields("destination"),
        keys={name: str(value) for name, value in desk.fields("keys").items()},
    )
    made = accounts.add_account(desk.home, order, actor=desk.actor, now=desk.outside.now())
    return next(view for view in accounts.list_accounts(desk.home, project) if view.id == made.id)
