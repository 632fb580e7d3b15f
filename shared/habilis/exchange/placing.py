"""A value put into a request that is already filled: a page's number, a cursor, a signature."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import quote, quote_plus, unquote_plus

from habilis.errors import EngineFailed, UpstreamProtocol
from habilis.messages import Json, Request
from habilis.templating import header_value, text_of

_FORM = "application/x-www-form-urlencoded"


def place(request: Request, into: str, value: Json) -> Request:
    """The request with a value in it.

    Args:
        request: Filled and checked.
        into: `query:NAME`; `query` for an object whose every field is a parameter; `header:NAME`; or a JSON pointer
            into a body of JSON or into a form, where `/page/after` is the field `page[after]`. What is there already is
            replaced.
        value: JSON in a body of JSON, text elsewhere.

    Raises:
        UpstreamProtocol: The value, an answer's, does not fit there.
        EngineFailed: The body is neither, or no object is where the pointer leads.
    """
    kind, _, name = into.partition(":")
    if kind == "query":
        fields = {name: value} if name else value
        if not isinstance(fields, Mapping):
            raise UpstreamProtocol("no fields to ask for the next page with", where=request.where, outcome="not_sent")
        head, _, query = request.url.partition("?")
        return replace(request, url=f"{head}?{_with_fields(query, fields, quote)}")
    if kind == "header":
        return with_header(request, name, text_of(value, name))
    names = [part.replace("~1", "/").replace("~0", "~") for part in into.split("/")[1:]]
    body = request.body if isinstance(request.body, bytes) else b""
    if _is_form(request):
        field = "".join([names[0], *(f"[{name}]" for name in names[1:])])
        return replace(request, body=_with_fields(body.decode(), {field: value}, quote_plus).encode())
    return replace(request, body=_with_value(body, names, value, request.where))


def with_header(request: Request, name: str, value: str) -> Request:
    """The request with a header, in place of one of that name; BadInput when the value cannot stand in a header."""
    others = tuple(pair for pair in request.headers if pair[0].lower() != name.lower())
    return replace(request, headers=(*others, (name, header_value(value, name=name))))


def _is_form(request: Request) -> bool:
    return any(name.lower() == "content-type" and value.startswith(_FORM) for name, value in request.headers)


def _with_fields(query: str, fields: Mapping[str, Json], encode: Callable[..., str]) -> str:
    kept = [piece for piece in query.split("&") if piece and unquote_plus(piece.partition("=")[0]) not in fields]
    added = [f"{encode(name, safe='')}={encode(text_of(value, name), safe='')}" for name, value in fields.items()]
    return "&".join([*kept, *added])


def _with_value(data: bytes, names: list[str], value: Json, where: str) -> bytes:
    body = json.loads(data) if data.startswith(b"{") else None
    *parents, last = names
    node = body
    for parent in parents:
        node = node.setdefault(parent, {}) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        raise EngineFailed(f"the body has no place at /{'/'.join(names)}", where=where)
    node[last] = value
    return json.dumps(body, ensure_ascii=False).encode()
