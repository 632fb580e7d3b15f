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
    Choices,
    DerivedMetric,
    DestinationField,
    Identity,
    Manifest,
    SmtpTemplate,
    Source,
    SourceRequest,
)
from habilis.manifest.plain.calls import Plain, read_call, read_condition, read_place, read_request, read_text
from habilis.manifest.plain.ways import read_way
from habilis.messages import Json
from habilis.templating import (
    Condition,
    JsonTemplate,
    Place,
    TextTemplate,
    UrlTemplate,
    compile_place,
    compile_text,
)


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
            "auth": tuple(map(_key, plain["auth"])),
            "ways": tuple(map(read_way, plain["ways"])),
            "tools": tuple(map(read_call, plain["tools"])),
            "channels": tuple(map(_channel, plain["channels"])),
            "provides": tuple(map(read_call, plain["provides"])),
            "sources": tuple(map(_source, plain["sources"])),
            "smtp": plain["smtp"]
            and SmtpTemplate(**{name: compile_text(text) for name, text in plain["smtp"].items()}),
            "verify": plain["verify"] and read_request(plain["verify"]),
            "identity": plain["identity"] and _identity(plain["identity"]),
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


def _key(plain: Plain) -> AuthKey:
    choices = plain["choices"]
    return AuthKey(
        **{
            **plain,
            "options": tuple(plain["options"]),
            "choices": choices
            and Choices(
                request=read_request(choices["request"]),
                list=compile_place(choices["list"]),
                value=compile_place(choices["value"]),
                label=compile_place(choices["label"]),
                label_text=read_text(choices["label_text"]),
                where=read_condition(choices["where"]),
                depends=tuple(choices["depends"]),
                strip=choices["strip"],
            ),
        }
    )


def _identity(plain: Plain) -> Identity:
    return Identity(
        request=read_request(plain["request"]), id=compile_place(plain["id"]), label=read_place(plain["label"])
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
            "request": read_request(plain["request"]),
            "date_template": read_text(plain["date_template"]),
            "totals": tuple(plain["totals"]),
            "breakdown": tuple(plain["breakdown"]),
        }
    )


def _derived(plain: Plain) -> DerivedMetric:
    ratio = plain["ratio"]
    return DerivedMetric(**{**plain, "ratio": (ratio[0], ratio[1]) if ratio else None})
