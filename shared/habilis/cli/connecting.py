"""`habilis accounts connect`: sign an account in, in a browser, on another device, or with keys alone."""

import hmac
import sys
from collections.abc import Iterable
from dataclasses import replace
from threading import Event, Thread
from urllib.parse import urlsplit

import click

from habilis.cli.desk import ACTOR, Desk, with_changing_desk
from habilis.cli.text import one_line
from habilis.engine import accounts as engine
from habilis.engine.accounts.finding import find_account
from habilis.engine.connecting import Connected, Pending, begin, finish, pasted_query
from habilis.engine.connecting.subject import choose_way
from habilis.engine.resolve import find_manifest, key_file
from habilis.engine.workspace import open_workspace
from habilis.errors import HabilisError, NotFound, SecretMissing, SignInStateInvalid
from habilis.manifest.model import Manifest, RedirectFlow, Way
from habilis.redaction import clean
from habilis.signin.ways import asked_keys

_BROWSER_STARTS_S = 1.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@click.command("connect", short_help="Sign ACCOUNT of PROJECT in.")
@click.argument("project")
@click.argument("account", metavar="ACCOUNT/ABILITY")
@click.option("--way", "flow", default="", metavar="FLOW", help="Which of several ways. [default: the first]")
@click.option("--no-browser", is_flag=True, help="Print the page's address, and take the one it ends at, pasted.")
@click.option("--port", default=0, metavar="PORT", help="Where the browser comes back to. [default: any free one]")
@with_changing_desk
def accounts_connect(desk: Desk, project: str, account: str, *, flow: str, no_browser: bool, port: int) -> None:
    """Sign ACCOUNT of PROJECT in; for an ABILITY that has no account of this name, add one first.

    What the sign-in needs is asked for on a terminal. Then a browser opens the service's page, and comes back to a port
    of this machine. Where no browser is at hand, --no-browser prints the address.

    \b
    Examples:
      habilis accounts connect acme google-analytics
      habilis accounts connect acme wordpress --no-browser
    """
    manifest, account = _account(desk, project, account)
    way = choose_way(manifest, flow)
    if desk.dry_run:
        told = f"{account} would be signed in by {way.flow}; a dry run: nothing was sent."
        desk.show({"account": account, "flow": way.flow, "dry_run": True}, [told])
        return
    _ask(desk, project, account, manifest, asked_keys(way))
    match way.flow:
        case "device":
            connected = _on_device(desk, project, account, opens=not no_browser)
        case "redirect" | "oauth2" | "cloud":
            connected = _in_browser(desk, project, account, way, port=port, opens=not no_browser)
        case _:
            from habilis.engine.connecting.direct import sign_in

            connected = sign_in(desk.home, project, account, desk.outside, flow=way.flow)
    view = engine.show_account(desk.home, project, account)
    unset = [key.name for key in view.keys if not key.is_set and not key.is_optional]
    wanting = [f"Still to set: habilis accounts set {project} {account} {name}" for name in unset]
    desk.show({"account": view, "notes": connected.notes}, [connected.said, *wanting])


def _account(desk: Desk, project: str, name: str) -> tuple[Manifest, str]:
    """The account of that name and its ability's manifest; it is added where the name is an ability's."""
    workspace = open_workspace(desk.home, desk.home.open(), project)
    if name not in workspace.accounts and name not in workspace.faults:
        if name not in workspace.abilities:
            raise NotFound(
                f"there is neither an account nor an ability {name!r}", hint=f"list them: habilis accounts ls {project}"
            )
        manifest = find_manifest(workspace, name)
        choose_way(manifest)
        order = engine.AccountOrder(project=project, ability=name)
        added = engine.add_account(desk.home, order, actor=ACTOR, now=desk.outside.now())
        click.echo(f"Added the account {added.id} to {project}.", err=True)
        return manifest, str(added.id)
    workspace, found = find_account(desk.home, project, name)
    return find_manifest(workspace, found.ability), str(found.id)


def _ask(desk: Desk, project: str, account: str, manifest: Manifest, names: Iterable[str]) -> None:
    """Ask for the keys that are not set yet; SecretMissing where nobody can be asked."""
    _, found = find_account(desk.home, project, account)
    stored = key_file(desk.home, found).load()
    declared = {str(key.env): key for key in manifest.auth}
    for name in (name for name in names if not stored.get(name)):
        if not sys.stdin.isatty():
            raise SecretMissing(
                f"the sign-in needs {name} first", hint=f"set it: habilis accounts set {project} {account} {name}"
            )
        key = declared[name]
        if key.help:
            click.echo(f"  {one_line(key.help)}", err=True)
        value = click.prompt(one_line(key.label), hide_input=key.secret, err=True)
        for notice in engine.set_key(desk.home, project, account, name, value):
            click.echo(f"note: {notice}", err=True)


def _in_browser(desk: Desk, project: str, account: str, way: Way, *, port: int, opens: bool) -> Connected:
    from habilis.cli.loopback import Loopback

    with Loopback(port) as loopback:
        outside = replace(desk.outside, public_url=loopback.url)
        pending = begin(desk.home, project, account, outside, flow=way.flow)
        loopback.expect(pending.state)
        _open(pending.page, opens=opens)
        if not pending.redirect_uri:
            return _typed(desk, pending, way)
        if not opens:
            return finish(desk.home, pending, _pasted(pending), outside)
        left_s = (pending.expires_at - outside.now()).total_seconds()
        query = loopback.wait(timeout_s=left_s)
        try:
            connected = finish(desk.home, pending, query, outside)
        except HabilisError as error:
            loopback.tell(clean(f"{error.message[:1].upper()}{error.message[1:]}. See the terminal."))
            raise
        loopback.tell(clean(f"{connected.said} You can close this page."))
        return connected


def _pasted(pending: Pending) -> dict[str, list[str]]:
    """The return as a person pastes it: the address that the browser ended at, though nothing answered there."""
    address = click.prompt("Paste the address that the browser ends at", err=True, hide_input=sys.stdin.isatty())
    query = pasted_query(address)
    states = query.get("state", [""])
    if len(states) != 1 or not hmac.compare_digest(states[0].encode(), pending.state.encode()):
        raise SignInStateInvalid("this address belongs to another sign-in", hint="start the sign-in again")
    return query


def _typed(desk: Desk, pending: Pending, way: Way) -> Connected:
    """The end of a sign-in whose page only shows the values: they are asked for."""
    project, account = pending.project, pending.account
    workspace, found = find_account(desk.home, project, account)
    names = way.returns if isinstance(way, RedirectFlow) else ()
    _ask(desk, project, account, find_manifest(workspace, found.ability), map(str, names))
    return Connected(project=project, account=account, label=found.label)


def _on_device(desk: Desk, project: str, account: str, *, opens: bool) -> Connected:
    from habilis.engine.connecting.devices import begin_on_device, wait_for_device

    begun = begin_on_device(desk.home, project, account, desk.outside)
    click.echo(f"Your code: {one_line(begun.code.user_code)}", err=True)
    _open(begun.code.whole_page or begun.code.page, opens=opens)
    return wait_for_device(desk.home, begun, desk.outside)


def _open(page: str, *, opens: bool) -> None:
    """Open a page in the person's browser, or print where it is: where that is asked for, or there is no browser."""
    parts = urlsplit(page)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if opens and is_safe and _is_opened(page):
        click.echo("Your browser shows the service's page; go on there.", err=True)
    else:
        click.echo(f"Open this page in a browser:\n\n  {one_line(page)}\n", err=True)


def _is_opened(page: str) -> bool:
    """Hand a page to the browser, which may run in this terminal until the person leaves it."""
    import webbrowser

    failed = Event()

    def hand_over() -> None:
        if not webbrowser.open(page):
            failed.set()

    thread = Thread(target=hand_over, daemon=True)
    thread.start()
    thread.join(_BROWSER_STARTS_S)
    return not failed.is_set()
