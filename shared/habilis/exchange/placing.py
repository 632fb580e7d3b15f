"""A value put into a request that is already filled: a page's number, a cursor, a signature."""

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, unquote_plus

from habilis.errors import EngineFailed, UpstreamProtocol
from habilis.messages import Json, Request
from habilis.templating import header_value, text_of


def place(request: Request, into: str, value: Json) -> Request:
    """The request with a value in it.

    Args:
        request: Filled and checked.
        into: `query:NAME`; `query` for an object whose every field is a parameter; `header:NAME`; or a JSON pointer
            into a JSON body. What is there already is replaced.
        value: Text in a query or header, JSON in a body.

    Raises:
        UpstreamProtocol: The value, an answer's, does not fit there.
        EngineFailed: The body is no JSON, or no object is where the pointer leads.
    """
    kind, _, name = into.partition(":")
    if kind == "query":
        fields = {name: value} if name else value
        if not isinstance(fields, Mapping):
            raise UpstreamProtocol("no fields to ask for the next page with", where=request.where, outcome="not_sent")
        return replace(request, url=_with_query(request.url, fields))
    if kind == "header":
        return with_header(request, name, text_of(value, name))
    return replace(request, body=_with_field(request, into, value))


def with_header(request: Request, name: str, value: str) -> Request:
    """The request with a header, in place of one of that name; BadInput when the value cannot stand in a header."""
    others = tuple(pair for pair in request.headers if pair[0].lower() != name.lower())
    return replace(request, headers=(*others, (name, header_value(value, name=name))))


def _with_query(url: str, fields: Mapping[str, Json]) -> str:
    head, _, query = url.partition("?")
    kept = [piece for piece in query.split("&") if piece and unquote_plus(piece.partition("=")[0]) not in fields]
    added = [f"{quote(name, safe='')}={quote(text_of(value, name), safe='')}" for name, value in fields.items()]
    return f"{head}?{'&'.join([*kept, *added])}"


def _with_field(request: Request, pointer: str, value: Json) -> bytes:
    body = json.loads(request.body) if isinstance(request.body, bytes) else None
    *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    node = body
    for parent in parents:
        node = node.setdefault(parent, {}) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        raise EngineFailed(f"the body has no place at {pointer}", where=request.where)
    node[last] = value
    return json.dumps(body, ensure_ascii=False).encode()
