"""Ways to sign in, from what is written to what is meant."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from habilis.manifest import shape
from habilis.manifest.merged import request_of
from habilis.messages import Json

_LABELS = {
    "service_account": "Service account",
    "client_credentials": "Client credentials",
    "session": "Session",
}


_OTHERWISE = {"callback", "params", "registration"}
"""Fields of other names in the plain form."""


def settled_way(way: shape.WayShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    """A way to sign in in the plain form that `plain.ways` reads."""
    plain = way.model_dump(exclude=_OTHERWISE)
    if way.label is None:
        plain["label"] = _LABELS[way.flow]
    for name in ("refresh_env", "client_auth", "issuer", "expires_unit"):
        if name in plain:
            plain[name] = plain[name] or ""
    if "token_body" in plain:
        plain["token_body"] = plain["token_body"] or ("json" if plain["client_auth"] == "json" else "form")
    more = _MORE.get(way.flow)
    return {**plain, **more(way, defaults)} if more else plain


def _redirect(way: shape.RedirectShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    denied = way.denied
    return {"needs_https": way.callback == "https", "denied": [denied.param, denied.equals] if denied else None}


def _oauth2(way: shape.OAuth2Shape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    register, after = way.registration, way.afterwards
    own_id = f"${{{register.client_id_env}}}" if register else None
    own_secret = f"${{{register.client_secret_env}}}" if register and register.client_secret_env else None
    return {
        "client_id": own_id if way.client_id is None else way.client_id,
        "client_secret": own_secret if way.client_secret is None else way.client_secret,
        "authorize_params": {**way.params, **way.authorize_params},
        "register": register and _register(register, has_scopes=bool(way.scopes)),
        "returns": {key: _learned(place) for key, place in way.returns.items()},
        "afterwards": after and {"request": request_of(after.request, defaults), "returns": after.returns},
    }


def _register(register: shape.RegisterShape, *, has_scopes: bool) -> dict[str, Json]:
    """The registration; its body, where none is written, says what this application is (RFC 7591 section 2)."""
    has_secret = register.client_secret_env is not None
    body = {
        "client_name": "{{app_name}}",
        "redirect_uris": ["{{redirect_uri}}"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic" if has_secret else "none",
        **({"scope": "{{scopes}}"} if has_scopes else {}),
    }
    return {
        **register.model_dump(),
        "body": body if register.body is None else register.body,
        "client_secret": (register.client_secret or "/client_secret") if has_secret else None,
        "client_secret_env": register.client_secret_env or "",
    }


def _learned(place: str) -> dict[str, Json]:
    source, _, rest = place.partition(":")
    return {"callback": rest if source == "callback" else "", "token": rest if source == "token" else None}


def _session(way: shape.SessionShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    kept = {way.token_env, *([way.refresh_env] if way.refresh_env else [])}
    renewing = way.refresh_request
    return {
        "request": request_of(way.request, _without(defaults, kept)),
        "refresh_request": renewing and request_of(renewing, defaults),
    }


def _without(defaults: shape.DefaultsShape, keys: Collection[str]) -> shape.DefaultsShape:
    """The defaults without what holds one of the keys: who signs in has no token yet, or one that ran out."""
    held = re.compile(rf"\$\{{({'|'.join(keys)})[|}}]")
    pair = defaults.basic_auth
    return defaults.model_copy(
        update={
            "headers": {name: text for name, text in defaults.headers.items() if not held.search(text or "")},
            "query": {name: value for name, value in defaults.query.items() if not held.search(str(value))},
            "basic_auth": None if pair and held.search(" ".join(pair)) else pair,
        }
    )


_MORE: Mapping[str, Callable[[Any, shape.DefaultsShape], dict[str, Any]]] = {
    "redirect": _redirect,
    "oauth2": _oauth2,
    "session": _session,
}
