"""One call, from the order to the reply: asked about, sent and written down, or rehearsed."""

from habilis.engine.approvals import Approval, ask_approval
from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared, prepare_call, preview
from habilis.engine.resolve import CallOrder
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import Forbidden, HabilisError
from habilis.exchange.call import run_tool
from habilis.home.activity import Action, ActivityLog
from habilis.home.store import Home
from habilis.messages import Request, Result
from habilis.policy.limits import check_cap, check_target
from habilis.policy.rules import decide
from habilis.templating import MISSING


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
    return carry_out(home, workspace, call, outside, actor=actor)


def rehearse_call(home: Home, order: CallOrder) -> Request:
    """The exact request that the call would send; sends nothing, logs nothing. Raises as `call_tool`."""
    workspace = open_workspace(home, home.open(), order.project)
    return preview(prepare_call(home, workspace, order))


def carry_out(home: Home, workspace: Workspace, call: Prepared, outside: Outside, *, actor: str) -> Result:
    """Send a call that may be sent. An action is written down before its first byte leaves, and after it came back."""
    found = call.found
    exchange = run_tool(found.tool, call.scope, found.bounds)
    first = next(exchange)
    if found.bounds.is_read or found.account is None:
        return outside.drive(exchange, first)
    log = ActivityLog(home.private / found.account.folder / "activity.jsonl")
    target = "" if found.tool.target is None else found.tool.target.fill(call.scope)
    action = Action(
        at=outside.now(),
        ability=found.manifest.id,
        role=found.tool.role,
        tool=found.tool.name,
        target="" if target is MISSING else str(target),
        actor=actor,
    )
    caps = [manifest.daily_cap for manifest in workspace.manifests_of(found.manifest.service)]
    cap = min((cap for cap in caps if cap is not None), default=None)
    # Checked and written down under one lock: two calls must not share the last slot, nor act twice on one target.
    with home.hold(f"account-{found.account.project}-{found.account.id}"):
        check_cap(log.used_today(action.at), cap=cap, now=action.at)
        if action.target:
            standing = log.standing(action.role, action.target)
            check_target(standing.outcome if standing else None, role=found.tool.role, target=action.target)
        entry = log.begin(action)
    try:
        result = outside.drive(exchange, first)
    except HabilisError as error:
        log.finish(
            entry, outcome="failed" if error.outcome in {"refused", "not_sent"} else error.outcome, code=error.code
        )
        raise
    log.finish(entry, outcome="done", link=result.link)
    return result
