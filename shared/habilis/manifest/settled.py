"""From what is written to what is meant: every field is there, with its default where the person left it out."""

from typing import Any, cast

from habilis.manifest import shape
from habilis.manifest.contracts import CONTRACTS, DESCRIPTIONS, ContractName
from habilis.manifest.merged import request_of
from habilis.manifest.settled_ways import settled_way
from habilis.manifest.written import expression, is_template
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
    defaults = written.defaults
    return {
        "id": own_id,
        "name": written.name,
        "version": written.version,
        "summary": written.summary,
        "service": written.service or own_id,
        "hosts": written.hosts or [],
        "content_hash": content_hash,
        "transport": written.transport,
        "homepage": written.homepage or "",
        "author": written.author or "",
        "icon": written.icon or "",
        "categories": written.categories,
        "avatar": written.avatar or "",
        "cost": written.cost or "",
        "auth": [_key(key, defaults) for key in written.auth],
        "ways": [settled_way(way, defaults) for way in _ways(written.connect)],
        "tools": [_tool(tool, defaults, is_publisher=tool.name in publishers) for tool in written.tools],
        "channels": [_channel(kind) for kind in written.channels],
        "provides": [_provided(name, provided, written) for name, provided in written.provides if provided],
        "sources": [_source(name, source, defaults) for name, source in written.sources.items()],
        "smtp": _smtp(written.smtp) if written.smtp else None,
        "daily_cap": written.daily_cap,
        "exclusive": written.exclusive,
        "result_hosts": written.result_hosts,
        "verify": written.verify and request_of(written.verify.request, defaults),
        "identity": written.identity
        and {
            "request": request_of(written.identity.request, defaults),
            "id": written.identity.id,
            "label": written.identity.label,
        },
    }


def _key(key: shape.AuthShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    return {
        "env": key.env,
        "label": key.label or key.env,
        "placeholder": key.placeholder or "",
        "help": key.help or "",
        "options": list(key.options),
        "optional": key.optional,
        "secret": key.secret,
        "pattern": key.pattern or "",
        "format": key.format or "",
        "multiline": key.multiline,
        "choices": key.choices and _choices(key.choices, defaults),
    }


def _choices(choices: shape.ChoicesShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    label = choices.value if choices.label is None else choices.label
    request = request_of(choices.request, defaults)
    if request["pages"] and request["pages"]["items"] is None:
        # A page's entries, to count them, are the outer ones where a pointer steps into lists of lists.
        request["pages"]["items"] = choices.list.partition("/*")[0]
    return {
        "request": request,
        "list": choices.list,
        "value": choices.value,
        "label": choices.value if is_template(label) else label,
        "label_text": label if is_template(label) else None,
        "where": choices.where,
        "depends": choices.depends,
        "strip": choices.strip,
    }


def _tool(tool: shape.ToolShape, defaults: shape.DefaultsShape, *, is_publisher: bool) -> dict[str, Any]:
    label = tool.label or tool.name.replace("_", " ").capitalize()
    return {
        "name": tool.name,
        "label": label,
        "description": tool.description or label,
        "input": {"type": "object", "properties": {}} if tool.input is None else tool.input,
        "role": tool.role or ("publish" if is_publisher else "read"),
        "target": tool.target,
        "contract": "",
        "cost": tool.cost or "",
        **_call(tool, defaults),
    }


def _provided(contract: str, provided: shape.ProvidedShape, written: shape.ManifestShape) -> dict[str, Any]:
    known = cast("ContractName", contract)
    return {
        "name": contract,
        "label": contract.capitalize(),
        "description": DESCRIPTIONS[known],
        "input": CONTRACTS[known],
        "role": "publish" if contract == "email" else "manage",
        "target": None,
        "contract": contract,
        "cost": provided.cost or written.cost or "",
        **_call(provided, written.defaults),
    }


def _call(call: shape.CallShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    names = {step.name for step in call.steps or ()}
    return {
        "steps": [_step(step, names, defaults) for step in call.steps] if call.steps else _one(call.request, defaults),
        "result": _result(call.result),
        "map": call.map,
        "most_runs": call.limits.runs,
    }


def _one(request: shape.RequestShape | None, defaults: shape.DefaultsShape) -> list[dict[str, Any]]:
    """A call of one request: a step without a name; none where a mail server carries the call."""
    if request is None:
        return []
    return [
        {
            "name": "",
            "request": request_of(request, defaults),
            "loop": None,
            "when": None,
            "save": [],
            "skips_errors": False,
            "save_error": "",
        }
    ]


def _step(step: shape.StepShape, names: set[str], defaults: shape.DefaultsShape) -> dict[str, Any]:
    over = step.for_each
    is_name = over in names or over == "files"
    return {
        "name": step.name,
        "request": request_of(step.request, defaults),
        "loop": over and {"over": over if is_name else "", "each": None if is_name else expression(over)},
        "when": step.when,
        "save": list(step.save.items()),
        "skips_errors": step.on_error == "skip",
        "save_error": step.save_error or "",
    }


def _result(result: shape.ResultShape) -> dict[str, Json]:
    is_said = is_template(result.text)
    return {
        "text": None if is_said else result.text,
        "said": result.text if is_said else None,
        "file_url": result.file_url,
        "file_b64": result.file_b64,
        "mime": result.mime or "",
        "name": result.name,
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


def _source(name: str, source: shape.SourceShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    return {
        "name": name,
        "requests": [_source_request(one, defaults) for one in source.requests],
        "derive": [_derived(one) for one in source.derive],
    }


def _source_request(one: shape.SourceRequestShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    every = list(one.metrics)
    request = request_of(one.request, defaults)
    if request["pages"] and request["pages"]["items"] is None:
        request["pages"]["items"] = one.rows
    is_template = "{{" in one.date
    return {
        "request": request,
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


def _ways(connect: shape.ConnectShape | None) -> list[shape.WayShape]:
    if connect is None:
        return []
    return connect if isinstance(connect, list) else [connect]


def _smtp(smtp: shape.SmtpShape) -> dict[str, Json]:
    return {
        "host": smtp.host,
        "port": smtp.port,
        "user": smtp.user,
        "password": smtp.password,
        "sender": smtp.sender,
        "security": smtp.security,
    }
