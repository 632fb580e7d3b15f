"""What manifests may hold that this version does not carry, said in plain words instead of "unknown field"."""

from collections.abc import Mapping

from habilis.manifest import shape
from habilis.manifest.faults import Faults, Part, suggestion
from habilis.messages import Json

_TRANSPORTS = {
    "command": "runs no programs",
    "mcp": "hosts no MCP servers",
    "builtin": "keeps `builtin` for parts of its own",
}

_ONE_WAY = "this version of Habilis neither asks after a publish nor takes one back; leave this out"
_NO_PROGRAMS = "this version of Habilis runs no programs"
_WHOLE_WINDOW = "this version of Habilis reads the last 30 days; leave this out"
_ONE_CAP = "this version of Habilis counts one cap; write `daily_cap`"
_BY_OPERATOR = "a manifest opens no private host; an operator allows it on the account"

LATER: Mapping[type[shape.Shape], Mapping[str, str]] = {
    shape.ManifestShape: {
        **dict.fromkeys(("command", "args", "env", "expose", "cwd"), _NO_PROGRAMS),
        **dict.fromkeys(("private_hosts", "self_hosted"), _BY_OPERATOR),
        "bundle": "this version of Habilis installs no bundles",
        "requires": "this version of Habilis installs abilities one by one",
        "caps": _ONE_CAP,
        "permissions": "permissions are worked out, not declared; leave this out",
    },
    shape.AuthShape: {"scope": "the keys of an account are its own; leave this out"},
    shape.ToolShape: {**dict.fromkeys(("confirm", "undo"), _ONE_WAY), "command": _NO_PROGRAMS},
    shape.ProvidedShape: dict.fromkeys(("tool", "args", "command"), _NO_PROGRAMS),
    shape.ChannelShape: {"caps": _ONE_CAP},
    shape.SourceShape: dict.fromkeys(("window", "agg"), _WHOLE_WINDOW),
    shape.SourceRequestShape: dict.fromkeys(("window", "filter", "agg", "warnings"), _WHOLE_WINDOW),
}


def other_transport(root: Part, faults: Faults) -> bool:
    """Whether a transport of later versions carries the calls; noted as a fault.

    Nothing else is then worth saying: the rest of such a manifest follows other rules.
    """
    transport = root.at("transport")
    does = _TRANSPORTS.get(transport.text() or "")
    if does is None:
        return False
    faults.add(transport.path, f"this version of Habilis {does}; it carries `transport: http` and `transport: smtp`")
    return True


def unknown_flow(flow: Json) -> str:
    """Why a way to sign in is not taken: it is missing, misspelt, or unknown."""
    known = f"expected one of {', '.join(shape.FLOWS)}"
    if flow is None:
        return f"missing; {known}"
    return known + (suggestion(flow, shape.FLOWS) if isinstance(flow, str) else "")


def unknown_field(owner: type[shape.Shape], name: str) -> str:
    """Why a field is not taken: it comes later, is misspelt, stands in the wrong place, or is unknown."""
    later = LATER.get(owner, {}).get(name)
    if later:
        return later
    known = _fields(owner)
    meant = suggestion(name, known)
    places = {place for other, place in _PLACES.items() if name in _fields(other)} - {_PLACES.get(owner)}
    if not meant and len(places) == 1:
        return f"unknown field here; it belongs in {places.pop()}"
    return f"unknown field{meant or '; known here are ' + ', '.join(known)}"


_PLACES: Mapping[type[shape.Shape], str] = {
    shape.ManifestShape: "the file itself, not indented",
    shape.AuthShape: "an entry of `auth`",
    shape.ChoicesShape: "`choices` of a key",
    **dict.fromkeys(
        (
            shape.RedirectShape,
            shape.OAuth2Shape,
            shape.CloudShape,
            shape.DeviceShape,
            shape.ServiceAccountShape,
            shape.ClientCredentialsShape,
            shape.SessionShape,
        ),
        "`connect`",
    ),
    shape.ToolShape: "a tool",
    shape.StepShape: "a step",
    shape.RequestShape: "`request`",
    shape.ResultShape: "`result`",
    shape.ChannelShape: "an entry of `channels`",
    shape.ProvidesShape: "`provides`",
    shape.SourceRequestShape: "an entry of a source's `requests`",
    shape.SourceShape: "a source",
    shape.DerivedShape: "an entry of `derive`",
}


def _fields(owner: type[shape.Shape]) -> list[str]:
    return [field.alias or name for name, field in owner.model_fields.items()]


def is_called_otherwise(call: Part) -> bool:
    """Whether a tool or provided contract says in a way of later versions what is to be sent."""
    return any(name in call.fields() for name in ("command", "tool"))
