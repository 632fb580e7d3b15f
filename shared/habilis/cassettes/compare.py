"""Whether a request is the recorded one: not byte for byte, but in what it says; and where it differs, in lines."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from habilis.cassettes.model import Interaction
from habilis.errors import BadInput
from habilis.messages import Json
from habilis.reading import read_json
from habilis.reading.json_text import shortened

_MOST_LINES = 12
_MOST_ALIKE = 30
"""Characters of what two texts begin with alike that are still shown."""

_PORTS = {"https": 443, "http": 80}
_PARAMETER = re.compile(r';\s*boundary=(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as it would go out.

    Attributes:
        headers: Lower-case names.
        is_read: Whether it changes nothing outside.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    is_read: bool

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of a multipart body."""

    head: tuple[tuple[str, str], ...]
    content: bytes


def differences(expected: Interaction, sent: Sent) -> list[str]:
    """Where a request differs from the recorded one, a line each; empty when it says the same.

    Method, address, query and body count. A body is compared as what it is: JSON by its values, a form and a query by
    their names and values, multipart by its parts, whatever the boundary. Other headers do not count: a recording has
    what one client once sent, and its keys are masked.
    """
    found = [*_address(expected, sent), *_body(expected, sent)]
    more = len(found) - _MOST_LINES
    return found if more <= 0 else [*found[:_MOST_LINES], f"and {more} more"]


def _address(expected: Interaction, sent: Sent) -> Iterator[str]:
    yield from differing("method", expected.method, sent.method)
    wanted, got = urlsplit(expected.url), urlsplit(sent.url)
    yield from differing("address", _place(expected.url), _place(sent.url))
    yield from differing("path", unquote(wanted.path) or "/", unquote(got.path) or "/")
    if "%2f" in f"{wanted.path}{got.path}".lower():
        # Decoded, a slash inside a part of the path would look like one between two parts.
        yield from differing("path", wanted.path.lower(), got.path.lower())
    yield from _pairs("query", wanted.query, got.query)


def _place(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme)
    return f"{parts.scheme}://{parts.hostname}" + ("" if port == _PORTS.get(parts.scheme) else f":{port}")


def _body(expected: Interaction, sent: Sent) -> Iterator[str]:
    kind, wanted_kind = _kind(sent.headers), _kind(expected.headers)
    if not expected.body or not sent.body:
        yield from differing("body", _summary(expected.body), _summary(sent.body))
        return
    if wanted_kind and kind != wanted_kind:
        yield f"content type: expected {wanted_kind}, got {kind or 'none'}"
        return
    compare = _COMPARERS.get("json" if kind.endswith("+json") else kind.rpartition("/")[2], _raw)
    yield from compare(expected, sent)


def _kind(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _json(expected: Interaction, sent: Sent) -> Iterator[str]:
    try:
        wanted, got = (read_json(body, what="a body", largest=len(body)) for body in (expected.body, sent.body))
    except BadInput:
        yield from _raw(expected, sent)
        return
    yield from differing_values("body", wanted, got)


def differing_values(what: str, wanted: Json, got: Json, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, a line each that says `what` and the pointer to the place."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in [*wanted, *(name for name in got if name not in wanted)]:
            inside = f"{path}/{name}"
            if name in wanted and name in got:
                yield from differing_values(what, wanted[name], got[name], inside)
            else:
                sides = (_json_text(side[name]) if name in side else None for side in (wanted, got))
                yield from differing(f"{what} {inside}", *sides)
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from differing_values(what, one, other, f"{path}/{index}")
    elif isinstance(wanted, bool) != isinstance(got, bool) or wanted != got:
        yield from differing(f"{what} {path or '/'}", _json_text(wanted), _json_text(got))


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _form(expected: Interaction, sent: Sent) -> Iterator[str]:
    yield from _pairs("form", expected.body.decode(errors="replace"), sent.body.decode(errors="replace"))


def _pairs(what: str, wanted_text: str, got_text: str) -> Iterator[str]:
    """Where two urlencoded texts differ: values of one name keep their order, names need not."""
    wanted, got = _by_name(wanted_text), _by_name(got_text)
    for name in [*wanted, *(name for name in got if name not in wanted)]:
        yield from differing(f"{what} {name}", _listed(wanted.get(name)), _listed(got.get(name)))


def _by_name(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return found


def _multipart(expected: Interaction, sent: Sent) -> Iterator[str]:
    wanted, got = (_parts(one.body, one.headers.get("content-type", "")) for one in (expected, sent))
    if len(wanted) != len(got):
        yield f"multipart: expected {len(wanted)} parts, got {len(got)}"
    for number, (one, other) in enumerate(zip(wanted, got, strict=False), 1):
        for name in sorted({name for name, _ in (*one.head, *other.head)}):
            yield from differing(f"part {number} {name}", dict(one.head).get(name), dict(other.head).get(name))
        yield from differing(f"part {number}", _summary(one.content), _summary(other.content))


def _parts(body: bytes, content_type: str) -> list[_Part]:
    """The parts of a multipart body; one written by hand may end its lines with a line feed alone."""
    match = _PARAMETER.search(content_type)
    # A recording's own header may be left out: its first line is the boundary.
    boundary = (match[1] or match[2]).encode() if match else body.partition(b"\n")[0].strip().removeprefix(b"--")
    end = b"\r\n" if b"\r\n" in body else b"\n"
    pieces = (end + body).split(end + b"--" + boundary)[1:]
    return [_part(piece.removeprefix(end), end) for piece in pieces if not piece.startswith(b"--")]


def _part(piece: bytes, end: bytes) -> _Part:
    head, _, content = piece.partition(end * 2)
    lines = (line.partition(":") for line in head.decode(errors="replace").splitlines())
    return _Part(tuple((name.strip().lower(), value.strip()) for name, _, value in lines), content)


def _raw(expected: Interaction, sent: Sent) -> Iterator[str]:
    yield from differing("body", _summary(expected.body), _summary(sent.body))


_COMPARERS: Mapping[str, Callable[[Interaction, Sent], Iterator[str]]] = {
    "json": _json,
    "x-www-form-urlencoded": _form,
    "form-data": _multipart,
}


def _summary(body: bytes) -> str | None:
    """A body as a line shows it: short text as it is, anything else by its size and hash; None when it is empty."""
    if not body:
        return None
    text = body.decode(errors="replace")
    if len(text) <= 200 and "\ufffd" not in text:
        return text
    return f"{len(body)} bytes, SHA-256 {hashlib.sha256(body).hexdigest()[:16]}"


def differing(what: str, wanted: str | None, got: str | None) -> Iterator[str]:
    """The line that says what was expected and what came; none where both are the same."""
    if wanted == got:
        return
    if wanted and got:
        pairs = enumerate(zip(wanted, got, strict=False))
        alike = next((index for index, (one, other) in pairs if one != other), min(len(wanted), len(got)))
        if alike > _MOST_ALIKE:
            wanted, got = (f"…{text[alike - _MOST_ALIKE // 2 :]}" for text in (wanted, got))
    yield f"{what}: expected {_shown(wanted)}, got {_shown(got)}"


def _listed(values: list[str] | None) -> str | None:
    return None if values is None else ", ".join(values)


def _shown(text: str | None) -> str:
    return "nothing" if text is None else shortened(text)
