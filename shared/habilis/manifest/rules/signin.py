"""Rules of keys and of ways to sign in."""

from habilis.errors import BadInput
from habilis.manifest.faults import Part, shown, suggestion
from habilis.manifest.rules.answers import check_pointer
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import CONNECT_ARGUMENTS, Fillable
from habilis.manifest.rules.reach import Whole, check_url
from habilis.manifest.rules.requests import check_request
from habilis.templating import compile_url


def ways(root: Part) -> list[Part]:
    """The ways to sign in, written alone or in a list."""
    connect = root.at("connect")
    return connect.entries() if isinstance(connect.value, list) else [connect]


def made_keys(root: Part) -> frozenset[str]:
    """The names under which a sign-in hands out what is never stored."""
    return frozenset(
        str(way.at("token_env").value)
        for way in ways(root)
        if way.at("flow").text() == "service_account" and way.at("token_env").text()
    )


def check_keys(whole: Whole) -> None:
    """Note what is wrong with the keys of `auth` and with where their values can be read."""
    auth, faults = whole.root.at("auth"), whole.faults
    check_once(auth.texts("env"), "key", faults)
    made = made_keys(whole.root)
    for key in auth.entries():
        if key.at("env").text() in made and key.at("optional").value is not True:
            faults.add(key.path, "a service account's token is never stored; say `optional: true`, or leave it out")
        choices = key.at("choices")
        fillable = Fillable(keys=whole.keys, arguments=frozenset())
        check_request(choices.at("request"), whole, fillable, is_read=True)
        for name in ("list", "value", "label"):
            check_pointer(choices.at(name), faults)


def check_ways(whole: Whole) -> None:
    """Note what is wrong with the ways to sign in."""
    for way in ways(whole.root):
        flow = way.at("flow").text()
        for key in way.at("needs").texts():
            _check_declared(key, str(key.value), whole)
        if flow == "redirect":
            _check_redirect(way, whole)
            continue
        for name in ("refresh_env", "key_file") if flow == "service_account" else ("token_env", "refresh_env"):
            if way.at(name).text() is not None:
                _check_declared(way.at(name), str(way.at(name).value), whole)
        check_url(way.at("token_url"), whole, Fillable(keys=whole.keys, arguments=frozenset()))


def _check_redirect(way: Part, whole: Whole) -> None:
    url, needs, faults = way.at("url"), way.at("needs"), whole.faults
    check_url(url, whole, Fillable(keys=whole.keys, arguments=CONNECT_ARGUMENTS))
    for name, parameter in way.at("returns").fields().items():
        _check_declared(parameter, name, whole)
    check_once(list(way.at("returns").fields().values()), "parameter", faults)
    check_once(way.at("callback_params").texts(), "parameter", faults)
    try:
        template = compile_url(url.text() or "")
    except BadInput:
        return
    asked = {key.text() for key in needs.texts()}
    for name, has_default in sorted(template.keys.items()):
        if name not in asked and not has_default:
            faults.add(url.path, f"the page lives on ${{{name}}}; list {name} under needs")


def _check_declared(part: Part, name: str, whole: Whole) -> None:
    if whole.keys is not None and name not in whole.keys:
        whole.faults.add(part.path, f"{shown(name)} is not declared in auth{suggestion(name, whole.keys)}")
