"""What manifests may hold that this version does not carry, said in plain words instead of "unknown field"."""

from collections.abc import Mapping

from habilis.manifest import shape
from habilis.manifest.faults import Faults, Part, suggestion

_TRANSPORTS = {
    "command": "runs no programs",
    "mcp": "hosts no MCP servers",
    "smtp": "sends no mail by itself",
    "builtin": "keeps `builtin` for parts of its own",
}
_FLOWS = ("oauth2", "service_account", "cloud", "client_credentials", "session", "device")

_ONE_REQUEST = "this version of Habilis sends one `request` per call; steps come later"
_JSON_ONLY = "this version of Habilis sends JSON bodies only; write `json`"
_TEXT_ONLY = "this version of Habilis takes text from an answer, no files; write `text`"
_NO_PROGRAMS = "this version of Habilis runs no programs"
_TYPED_KEYS = "this version of Habilis takes keys as they are typed; leave this out"
_READS_ONCE = "this version of Habilis sends a request once and reads one JSON answer; leave this out"
_WHOLE_WINDOW = "this version of Habilis reads the last 30 days in one request; leave this out"

LATER: Mapping[type[shape.Shape], Mapping[str, str]] = {
    shape.ManifestShape: {
        **dict.fromkeys(("command", "args", "env", "expose", "cwd"), _NO_PROGRAMS),
        **dict.fromkeys(("verify", "identity"), _TYPED_KEYS),
        "smtp": "this version of Habilis sends no mail by itself",
        "defaults": "this version of Habilis shares nothing between requests; write it in each request",
        "bundle": "this version of Habilis installs no bundles",
        "requires": "this version of Habilis installs abilities one by one",
        "result_hosts": _TEXT_ONLY,
        "caps": "this version of Habilis counts one cap; write `daily_cap`",
        "cost": "a cost belongs to what is provided; write it under `provides`",
        "permissions": "permissions are worked out, not declared; leave this out",
        "private_hosts": "a manifest opens no private host; an operator allows it on the account",
        "self_hosted": "a manifest opens no private host; an operator allows it on the account",
    },
    shape.AuthShape: {
        **dict.fromkeys(("choices", "pattern", "format", "multiline", "scope"), _TYPED_KEYS),
    },
    shape.RequestShape: {
        **dict.fromkeys(("form", "multipart", "body_file"), _JSON_ONLY),
        **dict.fromkeys(("decode", "ok", "errors", "retry", "pages", "until", "sign", "idempotency"), _READS_ONCE),
        "query": "this version of Habilis has no `query`; write it in the url, arguments are encoded there",
    },
    shape.ResultShape: dict.fromkeys(("file_url", "file_b64", "mime"), _TEXT_ONLY),
    shape.ToolShape: {
        **dict.fromkeys(("steps", "confirm", "undo", "limits"), _ONE_REQUEST),
        "command": _NO_PROGRAMS,
    },
    shape.ProvidedShape: {
        "steps": _ONE_REQUEST,
        **dict.fromkeys(("tool", "args", "command"), _NO_PROGRAMS),
    },
    shape.ChannelShape: {"caps": "this version of Habilis counts one cap; write `daily_cap`"},
    shape.SourceShape: dict.fromkeys(("window", "agg"), _WHOLE_WINDOW),
    shape.SourceRequestShape: dict.fromkeys(("window", "pages", "filter", "agg", "warnings"), _WHOLE_WINDOW),
}


def other_transport(root: Part, faults: Faults) -> bool:
    """Whether another transport than http carries the calls; noted as a fault.

    Nothing else is then worth saying: the rest of such a manifest follows other rules.
    """
    transport = root.at("transport")
    does = _TRANSPORTS.get(transport.text() or "")
    if does is None:
        return False
    faults.add(transport.path, f"this version of Habilis {does}; `transport: http` is the one it carries")
    return True


def other_flows(root: Part, faults: Faults) -> bool:
    """Whether `connect` holds ways to sign in that come later; noted as faults."""
    connect = root.at("connect")
    if isinstance(connect.value, list):
        ways = connect.entries()
        faults.add(connect.path, "this version of Habilis offers one way to sign in; write it without a list")
    else:
        ways = [connect]
    for way in ways:
        flow = way.at("flow")
        if flow.text() in _FLOWS:
            faults.add(flow.path, f"this version of Habilis signs in by redirect only; {flow.text()} comes later")
    return isinstance(connect.value, list) or connect.at("flow").text() in _FLOWS


def unknown_field(owner: type[shape.Shape], name: str) -> str:
    """Why a field is not taken: it comes later, is misspelt, stands in the wrong place, or is unknown."""
    later = LATER.get(owner, {}).get(name)
    if later:
        return later
    known = _fields(owner)
    meant = suggestion(name, known)
    places = [place for other, place in _PLACES.items() if name in _fields(other)]
    if not meant and len(places) == 1:
        return f"unknown field here; it belongs in {places[0]}"
    return f"unknown field{meant or '; known here are ' + ', '.join(known)}"


_PLACES: Mapping[type[shape.Shape], str] = {
    shape.ManifestShape: "the file itself, not indented",
    shape.AuthShape: "an entry of `auth`",
    shape.ConnectShape: "`connect`",
    shape.ToolShape: "a tool",
    shape.RequestShape: "`request`",
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
    return isinstance(call.value, dict) and any(name in call.value for name in ("steps", "command", "tool"))
