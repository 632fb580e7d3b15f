"""Sign-ins kept alive: an account that is seldom used has to be signed in no more often than another."""

from dataclasses import dataclass

from habilis.engine.fresh import signed_in
from habilis.engine.outside import Outside
from habilis.engine.resolve import load_keys, pointing_at
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import HabilisError
from habilis.home.store import Home
from habilis.records import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAlive:
    """A sign-in that was renewed, or could not be.

    Attributes:
        fault: Why it could not be; "" when it was.
    """

    project: str
    account: str
    fault: str = ""


def keep_alive(home: Home, outside: Outside, *, project: str = "") -> list[KeptAlive]:
    """Renew the sign-ins that would lapse; what happens to one stops no other.

    Args:
        home: Whose accounts they are.
        outside: Reaches the providers.
        project: The only project to look at; "" for all.

    Raises:
        NotFound: There is no such project.
    """
    revision = home.open()
    if project:
        return _kept(home, open_workspace(home, revision, project), outside)
    kept: list[KeptAlive] = []
    for name in revision.list("projects"):
        try:
            kept += _kept(home, open_workspace(home, revision, name.rstrip("/")), outside)
        except HabilisError as error:
            kept.append(KeptAlive(project=name.rstrip("/"), account="", fault=str(error)))
    return kept


def _kept(home: Home, workspace: Workspace, outside: Outside) -> list[KeptAlive]:
    found = []
    for account in workspace.accounts.values():
        try:
            is_kept, fault = _is_kept(home, workspace, account, outside), ""
        except HabilisError as error:
            is_kept, fault = True, str(error)
        if is_kept:
            found.append(KeptAlive(project=account.project, account=account.id, fault=fault))
    return found


def _is_kept(home: Home, workspace: Workspace, account: Account, outside: Outside) -> bool:
    """Whether the account was renewed; by the first ability of its service that can."""
    for manifest in workspace.manifests_of(account.service):
        if manifest.kept_keys:
            live = signed_in(home, manifest, account, load_keys(home, manifest, account))
            with pointing_at(account):
                if live is not None and live.keep_alive(outside):
                    return True
    return False
