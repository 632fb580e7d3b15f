"""Bytes that stand in a text: base64 with all its variants, and data: URIs.

Source: RFC 4648, RFC 2397.
"""

import binascii
import re
from urllib.parse import unquote_to_bytes

from habilis.errors import UpstreamError

_SPACES = re.compile(r"\s+")
_URL_SAFE = str.maketrans("-_", "+/")


def decoded(text: str, *, where: str) -> tuple[bytes, str]:
    """The bytes in a text, and the type that it says they are of; "" when it says none.

    Args:
        text: base64, also with line breaks, in its URL-safe form or without its padding; or a whole data: URI.
        where: What it is, for messages.

    Raises:
        UpstreamError: It is neither.
    """
    if text[:5].lower() != "data:":
        return _of_base64(text, where), ""
    head, comma, payload = text.partition(",")
    parts = [part.strip().lower() for part in head[5:].split(";")]
    if not comma:
        raise UpstreamError("a data: address without any data", where=where)
    if parts[-1] == "base64":
        whole = unquote_to_bytes(payload).decode("ascii", errors="replace") if "%" in payload else payload
        return _of_base64(whole, where), parts[0]
    return unquote_to_bytes(payload), parts[0]


def _of_base64(text: str, where: str) -> bytes:
    plain = _SPACES.sub("", text).translate(_URL_SAFE).rstrip("=")
    padding = "=" * (-len(plain) % 4)
    fault = ""
    try:
        return binascii.a2b_base64(plain + padding, strict_mode=True)
    except ValueError:
        fault = "a text that is no base64 stands where a file should be"
    # Raised out here so that the library's error does not hang on ours.
    raise UpstreamError(fault, where=where)
