"""A manifest as plain JSON, and back: the compiled form that is kept, so that a call reads no YAML and checks no shape.

Reading it back imports neither. Templates are kept as their source and compiled again, which is cheaper than reading
them from anything else.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from habilis.manifest.model import (
    AuthKey,
    ChannelKind,
    DerivedMetric,
    DestinationField,
    Manifest,
    RedirectFlow,
    RequestTemplate,
    ResultTemplate,
    Source,
    SourceRequest,
    Step,
    Tool,
)
from habilis.messages import Json
from habilis.templating import (
    Condition,
    JsonTemplate,
    Place,
    TextTemplate,
    UrlTemplate,
    compile_header,
    compile_json,
    compile_text,
    compile_url,
)

Plain = Mapping[str, Any]


def to_plain(manifest: Manifest) -> dict[str, Json]:
    """The manifest as JSON-ready data; `from_plain` makes an equal manifest of it."""
    return cast("dict[str, Json]", _plain(manifest))


def from_plain(plain: Plain) -> Manifest:
    """The manifest that was kept.

    Args:
        plain: What `to_plain` gave, by the same version of Habilis.

    Raises:
        BadInput, KeyError, TypeError: It is something else; read the manifest itself.
    """
    return Manifest(
        **{
            **plain,
            "hosts": tuple(plain["hosts"]),
            "result_hosts": tuple(plain["result_hosts"]),
            "categories": tuple(plain["categories"]),
            "auth": tuple(AuthKey(**{**key, "options": tuple(key["options"])}) for key in plain["auth"]),
            "ways": tuple(map(_flow, plain["ways"])),
            "tools": tuple(map(_tool, plain["tools"])),
            "channels": tuple(map(_channel, plain["channels"])),
            "provides": tuple(map(_tool, plain["provides"])),
            "sources": tuple(map(_source, plain["sources"])),
        }
    )


def _plain(value: object) -> Any:  # noqa: ANN401 -- JSON of any shape
    if isinstance(value, JsonTemplate | TextTemplate | UrlTemplate | Condition | Place):
        return value.source
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.init}
    if isinstance(value, Mapping):
        return {name: _plain(inside) for name, inside in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(inside) for inside in value]
    return value


def _request(plain: Plain) -> RequestTemplate:
    user_and_password = plain["basic_auth"]
    return RequestTemplate(
        method=plain["method"],
        url=compile_url(plain["url"]),
        headers=tuple((name, compile_header(text)) for name, text in plain["headers"]),
        basic_auth=(compile_text(user_and_password[0]), compile_text(user_and_password[1]))
        if user_and_password
        else None,
        json=None if plain["json"] is None else compile_json(plain["json"]),
        timeout_s=plain["timeout_s"],
    )


def _text(plain: str | None) -> TextTemplate | None:
    return None if plain is None else compile_text(plain)


def _tool(plain: Plain) -> Tool:
    steps = tuple(Step(name=step["name"], request=_request(step["request"])) for step in plain["steps"])
    return Tool(
        **{**plain, "steps": steps, "result": ResultTemplate(**plain["result"]), "target": _text(plain["target"])}
    )


def _channel(plain: Plain) -> ChannelKind:
    return ChannelKind(
        **{
            **plain,
            "destination": tuple(DestinationField(**one) for one in plain["destination"]),
            "does": tuple(plain["does"]),
        }
    )


def _source(plain: Plain) -> Source:
    return Source(
        name=plain["name"],
        requests=tuple(map(_source_request, plain["requests"])),
        derive=tuple(map(_derived, plain["derive"])),
    )


def _source_request(plain: Plain) -> SourceRequest:
    return SourceRequest(
        **{
            **plain,
            "request": _request(plain["request"]),
            "date_template": _text(plain["date_template"]),
            "totals": tuple(plain["totals"]),
            "breakdown": tuple(plain["breakdown"]),
        }
    )


def _derived(plain: Plain) -> DerivedMetric:
    ratio = plain["ratio"]
    return DerivedMetric(**{**plain, "ratio": (ratio[0], ratio[1]) if ratio else None})


def _flow(plain: Plain) -> RedirectFlow:
    denied = plain["denied"]
    return RedirectFlow(
        **{
            **plain,
            "url": compile_url(plain["url"]),
            "needs": tuple(plain["needs"]),
            "callback_params": tuple(plain["callback_params"]),
            "denied": (denied[0], denied[1]) if denied else None,
        }
    )
