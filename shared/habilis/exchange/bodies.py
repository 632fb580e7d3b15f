"""The body of an answer, read as far as it can be read: the call is done, whatever the service wrote."""

import codecs
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from http import HTTPStatus

from habilis.exchange.filetypes import is_binary
from habilis.exchange.gzipped import is_gzip, unpacked
from habilis.exchange.parsing import parse_json, parse_large
from habilis.exchange.unreadable import Unreadable
from habilis.manifest.model import Decoding
from habilis.messages import Answer, Json

_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.IGNORECASE)
_XML_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,80}encoding\s*=\s*[\"']([\w.:-]{1,40})")
_LEGACY = re.compile(
    r"(?:iso[-_]?8859[-_]?\d+|latin[-_]?1|(?:windows|cp)[-_]?125\d|koi8[-_][ru]|gbk|gb2312|gb18030|big5"
    r"|shift[-_]jis|euc[-_](?:jp|kr)|utf[-_]?(?:16|32)(?:[-_]?[lb]e)?)",
    re.IGNORECASE,
)
"""Encodings of text that services name; the machine knows others, which are no text or refuse to decode."""

_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_NO_TEXT = re.compile("[\0-\x08\x0e-\x1f\ufffd]")
_LINES = re.compile(r"application/(?:x-)?(?:ndjson|ldjson|jsonl|jsonlines|json-lines)")
_TABLE = re.compile(r"(?:text|application)/csv|text/tab-separated-values")
_XML = re.compile(r"(?:text|application)/xml|application/(?!xhtml)[\w.-]+\+xml")


def read_body(answer: Answer, decode: Decoding = "") -> Json:
    """The body as the values it holds.

    Args:
        answer: With any status.
        decode: What the body is where the status is good. "" when its content type says it: JSON lines, CSV and XML are
            told by theirs, JSON is read whatever it is called, all else is text.

    Returns:
        None when there is nothing to read: the body is empty, or a file. Text where it is not what it should be.

        JSON as any JSON writer can write it again: a number beyond all bounds (`NaN`, `1e400`, 5,000 digits) is the
        text that stands there, half of a character is `?`, and what is nested past 200 levels stays text. JSON lines
        are a list. CSV is a list of objects, see `tables.read_table`; XML is objects, see `markup.read_markup`. In text
        a byte that is no character shows as U+FFFD. `bytes` gives base64. A body that is a gzip file is unpacked where
        `decode` names what is in it.

    Source: RFC 8259; section 8.1 for the encoding, where UTF-16 and UTF-32 are still met.
    """
    if not answer.body or answer.size > len(answer.body):
        return None
    is_good = answer.status < HTTPStatus.BAD_REQUEST
    try:
        return read_strictly(answer, decode if decode and is_good else _told(answer))
    except Unreadable:
        return _loosely(answer.body, answer.headers)


def read_strictly(answer: Answer, decode: Decoding) -> Json:
    """The body as what `decode` names; Unreadable, which says why, when it is not that."""
    body = answer.body
    if decode == "bytes":
        return b64encode(body).decode()
    if is_gzip(body) and decode:
        body = unpacked(body)
    read = _READERS.get(decode)
    return read(body, answer.headers) if read else _loosely(body, answer.headers)


def content_type(headers: Mapping[str, str]) -> str:
    """The media type that headers name, lower case and without its parameters; "" when they name none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _told(answer: Answer) -> Decoding:
    """What the content type says the body is; "" when it is to be found out."""
    named = content_type(answer.headers)
    if named in {"", "application/json"} or answer.body[:64].lstrip()[:1] in {b"{", b"["}:
        return "jsonl" if _LINES.fullmatch(named) else ""
    if _TABLE.fullmatch(named):
        return "csv"
    return "xml" if _XML.fullmatch(named) else ""


def _loosely(body: bytes, headers: Mapping[str, str]) -> Json:
    large = parse_large(body)
    if large is not None:
        return large
    text = _text(body, headers)
    try:
        return parse_json(text)
    except Unreadable:
        # Without a mark, UTF-16 is guessed from its zeros, which files that are no text have too.
        is_guess = b"\0" in body and not body.startswith(_BYTE_ORDER_MARKS)
        return None if is_binary(body) or (is_guess and _NO_TEXT.search(text)) else text


def _read_json(body: bytes, headers: Mapping[str, str]) -> Json:
    large = parse_large(body)
    return parse_json(_text(body, headers)) if large is None else large


def _read_lines(body: bytes, headers: Mapping[str, str]) -> Json:
    # Parted at line feeds alone: a text may hold the other characters that end lines.
    return [parse_json(line) for line in _text(body, headers).split("\n") if line.strip()]


def _read_table(body: bytes, headers: Mapping[str, str]) -> Json:
    from habilis.exchange.tables import read_table

    return read_table(_text(body, headers), tabs=content_type(headers).endswith("tab-separated-values"))


def _read_markup(body: bytes, headers: Mapping[str, str]) -> Json:
    from habilis.exchange.markup import read_markup

    declared = _XML_DECLARED.match(body)
    return read_markup(_text(body, headers, declared=declared[1].decode() if declared else ""))


def _text(body: bytes, headers: Mapping[str, str], *, declared: str = "") -> str:
    encoding = json.detect_encoding(body)
    named = _CHARSET.search(headers.get("content-type", ""))
    legacy = named[1] if named else declared
    for name in (encoding, legacy if _LEGACY.fullmatch(legacy) else encoding):
        try:
            return body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode(encoding, errors="replace")


_READERS: Mapping[str, Callable[[bytes, Mapping[str, str]], Json]] = {
    "json": _read_json,
    "jsonl": _read_lines,
    "csv": _read_table,
    "xml": _read_markup,
    "text": _text,
}
