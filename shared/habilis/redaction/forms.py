"""The forms of a secret that no escape can change: itself, its lines, and what base64 makes of it."""

import re
from base64 import b64encode
from functools import lru_cache

SHORTEST_SECRET = 6
"""Values shorter than this are not masked: they would be found everywhere, and give themselves away by their holes."""

Forms = tuple[tuple[str, ...], tuple[str, ...]]
"""Texts one of which is in every text that holds the secret, and all texts to mask."""

_ARMOR = re.compile(r"-----(BEGIN|END)[A-Z0-9 ]*-----")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_PEM_LINE_BREAK = re.compile(r"\r\n|\r|\n|\\r\\n|\\n")


@lru_cache(maxsize=512)
def forms_of(value: str) -> Forms:
    """The forms of a value, of each of its lines, and of the lines of a PEM block inside a one-line JSON text."""
    is_pem = "-----BEGIN" in value
    raw = {value, value.replace(" ", "+")}
    lines = [line.strip() for line in (_PEM_LINE_BREAK if is_pem else _LINE_BREAK).split(value)]
    if len(lines) > 1:
        raw.update(line for line in lines if len(line) >= SHORTEST_SECRET and not _ARMOR.fullmatch(line))
    probes, needles = base64_forms(value.encode(errors="replace"))
    return (*raw, *probes), (*raw, *needles)


@lru_cache(maxsize=512)
def base64_forms(value: bytes) -> Forms:
    """The parts of base64 that are the same whatever stands before and after, and these with the whole."""
    probes: dict[str, None] = {}
    for before in range(3):
        encoded = b64encode(b"\0" * before + value).decode()
        # A character of base64 holds 6 bits: only those that hold nothing but the value are sure.
        sure = encoded[-(-8 * before // 6) : 8 * (before + len(value)) // 6]
        probes[sure] = probes[_url_safe(sure)] = None
    whole = b64encode(value).decode()
    return tuple(probes), (*probes, *{whole, whole.rstrip("="), _url_safe(whole), _url_safe(whole).rstrip("=")})


def _url_safe(encoded: str) -> str:
    return encoded.replace("+", "-").replace("/", "_")
