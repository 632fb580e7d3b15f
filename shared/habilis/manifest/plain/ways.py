"""Ways to sign in, in their plain form."""

from collections.abc import Callable, Mapping
from typing import Any

from habilis.manifest.model import (
    Afterwards,
    ClientCredentialsFlow,
    CloudFlow,
    DeviceFlow,
    OAuth2Flow,
    RedirectFlow,
    RegisterRule,
    Return,
    ServiceAccountFlow,
    SessionFlow,
    Way,
)
from habilis.manifest.plain.calls import Plain, read_condition, read_place, read_request, read_text, read_url
from habilis.templating import compile_json, compile_place, compile_text


def _register(plain: Plain) -> RegisterRule:
    return RegisterRule(
        **{
            **plain,
            "url": read_url(plain["url"]),
            "body": compile_json(plain["body"]),
            "client_id": compile_place(plain["client_id"]),
            "client_secret": read_place(plain["client_secret"]),
        }
    )


def _afterwards(plain: Plain) -> Afterwards:
    return Afterwards(request=read_request(plain["request"]), returns=_places(plain["returns"]))


def _places(plain: Plain) -> dict[Any, Any]:
    return {key: compile_place(place) for key, place in plain.items()}


def _texts(plain: Plain) -> dict[str, Any]:
    return {name: compile_text(text) for name, text in plain.items()}


_READ: Mapping[str, Callable[[Any], Any]] = {
    "url": read_url,
    "authorize_url": read_url,
    "token_url": read_url,
    "refresh_url": read_url,
    "device_url": read_url,
    "client_id": read_text,
    "client_secret": read_text,
    "expired": read_condition,
    "token": read_place,
    "refresh": read_place,
    "expires": read_place,
    "request": read_request,
    "refresh_request": lambda plain: plain and read_request(plain),
    "scopes": tuple,
    "needs": tuple,
    "callback_params": tuple,
    "denied": lambda plain: plain and tuple(plain),
    "authorize_params": _texts,
    "token_params": _texts,
    "refresh_params": _texts,
    "register": lambda plain: plain and _register(plain),
    "afterwards": lambda plain: plain and _afterwards(plain),
}
"""How a field is read, whatever flow it is of; the others are as they stand."""

_FLOWS: Mapping[str, type[Any]] = {
    "redirect": RedirectFlow,
    "oauth2": OAuth2Flow,
    "cloud": CloudFlow,
    "device": DeviceFlow,
    "service_account": ServiceAccountFlow,
    "client_credentials": ClientCredentialsFlow,
    "session": SessionFlow,
}


def read_way(plain: Plain) -> Way:
    """The way to sign in that was kept."""
    flow = plain["flow"]
    fields = {name: _READ[name](value) if name in _READ else value for name, value in plain.items()}
    if flow == "oauth2":
        fields["returns"] = {
            key: Return(callback=one["callback"], token=read_place(one["token"]))
            for key, one in plain["returns"].items()
        }
    if flow == "session":
        fields["returns"] = _places(plain["returns"])
    way: Way = _FLOWS[flow](**fields)
    return way
