"""JSON of an answer, read so that any JSON writer can write it again."""

import json
import math
import re
from typing import Any

from habilis.exchange.unreadable import Unreadable
from habilis.messages import Json
from habilis.reading.json_text import MOST_DIGITS

_DEEPEST = 200
_LARGE_BYTES = 256 * 1024
"""From here on a faster reader is worth loading; it is part of what checks manifests."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LARGEST_WHOLE = 10**MOST_DIGITS

_SIGNS = bytes(
    ord("9") if chr(code).isdigit() else ord({"E": "e"}.get(chr(code), chr(code))) for code in range(128)
) + bytes(128)
_TOO_LARGE = (b"9e999", b"9" * 309)
"""What a number that may be beyond all bounds looks like when every digit is a 9 and no exponent has a plus sign; what
only looks so costs time."""


def parse_json(text: str) -> Json:
    """The values of a JSON text.

    Returns:
        A number beyond all bounds (`NaN`, `1e400`, 5,000 digits) is the text that stands there, half of a character is
        `?`.

    Raises:
        Unreadable: It is no JSON, or nested past 200 levels.

    Source: RFC 8259.
    """
    value = _parsed(text)
    if _SURROGATE.search(text):
        whole: Json = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
        return whole
    return value


def parse_large(body: bytes) -> Json | None:
    """The values of a large JSON body in UTF-8; None where it is for `parse_json` to say what they are."""
    if len(body) < _LARGE_BYTES or body[:1] not in {b"{", b"["}:
        return None
    signs = body.translate(_SIGNS, b"+")
    if any(sign in signs for sign in _TOO_LARGE):
        return None
    from pydantic_core import from_json

    try:
        # It stops at 200 levels too.
        value: Json = from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        return None
    return value


def _parsed(text: str) -> Json:
    fault = ""
    value: Json = None
    try:
        value = _DECODER.decode(text)
        is_sound = _is_sound(value)
    except RecursionError:
        fault = "nested too deep"
    except json.JSONDecodeError:
        fault = "no JSON"
    except ValueError:
        is_sound = False  # an integer with more digits than Python converts
    if not fault and not is_sound:
        value = _CAREFUL_DECODER.decode(text)
        fault = "" if _is_sound(value) else "nested too deep"
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    if fault:
        raise Unreadable(fault)
    return value


def _is_sound(value: Json) -> bool:
    """Whether a value is not nested too deep and its numbers have bounds: looked at once, level by level."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for node in level:
            for entry in node.values() if type(node) is dict else node if type(node) is list else (node,):
                kind = type(entry)
                if kind is str:
                    continue
                if kind is dict or kind is list:
                    below.append(entry)
                elif kind is float:
                    if entry in _INFINITE:
                        return False
                elif kind is int and not -_LARGEST_WHOLE < entry < _LARGEST_WHOLE:
                    return False
        if not below:
            return True
        level = below
    return False


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= MOST_DIGITS else text


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


_INFINITE = frozenset({math.inf, -math.inf})
_DECODER = json.JSONDecoder(parse_constant=str)
_CAREFUL_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_number, parse_constant=str)
