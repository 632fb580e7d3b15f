"""An asset goes out through a channel: prepared, asked about, approved, sent, its link recorded."""

from dataclasses import dataclass, replace
from datetime import datetime

from habilis.engine.approvals import Approval, ask_approval, find_approval, hash_order, put_back, take_approval
from habilis.engine.assets import read_project_asset
from habilis.engine.calls import carry_out
from habilis.engine.downloads import CallResult, KeptFile
from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared, prepare_call
from habilis.engine.resolve import CallOrder
from habilis.engine.showing import show_requests
from habilis.engine.workspace import Workspace, open_workspace, read_document
from habilis.errors import ApprovalRequired, BadInput, Forbidden, HabilisError, NotFound
from habilis.home.store import Home, Revision
from habilis.manifest.contracts import PUBLISH_ARGUMENTS
from habilis.manifest.model import Manifest, Tool
from habilis.markdown import to_html
from habilis.messages import Json
from habilis.names import ProjectSlug
from habilis.policy.rules import decide
from habilis.records import Account, Asset, Publication, read_account, write_account

_SETTLED_UNSENT = frozenset({"refused", "not_sent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOrder:
    """What a caller asked for: an asset `<type>/<id>` to go out through a channel of the project."""

    project: str
    asset: str
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A publish that was carried out.

    Attributes:
        notice: What went wrong after it was out; "" when nothing did.
        files: What it brought back.
        notes: What a person should know beside it.
    """

    asset: str
    channel: str
    link: str
    text: str
    notice: str = ""
    files: tuple[KeptFile, ...] = ()
    notes: tuple[str, ...] = ()


def ask_publish(home: Home, order: PublishOrder, outside: Outside, *, actor: str) -> Approval:
    """Ask a person for the publish, and return what they are asked; nothing goes out yet.

    Raises:
        NotFound: No such project, asset or channel.
        BadInput: The account is no channel, or nothing publishes to its kind.
        Refused, UpstreamFailed: As for a call.
    """
    return ask_approval(home, _allowed(home, order, outside), outside, actor=actor, channel=order.channel)


def rehearse_publish(home: Home, order: PublishOrder, outside: Outside) -> list[dict[str, Json]]:
    """The requests that the publish would send after a yes, as data; asks nobody. Raises as `ask_publish`."""
    return show_requests(_allowed(home, order, outside))


def approve(home: Home, project: str, approval_id: str, outside: Outside, *, actor: str) -> Published | CallResult:
    """Give the yes and carry the order out, once.

    Raises:
        NotFound: The approval is not waiting.
        ApprovalRequired: What it was given for has changed since; ask again.
        Refused, UpstreamFailed: As for a call. Where nothing was sent, the approval waits again.
    """
    approval = take_approval(home, project, approval_id, now=outside.now())
    try:
        workspace, call = _bound(home, approval, outside)
        result = carry_out(home, workspace, call, outside, actor=actor)
    except HabilisError as error:
        if error.outcome in _SETTLED_UNSENT and not isinstance(error, ApprovalRequired):
            put_back(home, approval)
        raise
    if not approval.is_publish:
        return result
    notice = _record(home, approval, result.link, outside.now(), actor=actor)
    return Published(
        asset=approval.asset,
        channel=approval.channel,
        link=result.link,
        text=result.text,
        notice=notice,
        files=result.files,
        notes=result.notes,
    )


def rehearse_approval(home: Home, project: str, approval_id: str, outside: Outside) -> list[dict[str, Json]]:
    """The requests that a yes would send, as data; the approval goes on waiting. Raises as `approve`."""
    _, call = _bound(home, find_approval(home, project, approval_id, now=outside.now()), outside)
    return show_requests(call)


def deny(home: Home, project: str, approval_id: str, *, now: datetime) -> Approval:
    """Refuse a waiting order and return what was refused; NotFound when it is not waiting."""
    return take_approval(home, project, approval_id, now=now)


def find_channel(workspace: Workspace, name: str) -> Account:
    """The channel of that id; NotFound, or BadInput for an account that is no channel."""
    account = workspace.accounts.get(name)
    if account is None:
        known = ", ".join(entry.id for entry in workspace.accounts.values() if entry.kind) or "none yet"
        raise NotFound(f"there is no channel {name!r}", hint=f"channels here: {known}")
    if not account.kind:
        raise BadInput(
            f"the account {name!r} is no channel",
            hint=f"make one: habilis accounts add {workspace.project.slug} {account.ability} --kind KIND",
        )
    return account


def find_publisher(workspace: Workspace, channel: Account) -> tuple[Manifest, Tool]:
    """The one ability that publishes to a channel: the one it was made with, else the first of its service that can."""
    able = [
        (manifest, tool)
        for manifest in workspace.manifests_of(channel.service)
        if (kind := manifest.kind(channel.kind)) is not None
        and kind.publish is not None
        and (tool := manifest.tool(kind.publish)) is not None
    ]
    if not able:
        raise BadInput(
            f"no ability here publishes to a {channel.kind!r} channel",
            where=f"channel {channel.id!r}",
            hint="install or switch on one that does",
        )
    return next((pair for pair in able if pair[0].id == channel.ability), able[0])


def _arguments(asset: Asset) -> dict[str, Json]:
    arguments: dict[str, Json] = {
        "title": asset.title,
        "text": asset.text,
        "html": to_html(asset.text),
        "summary": asset.summary,
        "tags": list(asset.tags),
        "asset": asset.ref,
    }
    return {name: value for name, value in arguments.items() if value not in ("", [])}


def _allowed(home: Home, order: PublishOrder, outside: Outside) -> Prepared:
    """A publish that no rule denies."""
    revision = home.open()
    workspace = open_workspace(home, revision, order.project)
    channel = find_channel(workspace, order.channel)
    manifest, tool = find_publisher(workspace, channel)
    asked = CallOrder(
        project=workspace.project.slug,
        tool=f"{manifest.id}.{tool.name}",
        arguments=_arguments(read_project_asset(revision, workspace, order.asset)),
        account=channel.id,
        asset=order.asset,
    )
    call = prepare_call(home, revision, workspace, asked, outside, given=PUBLISH_ARGUMENTS)
    decision = decide("publish", call.found.tool.name, workspace.rules)
    if decision.verdict == "deny":
        raise Forbidden(decision.reason, where=f"tool '{call.found.tool.name}'")
    return call


def _bound(home: Home, approval: Approval, outside: Outside) -> tuple[Workspace, Prepared]:
    """The call that an approval was given for; ApprovalRequired when it has become another."""
    revision = home.open()
    workspace = open_workspace(home, revision, approval.project)
    order = CallOrder(
        project=approval.project,
        tool=f"{approval.ability}.{approval.tool}",
        arguments=approval.arguments,
        account=approval.account,
        asset=approval.asset,
    )
    call = prepare_call(home, revision, workspace, order, outside, given=PUBLISH_ARGUMENTS)
    if hash_order(call) != approval.bound_to:
        raise ApprovalRequired(
            "the ability, the account, the arguments or a file have changed since it was asked for",
            where=f"approval {approval.id}",
            hint="ask for it again, and approve what is shown then",
        )
    return workspace, call


def _record(home: Home, approval: Approval, link: str, at: datetime, *, actor: str) -> str:
    """Put the link on the channel's record; returns what went wrong with that, for the publish itself is out."""
    published = Publication(asset=approval.asset, link=link, at=at)

    def change(revision: Revision) -> dict[str, bytes | None]:
        path = f"projects/{approval.project}/connections/{approval.channel}/connection.yaml"
        account = read_account(read_document(home, revision, path), project=ProjectSlug(approval.project), file=path)
        return {path: write_account(replace(account, publications=(*account.publications, published)))}

    try:
        home.commit(
            change,
            subject=f"Publish {approval.asset} to {approval.channel}",
            action="publish",
            actor=actor,
        )
    except HabilisError as error:
        return f"it is published, but its link could not be recorded: {error}"
    return ""
