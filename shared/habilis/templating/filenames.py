"""File names in headers: of any script, readable for every service, and never able to break out of their quotes.

    filename="cicek s.png"; filename*=UTF-8''%C3%A7i%C3%A7ek%20%C5%9F.png

Source: RFC 6266 sections 4.3 and 5; RFC 8187 section 3.2.1.
"""

import re
import unicodedata
from urllib.parse import quote

from habilis.errors import BadInput
from habilis.templating.grammar import Placeholder, parse, shortened

_PARAMETER = re.compile(r"(?<![^\s;])filename\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>[^\s;\"]+))", re.IGNORECASE)
_UNCLOSED = re.compile(r"(?<![^\s;])filename\s*=\s*\"[^\"]*\0[^\"]*$", re.IGNORECASE)
# What a quoted string holds as it is: all of ASCII but controls, the quote and the backslash; and but the semicolon, at
# which some services, WordPress among them, part a header even inside quotes.
_PLAIN = re.compile(r"[ !#-:<-\[\]-~]*")
_UNSAFE = re.compile(r"[^ !#-:<-\[\]-~]+")
# What RFC 8187 leaves as it is, beside letters and digits.
_ATTR_CHAR = "!#$&+-.^_`|~"
# Letters that Unicode takes apart into nothing simpler.
_SPELT = str.maketrans({
    '"': "'", "ß": "ss", "\u0131": "i", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ł": "l",
    "Ł": "L", "đ": "d", "Đ": "D",
})  # fmt: skip


def filename_parameter(name: str) -> str:
    """The parameter that carries a file name: `filename="…"`, and `filename*=…` where that cannot hold it all.

    Args:
        name: Without control characters and lone surrogates.
    """
    if _PLAIN.fullmatch(name):
        return f'filename="{name}"'
    return f"filename=\"{_ascii(name)}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"


def _ascii(name: str) -> str:
    """The nearest name that ASCII can write: marks are left off, and what has no likeness is one underscore."""
    taken_apart = unicodedata.normalize("NFKD", name.translate(_SPELT))
    return _UNSAFE.sub("_", "".join(char for char in taken_apart if not unicodedata.combining(char)))


def split_names(source: str) -> list[tuple[bool, str]]:
    """A header's value in runs: whether a run is a file name with a placeholder in it, and its text.

    Such a run stands for the whole parameter, and its text is what is between the quotes.

    Raises:
        BadInput: A placeholder is malformed, or the quote around such a name is not closed.
    """
    masked = "".join("\0" * len(part.text) if isinstance(part, Placeholder) else part for part in parse(source))
    if _UNCLOSED.search(masked):
        raise BadInput('the quote after filename= is not closed with "', where=shortened(source))
    runs: list[tuple[bool, str]] = []
    position = 0
    for found in _PARAMETER.finditer(masked):
        start, end = found.span("quoted" if found["quoted"] is not None else "bare")
        if "\0" in masked[start:end]:
            runs += [(False, source[position : found.start()]), (True, source[start:end])]
            position = found.end()
    return [*runs, (False, source[position:])]
