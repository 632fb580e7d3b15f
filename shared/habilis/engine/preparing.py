"""A call before it is sent: resolved, its arguments checked, its files at hand."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from habilis.engine.assets import asset_folder, read_project_asset
from habilis.engine.outside import Outside
from habilis.engine.resolve import CONNECTION, SENDER, CallOrder, Found, find_tool, named_account, resolve_call
from habilis.engine.workspace import Workspace, channel_sizes
from habilis.exchange.arguments import check_arguments
from habilis.home.store import Home, Revision
from habilis.manifest.model import Tool
from habilis.messages import Json
from habilis.templating import FileValue, Made, Scope

_ASSET = "asset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A call that is resolved and checked, and not yet sent.

    Attributes:
        made: The call's own time and id.
        asset: The asset `<type>/<id>` that it is about; "" for none.
        files: The asset's, where the tool sends them.
    """

    project: str
    found: Found
    arguments: Mapping[str, Json]
    made: Made
    asset: str = ""
    files: tuple[FileValue, ...] = ()

    @property
    def scope(self) -> Scope:
        """What its templates are filled with."""
        scope = Scope(self.arguments, self.found.keys, self.made)
        return scope.with_values({"files": list(self.files)}) if self.asset else scope

    @property
    def shown_scope(self) -> Scope:
        """What its templates are filled with to be shown: a token that is got when it is sent stands by its name."""
        live = self.found.signed_in
        return self.scope if live is None else replace(self.scope, keys=live.shown_keys)


def prepare_call(
    home: Home,
    revision: Revision,
    workspace: Workspace,
    order: CallOrder,
    outside: Outside,
    *,
    given: frozenset[str] = frozenset(),
) -> Prepared:
    """Resolve an order, check its arguments and find its files; `given` names arguments that the engine itself adds.

    Raises:
        NotFound: No such tool, account, asset or file.
        ArgsInvalid: The arguments do not fit the tool.
        SecretMissing: There is no account, or it lacks a key.
        TooLarge: A file is too big to be sent.
    """
    arguments = dict(order.arguments)
    account = order.account
    if CONNECTION in arguments or SENDER in arguments:
        _, tool = find_tool(home, workspace, order.tool, account=account)
        account = named_account(tool, arguments, named=account)
    found = resolve_call(home, workspace, replace(order, arguments=arguments, account=account))
    destination = found.account.destination if found.account else {}
    arguments = {**{name: value for name, value in destination.items() if value != ""}, **arguments}
    if order.asset:
        arguments[_ASSET], given = order.asset, given | {_ASSET}
    asset = order.asset or _asset_of(found.tool, arguments)
    arguments = check_arguments(found.tool, arguments, also=given | frozenset(destination))
    if found.tool.contract:
        arguments = _normalised(workspace, found.tool, arguments)
    return Prepared(
        project=workspace.project.slug,
        found=found,
        arguments=arguments,
        made=Made(now=outside.now(), call_id=outside.token()),
        asset=asset,
        files=_files(home, revision, workspace, asset, found.tool) if asset else (),
    )


def _asset_of(tool: Tool, arguments: Mapping[str, Json]) -> str:
    """The asset that a contract's arguments name; "" for none. What a tool's own argument of that name is, it says."""
    named = arguments.get(_ASSET) if tool.contract else None
    return named if isinstance(named, str) else ""


def _normalised(workspace: Workspace, tool: Tool, arguments: Mapping[str, Json]) -> dict[str, Json]:
    from habilis.exchange.contracts import normalise_contract  # most tools are no contracts

    return normalise_contract(tool.contract, arguments, channel_sizes(workspace))


def _files(home: Home, revision: Revision, workspace: Workspace, ref: str, tool: Tool) -> tuple[FileValue, ...]:
    from habilis.engine.files import asset_files, sends_files, wanted_facts  # most calls are about no asset

    asset = read_project_asset(revision, workspace, ref)
    if not asset.files or not sends_files(tool):
        return ()
    folder = asset_folder(workspace.project.slug, ref)
    return asset_files(home, revision, folder, asset, facts=wanted_facts(tool))
