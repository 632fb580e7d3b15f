"""Rules of what ways to sign in ask for by requests of their own, and of where they find what they learn."""

from habilis.errors import BadInput
from habilis.manifest.faults import Faults, Part
from habilis.manifest.rules.answers import check_place, check_pointer
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import CONNECT_ARGUMENTS, Fillable, check_value
from habilis.manifest.rules.reach import Whole, check_url
from habilis.manifest.rules.requests import check_request
from habilis.manifest.schemas import check_as_written
from habilis.templating import compile_url

_REGISTER_ARGUMENTS = frozenset({"redirect_uri", "scopes", "app_name"})
_CALLBACK = frozenset({"code", "state", "iss", "error", "error_description", "error_uri"})
"""Parameters of a callback that are the sign-in's own."""

_TOGETHER = (
    ("refresh", "refresh_env"),
    ("refresh_env", "refresh"),
    ("refresh_request", "refresh"),
    ("expires_unit", "expires"),
)
_PLACES = ("token", "expires", "refresh")


def check_answers(way: Part, whole: Whole, fillable: Fillable) -> None:
    """Note what is wrong with what a way asks for, and with what it reads of the answers."""
    flow = way.at("flow").text()
    if flow == "redirect":
        _check_redirect(way, whole)
    elif flow == "oauth2":
        _check_returns(way.at("returns"), whole.faults)
        _check_register(way.at("register"), whole, fillable)
        after = way.at("afterwards")
        check_request(after.at("request"), whole, fillable, is_read=False)
        for place in after.at("returns").fields().values():
            check_place(place, whole.faults)
    elif flow == "session":
        _check_session(way, whole, fillable)


def _check_redirect(way: Part, whole: Whole) -> None:
    url, needs, faults = way.at("url"), way.at("needs"), whole.faults
    check_url(url, whole, Fillable(keys=whole.keys, arguments=CONNECT_ARGUMENTS))
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


def _check_returns(returns: Part, faults: Faults) -> None:
    for part in returns.fields().values():
        source, _, name = (part.text() or "").partition(":")
        if source == "token":
            check_pointer(Part(value=name, path=part.path), faults)
        elif source == "callback" and name in _CALLBACK:
            faults.add(part.path, f"`{name}` is the sign-in's own, and good for one use")


def _check_register(register: Part, whole: Whole, fillable: Fillable) -> None:
    check_url(register.at("url"), whole, fillable)
    body, secret = register.at("body"), register.at("client_secret")
    if not check_as_written(body, whole.faults):
        check_value(body, Fillable(keys=whole.keys, arguments=_REGISTER_ARGUMENTS), whole.faults)
    if body.fields() and "{{redirect_uri}}" not in str(body.value):
        message = "the server sends browsers back only where it was told to; put {{redirect_uri}} into it"
        whole.faults.add(body.path, message)
    for place in (register.at("client_id"), secret):
        check_place(place, whole.faults)
    if secret.value is not None and register.at("client_secret_env").value is None:
        whole.faults.add(secret.path, "name the key that keeps it with `client_secret_env`")


def _check_session(way: Part, whole: Whole, fillable: Fillable) -> None:
    faults = whole.faults
    for name in ("request", "refresh_request"):
        check_request(way.at(name), whole, fillable, is_read=False)
    for place in (*map(way.at, _PLACES), *way.at("returns").fields().values()):
        check_place(place, faults)
    for name, other in _TOGETHER:
        if way.at(name).value is not None and way.at(other).value is None:
            faults.add(way.at(name).path, f"`{name}` needs `{other}` beside it", at_name=True)
