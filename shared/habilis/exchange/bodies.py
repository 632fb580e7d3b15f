"""The body of an answer, read as far as it can be read: the call is done, whatever the service wrote."""

import json
import math
import re
from typing import Any

from habilis.messages import Answer, Json
from habilis.reading.json_text import MOST_DIGITS

_DEEPEST = 200
_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.IGNORECASE)
_LEGACY = re.compile(
    r"(?:iso[-_]?8859[-_]?\d+|latin[-_]?1|(?:windows|cp)[-_]?125\d|koi8[-_][ru]|gbk|gb2312|gb18030|big5"
    r"|shift[-_]jis|euc[-_](?:jp|kr)|utf[-_]?(?:16|32)(?:[-_]?[lb]e)?)",
    re.IGNORECASE,
)
"""Encodings of text that services name; the machine knows others, which are no text or refuse to decode."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_body(answer: Answer) -> Json:
    """The body as JSON where it parses, else as text; None when it is empty.

    Returns:
        What any JSON writer can write again: a number beyond all bounds (`NaN`, `1e400`, 5,000 digits) is the text
        that stands there, half of a character is `?`, and what is nested past 200 levels stays text. Bytes that are no
        character show as U+FFFD.

    Source: RFC 8259; section 8.1 for the encoding, where UTF-16 and UTF-32 are still met.
    """
    if not answer.body:
        return None
    text = _text(answer)
    try:
        value: Json = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
    if text.count("[") + text.count("{") > _DEEPEST and _is_deep(value):
        return text
    if _SURROGATE.search(text):
        whole: Json = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
        return whole
    return value


def _text(answer: Answer) -> str:
    body = answer.body
    encoding = json.detect_encoding(body)
    named = _CHARSET.search(answer.headers.get("content-type", ""))
    legacy = named[1] if named and _LEGACY.fullmatch(named[1]) else encoding
    for name in (encoding, legacy):
        try:
            return body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode(encoding, errors="replace")


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= MOST_DIGITS else text


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_number, parse_constant=str)


def _is_deep(value: Json) -> bool:
    level: list[Any] = [value]
    depth = 0
    while level and depth <= _DEEPEST:
        depth += 1
        inside = (entry for node in level for entry in (node.values() if isinstance(node, dict) else node))
        level = [entry for entry in inside if isinstance(entry, dict | list)]
    return depth > _DEEPEST
