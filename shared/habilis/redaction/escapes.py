"""Escapes undone: percent, backslash and HTML, and where a character found behind them was written."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

# Each begins with a literal character, which lets the search skip to it.
_BACKSLASH = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\"'\\/bfnrt])"
)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
_ENTITY = re.compile(r"&#?[A-Za-z0-9]{1,31};")
_PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# An escape inside an escape is found, as in JSON that quotes JSON; past this nobody writes them.
_MOST_LEVELS = 3
# Characters; an upstream may not buy minutes of work with a long text of escapes.
_MOST_DECODED = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Family:
    """A way of writing characters differently.

    Attributes:
        introducer: The character that every escape of it begins with.
        pattern: One escape, or several that only make sense together.
        decode: From these to characters, each with the number of characters it was written with.
    """

    introducer: str
    pattern: re.Pattern[str]
    decode: Callable[[str], list[tuple[str, int]]]

    def undone(self, text: str) -> str:
        """The text with every escape of this family undone once."""
        return self.pattern.sub(lambda match: "".join([one for one, _ in self.decode(match[0])]), text)


def decodings(text: str) -> Iterator[tuple[tuple[Family, ...], str]]:
    """The text as it is, and with its escapes undone, family by family and up to three deep.

    Families are undone apart, since a secret may itself look like an escape of another family.
    """
    yield (), text
    seen = {text}
    budget = _MOST_DECODED
    level: list[tuple[tuple[Family, ...], str]] = [((), text)]
    while level and len(level[0][0]) < _MOST_LEVELS and budget > 0:
        following = []
        for families, before in level:
            for family in _FAMILIES:
                if family.introducer not in before:
                    continue
                after = family.undone(before)
                budget -= len(before)
                if after not in seen:
                    seen.add(after)
                    following.append(((*families, family), after))
                    yield following[-1]
        level = following


def escapes_of(text: str, families: tuple[Family, ...]) -> list[list[tuple[int, int, int]]]:
    """For each family undone in turn, every character that was escaped: its place, then where and how long it was."""
    levels = []
    for family in families:
        escapes = []
        ahead = 0
        for match in family.pattern.finditer(text):
            start = match.start()
            for _, length in family.decode(match[0]):
                escapes.append((start - ahead, start, length))
                start += length
                ahead += length - 1
        levels.append(escapes)
        text = family.undone(text)
    return levels


def written(escapes: list[tuple[int, int, int]], at: int) -> tuple[int, int]:
    """Where a character was before a family was undone."""
    index = bisect_right(escapes, at, key=lambda escape: escape[0]) - 1
    if index < 0:
        return at, at + 1
    place, start, length = escapes[index]
    if place == at:
        return start, start + length
    plain = start + length + at - place - 1
    return plain, plain + 1


def _percent(escapes: str) -> list[tuple[str, int]]:
    text = bytes.fromhex(escapes.replace("%", "")).decode(errors="surrogateescape")
    return [(one, 3 * len(one.encode(errors="surrogateescape"))) for one in text]


@lru_cache(maxsize=1024)
def _backslash(escape: str) -> list[tuple[str, int]]:
    kind = escape[1]
    if kind not in "ux":
        return [(_PLAIN_ESCAPES.get(kind, kind), len(escape))]
    units = "".join(chr(int(unit, 16)) for unit in re.split(r"\\[ux]", escape)[1:])
    return [(units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"), len(escape))]


@lru_cache(maxsize=1024)
def _entity(escape: str) -> list[tuple[str, int]]:
    from html import unescape

    text = unescape(escape)
    # A few names stand for two characters; both come from the whole of it.
    return [(text[0], len(escape)), *((one, 0) for one in text[1:])] if text else []


_FAMILIES = (
    Family("\\", _BACKSLASH, _backslash),
    Family("%", _PERCENT, _percent),
    Family("&", _ENTITY, _entity),
)
