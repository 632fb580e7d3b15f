"""What is changed of an account: a key, which is the default, what it may call; and its end."""

import os
import shutil
from dataclasses import replace

from habilis.engine.accounts.finding import find_account, is_left_over, no_account
from habilis.engine.accounts.typed import check_keys, key_notices, known
from habilis.engine.health import clear_mark
from habilis.engine.resolve import key_file
from habilis.engine.workspace import open_workspace, read_document
from habilis.errors import ArgsInvalid, ManifestInvalid, SecretStoreError
from habilis.home.store import Home, Revision
from habilis.hosts import opt_in_host
from habilis.names import ProjectSlug
from habilis.records import account_folder, read_account, write_account


def set_key(home: Home, project: str, account: str, name: str, value: str, *, dry_run: bool = False) -> list[str]:
    """Store one key of an account; it is in force from the next call on. A dry run checks it and stores nothing.

    Returns:
        What the person should know of the value, as `key_notices`.

    Raises:
        NotFound: No such account.
        ArgsInvalid: The account's abilities declare no key of that name.
        BadInput, SecretMalformed: The value does not fit.
    """
    workspace, found = find_account(home, project, account)
    manifests = workspace.manifests_of(found.service)
    declared = {str(key.env): manifest for manifest in manifests for key in manifest.auth}
    if name not in declared:
        raise ArgsInvalid(f"no ability of {found.service!r} declares a key {name!r}", hint=known(declared))
    checked = check_keys(declared[name], {name: value})
    if not dry_run:
        key_file(home, found).set(checked)
    return key_notices(declared[name], {name: value})


def set_default(home: Home, project: str, account: str, *, actor: str) -> None:
    """Make an account the one that calls of its service use when they name none; NotFound otherwise."""
    find_account(home, project, account)

    def change(revision: Revision) -> dict[str, bytes | None]:
        workspace = open_workspace(home, revision, project)
        chosen = workspace.accounts.get(account)
        if chosen is None:
            raise no_account(project, account)
        changed: dict[str, bytes | None] = {}
        for entry in workspace.accounts_of(chosen.service):
            if entry.is_default != (entry.id == account):
                changed[entry.path] = write_account(replace(entry, is_default=entry.id == account))
        return changed

    home.commit(change, subject=f"Use {account} by default in {project}", action="account default", actor=actor)


def allow_private(home: Home, project: str, account: str, host: str, *, actor: str) -> str:
    """Let an account call one `host:port` on a private address; an operator's decision, shown with the account.

    Raises:
        NotFound: No such account.
        BadInput, AddressNotAllowed: It is no `host:port`, or an address that is never called.
    """
    find_account(home, project, account)
    allowed = opt_in_host(host)
    path = f"{account_folder(project, account)}/connection.yaml"

    def change(revision: Revision) -> dict[str, bytes | None]:
        entry = read_account(read_document(home, revision, path), project=ProjectSlug(project), file=path)
        return {path: write_account(replace(entry, private_hosts=entry.private_hosts | {allowed}))}

    home.commit(
        change, subject=f"Let {account} of {project} call {allowed}", action="account allow-private", actor=actor
    )
    return allowed


def remove_account(home: Home, project: str, account: str, *, actor: str) -> None:
    """Remove an account with its keys and data; the oldest other account of the service becomes the default.

    Where only keys and data are left of one, because a removal was cut short, they are deleted.

    Raises:
        NotFound: No such account.
        ManifestInvalid: Its record cannot be read; mend it first, or delete its folder.
        SecretStoreError: The account is removed, but not all of its keys and data.
    """
    workspace = open_workspace(home, home.open(), project)
    slug = workspace.project.slug
    if account in workspace.faults:
        raise ManifestInvalid(workspace.faults[account].problems)
    if account not in workspace.accounts and not is_left_over(home, slug, account):
        raise no_account(project, account)

    def change(revision: Revision) -> dict[str, bytes | None]:
        current = open_workspace(home, revision, project)
        found = current.accounts.get(account)
        if found is None:
            return {}
        changed: dict[str, bytes | None] = {found.path: None}
        others = [entry for entry in current.accounts_of(found.service) if entry.id != account]
        if found.is_default and others:
            changed[others[0].path] = write_account(replace(others[0], is_default=True))
        return changed

    home.commit(change, subject=f"Remove the account {account} of {project}", action="account rm", actor=actor)
    _delete_private(home, slug, account)


def _delete_private(home: Home, project: str, account: str) -> None:
    """Delete all that lies beside an account's record; SecretStoreError when some of it stays."""
    clear_mark(home, project, account)
    try:
        shutil.rmtree(home.private / account_folder(project, account))
    except FileNotFoundError:
        return
    except OSError as error:
        raise SecretStoreError(
            f"the account is removed, but its keys and data could not all be deleted: {os.strerror(error.errno or 0)}",
            where=account_folder(project, account),
            hint="see who owns the folder, and delete it",
            outcome="partial",
        ) from None
