"""Functions of lists."""

from collections.abc import Mapping

from habilis.reading import Json
from habilis.templating.functions.function import Function, list_in, not_empty, text_in
from habilis.templating.functions.texts import check_length
from habilis.templating.scope import MISSING, Missing, text_of

_MOST_LISTS = 8
"""Joined by one flatten()."""


def _first(value: Json) -> Json | Missing:
    entries = list_in(value, "first")
    return entries[0] if entries else MISSING


def _last(value: Json) -> Json | Missing:
    entries = list_in(value, "last")
    return entries[-1] if entries else MISSING


def _count(value: Json | Missing) -> int:
    return 0 if value is MISSING or value is None else len(list_in(value, "count"))


def _entries(value: Json, function: str) -> list[Json]:
    """The entries of a list; a text counts as a list of one, for some arguments are one text or a list of them."""
    return [value] if isinstance(value, str) else list_in(value, function)


def _flatten(*values: Json) -> list[Json]:
    found: list[Json] = []
    for value in values:
        for entry in _entries(value, "flatten"):
            if isinstance(entry, list):
                found.extend(entry)
            else:
                found.append(entry)
    return found


def _join(value: Json, separator: Json) -> str:
    texts = [text_of(entry, "join()") for entry in _entries(value, "join")]
    between = text_in(separator, "join")
    check_length(sum(map(len, texts)) + len(between) * len(texts), "join")
    return between.join(texts)


def _split(value: Json, separator: str) -> list[Json]:
    return [*text_in(value, "split").split(separator)]


FUNCTIONS: Mapping[str, Function] = {
    "first": Function(signature="first(list)", run=_first, least=1, checks=(None,)),
    "last": Function(signature="last(list)", run=_last, least=1, checks=(None,)),
    "count": Function(signature="count(list)", run=_count, least=1, checks=(None,), takes_nothing=True),
    "flatten": Function(signature="flatten(list, …)", run=_flatten, least=1, checks=(None,) * _MOST_LISTS),
    "join": Function(signature="join(list, sep)", run=_join, least=2, checks=(None, None)),
    "split": Function(signature="split(text, sep)", run=_split, least=2, checks=(None, not_empty)),
}
