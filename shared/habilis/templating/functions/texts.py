"""Functions of texts."""

import base64
import hashlib
import json
from collections.abc import Mapping
from hmac import digest as hmac_digest

from habilis.errors import ArgsInvalid
from habilis.reading import Json
from habilis.templating.functions.function import Function, encoded, not_empty, one_of, text_in
from habilis.templating.scope import MISSING, Missing

_DIGESTS = ("sha256", "sha1", "sha384", "sha512", "md5")
_digest_fault = one_of(_DIGESTS)


def _hmac(value: Json, key: str, algorithm: str = "sha256") -> str:
    """The HMAC of a text under a key, in hex.

    Source: RFC 2104.
    """
    message = encoded(text_in(value, "hmac"), "hmac")
    return hmac_digest(key.encode("utf-8", "surrogatepass"), message, algorithm).hex()


def _hash(value: Json, algorithm: str = "sha256") -> str:
    message = encoded(text_in(value, "hash"), "hash")
    return hashlib.new(algorithm, message, usedforsecurity=False).hexdigest()


def _base64(value: Json) -> str:
    return base64.b64encode(encoded(text_in(value, "base64"), "base64")).decode()


def _json(value: Json | Missing) -> str | Missing:
    if value is MISSING:
        return MISSING
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        pass
    raise ArgsInvalid("json(): JSON cannot carry this value")


def _escape(value: Json, chars: str) -> str:
    return text_in(value, "escape").translate({ord(char): f"\\{char}" for char in chars})


def _replace(value: Json, old: str, new: Json) -> str:
    text, put = text_in(value, "replace"), text_in(new, "replace")
    # A few calls in each other could grow a text without end: refused before it is made.
    check_length(len(text) + text.count(old) * (len(put) - len(old)), "replace")
    return text.replace(old, put)


def check_length(length: int, function: str) -> None:
    """Refuse to make a text longer than any call has use for."""
    if length > _LONGEST:
        raise ArgsInvalid(f"{function}(): the text would be longer than {_LONGEST:,} characters")


_LONGEST = 20_000_000

FUNCTIONS: Mapping[str, Function] = {
    "lower": Function(
        signature="lower(text)", run=lambda value: text_in(value, "lower").lower(), least=1, checks=(None,)
    ),
    "upper": Function(
        signature="upper(text)", run=lambda value: text_in(value, "upper").upper(), least=1, checks=(None,)
    ),
    "trim": Function(signature="trim(text)", run=lambda value: text_in(value, "trim").strip(), least=1, checks=(None,)),
    "replace": Function(signature="replace(text, a, b)", run=_replace, least=3, checks=(None, not_empty, None)),
    "escape": Function(signature="escape(text, chars)", run=_escape, least=2, checks=(None, not_empty)),
    "hash": Function(signature="hash(value, alg)", run=_hash, least=1, checks=(None, _digest_fault)),
    "hmac": Function(signature="hmac(value, NAME, alg)", run=_hmac, least=2, checks=(None, None, _digest_fault)),
    "base64": Function(signature="base64(value)", run=_base64, least=1, checks=(None,)),
    "json": Function(signature="json(value)", run=_json, least=1, checks=(None,), takes_nothing=True),
}
