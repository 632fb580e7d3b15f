"""Accounts of a project: list, add, set a key, choose the default, allow a private host, sign in, remove."""

import flask
import functions_framework

from habilis import web
from habilis.engine import accounts
from habilis.engine.connecting import start_sign_in


@functions_framework.http
def account(request: flask.Request) -> flask.Response:
    """Serve `/api/projects/{slug}/connections[/{id}[/default|private-hosts|connect|keys/{NAME}]]`."""
    return web.serve(request, _account)


def _account(desk: web.Desk) -> object:
    project = desk.project("agent" if desk.method == "GET" else "operator")
    notices: list[str] = []
    match desk.route:
        case "GET", "connections":
            return {"accounts": accounts.list_accounts(desk.home, project)}
        case "GET", "connections", name:
            desk.only()
        case "POST", "connections":
            return web.Reply(_add(desk, project), 201)
        case "PUT", "connections", name, "keys", key:
            desk.only("value")
            notices = accounts.set_key(desk.home, project, name, key, desk.text("value"))
        case "PUT", "connections", name, "default":
            desk.only()
            accounts.set_default(desk.home, project, name, actor=desk.actor)
        case "POST", "connections", name, "private-hosts":
            desk.only("host")
            accounts.allow_private(desk.home, project, name, desk.text("host"), actor=desk.actor)
        case "POST", "connections", name, "connect":
            desk.only()
            return start_sign_in(desk.home, project, name, desk.outside)
        case "DELETE", "connections", name:
            desk.only()
            accounts.remove_account(desk.home, project, name, actor=desk.actor)
            return {"removed": name}
        case _:
            raise desk.no_address()
    return _shown(desk, project, name, notices)


def _add(desk: web.Desk, project: str) -> object:
    desk.only("ability", "id", "label", "kind", "destination", "keys")
    given = {name: desk.text(name, "") for name in ("id", "label", "kind")}
    where, keys = desk.fields("destination"), desk.texts("keys")
    order = accounts.AccountOrder(project=project, ability=desk.text("ability"), destination=where, keys=keys, **given)
    made = accounts.add_account(desk.home, order, actor=desk.actor, now=desk.outside.now())
    return _shown(desk, project, made.id, accounts.order_notices(desk.home, order))


def _shown(desk: web.Desk, project: str, name: str, notices: list[str]) -> object:
    return {"account": accounts.show_account(desk.home, project, name), "notices": notices}
