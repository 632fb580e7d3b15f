"""An account of a project, found by its id."""

import os

from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import BadInput, ManifestInvalid, NotFound
from habilis.home.store import Home
from habilis.names import account_id
from habilis.records import Account, account_folder

_PRIVATE = (".env", "activity.jsonl", "data")


def find_account(home: Home, project: str, account: str) -> tuple[Workspace, Account]:
    """The account and its project; NotFound when there is none, ManifestInvalid when its record cannot be read."""
    workspace = open_workspace(home, home.open(), project)
    if account in workspace.faults:
        raise ManifestInvalid(workspace.faults[account].problems)
    found = workspace.accounts.get(account)
    if found is None:
        raise no_account(project, account)
    return workspace, found


def no_account(project: str, account: str) -> NotFound:
    """What is answered where a project has no account of that id."""
    return NotFound(f"there is no account {account!r}", hint=f"list them: habilis accounts ls {project}")


def is_left_over(home: Home, project: str, account: str) -> bool:
    """Whether something private lies where an account of this id would: a new one must not come into it."""
    try:
        folder = home.private / account_folder(project, account_id(account))
    except BadInput:
        return False
    return any(os.path.lexists(folder / name) for name in _PRIVATE)
