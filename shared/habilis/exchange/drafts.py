"""A request that waits for an answer, as far as it can be told: the rest stands as the manifest writes it."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from habilis.exchange.fill import Bounds, require_keys
from habilis.exchange.forms import with_query
from habilis.hosts import checked_url
from habilis.manifest.model import PartTemplate, RequestTemplate
from habilis.messages import Json
from habilis.templating import (
    MISSING,
    FileValue,
    JsonTemplate,
    Missing,
    Scope,
    TextTemplate,
    UrlTemplate,
    compile_json,
    compile_text,
    fill_header,
)
from habilis.templating.grammar import parse

Templates = TextTemplate | UrlTemplate | JsonTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A request as far as it is known.

    Attributes:
        body: Of a JSON body or a form its values; of a multipart body its parts, each with `name` and `content`; of a
            file the file. A file among these is a FileValue, placeholders are as written. None for no body.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    has_basic_auth: bool
    body: Json


def draft_request(
    template: RequestTemplate, scope: Scope, bounds: Bounds, unknown: frozenset[str], *, where: str
) -> Draft:
    """Fill what does not need any of the names that are not known yet, and check that.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: As `fill_request`, for what is known.
    """
    headers = [pair for name, value in template.headers if (pair := (name, _header(name, value, scope, unknown)))[1]]
    body, kind = _body(template, scope, unknown)
    if kind and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", kind))
    url = _text(template.url, scope, unknown, is_url=True)
    if unknown.isdisjoint(template.url.arguments):
        url = checked_url(url, bounds.hosts, where=where, private_hosts=bounds.private_hosts)
    return Draft(
        method=template.method,
        url=_with_query(url, template, scope, unknown),
        headers=tuple(headers),
        has_basic_auth=template.basic_auth is not None,
        body=body,
    )


def as_written(template: RequestTemplate) -> Draft:
    """A request as the manifest writes it, with nothing filled in."""
    body = next((one.source for one in (template.json, template.form, template.body_file) if one is not None), None)
    return Draft(
        method=template.method,
        url=template.url.source,
        headers=tuple((name, value.source) for name, value in template.headers),
        has_basic_auth=template.basic_auth is not None,
        body=body,
    )


def needs_of(template: RequestTemplate) -> frozenset[str]:
    """The first names of all that a request is filled with."""
    return frozenset(name for one in _templates(template) for name in one.arguments)


def written(source: Json) -> str:
    """A template or condition as the manifest writes it, on one line."""
    return source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)


def _templates(template: RequestTemplate) -> Iterator[Templates]:
    yield template.url
    yield from (value for _, value in template.query)
    yield from (value for _, value in template.headers)
    yield from template.basic_auth or ()
    yield from filter(None, (template.json, template.form, template.body_file))
    for part in template.multipart:
        yield from filter(None, (part.value, part.file, part.filename, part.mime))
    if template.idempotency is not None:
        yield template.idempotency.value
    if template.sign is not None:
        yield from template.sign.values.values()


def _header(name: str, template: TextTemplate, scope: Scope, unknown: frozenset[str]) -> str:
    is_known = unknown.isdisjoint(template.arguments)
    filled = fill_header(template, scope, name=name) if is_known else _text(template, scope, unknown)
    if filled is MISSING:
        return ""
    require_keys(template, scope)
    return filled


def _with_query(url: str, template: RequestTemplate, scope: Scope, unknown: frozenset[str]) -> str:
    known = tuple(pair for pair in template.query if unknown.isdisjoint(pair[1].arguments))
    url = with_query(url, known, scope)
    for name, value in template.query:
        if not unknown.isdisjoint(value.arguments):
            told = written(_shown(_json(value.source, scope, unknown)))
            url += f"{'&' if '?' in url else '?'}{quote(name, safe='')}={told}"
    return url


def _body(template: RequestTemplate, scope: Scope, unknown: frozenset[str]) -> tuple[Json, str]:
    if template.json is not None:
        return _shown(_json(template.json.source, scope, unknown)), "application/json"
    if template.form is not None:
        return _shown(_json(template.form.source, scope, unknown)), "application/x-www-form-urlencoded"
    if template.multipart:
        return [shown for part in template.multipart for shown in _parts(part, scope, unknown)], "multipart/form-data"
    if template.body_file is not None:
        file = _shown(_json(template.body_file.source, scope, unknown))
        mime = file.get("mime") if isinstance(file, FileValue) else None
        return file, str(mime or "")
    return None, ""


def _parts(part: PartTemplate, scope: Scope, unknown: frozenset[str]) -> Iterator[Json]:
    source = part.value if part.file is None else part.file
    content = MISSING if source is None else _json(source.source, scope, unknown)
    further: dict[str, Json] = {}
    for name, template in (("filename", part.filename), ("type", part.mime)):
        if template is not None and (text := _text(template, scope, unknown)):
            further[name] = text
    for entry in content if isinstance(content, list) else [content]:
        if entry is not MISSING and entry is not None:
            own = {"filename": entry["name"], "type": entry["mime"]} if isinstance(entry, FileValue) else {}
            told = entry if isinstance(entry, FileValue) else written(entry)
            yield {"name": part.name, **own, **further, "content": told}


def _json(source: Json, scope: Scope, unknown: Collection[str]) -> Json | Missing:
    """A value with what is known filled in; lists and objects that are built stand as written."""
    template = compile_json(source)
    if template.arguments.isdisjoint(unknown):
        return template.fill(scope)
    if isinstance(source, list):
        return [_shown(_json(entry, scope, unknown)) for entry in source]
    if isinstance(source, dict) and not any(name.startswith("$") for name in source):
        filled = {name: _json(entry, scope, unknown) for name, entry in source.items()}
        return {name: entry for name, entry in filled.items() if entry is not MISSING}
    return _text(compile_text(source), scope, unknown) if isinstance(source, str) else source


def _shown(value: Json | Missing) -> Json:
    return None if value is MISSING else value


def _text(template: TextTemplate | UrlTemplate, scope: Scope, unknown: Collection[str], *, is_url: bool = False) -> str:
    if template.arguments.isdisjoint(unknown):
        whole = template.fill(scope)
        return "" if whole is MISSING else whole
    told = []
    for part in parse(template.source):
        if isinstance(part, str):
            told.append(part)
            continue
        one = compile_text(part.text)
        filled = part.text if not one.arguments.isdisjoint(unknown) else one.fill(scope)
        text = "" if filled is MISSING else filled
        is_argument = is_url and part.kind != "key" and filled is not part.text
        told.append(quote(text, safe="") if is_argument else text)
    return "".join(told)
