"""Accounts of a project: list, add, set and prove keys, choose the default, allow a host, sign in, remove."""

import flask
import functions_framework

from habilis import web
from habilis.engine import accounts, verifying
from habilis.engine.choices import read_choices
from habilis.engine.connecting import connect


@functions_framework.http
def account(request: flask.Request) -> flask.Response:
    """Serve `/api/projects/{slug}/connections` and all below it; docs/http.md lists the routes."""
    return web.serve(request, _account)


def _account(desk: web.Desk) -> object:
    project = desk.project("agent" if desk.method == "GET" else "operator")
    match desk.route:
        case "GET", "connections":
            return {"accounts": accounts.list_accounts(desk.home, project)}
        case "GET", "connections", name, "choices", key:
            desk.project("operator")  # it is asked for through the account, and no rule stands between
            return read_choices(desk.home, project, name, key, desk.outside)
        case "POST", "connections", name, "verify":
            desk.only()
            return verifying.verify_account(desk.home, project, name, desk.outside, actor=desk.actor)
        case "POST", "connections", name, "connect":
            return connect(desk.home, project, name, desk.outside, **desk.given("flow", "address"))
        case "DELETE", "connections", name:
            desk.only()
            accounts.remove_account(desk.home, project, name, actor=desk.actor)
            return {"removed": name}
    name, notices = _changed(desk, project)
    status = 201 if desk.route == ("POST", "connections") else 200
    return web.Reply({"account": accounts.show_account(desk.home, project, name), "notices": notices}, status)


def _changed(desk: web.Desk, project: str) -> tuple[str, list[str]]:
    match desk.route:
        case "POST", "connections":
            given = desk.given("id", "label", "kind", "same_as", beside=("ability", "destination", "keys"))
            where, keys, ability = desk.fields("destination"), desk.texts("keys"), desk.text("ability")
            order = accounts.AccountOrder(project=project, ability=ability, destination=where, keys=keys, **given)
            return verifying.add_proven(desk.home, order, desk.outside, actor=desk.actor)
        case "PUT", "connections", name, "keys", key:
            changed = verifying.KeyOrder(project=project, account=name, name=key, value=desk.sole("value"))
            return name, verifying.save_key(desk.home, changed, desk.outside, actor=desk.actor)
        case "PUT", "connections", name, "default":
            desk.only()
            accounts.set_default(desk.home, project, name, actor=desk.actor)
        case "POST", "connections", name, "private-hosts":
            accounts.allow_private(desk.home, project, name, desk.sole("host"), actor=desk.actor)
        case "GET", "connections", name:
            desk.only()
        case _:
            raise desk.no_address()
    return name, []
