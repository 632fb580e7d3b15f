"""`habilis accounts`: add, list, set keys, choose the default, allow a private host, remove."""

import sys
from pathlib import Path

import click

from habilis.cli.connecting import accounts_connect
from habilis.cli.desk import ACTOR, Desk, with_changing_desk, with_desk
from habilis.cli.text import columns, one_line
from habilis.engine import accounts as engine
from habilis.engine.resolve import find_manifest
from habilis.engine.workspace import open_workspace
from habilis.errors import BadInput, ConsentRequired
from habilis.home.keytext import read_lines, values_of
from habilis.redaction import clean


@click.group()
def accounts() -> None:
    """Accounts: a project's sign-ins to services. A channel is an account with a kind."""


accounts.add_command(accounts_connect)


@accounts.command("add")
@click.argument("project")
@click.argument("ability")
@click.option("--id", "account", default="", help="Its id. [default: the ability's]")
@click.option("--label", default="", help="How people call it.")
@click.option("--kind", default="", help="Make it a channel of this kind.")
@click.option("--to", "destination", multiple=True, metavar="FIELD=VALUE", help="A field of the channel's destination.")
@click.option("--same-as", default="", metavar="ACCOUNT", help="Start with a copy of another account's keys.")
@click.option("--keys", "key_source", metavar="FILE|-", help="Read keys from a file, or from standard input with -.")
@with_changing_desk
def accounts_add(  # noqa: PLR0913 - one parameter an option
    desk: Desk, project: str, ability: str, account: str, label: str, kind: str, destination: tuple[str, ...],
    same_as: str, key_source: str | None,
) -> None:  # fmt: skip
    """Add an account of ABILITY to PROJECT.

    Keys come as NAME=value lines from --keys, or are asked for on a terminal. They are stored beside the account, never
    committed, and shown as set or not set only.

    \b
    Examples:
      habilis accounts add acme wordpress
      habilis accounts add acme wordpress --kind wordpress --keys keys.env
      habilis accounts add acme smtp-mail --same-as smtp-mail --kind email --to to=team@example.com
    """
    order = engine.AccountOrder(
        project=project,
        ability=ability,
        id=account,
        label=label,
        kind=kind,
        destination=_fields(destination),
        # What is copied is not asked for again.
        keys={} if same_as and key_source is None else _keys(desk, project, ability, key_source),
        same_as=same_as,
    )
    from habilis.engine.verifying import add_proven  # listing accounts asks no service

    account, notices = add_proven(desk.home, order, desk.outside, actor=ACTOR)
    for notice in notices:
        click.echo(one_line(clean(f"note: {notice}")), err=True)
    view = engine.show_account(desk.home, project, account)
    unset = [key.name for key in view.keys if not key.is_set and not key.is_optional]
    wanting = [f"Still to set: habilis accounts set {project} {account} {name}" for name in unset]
    desk.show(view, [f"Added the account {account} to {project}.", *wanting])


@accounts.command("ls", short_help="List the accounts of PROJECT.")
@click.argument("project")
@with_desk
def accounts_ls(desk: Desk, project: str) -> None:
    """List the accounts of PROJECT; * marks the one that a service's calls use by default."""
    views = engine.list_accounts(desk.home, project)
    rows = [
        (
            ("* " if view.is_default else "  ") + view.id,
            view.service or "-",
            _state(view),
            f"channel {view.kind}" if view.kind else "",
            ", ".join(f"{key.name} {'set' if key.is_set else 'not set'}" for key in view.keys),
            f"used by {', '.join(view.used_by)}" if view.used_by else "",
        )
        for view in views
    ]
    desk.show({"accounts": views}, columns(rows) or [f"None yet. Add one: habilis accounts add {project} ABILITY"])


def _state(view: engine.AccountView) -> str:
    """How an account is, in a word, and what to do about it."""
    if view.fault or not view.is_ready:
        return view.fault or "needs keys"
    if view.health.state == "ok":
        return "ready"
    return f"{'needs a new sign-in' if view.health.state == 'needs_sign_in' else 'ready'}: {view.health.why}"


@accounts.command("set", short_help="Set a key of an ACCOUNT of PROJECT.")
@click.argument("project")
@click.argument("account")
@click.argument("name")
@with_changing_desk
def accounts_set(desk: Desk, project: str, account: str, name: str) -> None:
    """Set the key NAME of an ACCOUNT of PROJECT; the value is asked for, or read from standard input.

    It counts from the next call on. The value is never shown again. One line break at its end is left off.

    \b
    Examples:
      habilis accounts set acme wordpress WP_APP_PASSWORD
      habilis accounts set acme wordpress WP_APP_PASSWORD < password.txt
    """
    if sys.stdin.isatty():
        value = click.prompt(name, hide_input=True, err=True)
    else:
        value = _stdin().removesuffix("\n").removesuffix("\r")
    for notice in _saved(desk, project, account, name, value):
        click.echo(one_line(clean(f"note: {notice}")), err=True)
    came = "set" if value else "empty, which counts as not set"
    told = f"{name} would be {came}; a dry run: nothing was written." if desk.dry_run else f"{name} is {came}."
    is_set = not desk.dry_run and value != ""
    desk.show({"account": account, "key": name, "is_set": is_set, "dry_run": desk.dry_run}, [told])


def _saved(desk: Desk, project: str, account: str, name: str, value: str) -> list[str]:
    if desk.dry_run:
        return engine.set_key(desk.home, project, account, name, value, dry_run=True)
    from habilis.engine.verifying import KeyOrder, save_key  # a dry run asks no service

    order = KeyOrder(project=project, account=account, name=name, value=value)
    return save_key(desk.home, order, desk.outside, actor=ACTOR)


@accounts.command("verify", short_help="Ask the service whether it takes the keys of ACCOUNT.")
@click.argument("project")
@click.argument("account")
@with_desk
def accounts_verify(desk: Desk, project: str, account: str) -> None:
    """Ask the service whether it takes the keys of an ACCOUNT of PROJECT, and whose they are.

    Only where its ability says how keys are proved. The command fails where the service does not take them.

    \b
    Example:
      habilis accounts verify acme wordpress
    """
    from habilis.engine.verifying import verify_account  # listing accounts asks no service

    verified = verify_account(desk.home, project, account, desk.outside, actor=ACTOR)
    whose = f" They are those of {verified.identity}." if verified.identity else ""
    desk.show(verified, [f"The service takes the keys of {account}.{whose}"])


@accounts.command("choices", short_help="List what a key of ACCOUNT can be set to.")
@click.argument("project")
@click.argument("account")
@click.argument("name")
@with_desk
def accounts_choices(desk: Desk, project: str, account: str, name: str) -> None:
    """List what the key NAME of an ACCOUNT of PROJECT can be set to, read from the service through the account.

    \b
    Example:
      habilis accounts choices acme google-analytics GA4_PROPERTY_ID
    """
    from habilis.engine.choices import read_choices  # the rest asks no service

    read = read_choices(desk.home, project, account, name, desk.outside)
    for note in read.notes:
        click.echo(f"note: {one_line(note)}", err=True)
    rows = [(choice.value, choice.label if choice.label != choice.value else "") for choice in read.choices]
    desk.show(read, columns(rows) or ["The service lists none."])


@accounts.command("default", short_help="Use ACCOUNT where a call names none.")
@click.argument("project")
@click.argument("account")
@with_changing_desk
def accounts_default(desk: Desk, project: str, account: str) -> None:
    """Use ACCOUNT of PROJECT wherever a call of its service names none."""
    engine.set_default(desk.home, project, account, actor=ACTOR)
    desk.show({"account": account, "is_default": True}, [f"{account} is now the default."])


@accounts.command("allow-private", short_help="Let ACCOUNT call one private HOST:PORT.")
@click.argument("project")
@click.argument("account")
@click.argument("host", metavar="HOST:PORT")
@with_changing_desk
def accounts_allow_private(desk: Desk, project: str, account: str, host: str) -> None:
    """Let ACCOUNT of PROJECT call one HOST:PORT on a private address.

    Without this no call reaches a private or local address, whatever an ability says.

    \b
    Example:
      habilis accounts allow-private acme wordpress nas.local:8080
    """
    allowed = engine.allow_private(desk.home, project, account, host, actor=ACTOR)
    desk.show({"account": account, "private_host": allowed}, [f"{account} may call {allowed}."])


@accounts.command("rm")
@click.argument("project")
@click.argument("account")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_changing_desk
def accounts_rm(desk: Desk, project: str, account: str, *, yes: bool) -> None:
    """Remove ACCOUNT of PROJECT with its keys, activity and data. On a terminal you are asked first; else say --yes."""
    if not yes and not desk.dry_run:
        if not sys.stdin.isatty():
            raise ConsentRequired("an account goes with its keys and data, and they do not come back", hint="add --yes")
        click.confirm(f"Remove {account} with its keys and data?", abort=True, err=True)
    engine.remove_account(desk.home, project, account, actor=ACTOR)
    desk.show({"account": account, "removed": True}, [f"Removed {account}."])


def _fields(pairs: tuple[str, ...]) -> dict[str, str]:
    fields = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"{pair!r} is no FIELD=VALUE", where="--to")
        fields[name] = value
    return fields


def _keys(desk: Desk, project: str, ability: str, source: str | None) -> dict[str, str]:
    if source == "-":
        return _read_keys(_stdin())
    if source is not None:
        path = Path(source).expanduser()
        if not path.is_file():
            raise BadInput(f"there is no file {source!r}", where="--keys")
        return _read_keys(_decoded(path.read_bytes()))
    return _asked_keys(desk, project, ability) if sys.stdin.isatty() else {}


def _read_keys(text: str) -> dict[str, str]:
    lines = read_lines(text)
    broken = [line.number for line in lines if line.is_broken]
    if broken:
        raise BadInput(
            f"line {broken[0]} is no NAME=value", where="--keys", hint="quote a value that holds odd characters"
        )
    return values_of(lines)


def _asked_keys(desk: Desk, project: str, ability: str) -> dict[str, str]:
    manifest = find_manifest(open_workspace(desk.home, desk.home.open(), project), ability)
    found = {}
    for key in manifest.auth:
        if key.env in manifest.kept_keys:
            continue  # a sign-in brings it
        told = [key.help, f"one of {', '.join(key.options)}" if key.options else "", _example(key.placeholder)]
        for line in filter(None, told):
            click.echo(f"  {one_line(line)}", err=True)
        label = one_line(key.label) + (" (optional)" if key.optional else "")
        value = click.prompt(label, default="", show_default=False, hide_input=key.secret, err=True)
        if value:
            found[str(key.env)] = value
    return found


def _example(placeholder: str) -> str:
    return f"such as {placeholder}" if placeholder else ""


def _stdin() -> str:
    return _decoded(sys.stdin.buffer.read())


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Raised out of the handler's reach: the library's error holds the keys.
        pass
    raise BadInput("the keys are not UTF-8 text", where="--keys")
