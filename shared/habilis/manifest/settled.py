"""From what is written to what is meant: every field is there, with its default where the person left it out."""

from typing import Any, cast

from habilis.manifest import shape
from habilis.manifest.contracts import CONTRACTS, DESCRIPTIONS, ContractName
from habilis.messages import Json

_FACTS = ("name", "icon", "profile_hosts", "text_limit", "image", "preview", "writing")


def settled(written: shape.ManifestShape, *, folder: str, content_hash: str) -> dict[str, Any]:
    """The manifest in the plain form that `plain.from_plain` reads.

    Args:
        written: A checked document.
        folder: Name of the ability's folder: its id when the document names none.
        content_hash: SHA-256 of the text, hex.
    """
    own_id = written.id or folder
    publishers = {kind.publish for kind in written.channels}
    return {
        "id": own_id,
        "name": written.name,
        "version": written.version,
        "summary": written.summary,
        "service": written.service or own_id,
        "hosts": written.hosts,
        "content_hash": content_hash,
        "transport": written.transport,
        "homepage": written.homepage or "",
        "author": written.author or "",
        "icon": written.icon or "",
        "categories": written.categories,
        "avatar": written.avatar or "",
        "auth": [_key(key) for key in written.auth],
        "ways": [_flow(written.connect)] if written.connect else [],
        "tools": [_tool(tool, is_publisher=tool.name in publishers) for tool in written.tools],
        "channels": [_channel(kind) for kind in written.channels],
        "provides": [_provided(name, provided) for name, provided in written.provides if provided],
        "sources": [_source(name, source) for name, source in written.sources.items()],
        "daily_cap": written.daily_cap,
        "exclusive": written.exclusive,
        "result_hosts": [],
    }


def _key(key: shape.AuthShape) -> dict[str, Json]:
    return {
        "env": key.env,
        "label": key.label or key.env,
        "placeholder": key.placeholder or "",
        "help": key.help or "",
        "options": list(key.options),
        "optional": key.optional,
        "secret": key.secret,
    }


def _request(request: shape.RequestShape) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": list(request.headers.items()),
        "basic_auth": request.basic_auth,
        "json": request.body,
        "timeout_s": float(request.timeout_s),
    }


def _tool(tool: shape.ToolShape, *, is_publisher: bool) -> dict[str, Any]:
    label = tool.label or tool.name.replace("_", " ").capitalize()
    return {
        "name": tool.name,
        "label": label,
        "description": tool.description or label,
        "input": {"type": "object", "properties": {}} if tool.input is None else tool.input,
        "steps": [{"name": "", "request": _request(tool.request)}],
        "result": {"text": tool.result.text},
        "role": tool.role or ("publish" if is_publisher else "read"),
        "target": tool.target,
        "map": tool.map,
    }


def _channel(kind: shape.ChannelShape) -> dict[str, Any]:
    given = kind.model_dump(include=set(_FACTS), exclude_unset=True, exclude_none=True)
    return {
        "kind": kind.kind,
        "label": kind.label,
        "publish": kind.publish,
        "destination": [
            {"name": name, "label": one.label or name, "type": one.type, "help": one.help or ""}
            for name, one in kind.destination.items()
        ],
        "does": list(kind.does),
        "facts": {name: given[name] for name in _FACTS if name in given},
    }


def _provided(contract: str, provided: shape.ProvidedShape) -> dict[str, Any]:
    known = cast("ContractName", contract)
    return {
        "name": contract,
        "label": contract.capitalize(),
        "description": DESCRIPTIONS[known],
        "input": CONTRACTS[known],
        "steps": [{"name": "", "request": _request(provided.request)}],
        "result": {"text": provided.result.text},
        "role": "publish" if contract == "email" else "manage",
        "target": None,
        "map": provided.map,
        "contract": contract,
        "cost": provided.cost or "",
    }


def _source(name: str, source: shape.SourceShape) -> dict[str, Any]:
    return {
        "name": name,
        "requests": [_source_request(one) for one in source.requests],
        "derive": [_derived(one) for one in source.derive],
    }


def _source_request(one: shape.SourceRequestShape) -> dict[str, Any]:
    every = list(one.metrics)
    is_template = "{{" in one.date
    return {
        "request": _request(one.request),
        "rows": one.rows,
        "date_pointer": "" if is_template else one.date,
        "date_template": one.date if is_template else None,
        "dims": one.dims,
        "metrics": one.metrics,
        "totals": every if one.totals is None else one.totals,
        "breakdown": (every if one.dims else []) if one.breakdown is None else one.breakdown,
        "skip_zero": one.skip_zero,
        "scale": {metric: float(factor) for metric, factor in one.scale.items()},
    }


def _derived(one: shape.DerivedShape) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "sum": one.sum or "",
        "where": one.where,
        "ratio": one.ratio,
        "scale": float(one.scale),
    }


def _flow(connect: shape.ConnectShape) -> dict[str, Any]:
    denied = connect.denied
    return {
        "label": connect.label,
        "url": connect.url,
        "needs": connect.needs,
        "callback_params": connect.callback_params,
        "needs_https": connect.callback == "https",
        "returns": connect.returns,
        "denied": [denied.param, denied.equals] if denied else None,
    }
