"""Every rule of a document: the order in which they are asked, and those between tools, channels and contracts."""

from habilis import names
from habilis.errors import BadInput
from habilis.manifest.contracts import CONTRACTS, PUBLISH_ARGUMENTS, contract_arguments
from habilis.manifest.faults import Faults, Part, suggestion
from habilis.manifest.rules.figures import check_sources
from habilis.manifest.rules.mail import check_mail
from habilis.manifest.rules.named import check_once, named
from habilis.manifest.rules.placeholders import Fillable, check_placeholders, compiled, said
from habilis.manifest.rules.reach import Reach, Whole, check_hosts
from habilis.manifest.rules.requests import with_defaults
from habilis.manifest.rules.signin import check_keys, check_proofs
from habilis.manifest.rules.steps import check_call
from habilis.manifest.rules.ways import check_ways
from habilis.manifest.rules.writes import kept_keys
from habilis.manifest.schemas import argument_names, check_input
from habilis.templating import compile_text

_NOT_ARGUMENTS = {
    "connection": "`connection` names the account of a call; choose another name",
    "files": "`files` are those of the asset that a call is about; choose another name",
}


def check(root: Part, folder: str, faults: Faults) -> None:
    """Note every fault that lies between fields.

    Args:
        root: The whole document.
        folder: Name of the ability's folder: its id when the document names none.
        faults: Where to note them.
    """
    if root.at("id").value is None:
        _check_folder(folder, faults)
    declared = named(root.at("auth"), "env")
    keys = None if declared is None else declared | kept_keys(root)
    whole = Whole(root=root, reach=_reach(root, keys, faults), keys=keys, faults=faults)
    whole = with_defaults(whole)
    check_keys(whole)
    check_proofs(whole)
    check_mail(root, keys, faults)
    _check_tools(whole)
    _check_channels(whole)
    _check_contracts(whole)
    check_sources(whole)
    check_ways(whole, declared)


def _check_folder(folder: str, faults: Faults) -> None:
    try:
        names.ability_id(folder)
    except BadInput as error:
        faults.add((), f"no `id`, and the folder's name cannot be one: {said(error)}")


def _reach(root: Part, keys: frozenset[str] | None, faults: Faults) -> Reach:
    hosts = root.at("hosts")
    if hosts.value is None and root.at("transport").text() in {None, "http"}:
        faults.add(hosts.path, "missing; it is required here")
    check_hosts(root.at("result_hosts"), keys, faults)
    return check_hosts(hosts, keys, faults)


def _check_tools(whole: Whole) -> None:
    tools = whole.root.at("tools")
    publishers = {kind.at("publish").text() for kind in whole.root.at("channels").entries()}
    check_once(tools.texts("name"), "tool", whole.faults)
    for tool in tools.entries():
        check_input(tool.at("input"), whole.faults)
        arguments = argument_names(tool.at("input").value if tool.at("input").value is not None else {})
        is_publisher = tool.at("name").text() in publishers
        if arguments is not None:
            for name in sorted(arguments & _NOT_ARGUMENTS.keys()):
                whole.faults.add((*tool.path, "input", "properties", name), _NOT_ARGUMENTS[name])
            arguments |= _destination_fields(whole.root) | (PUBLISH_ARGUMENTS if is_publisher else frozenset())
        fillable = Fillable(keys=whole.keys, arguments=arguments)
        role = tool.at("role")
        check_call(tool, whole, fillable, is_read=not is_publisher and role.text() in {None, "read"})
        _check_target(tool.at("target"), whole, fillable)
        if is_publisher and role.text() not in {None, "publish"}:
            whole.faults.add(role.path, "a channel kind publishes with this tool; expected publish")


def _check_contracts(whole: Whole) -> None:
    is_mail = whole.root.at("transport").text() == "smtp"
    for contract in CONTRACTS:
        provided = whole.root.at("provides", contract)
        if provided.value is not None and not is_mail:
            arguments = contract_arguments(contract) | _destination_fields(whole.root)
            check_call(provided, whole, Fillable(keys=whole.keys, arguments=arguments), is_read=False)


def _check_target(target: Part, whole: Whole, fillable: Fillable) -> None:
    template = compiled(compile_text, target, whole.faults)
    if template is None:
        return
    check_placeholders(template, target, fillable, whole.faults)
    public = {key.at("env").text() for key in whole.root.at("auth").entries() if key.at("secret").value is False}
    for name in sorted(set(template.keys) - public):
        if whole.keys is None or name in whole.keys:
            whole.faults.add(target.path, f"a target is logged; ${{{name}}} is a secret (say `secret: false` if not)")


def _check_channels(whole: Whole) -> None:
    channels, tools = whole.root.at("channels"), named(whole.root.at("tools"), "name")
    contracts = whole.root.at("provides").fields()
    check_once(channels.texts("kind"), "channel kind", whole.faults)
    for kind in channels.entries():
        publish, does = kind.at("publish"), kind.at("does")
        publishes = does.value is None or any(one.text() == "publish" for one in does.texts())
        if publishes and publish.value is None:
            whole.faults.add(publish.path, "missing; name the tool that publishes, or say `does: [read, reply]`")
        elif publish.value is not None and not publishes:
            whole.faults.add(publish.path, "`does` leaves publish out; leave this out too, or add publish there")
        elif tools is not None and publish.text() in tools:
            continue
        elif publish.text() in contracts:
            if publish.text() != "email":
                whole.faults.add(publish.path, "of what is provided, only `email` publishes; name a tool")
        elif tools is not None and publish.text() is not None:
            meant = suggestion(str(publish.value), tools | {"email"} if "email" in contracts else tools)
            whole.faults.add(publish.path, f"no tool has this name{meant}")


def _destination_fields(root: Part) -> frozenset[str]:
    return frozenset(name for kind in root.at("channels").entries() for name in kind.at("destination").fields())
