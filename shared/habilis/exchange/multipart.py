"""Bodies of multipart/form-data: parts with a value or a file, the files read only when they are sent.

Names go as UTF-8 with quotes and control characters percent-encoded, as browsers send them: that is what servers read,
where `filename*` and MIME's encoded words are not.

Source: RFC 7578; the HTML standard, "Multipart form data", for the names.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from habilis.errors import ArgsInvalid
from habilis.exchange.uploads import as_file, checked_type, slice_of, type_of, upload_name
from habilis.manifest.model import PartTemplate
from habilis.messages import FileSlice, Json, Streamed
from habilis.templating import MISSING, Missing, Scope, TextTemplate
from habilis.templating.scope import text_of

_BREAKING = re.compile(r'["\x00-\x1f\x7f]')
_JSON_TYPE = re.compile(r"[^;]*[/+]json\s*(?:;.*)?", re.IGNORECASE)

Part = tuple[bytes, bytes | FileSlice]
"""Its headers, and its content."""


def multipart_body(templates: tuple[PartTemplate, ...], scope: Scope) -> tuple[bytes | Streamed, str]:
    """The body and its Content-Type; a part that fills to nothing is left out.

    Raises:
        ArgsInvalid: What stands for a file is none, or a part holds what it cannot carry.
    """
    parts = [part for template in templates for part in _parts(template, scope)]
    boundary = _boundary(parts, "" if scope.made is None else scope.made.call_id)
    pieces: list[bytes | FileSlice] = []
    for head, content in parts:
        pieces += [b"--%s\r\n%s\r\n" % (boundary, head), content, b"\r\n"]
    pieces.append(b"--%s--\r\n" % boundary)
    texts = [piece for piece in pieces if isinstance(piece, bytes)]
    body = b"".join(texts) if len(texts) == len(pieces) else Streamed(pieces=tuple(pieces))
    return body, f"multipart/form-data; boundary={boundary.decode()}"


def _boundary(parts: list[Part], call_id: str) -> bytes:
    """What stands between the parts.

    Drawn from the call's id and from all that is not on disk, so that nobody can have written it into a part, and so
    that the same call made again sends the same.
    """
    seed = sha256(call_id.encode())
    for head, content in parts:
        seed.update(head)
        seed.update(content if isinstance(content, bytes) else repr(content).encode())
    return b"habilis-" + seed.hexdigest()[:40].encode()


def _parts(template: PartTemplate, scope: Scope) -> list[Part]:
    """What a template makes: no part, one, or one for each entry of a list."""
    what = f"part '{template.name}'"
    mime = checked_type(_text(template.mime, scope), what)
    filename = _text(template.filename, scope)
    try:
        if template.file is not None:
            files = _entries(template.file.fill(scope))
            return list(_file_parts(template.name, files, filename, mime))
        values = MISSING if template.value is None else template.value.fill(scope)
        return list(_value_parts(template.name, values, filename, mime))
    except UnicodeEncodeError:
        pass
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    raise ArgsInvalid(f"{what}: a text holds half of a character (a lone surrogate)")


def _text(template: TextTemplate | None, scope: Scope) -> str:
    filled = MISSING if template is None else template.fill(scope)
    return "" if filled is MISSING else filled


def _entries(value: Json | Missing) -> list[Json]:
    """The entries of a list, or the one value; nothing for what is missing or null."""
    if value is MISSING or value is None:
        return []
    return [entry for entry in value if entry is not None] if isinstance(value, list) else [value]


def _file_parts(name: str, files: list[Json], filename: str, mime: str) -> Iterator[Part]:
    for entry in files:
        file = as_file(entry, f"part '{name}'")
        kind = mime or type_of(file)
        yield _head(name, upload_name(filename or file.get("name"), kind), kind), slice_of(file)


def _value_parts(name: str, value: Json | Missing, filename: str, mime: str) -> Iterator[Part]:
    head = _head(name, upload_name(filename, mime) if filename else "", mime)
    # A list is several values, but one document where the part says that it is JSON.
    for entry in [value] if isinstance(value, list) and _JSON_TYPE.fullmatch(mime) else _entries(value):
        yield head, text_of(entry, f"part '{name}'").encode()


def _head(name: str, filename: str, mime: str) -> bytes:
    head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if filename:
        head += f'; filename="{_quoted(filename)}"'
    if mime:
        head += f"\r\nContent-Type: {mime}"
    return f"{head}\r\n".encode()


def _quoted(text: str) -> str:
    return _BREAKING.sub(lambda found: f"%{ord(found[0]):02X}", text)
