"""JSON that someone else wrote, read strictly.

Source: RFC 8259.
"""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from habilis.errors import ArgsInvalid, TooLarge

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

LARGEST_JSON = 1024 * 1024
MOST_DIGITS = 400
"""Past this a number is beyond any float, and Python itself stops converting at 4,300 digits."""

_DEEPEST = 64
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def shortened(text: str) -> str:
    """Text of someone else, fit for a message: one line in quotes, at most 60 characters, odd ones escaped."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


def read_json(text: bytes, *, what: str, largest: int = LARGEST_JSON) -> Json:
    """Read strict JSON: no duplicate keys, no NaN or infinity, no lone surrogates, bounded in size and depth.

    Args:
        text: UTF-8.
        what: What it is, as messages name it: "the arguments".
        largest: Most bytes of `text`.

    Raises:
        TooLarge: `text` is longer than `largest`.
        ArgsInvalid: It is no such JSON. The message never quotes it.
    """
    if len(text) > largest:
        raise TooLarge(f"{what}: larger than {largest:,} bytes")
    fault = ""
    value: Json = None
    try:
        decoded = text.decode("utf-8-sig")
        value = _DECODER.decode(decoded)
        if decoded.count("[") + decoded.count("{") > _DEEPEST and _depth(value) > _DEEPEST:
            fault = f"nested deeper than {_DEEPEST} levels"
        elif _SURROGATE.search(decoded):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        fault = "not UTF-8"
    except UnicodeEncodeError:
        fault = "half of a character (a lone surrogate) in a text"
    except json.JSONDecodeError as error:
        fault = f"no valid JSON at line {error.lineno}, column {error.colno}"
    except _OddJson as error:
        fault = str(error)
    except RecursionError:
        fault = f"nested deeper than {_DEEPEST} levels"
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    if fault:
        raise ArgsInvalid(f"{what}: {fault}")
    return value


class _OddJson(Exception):
    """Valid by the grammar, and refused."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _OddJson(f"{shortened(counts.most_common(1)[0][0])} is given twice in one object")
    return made


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise _OddJson("a number with too many digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _OddJson("a number that is too large")
    return value


def _constant(text: str) -> NoReturn:
    raise _OddJson(f"{text} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _depth(value: Json) -> int:
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        parts = (part for node in level for part in (node.values() if isinstance(node, dict) else node))
        level = [part for part in parts if isinstance(part, dict | list)]
    return depth
