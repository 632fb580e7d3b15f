"""`map`: arguments replaced before templates are filled."""

from collections.abc import Mapping

from habilis.errors import ArgsInvalid
from habilis.reading import Json
from habilis.templating.scope import text_of


def apply_map(replacements: Mapping[str, Mapping[str, Json]], arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments, those that `replacements` names exchanged for what it says.

    Args:
        replacements: Argument name to {value as text: replacement}; "*" stands for any other value.
        arguments: As given. One that is not given is not replaced, so that its default still holds.
    """
    replaced = dict(arguments)
    for name, table in replacements.items():
        if name in replaced:
            replaced[name] = table.get(_text(replaced[name]), table.get("*", replaced[name]))
    return replaced


def _text(value: Json) -> str:
    """The value as a map writes it; "" for what no map can write."""
    if value is None:
        return "null"
    try:
        return text_of(value, "")
    except ArgsInvalid:
        return ""
