"""A request that waits for an answer, as far as it can be told: the rest stands as the manifest writes it."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from habilis.exchange.forms import with_query
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


def draft_request(template: RequestTemplate, scope: Scope, unknown: Collection[str]) -> Draft:
    """Fill what does not need any of the names that are not known yet."""
    headers = [(name, text) for name, value in template.headers if (text := _text(value, scope, unknown))]
    body, kind = _body(template, scope, frozenset(unknown))
    if kind and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", kind))
    return Draft(
        method=template.method,
        url=_url(template, scope, frozenset(unknown)),
        headers=tuple(headers),
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


def _url(template: RequestTemplate, scope: Scope, unknown: frozenset[str]) -> str:
    url = _text(template.url, scope, unknown, is_url=True)
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
