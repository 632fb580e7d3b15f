"""Links and mentions of a text, by where their bytes are: what services ask for that show no link by themselves."""

import re
from collections.abc import Mapping

from habilis.reading import Json
from habilis.templating.functions.function import Function, encoded, text_in

_FOUND = re.compile(
    r"(?<![\w/@.])(?:(?P<link>https?://[^\s<>\"]+)|@(?P<mention>(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62}))",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?…'\"”\u2019»*_~`"
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_SHORTEST_LINK = len("https://") + 1


def _facets(value: Json) -> list[Json]:
    text = text_in(value, "facets")
    found: list[Json] = []
    counted, position = 0, 0
    for match in _FOUND.finditer(text):
        shown = _without_trailing(match[0])
        kind = "link" if match["link"] else "mention"
        if kind == "link" and len(shown) < _SHORTEST_LINK:
            continue
        start = counted + len(encoded(text[position : match.start()], "facets"))
        counted, position = start + len(encoded(shown, "facets")), match.start() + len(shown)
        value_of = {"uri": shown} if kind == "link" else {"handle": shown[1:]}
        found.append({"kind": kind, "start": start, "end": counted, "text": shown, **value_of})
    return found


def _without_trailing(shown: str) -> str:
    """A link or mention without what ends the sentence around it; a bracket stays where it was opened inside."""
    surplus = {closing: shown.count(closing) - shown.count(opening) for closing, opening in _BRACKETS.items()}
    end = len(shown)
    while end:
        last = shown[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return shown[:end]


FUNCTIONS: Mapping[str, Function] = {
    "facets": Function(signature="facets(text)", run=_facets, least=1, checks=(None,)),
}
