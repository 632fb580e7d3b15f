"""One call, from the order to the reply: asked about, sent and written down, or rehearsed."""

from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from habilis.engine.approvals import Approval, ask_approval
from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared, prepare_call, preview
from habilis.engine.resolve import CallOrder, Found, pointing_at
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import EngineFailed, Forbidden, HabilisError, UpstreamError
from habilis.exchange.call import run_tool
from habilis.home.activity import Action, ActionOutcome, ActivityLog
from habilis.home.store import Home
from habilis.messages import Request, Result
from habilis.policy.limits import check_cap, check_target
from habilis.policy.rules import decide
from habilis.records import Account
from habilis.templating import MISSING

_LONGEST_LINK_TOLD = 150


def call_tool(home: Home, order: CallOrder, outside: Outside, *, actor: str) -> Result | Approval:
    """Make one call, or ask a person first where the policy says so.

    Raises:
        NotFound: No such project, tool or account.
        ArgsInvalid: The arguments do not fit the tool.
        Refused: A rule, the host list, the daily cap or an earlier action on the same target says no; nothing was sent.
        UpstreamFailed: The other side did not answer well; `outcome` says what that means.
    """
    workspace = open_workspace(home, home.open(), order.project)
    call = prepare_call(home, workspace, order)
    decision = decide(call.found.tool.role, call.found.tool.name, workspace.rules)
    if decision.verdict == "deny":
        raise Forbidden(decision.reason, where=f"tool '{call.found.tool.name}'")
    if decision.verdict == "ask":
        return ask_approval(home, call, outside, actor=actor)
    with pointing_at(call.found.account):
        return carry_out(home, workspace, call, outside, actor=actor)


def rehearse_call(home: Home, order: CallOrder) -> Request:
    """The exact request that the call would send; sends nothing, logs nothing. Raises as `call_tool`."""
    workspace = open_workspace(home, home.open(), order.project)
    return preview(prepare_call(home, workspace, order))


def carry_out(home: Home, workspace: Workspace, call: Prepared, outside: Outside, *, actor: str) -> Result:
    """Send a call that may be sent; an action is logged before its first byte leaves, and again when it came back."""
    found = call.found
    exchange = run_tool(found.tool, call.scope, found.bounds)
    first = next(exchange)
    if first.is_read or found.account is None:
        return outside.drive(exchange, first)
    log = activity_log(home, found.account)
    action = _action(call, outside, actor=actor)
    intent = log.begin(action, lambda: _check_limits(log, action, workspace, found))
    try:
        result = outside.drive(exchange, first, before_first_byte=intent.sync)
    except HabilisError as error:
        # What happened outside is the news; without this line the action counts as unknown, which is the safe side.
        with suppress(HabilisError):
            log.finish(action.id, _ending(error), error=error.code)
        raise
    try:
        log.finish(action.id, "done", link=result.link)
    except HabilisError as error:
        raise _done_unlogged(error, result) from error
    return result


def activity_log(home: Home, account: Account) -> ActivityLog:
    """The account's log, kept for the life of the process: what was read of it once is not read again."""
    return _log(f"{home.private}/{account.folder}/activity.jsonl")


@lru_cache(maxsize=512)
def _log(path: str) -> ActivityLog:
    return ActivityLog(Path(path))


def _action(call: Prepared, outside: Outside, *, actor: str) -> Action:
    found = call.found
    target = MISSING if found.tool.target is None else found.tool.target.fill(call.scope)
    return Action(
        id=outside.token(),
        at=outside.now(),
        ability=found.manifest.id,
        role=found.tool.role,
        tool=found.tool.name,
        target="" if target is MISSING else str(target),
        actor=actor,
    )


def _check_limits(log: ActivityLog, action: Action, workspace: Workspace, found: Found) -> None:
    """Refuse what the cap or an earlier action on the same target forbids; the lowest cap of the service counts."""
    caps = [manifest.daily_cap for manifest in workspace.manifests_of(found.manifest.service)]
    cap = min((cap for cap in caps if cap is not None), default=None)
    if cap is not None:
        check_cap(log.used_today(action.at), cap, now=action.at)
    if action.target:
        check_target(log.standing(action.role, action.target), role=action.role, target=action.target)


def _done_unlogged(error: HabilisError, result: Result) -> EngineFailed:
    """What a caller is told of an action that was done and could not be logged so: above all, that it was done."""
    made = f" at {result.link}" if len(result.link) <= _LONGEST_LINK_TOLD and result.link else ""
    return EngineFailed(
        f"it was done{made}, but the log of actions could not say so: {error.message}",
        where=error.where,
        hint="do not do it again; the log has it as unknown",
        outcome="done",
    )


def _ending(error: HabilisError) -> ActionOutcome:
    """How the log names what an error left behind."""
    if isinstance(error, UpstreamError) and error.outcome == "not_sent":
        return "failed"
    return "not_sent" if error.outcome == "refused" else error.outcome
