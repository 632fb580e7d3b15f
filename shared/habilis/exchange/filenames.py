"""Names for files: whatever a service, a model or an address suggests becomes a plain name that every system takes."""

import re
import unicodedata
from urllib.parse import unquote

from habilis.exchange.filetypes import ENDINGS
from habilis.names import RESERVED_IDS

_LONGEST_BYTES = 120
_UNSAFE = re.compile(r'[/\\:*?"<>|]+')
_SPACES = re.compile(r"\s+")
_ENDING = re.compile(
    r"(?:{})$".format("|".join(map(re.escape, [*set(ENDINGS.values()), ".jpeg", ".tif", ".htm", ".bin"]))), re.I
)
_SUBTYPE = re.compile(r"[a-z]+/(?:x-)?([a-z0-9]{1,8})")


def safe_name(suggested: str, mime: str) -> str:
    """A plain file name, with the ending of its type.

    Args:
        suggested: Text of anybody; an ending that belongs to a type is taken off it.
        mime: The file's type.

    Returns:
        At most about 130 bytes of UTF-8, in NFC: no parts of a path, no control or invisible characters, no dot or
        space at either end, no name of a device. "file" where nothing is left.
    """
    text = unicodedata.normalize("NFC", suggested)
    text = "".join(char for char in _SPACES.sub(" ", text) if char == " " or char.isprintable())
    text = _ENDING.sub("", _UNSAFE.sub("-", text).strip(" .-"))
    text = text.encode(errors="ignore")[:_LONGEST_BYTES].decode(errors="ignore").strip(" .-") or "file"
    if text.partition(".")[0].lower() in RESERVED_IDS:
        text = f"_{text}"
    return text + ending_of(mime)


def ending_of(mime: str) -> str:
    """The ending of a type's files, with its dot."""
    subtype = _SUBTYPE.fullmatch(mime)
    if mime in ENDINGS:
        return ENDINGS[mime]
    return f".{subtype[1]}" if subtype and not mime.startswith(("application/", "text/")) else ".bin"


def numbered(names: list[str]) -> list[str]:
    """The names, each once: one that came before, in whatever case, gets a number before its ending."""
    taken: set[str] = set()
    out = []
    for name in names:
        stem, dot, ending = name.rpartition(".")
        unique, number = name, 1
        while unique.casefold() in taken:
            number += 1
            unique = f"{stem}-{number}{dot}{ending}"
        taken.add(unique.casefold())
        out.append(unique)
    return out


def name_in_url(url: str) -> str:
    """The name that a URL's path ends in, decoded; "" when it ends in none."""
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    last = path.rpartition("/")[2]
    return "" if path.count("/") <= 2 else unquote(last)
