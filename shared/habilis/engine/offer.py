"""What an agent is offered in a project: the tools that are ready, and the instructions it may read."""

from dataclasses import dataclass

from habilis.engine.health import worst_health
from habilis.engine.resolve import CONNECTION, SENDER, load_keys, missing_keys, wanting
from habilis.engine.workspace import Ability, Workspace, open_workspace
from habilis.errors import HabilisError, ManifestInvalid
from habilis.home.store import Home, Revision
from habilis.manifest.model import Manifest, Tool
from habilis.messages import Json
from habilis.records import Account
from habilis.skill import load_skill


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as an agent sees it.

    Attributes:
        group: The ability's name, for the heading it stands under.
        input: JSON Schema; it gains `connection`, of a mail `from`, where there is more than one account.
        needs: What is missing before it can be called; "" when it is ready.
        contract: The contract that it carries out, which is its name; "" for a tool of the ability's own.
        cost: What a call costs, in words; "" when not said.
    """

    name: str
    group: str
    ability: str
    label: str
    description: str
    role: str
    input: dict[str, Json]
    needs: str
    contract: str = ""
    cost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedInstructions:
    """Instructions that an agent may read before it acts: which, and when they apply."""

    ability: str
    name: str
    applies: str


def offer_tools(home: Home, project: str) -> list[OfferedTool]:
    """The tools of the project's abilities that are on, and what these provide: by ability, in the manifest's order."""
    workspace = open_workspace(home, home.open(), project)
    offered = []
    for ability in workspace.abilities.values():
        manifest = ability.manifest
        if manifest is None or not ability.is_on:
            continue
        accounts = workspace.accounts_of(manifest.service)
        needs = "an account" if manifest.auth and not accounts else ""
        if accounts:
            needs = _missing(home, manifest, accounts[0])
        offered += [
            OfferedTool(
                name=tool.name,
                group=manifest.name,
                ability=manifest.id,
                label=tool.label,
                description=tool.description,
                role=tool.role,
                input=_with_connection(tool, _choosable(workspace, manifest, tool)),
                needs=needs,
                contract=tool.contract,
                cost=tool.cost,
            )
            for tool in (*manifest.tools, *manifest.provides)
        ]
    return offered


def offer_instructions(home: Home, project: str) -> list[OfferedInstructions]:
    """The instructions of the project's abilities that are on; those that cannot be read are left out."""
    revision = home.open()
    workspace = open_workspace(home, revision, project)
    found = []
    for ability in workspace.abilities.values():
        if ability.is_on and ability.has_instructions:
            offered = _instructions(revision, ability)
            if offered is not None:
                found.append(offered)
    return found


def _instructions(revision: Revision, ability: Ability) -> OfferedInstructions | None:
    try:
        skill = load_skill(revision.require(f"{ability.folder}/SKILL.md"), file=f"{ability.folder}/SKILL.md")
    except ManifestInvalid:
        return None
    return OfferedInstructions(ability=ability.id, name=skill.name, applies=skill.description)


def _missing(home: Home, manifest: Manifest, account: Account) -> str:
    """What an account lacks before the ability's tools can be called; "" for nothing."""
    try:
        keys = load_keys(home, manifest, account)
    except HabilisError as error:
        return f"keys that can be read: {error.message}"
    lacks = wanting(manifest, keys)
    if not lacks:
        health = worst_health(home, [manifest], account, keys)
        return f"a new sign-in: {health.why}" if health.state == "needs_sign_in" else ""
    return f"the key {lacks}" if missing_keys(manifest, keys) else lacks


def _choosable(workspace: Workspace, manifest: Manifest, tool: Tool) -> list[Account]:
    """The accounts that a call of the tool may go through, its default first."""
    # A contract is called by its name whoever carries it out, so its accounts are those of all who provide it.
    services = [manifest.service]
    if tool.contract:
        providers = (ability.manifest for ability in workspace.abilities.values() if ability.is_on)
        services += [one.service for one in providers if one is not None and one.tool(tool.name) is not None]
    return [account for service in dict.fromkeys(services) for account in workspace.accounts_of(service)]


def _with_connection(tool: Tool, accounts: list[Account]) -> dict[str, Json]:
    """The tool's arguments, and the one that names an account where there is a choice; `from` for a mail."""
    schema = dict(tool.input)
    if len(accounts) < 2:
        return schema
    properties = schema.get("properties", {})
    listed = ", ".join(f"{account.id} ({account.label})" for account in accounts)
    choice: Json = {
        "type": "string",
        "enum": [account.id for account in accounts],
        "description": f"Account to use: {listed}. Leave out for {accounts[0].id}.",
    }
    name = SENDER if tool.contract == "email" else CONNECTION
    schema["properties"] = {**(properties if isinstance(properties, dict) else {}), name: choice}
    return schema
