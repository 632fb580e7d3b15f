"""Requests as data for people to read before they go out: keys masked, files by name and size."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from urllib.parse import parse_qsl

from habilis.engine.preparing import Prepared
from habilis.engine.resolve import pointing_at
from habilis.exchange.drafts import Draft
from habilis.exchange.plan import Planned, plan_tool
from habilis.exchange.uploads import slice_of
from habilis.manifest.model import SmtpTemplate
from habilis.messages import FileSlice, Json, Request, Streamed
from habilis.redaction import clean
from habilis.templating import FileValue

FORM_TYPE = "application/x-www-form-urlencoded"
_NAMED = re.compile(r'\b(name|filename)="([^"]*)"')

MULTIPART_TYPE = "multipart/form-data"


def show_requests(call: Prepared) -> list[dict[str, Json]]:
    """What a call would send, as data, in its order; sends nothing.

    Where a step needs an answer that is not there yet, its request stands with the placeholders that wait for it.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: It could not be sent.
    """
    if call.found.manifest.smtp is not None:
        return [_mail(call, call.found.manifest.smtp)]
    names = {file.path: str(file["name"]) for file in call.files}
    with pointing_at(call.found.account):
        planned = plan_tool(call.found.tool, call.shown_scope, call.found.bounds)
    shown = [_planned_as_data(one, names) for one in planned]
    texts = {
        text: f"<{file.size:,} bytes of {file['name']} as base64>"
        for file in call.files
        if isinstance(text := file.get("base64"), str) and text
    }
    return [{name: _shortened(value, texts) for name, value in one.items()} for one in shown] if texts else shown


def _mail(call: Prepared, smtp: SmtpTemplate) -> dict[str, Json]:
    from habilis.engine.mails import mail_as_data  # most calls are no mails
    from habilis.exchange.mail import run_mail

    with pointing_at(call.found.account):
        exchange = run_mail(call.found.tool, smtp, call.shown_scope, call.found.bounds)
        mail = next(exchange)
    exchange.close()
    return mail_as_data(mail)


def request_as_data(request: Request, names: Mapping[str, str] | None = None) -> dict[str, Json]:
    """A request for people to read: every key masked; JSON and forms as data, parts one by one, files as their size.

    Args:
        request: As it would be sent.
        names: What files are called, by where they lie; one that is not in it is called as its file.
    """
    headers: dict[str, Json] = dict(request.headers)
    if request.basic_auth is not None:
        headers["Authorization"] = "Basic [redacted]"
    shown: dict[str, Json] = {
        "method": request.method,
        "url": request.url,
        "headers": headers,
        "body": _body(request, names or {}),
    }
    cleaned = clean(shown)
    assert isinstance(cleaned, dict)  # noqa: S101 - cleaning keeps the shape
    return cleaned


def content_type(headers: Mapping[str, Json]) -> str:
    """The Content-Type without its parameters, lower case; "" for none."""
    named = (str(value) for name, value in headers.items() if name.lower() == "content-type")
    return next(named, "").partition(";")[0].strip().lower()


def _planned_as_data(planned: Planned, names: Mapping[str, str]) -> dict[str, Json]:
    request = planned.request
    shown: dict[str, Json] = {"where": planned.step} if planned.step else {}
    shown |= request_as_data(request, names) if isinstance(request, Request) else _draft_as_data(request, names)
    return {**shown, "notes": list(planned.notes)} if planned.notes else shown


def _draft_as_data(draft: Draft, names: Mapping[str, str]) -> dict[str, Json]:
    headers: dict[str, Json] = dict(draft.headers)
    if draft.has_basic_auth:
        headers["Authorization"] = "Basic [redacted]"
    body = draft.body
    if content_type(headers) == MULTIPART_TYPE and isinstance(body, list):
        body = [
            {name: _told_if_file(entry, names) for name, entry in dict(part).items()}
            for part in body
            if isinstance(part, dict)
        ]
    shown: dict[str, Json] = {
        "method": draft.method,
        "url": draft.url,
        "headers": headers,
        "body": _told_if_file(body, names),
    }
    cleaned = clean(shown)
    assert isinstance(cleaned, dict)  # noqa: S101 - cleaning keeps the shape
    return cleaned


def _shortened(value: Json, texts: Mapping[str, str]) -> Json:
    """The same value with every one of some long texts told in short."""
    if isinstance(value, str):
        for text, told in texts.items():
            value = value.replace(text, told)
        return value
    if isinstance(value, list):
        return [_shortened(entry, texts) for entry in value]
    if isinstance(value, dict):
        return {name: _shortened(entry, texts) for name, entry in value.items()}
    return value


def _told_if_file(value: Json, names: Mapping[str, str]) -> Json:
    return _told(slice_of(value), names) if isinstance(value, FileValue) else value


def _body(request: Request, names: Mapping[str, str]) -> Json:
    body = request.body
    if body is None:
        return None
    pieces = body.pieces if isinstance(body, Streamed) else (body,)
    kind = content_type(dict(request.headers))
    if kind == MULTIPART_TYPE:
        return _parts(request, pieces, names)
    if isinstance(body, Streamed):
        return " ".join(_told(piece, names) if isinstance(piece, FileSlice) else _text(piece) for piece in pieces)
    if kind == FORM_TYPE:
        return _fields(body)
    try:
        data: Json = json.loads(body)
    except ValueError:
        return _text(body)
    return data


def _fields(body: bytes) -> Json:
    """The names and values of a form; a repeated name has the list of its values."""
    fields: dict[str, Json] = {}
    for name, value in parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True):
        if name not in fields:
            fields[name] = value
            continue
        before = fields[name]
        fields[name] = [*before, value] if isinstance(before, list) else [before, value]
    return fields


def _parts(request: Request, pieces: tuple[bytes | FileSlice, ...], names: Mapping[str, str]) -> Json:
    kind = next(value for name, value in request.headers if name.lower() == "content-type")
    boundary = kind.partition("boundary=")[2].strip('"').encode()
    # Not to be guessed: else a value could be written so that it is shown as a file.
    mark = os.urandom(16)
    files = [piece for piece in pieces if isinstance(piece, FileSlice)]
    whole = b"".join(mark if isinstance(piece, FileSlice) else piece for piece in pieces)
    parts: list[Json] = []
    for part in whole.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        is_file = content == mark + b"\r\n"
        value = _told(files.pop(0), names) if is_file else _text(content.removesuffix(b"\r\n"))
        parts.append({**_head(head), "content": value})
    return parts


def _head(head: bytes) -> dict[str, Json]:
    """What a part's headers say: its name, and its file name and type where it has these."""
    shown: dict[str, Json] = {}
    for line in head.decode(errors="replace").strip().split("\r\n"):
        field, _, value = line.partition(": ")
        if field.lower() == "content-disposition":
            shown.update(_NAMED.findall(value))
        elif field.lower() == "content-type":
            shown["type"] = value
    return shown


def _told(piece: FileSlice, names: Mapping[str, str]) -> str:
    start = f", from byte {piece.offset:,} on" if piece.offset else ""
    return f"<{piece.size:,} bytes of {names.get(piece.path) or PurePath(piece.path).name}{start}>"


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<{len(data):,} bytes>"
