"""Texts measured and cut as services count them."""

from collections.abc import Iterator, Mapping

from habilis.reading import Json
from habilis.templating.functions.function import Function, is_whole, one_of, text_in

UNITS = ("graphemes", "chars", "utf16", "bytes")


def _cut(value: Json, most: Json, unit: str = "graphemes") -> str:
    """A text of at most so many units.

    It is cut between two words where that keeps at least half of it, else between two characters as a person sees them.
    """
    text, room = text_in(value, "cut"), int(most)  # type: ignore[arg-type] # its check leaves whole numbers
    head, after = _head(text, room, unit)
    if not after or after.isspace():
        return head.rstrip() if after else text
    words = head.rstrip()
    if words != head:
        return words
    kept = _up_to_last_blank(head)
    return kept if len(kept) * 2 >= len(head) else head


def _head(text: str, room: int, unit: str) -> tuple[str, str]:
    """As many whole graphemes as there is room for, and the one after them, "" when all fit."""
    end = 0
    for piece in graphemes(text):
        room -= size_of(piece, unit)
        if room < 0:
            return text[:end], piece
        end += len(piece)
    return text, ""


def _up_to_last_blank(text: str) -> str:
    last = max((place for place, char in enumerate(text) if char.isspace()), default=0)
    return text[:last].rstrip()


def size_of(piece: str, unit: str) -> int:
    """How much one grapheme counts in a unit."""
    if unit == "graphemes":
        return 1
    if unit == "chars":
        return len(piece)
    if unit == "utf16":
        return len(piece.encode("utf-16-le", "surrogatepass")) // 2
    return len(piece.encode("utf-8", "surrogatepass"))


def graphemes(text: str) -> Iterator[str]:
    """The characters of a text as a person sees them, however many code points each is made of.

    Source: Unicode Standard Annex 29, extended grapheme clusters.
    """
    if text.isascii() and "\r\n" not in text:
        return iter(text)
    # Loaded where a text needs it: few calls do, and each pays for what is imported before.
    import regex

    return (found[0] for found in regex.finditer(r"\X", text))


def _most_fault(value: Json) -> str:
    return "" if is_whole(value) and value >= 0 else "expected how much may stay, as a number"  # type: ignore[operator]


FUNCTIONS: Mapping[str, Function] = {
    "cut": Function(signature="cut(text, max, unit)", run=_cut, least=2, checks=(None, _most_fault, one_of(UNITS))),
}
