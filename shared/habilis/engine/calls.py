"""One call, from the order to the reply: asked about, sent and written down, or rehearsed."""

from dataclasses import replace
from functools import partial

from habilis.engine.actions import ActionJournal, activity_log
from habilis.engine.approvals import Approval, ask_approval
from habilis.engine.downloads import CallResult, arriving, keep_files
from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared, prepare_call
from habilis.engine.resolve import CallOrder, Found, pointing_at
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import Forbidden, HabilisError
from habilis.exchange.call import run_tool
from habilis.home.activity import Action, ActivityLog
from habilis.home.store import Home
from habilis.messages import Json, Result
from habilis.policy.limits import check_cap, check_target
from habilis.policy.rules import decide
from habilis.templating import MISSING


def call_tool(home: Home, order: CallOrder, outside: Outside, *, actor: str) -> CallResult | Approval:
    """Make one call, or ask a person first where the policy says so.

    Raises:
        NotFound: No such project, tool or account.
        ArgsInvalid: The arguments do not fit the tool.
        Refused: A rule, the host list, the daily cap or an earlier action on the same target says no; nothing was sent.
        UpstreamFailed: The other side did not answer well; `outcome` says what that means.
    """
    workspace, call = _prepared(home, order, outside)
    decision = decide(call.found.tool.role, call.found.tool.name, workspace.rules)
    if decision.verdict == "deny":
        raise Forbidden(decision.reason, where=f"tool '{call.found.tool.name}'")
    if decision.verdict == "ask":
        return ask_approval(home, call, outside, actor=actor)
    return carry_out(home, workspace, call, outside, actor=actor)


def rehearse_call(home: Home, order: CallOrder, outside: Outside) -> list[dict[str, Json]]:
    """The requests that the call would send, as data; sends nothing, logs nothing. Raises as `call_tool`."""
    from habilis.engine.showing import show_requests  # a call that is sent is not shown

    return show_requests(_prepared(home, order, outside)[1])


def carry_out(home: Home, workspace: Workspace, call: Prepared, outside: Outside, *, actor: str) -> CallResult:
    """Send a call that may be sent; an action is logged before its first byte leaves, and again when it came back."""
    with pointing_at(call.found.account), arriving(home, call) as folder:
        journal = _journal(home, workspace, call, actor=actor)
        result = send_call(call, outside, folder) if journal is None else _acted(call, outside, folder, journal)
        return keep_files(home, call, result, actor=actor)


def _acted(call: Prepared, outside: Outside, folder: str, journal: ActionJournal) -> Result:
    try:
        result = send_call(call, outside, folder, journal)
    except HabilisError as error:
        journal.failed(error)
        raise
    except KeyboardInterrupt:
        raise journal.stopped() from None
    journal.done(result)
    return result


def send_call(call: Prepared, outside: Outside, folder: str, journal: ActionJournal | None = None) -> Result:
    """Send a call that is prepared, and return what came of it.

    Args:
        call: Is allowed.
        outside: Carries it out.
        folder: Files that it brings back come here; "" where none are expected.
        journal: Of an action; None where nothing is written down.

    Raises:
        HabilisError: As `call_tool`.
    """
    found, renew = call.found, None
    if found.signed_in is not None:
        found.signed_in.freshen(outside)
        renew = partial(found.signed_in.renew, outside)
    if found.manifest.smtp is None:
        bounds = found.bounds
        if folder:
            bounds = replace(bounds, download_to=folder, largest_file_bytes=outside.largest_file_bytes)
        return outside.drive(run_tool(found.tool, call.scope, bounds), journal, renew)
    from habilis.engine.mails import post  # most calls are no mails
    from habilis.exchange.mail import run_mail

    return post(outside, run_mail(found.tool, found.manifest.smtp, call.scope, found.bounds), journal)


def _prepared(home: Home, order: CallOrder, outside: Outside) -> tuple[Workspace, Prepared]:
    revision = home.open()
    workspace = open_workspace(home, revision, order.project)
    return workspace, prepare_call(home, revision, workspace, order, outside)


def _journal(home: Home, workspace: Workspace, call: Prepared, *, actor: str) -> ActionJournal | None:
    """What writes the call down; None for one that changes nothing outside."""
    found = call.found
    if found.tool.role == "read" or found.account is None:
        return None
    target = MISSING if found.tool.target is None else found.tool.target.fill(call.scope)
    action = Action(
        id=call.made.call_id,
        at=call.made.now,
        ability=found.manifest.id,
        role=found.tool.role,
        tool=found.tool.name,
        target="" if target is MISSING else str(target),
        actor=actor,
    )
    log = activity_log(home, found.account)
    return ActionJournal(log, action, lambda: _check_limits(log, action, workspace, found))


def _check_limits(log: ActivityLog, action: Action, workspace: Workspace, found: Found) -> None:
    """Refuse what the cap or an earlier action on the same target forbids; the lowest cap of the service counts."""
    caps = [manifest.daily_cap for manifest in workspace.manifests_of(found.manifest.service)]
    cap = min((cap for cap in caps if cap is not None), default=None)
    if cap is not None:
        check_cap(log.used_today(action.at), cap, now=action.at)
    if action.target:
        check_target(log.standing(action.role, action.target), role=action.role, target=action.target)
