"""A look over what a caller handed in, before anything else: how much it is, how deep, whether JSON can carry it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from habilis.errors import ArgsInvalid, TooLarge
from habilis.messages import Json
from habilis.reading import path_text

MOST_VALUES: Final = 100_000
"""Values in all, lists and objects counted too."""

MOST_CHARACTERS: Final = 10 * 1024 * 1024
"""Characters of all texts and names together."""

_DEEPEST: Final = 64
_PIECE: Final = 64 * 1024
_PLAIN = frozenset({int, bool, type(None)})
_NUMBERS = _PLAIN | {float}
_TOO_DEEP = f"nested deeper than {_DEEPEST} levels"
_HALF = "half of a character (a lone surrogate)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was seen.

    Attributes:
        values: How many there are in all.
        has_fractions: Whether any number is written with a fraction, be it .0.
    """

    values: int
    has_fractions: bool


def survey(arguments: Mapping[str, Json]) -> Survey:
    """Look over the arguments of a call.

    Raises:
        TooLarge: There are more than 100,000 values, or more than 10 million characters.
        ArgsInvalid: They are nested deeper than 64 levels, or hold half of a character or a number that is not finite;
            says where, and never what.
    """
    look = _Look()
    try:
        look.at_object(arguments, 0)
    except _Fault as fault:
        message = fault.message
        path = tuple(reversed(fault.path))
        if message == _TOO_DEEP:
            path = path[:1]
    else:
        return Survey(values=look.values, has_fractions=look.has_fractions)
    # Raised out here so that nothing of the arguments hangs on it.
    raise ArgsInvalid(f"{path_text(path) or 'the arguments'}: {message}")


class _Fault(Exception):
    """What no JSON text can carry, or no engine should follow.

    Attributes:
        path: Where, from the inside out.
    """

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.path = list(path)


class _Look:
    """What was counted so far."""

    __slots__ = ("_characters", "has_fractions", "values")

    def __init__(self) -> None:
        self.values = 1
        self._characters = 0
        self.has_fractions = False

    def at_object(self, fields: Mapping[str, Json], depth: int) -> None:
        names = "".join(fields)
        self._add(values=len(fields), characters=len(names))
        if not names.isascii() and (odd := next((name for name in fields if _is_odd(name)), None)):
            raise _Fault(f"a name holds {_HALF}", odd)
        characters = 0
        for name, value in fields.items():
            kind = type(value)
            if kind is str and value.isascii():  # type: ignore[union-attr]  # told by its type
                characters += len(value)  # type: ignore[arg-type]  # as above
            elif kind not in _PLAIN:
                try:
                    self._at(value, depth + 1)
                except _Fault as fault:
                    fault.path.append(name)
                    raise
        self._add(characters=characters)

    def _at_list(self, entries: list[Json], depth: int) -> None:
        self._add(values=len(entries))
        if self._is_sound(entries):
            return
        for position, value in enumerate(entries):
            try:
                self._at(value, depth + 1)
            except _Fault as fault:
                fault.path.append(position)
                raise

    def _is_sound(self, entries: list[Json]) -> bool:
        """Whether a list of many values of one simple kind is good: seen at a glance, without a look at each."""
        kinds = set(map(type, entries))
        if kinds <= _PLAIN:
            return True
        if kinds <= _NUMBERS:
            self.has_fractions = True
            return all(isfinite(entry) for entry in entries if type(entry) is float)
        if kinds == {str} and all(map(str.isascii, entries)):  # type: ignore[arg-type]  # told by their types
            self._add(characters=sum(map(len, entries)))  # type: ignore[arg-type]  # as above
            return True
        return False

    def _at(self, value: Json, depth: int) -> None:
        if isinstance(value, str):
            self._add(characters=len(value))
            if _is_odd(value):
                raise _Fault(f"expected text, got {_HALF}")
        elif isinstance(value, float):
            self.has_fractions = True
            if not isfinite(value):
                raise _Fault("expected a finite number, got none")
        elif isinstance(value, dict | list):
            if depth >= _DEEPEST:
                raise _Fault(_TOO_DEEP)
            self.at_object(value, depth) if isinstance(value, dict) else self._at_list(value, depth)

    def _add(self, *, values: int = 0, characters: int = 0) -> None:
        self.values += values
        self._characters += characters
        if self.values > MOST_VALUES:
            raise TooLarge(f"the arguments: more than {MOST_VALUES:,} values", hint="send them in several calls")
        if self._characters > MOST_CHARACTERS:
            raise TooLarge(
                f"the arguments: more than {MOST_CHARACTERS:,} characters", hint="send a file, or less of it"
            )


def _is_odd(text: str) -> bool:
    """Whether a text holds half of a character; looked at in pieces, since each is copied for it."""
    if text.isascii():
        return False
    try:
        for start in range(0, len(text), _PIECE):
            text[start : start + _PIECE].encode()
    except UnicodeEncodeError:
        return True
    return False
