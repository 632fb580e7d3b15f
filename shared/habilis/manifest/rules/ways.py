"""Rules of ways to sign in: their addresses, what is sent there, and what is read of the answers."""

import re
from collections.abc import Iterable, Iterator

from habilis.hosts.typed import looks_private
from habilis.hosts.urls import UrlError, split_url
from habilis.manifest.faults import Faults, Part, shown
from habilis.manifest.rules.answers import check_condition
from habilis.manifest.rules.learned import check_answers
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import Fillable, check_template
from habilis.manifest.rules.reach import Whole, check_url
from habilis.manifest.rules.writes import brought_keys, check_written, ways
from habilis.templating import compile_text

_PARAMS = ("params", "authorize_params", "token_params", "refresh_params")
_ADDRESSES = ("authorize_url", "device_url", "token_url", "refresh_url")
_SEEN = ("authorize_url", "client_id", "params", "authorize_params")
"""What stands in the address of a page, where whoever looks at the browser can read it."""

_RESERVED = frozenset({
    "assertion", "client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_challenge",
    "code_challenge_method", "code_verifier", "device_code", "grant_type", "nonce", "redirect_uri", "refresh_token",
    "request", "request_uri", "response_type", "scope", "state",
})  # fmt: skip
_KEY = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,63})[|}]")
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|\{\{[^{}]*\}\}")


def check_ways(whole: Whole, declared: frozenset[str] | None) -> None:
    """Note what is wrong with the ways to sign in.

    Args:
        declared: The names in `auth`; None when they could not be read.
    """
    check_written(whole, declared)
    check_once([label for way in ways(whole.root) if (label := way.at("label")).text()], "way", whole.faults)
    fillable = Fillable(keys=whole.keys, arguments=frozenset())
    for way in ways(whole.root):
        for name in _ADDRESSES:
            _check_address(way.at(name), whole, fillable)
        for name in ("client_id", "client_secret"):
            check_template(compile_text, way.at(name), fillable, whole.faults)
        _check_params(way, fillable, whole.faults)
        _check_client(way, whole.faults)
        _check_secrets(way, whole.faults)
        check_condition(way.at("expired"), fillable, whole.faults)
        check_answers(way, whole, fillable)


def _check_address(url: Part, whole: Whole, fillable: Fillable) -> None:
    """Note an address of a provider that is wrong, or says itself what the sign-in says."""
    check_url(url, whole, fillable)
    address, hash_sign, _ = _PLACEHOLDER.sub("", url.text() or "").partition("#")
    if hash_sign:
        whole.faults.add(url.path, "an address of a sign-in has no `#`")
    for pair in address.partition("?")[2].split("&"):
        if _is_reserved(name := pair.partition("=")[0]):
            whole.faults.add(url.path, f"the sign-in sets {shown(name)} itself; leave it out")


def _is_reserved(name: str) -> bool:
    # Servers differ in what they take for one name: `State`, `state[]` and `redirect.uri` reach some of them.
    return name.partition("[")[0].lower().replace(".", "_") in _RESERVED


def _check_params(way: Part, fillable: Fillable, faults: Faults) -> None:
    own_id = way.at("client_id_param")
    for params in map(way.at, _PARAMS):
        for name, text in params.fields().items():
            if _is_reserved(name) or name == own_id.value:
                faults.add(text.path, f"the sign-in sets {shown(name)} itself; leave it out", at_name=True)
            check_template(compile_text, text, fillable, faults)
    if way.at("params").fields() and way.at("authorize_params").fields():
        faults.add(way.at("params").path, "`authorize_params` is there too, and means this; write one", at_name=True)
    if own_id.value != "client_id" and _is_reserved(own_id.text() or ""):
        faults.add(own_id.path, "the sign-in sets this name to something else")


def _check_client(way: Part, faults: Faults) -> None:
    """Note an application that cannot say who it is, or says it in two ways."""
    if way.at("flow").text() not in {"oauth2", "device", "client_credentials"}:
        return
    own_id, register, auth = way.at("client_id"), way.at("register"), way.at("client_auth")
    has_secret = way.at("client_secret").value is not None or register.at("client_secret_env").value is not None
    kept = register.at("client_id_env").text()
    if own_id.value is None and register.value is None and way.at("flow").text() == "oauth2":
        faults.add(own_id.path, "missing; it is required here, unless `register` gets one")
    if own_id.text() and kept and kept not in _used(own_id):
        faults.add(own_id.path, f"`register` keeps the id in {kept}; write ${{{kept}}}, or leave this out")
    if auth.value is not None and not has_secret:
        faults.add(auth.path, "says how the secret is sent, and there is no `client_secret`", at_name=True)
    if auth.value == "json" and way.at("token_body").value == "form":
        faults.add(way.at("token_body").path, "`client_auth: json` writes the body as JSON; leave this out")
    if way.at("pkce").value is False and not has_secret:
        faults.add(way.at("pkce").path, "without PKCE and without `client_secret`, a stolen code is enough to sign in")
    issuer = way.at("issuer")
    if issuer.text() and not _is_issuer(str(issuer.value)):
        faults.add(issuer.path, "expected the https address by which the provider names itself, without `?` and `#`")


def _is_issuer(text: str) -> bool:
    try:
        parts = split_url(text)
    except UrlError:
        return False
    return not {"?", "#"} & set(text) and (parts.scheme == "https" or looks_private(parts.host))


def _check_secrets(way: Part, faults: Faults) -> None:
    """Note keys that are not there yet where they are used, and secrets where a person can read them."""
    brought = brought_keys(way)
    before = [way.at(name) for name in (*_ADDRESSES, "client_id", "client_secret", "register", *_PARAMS)]
    if way.at("flow").text() == "session":
        before.append(way.at("request"))
    for text in _texts(before):
        for name in sorted(_used(text) & brought):
            faults.add(text.path, f"${{{name}}} is what this sign-in brings; it is not there yet")
    kept = way.at("register", "client_secret_env").text()
    hidden = _used(way.at("client_secret")) | ({kept} if kept else set())
    for text in _texts(map(way.at, _SEEN)):
        for name in sorted(_used(text) & hidden):
            faults.add(text.path, f"${{{name}}} is the application's secret, and a browser would show it here")


def _used(part: Part) -> set[str]:
    """The keys that a text names."""
    return set(_KEY.findall(part.text() or ""))


def _texts(parts: Iterable[Part]) -> Iterator[Part]:
    """Every text in some parts."""
    for part in parts:
        if part.text() is not None:
            yield part
        yield from _texts([*part.fields().values(), *part.entries()])
