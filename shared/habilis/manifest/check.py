"""Rules across the fields of a manifest, over the document as written: each looks only at what is well-formed.

So one answer holds every fault, those of shape and these, and a rule is never upset by a fault elsewhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from habilis import names
from habilis.errors import BadInput
from habilis.manifest.contracts import PUBLISH_ARGUMENTS
from habilis.manifest.faults import Faults, Part, shown, suggestion
from habilis.manifest.figures import check_pointer, check_sources
from habilis.manifest.later import is_called_otherwise
from habilis.manifest.placeholders import (
    CONNECT_ARGUMENTS,
    CONTRACT_ARGUMENTS,
    Fillable,
    check_placeholders,
    compiled,
    said,
)
from habilis.manifest.requests import Reach, check_hosts, check_request, check_url
from habilis.manifest.schemas import argument_names, check_as_written, check_input
from habilis.templating import compile_text, compile_url


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What the rules of one part need to know of the others."""

    root: Part
    reach: Reach
    keys: frozenset[str] | None
    faults: Faults


def check(root: Part, folder: str, faults: Faults) -> None:
    """Note every fault that lies between fields.

    Args:
        root: The whole document.
        folder: Name of the ability's folder: its id when the document names none.
        faults: Where to note them.
    """
    if root.at("id").value is None:
        _check_folder(folder, faults)
    auth = root.at("auth")
    keys = _named(auth, "env")
    _check_once(auth.texts("env"), "key", faults)
    reach = check_hosts(root.at("hosts"), keys, faults)
    whole = _Whole(root=root, reach=reach, keys=keys, faults=faults)
    _check_tools(whole)
    _check_channels(whole)
    for contract, provided in root.at("provides").fields().items():
        if contract in CONTRACT_ARGUMENTS:
            fillable = Fillable(keys=keys, arguments=CONTRACT_ARGUMENTS[contract] | _destination_fields(root))
            _check_call(provided, whole, fillable)
    check_sources(root.at("sources"), reach, keys, faults)
    _check_connect(root.at("connect"), whole)


def _check_folder(folder: str, faults: Faults) -> None:
    try:
        names.ability_id(folder)
    except BadInput as error:
        faults.add((), f"no `id`, and the folder's name cannot be one: {said(error)}")


def _check_tools(whole: _Whole) -> None:
    tools = whole.root.at("tools")
    publishers = {kind.at("publish").text() for kind in whole.root.at("channels").entries()}
    _check_once(tools.texts("name"), "tool", whole.faults)
    for tool in tools.entries():
        check_input(tool.at("input"), whole.faults)
        arguments = argument_names(tool.at("input").value if tool.at("input").value is not None else {})
        if arguments is not None and "connection" in arguments:
            place = (*tool.path, "input", "properties", "connection")
            whole.faults.add(place, "`connection` names the account of a call; choose another name")
        is_publisher = tool.at("name").text() in publishers
        if arguments is not None:
            arguments |= _destination_fields(whole.root) | (PUBLISH_ARGUMENTS if is_publisher else frozenset())
        fillable = Fillable(keys=whole.keys, arguments=arguments)
        _check_call(tool, whole, fillable)
        _check_target(tool.at("target"), whole, fillable)
        role = tool.at("role")
        if is_publisher and role.text() not in {None, "publish"}:
            whole.faults.add(role.path, "a channel kind publishes with this tool; expected publish")


def _check_call(call: Part, whole: _Whole, fillable: Fillable) -> None:
    """Note the faults of what tools and provided contracts have in common."""
    check_request(call.at("request"), whole.reach, fillable, whole.faults)
    if not is_called_otherwise(call):
        check_pointer(call.at("result", "text"), whole.faults)
    for argument, replacements in call.at("map").fields().items():
        if fillable.arguments is not None and argument not in fillable.arguments:
            message = f"no argument has this name{suggestion(argument, fillable.arguments)}"
            whole.faults.add(replacements.path, message)
        check_as_written(replacements, whole.faults)


def _check_target(target: Part, whole: _Whole, fillable: Fillable) -> None:
    template = compiled(compile_text, target, whole.faults)
    if template is None:
        return
    check_placeholders(template, target, fillable, whole.faults)
    public = {key.at("env").text() for key in whole.root.at("auth").entries() if key.at("secret").value is False}
    for name in sorted(set(template.keys) - public):
        if whole.keys is None or name in whole.keys:
            whole.faults.add(target.path, f"a target is logged; ${{{name}}} is a secret (say `secret: false` if not)")


def _check_channels(whole: _Whole) -> None:
    channels, tools = whole.root.at("channels"), _named(whole.root.at("tools"), "name")
    contracts = whole.root.at("provides").fields()
    _check_once(channels.texts("kind"), "channel kind", whole.faults)
    for kind in channels.entries():
        publish, does = kind.at("publish"), kind.at("does")
        publishes = does.value is None or any(one.text() == "publish" for one in does.texts())
        if publishes and publish.value is None:
            whole.faults.add(publish.path, "missing; name the tool that publishes, or say `does: [read, reply]`")
        elif publish.value is not None and not publishes:
            whole.faults.add(publish.path, "`does` leaves publish out; leave this out too, or add publish there")
        elif publish.text() in contracts:
            message = "this version of Habilis publishes by a tool; a provided contract comes later"
            whole.faults.add(publish.path, message)
        elif tools is not None and publish.text() is not None and publish.text() not in tools:
            whole.faults.add(publish.path, f"no tool has this name{suggestion(str(publish.value), tools)}")


def _check_connect(connect: Part, whole: _Whole) -> None:
    url = connect.at("url")
    check_url(url, whole.reach, Fillable(keys=whole.keys, arguments=CONNECT_ARGUMENTS), whole.faults)
    needs = connect.at("needs")
    for key in needs.texts():
        _check_declared(key, str(key.value), whole)
    for name, parameter in connect.at("returns").fields().items():
        _check_declared(parameter, name, whole)
    _check_once(connect.at("returns").fields().values(), "parameter", whole.faults)
    _check_once(connect.at("callback_params").texts(), "parameter", whole.faults)
    try:
        template = compile_url(url.text() or "")
    except BadInput:
        return
    asked = {key.text() for key in needs.texts()}
    for name, has_default in sorted(template.keys.items()):
        if name not in asked and not has_default:
            whole.faults.add(url.path, f"the page lives on ${{{name}}}; list {name} under needs")


def _check_declared(part: Part, name: str, whole: _Whole) -> None:
    if whole.keys is not None and name not in whole.keys:
        whole.faults.add(part.path, f"{shown(name)} is not declared in auth{suggestion(name, whole.keys)}")


def _check_once(parts: Iterable[Part], what: str, faults: Faults) -> None:
    first: dict[str, Part] = {}
    for part in parts:
        text = part.text()
        if text is not None and text in first:
            faults.add(
                part.path, f"named twice: the first {what} of this name is in line {faults.line(first[text].path)}"
            )
        elif text is not None:
            first[text] = part


def _named(entries: Part, name: str) -> frozenset[str] | None:
    """The texts under a name in each entry; None when the list is there and cannot be read."""
    if entries.value is not None and not isinstance(entries.value, list):
        return None
    return frozenset(str(part.value) for part in entries.texts(name))


def _destination_fields(root: Part) -> frozenset[str]:
    return frozenset(name for kind in root.at("channels").entries() for name in kind.at("destination").fields())
