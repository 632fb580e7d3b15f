"""Rules of the keys that ways to sign in write: which they are, and that no key means two things."""

from collections.abc import Iterator

from habilis.manifest.faults import Part, shown, suggestion
from habilis.manifest.model.ways import expiry_key, missing_scopes_key, redirect_uri_key
from habilis.manifest.rules.reach import Whole
from habilis.names import KeyName

MINTED = frozenset({"service_account", "client_credentials"})
"""Flows whose token is never stored."""

_BY_BROWSER = frozenset({"oauth2", "cloud", "device"})
_TOKEN, _LEARNED = "the access token", "a value that is learned"
_LONGEST_KEY = 64
_LONGEST_TOKEN = _LONGEST_KEY - len(missing_scopes_key(KeyName("")))
_LONGEST_ID = _LONGEST_KEY - len(redirect_uri_key(KeyName("")))

_Written = tuple[Part, str, str]
"""Where a key is named, its name, and what it is written as."""


def ways(root: Part) -> list[Part]:
    """The ways to sign in, written alone or in a list."""
    connect = root.at("connect")
    return connect.entries() if isinstance(connect.value, list) else [connect]


def kept_keys(root: Part) -> frozenset[str]:
    """The names of the keys that ways to sign in write by themselves; `auth` need not declare them all."""
    return frozenset(name for way in ways(root) for _, name, role in _written(way) if role != _LEARNED)


def minted_keys(root: Part) -> frozenset[str]:
    """The names under which a sign-in hands out what is never stored."""
    minting = (way.at("token_env").text() for way in ways(root) if way.at("flow").text() in MINTED)
    return frozenset(name for name in minting if name)


def brought_keys(way: Part) -> frozenset[str]:
    """The keys that are not there before the way was gone."""
    tokens = (way.at(name).text() for name in ("token_env", "refresh_env"))
    return frozenset(name for name in tokens if name)


def check_written(whole: Whole, declared: frozenset[str] | None) -> None:
    """Note keys that ways write and that are not declared, too long, or written as two things.

    Args:
        declared: The names in `auth`; None when they could not be read.
    """
    first: dict[str, tuple[Part, Part, str]] = {}
    for way in ways(whole.root):
        _check_declared_keys(way, whole, declared)
        for part, name, role in _written(way):
            earlier, other, meant = first.setdefault(name, (part, way, role))
            if earlier is not part and (other is way or meant != role):
                line = whole.faults.line(earlier.path)
                whole.faults.add(part.path, f"{shown(name)} is {role} here and {meant} in line {line}; a key holds one")
    _check_pairs(whole)


def _check_declared_keys(way: Part, whole: Whole, declared: frozenset[str] | None) -> None:
    flow, token = way.at("flow").text(), way.at("token_env")
    named = [(key, str(key.value)) for key in way.at("needs").texts()]
    named += [(way.at("key_file"), way.at("key_file").text() or "")]
    named += [(part, name) for part, name, role in _written(way) if role == _LEARNED]
    if flow in _BY_BROWSER:
        named += [(token, token.text() or "")]
    for part, name in named:
        if name and declared is not None and name not in declared:
            whole.faults.add(part.path, f"{shown(name)} is not declared in auth{suggestion(name, declared)}")
    for key in (*way.at("needs").texts(), way.at("key_file")):
        if key.text() in brought_keys(way):
            whole.faults.add(key.path, f"{key.text()} is what this sign-in brings; it cannot be asked for first")
    for part, longest in ((token, _LONGEST_TOKEN), (way.at("register", "client_id_env"), _LONGEST_ID)):
        if flow not in MINTED and len(part.text() or "") > longest:
            message = f"expected at most {longest} characters: what is known of it is kept under this name and more"
            whole.faults.add(part.path, message)


def _check_pairs(whole: Whole) -> None:
    """Ways that store one token store one refresh token: else an old one would stay beside a new token."""
    refresh: dict[str, tuple[str | None, Part]] = {}
    for way in ways(whole.root):
        token = way.at("token_env").text()
        if token is None or way.at("flow").text() in MINTED:
            continue
        mine = way.at("refresh_env").text()
        other, earlier = refresh.setdefault(token, (mine, way))
        if other != mine:
            line = whole.faults.line(earlier.at("token_env").path)
            message = f"the way that writes {token} in line {line} has {other or 'none'}; expected the same here"
            whole.faults.add(way.at("refresh_env").path, message)


def _written(way: Part) -> Iterator[_Written]:
    flow, token, refresh = way.at("flow").text(), way.at("token_env"), way.at("refresh_env")
    if token.text():
        name = KeyName(str(token.value))
        yield token, name, _TOKEN
        if flow not in MINTED:
            yield token, expiry_key(name), "when a token runs out"
            yield token, missing_scopes_key(name), "what a token lacks"
    register = way.at("register")
    own_id = register.at("client_id_env")
    if own_id.text():
        yield own_id, redirect_uri_key(KeyName(str(own_id.value))), "where the application's callback is"
    for part, role in (
        (refresh, "the refresh token"),
        (own_id, "the application's id"),
        (register.at("client_secret_env"), "the application's secret"),
    ):
        if part.text():
            yield part, str(part.value), role
    for returns in (way.at("returns"), way.at("afterwards", "returns")):
        for name_text, part in returns.fields().items():
            yield part, name_text, _LEARNED
