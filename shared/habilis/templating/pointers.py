"""Places inside JSON values: pointers, and the paths of placeholders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.scope import MISSING, Missing

Step = tuple[str, int]
"""A name, and the list position it may mean; -1 when it can mean none."""

_LONGEST_POSITION = 9


def steps_of(parts: Iterable[str]) -> tuple[Step, ...]:
    """Prepare the parts of a path: a position has no sign and no leading zero (RFC 6901 section 4)."""
    return tuple((part, _position(part)) for part in parts)


def _position(part: str) -> int:
    is_position = part.isascii() and part.isdigit() and len(part) <= _LONGEST_POSITION
    return int(part) if is_position and (part == "0" or part[0] != "0") else -1


def follow(value: Json, steps: Sequence[Step]) -> Json | Missing:
    """Walk into a value.

    Returns:
        What lies there; MISSING when a step leads nowhere. A `*` steps into every entry of a list: from there on the
        result is one flat list of what was found, entries without it left out.
    """
    for number, (name, position) in enumerate(steps):
        if isinstance(value, dict):
            if name not in value:
                return MISSING
            value = value[name]
        elif not isinstance(value, list):
            return MISSING
        elif name == "*":
            return _follow_all(value, steps[number + 1 :])
        elif 0 <= position < len(value):
            value = value[position]
        else:
            return MISSING
    return value


def _follow_all(nodes: list[Json], steps: Sequence[Step]) -> list[Json]:
    found = list(nodes)
    for name, position in steps:
        nodes, found = found, []
        for node in nodes:
            if isinstance(node, dict):
                if name in node:
                    found.append(node[name])
            elif isinstance(node, list):
                if name == "*":
                    found.extend(node)
                elif 0 <= position < len(node):
                    found.append(node[position])
    return found


@dataclass(frozen=True, slots=True)
class Pointer:
    """A JSON pointer in which `*` steps into every entry of a list; checked when made.

    Attributes:
        text: As written: "" for the whole value, or such as "/rows/*/id".

    Raises:
        BadInput: The text is no JSON pointer.

    Source: RFC 6901 sections 3 and 4; `*` is ours (docs/format.md "Pointers").
    """

    text: str
    _steps: tuple[Step, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from jsonpointer import JsonPointer, JsonPointerException

        fault = not isinstance(self.text, str)
        parts: Sequence[str] = ()
        try:
            parts = () if fault else JsonPointer(self.text).parts
        except JsonPointerException:
            fault = True
        if fault:
            raise BadInput("a pointer is empty or starts with '/'; '~' is written ~0 and '/' ~1", where=str(self.text))
        object.__setattr__(self, "_steps", steps_of(parts))

    def pick(self, value: Json) -> Json | Missing:
        """What lies there, or MISSING; see `follow`."""
        return follow(value, self._steps)

    def pick_all(self, values: Sequence[Json]) -> list[Json | Missing]:
        """What lies there in each of many values, which are mostly alike: much faster than one by one."""
        found: Sequence[Any] = values
        for name, position in self._steps:
            kinds = set(map(type, found))
            try:
                if kinds == {dict}:
                    found = [value[name] for value in found]
                    continue
                if kinds == {list} and position >= 0:
                    found = [value[position] for value in found]
                    continue
            except (KeyError, IndexError):
                pass
            return [follow(value, self._steps) for value in values]
        return list(found)


@lru_cache(maxsize=1024)
def _pointer(text: str) -> Pointer:
    return Pointer(text)


def pick(value: Json, pointer: str) -> Json | Missing:
    """Follow a JSON pointer in which `*` steps into every entry of a list.

    Args:
        value: A parsed JSON answer.
        pointer: "" for the whole value, or text such as "/rows/*/id".

    Returns:
        What lies there, or MISSING. "/rows/*/id" over two rows is a list of at most 2; more than one `*` still gives
        one flat list.

    Raises:
        BadInput: `pointer` is no JSON pointer.
    """
    return _pointer(pointer).pick(value)
