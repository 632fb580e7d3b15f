"""Accounts of a project: list, add, set a key, choose the default, allow a private host, sign in, remove."""

import flask
import functions_framework

from habilis import web
from habilis.engine import accounts
from habilis.engine.choices import read_choices
from habilis.engine.connecting import connect


@functions_framework.http
def account(request: flask.Request) -> flask.Response:
    """Serve `/api/projects/{slug}/connections[/{id}[/default|private-hosts|connect|keys/{NAME}|choices/{NAME}]]`."""
    return web.serve(request, _account)


def _account(desk: web.Desk) -> object:
    project = desk.project("agent" if desk.method == "GET" else "operator")
    notices, status = list[str](), 200
    match desk.route:
        case "GET", "connections":
            return {"accounts": accounts.list_accounts(desk.home, project)}
        case "GET", "connections", name:
            desk.only()
        case "GET", "connections", name, "choices", key:
            desk.project("operator")  # it is asked for through the account, and no rule stands between
            return read_choices(desk.home, project, name, key, desk.outside)
        case "POST", "connections":
            name, notices = _add(desk, project)
            status = 201
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
            desk.only("flow", "address")
            given = {field: desk.text(field, "") for field in ("flow", "address")}
            return connect(desk.home, project, name, desk.outside, **given)
        case "DELETE", "connections", name:
            desk.only()
            accounts.remove_account(desk.home, project, name, actor=desk.actor)
            return {"removed": name}
        case _:
            raise desk.no_address()
    return web.Reply({"account": accounts.show_account(desk.home, project, name), "notices": notices}, status)


def _add(desk: web.Desk, project: str) -> tuple[str, list[str]]:
    desk.only("ability", "id", "label", "kind", "destination", "keys", "same_as")
    given = {name: desk.text(name, "") for name in ("id", "label", "kind", "same_as")}
    where, keys = desk.fields("destination"), desk.texts("keys")
    order = accounts.AccountOrder(project=project, ability=desk.text("ability"), destination=where, keys=keys, **given)
    made = accounts.add_account(desk.home, order, actor=desk.actor, now=desk.outside.now())
    return made.id, accounts.order_notices(desk.home, order)
