"""What a function of the table is, and how it looks at what it is given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from habilis.errors import ArgsInvalid
from habilis.reading import Json
from habilis.templating.files import FileValue
from habilis.templating.scope import Missing, text_of

Check = Callable[[Json], str]
"""What is wrong with a value that a function is given; "" when it fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A pure function of values.

    Attributes:
        signature: As the documentation writes it: `cut(text, max, unit)`.
        run: Takes the values, in order; those at the end may be left out. What the call makes, where it is of the call.
        least: How many values it needs at least.
        checks: For each value what it has to be, None where `run` sees to it; as many as there are values at most.
        takes_nothing: Whether it is asked also where its value is missing or null. Otherwise what it gives is missing
            where any of its values is.
        is_of_call: Whether it is given nothing, and tells something of the call.
    """

    signature: str
    run: Callable[..., Json | Missing]
    least: int = 0
    checks: tuple[Check | None, ...] = ()
    takes_nothing: bool = False
    is_of_call: bool = False


def text_in(value: Json, function: str) -> str:
    """A value as the text that a function works on.

    Raises:
        ArgsInvalid: It is a list, an object or a file.
    """
    if type(value) is str:
        return value
    if isinstance(value, list | dict):
        raise ArgsInvalid(f"{function}(): expected text, found {kind_of(value)}")
    return text_of(value, f"{function}()")


def list_in(value: Json, function: str) -> list[Json]:
    """A value as the list that a function works on; ArgsInvalid when it is none."""
    if isinstance(value, list):
        return value
    raise ArgsInvalid(f"{function}(): expected a list, found {kind_of(value)}")


def encoded(text: str, function: str) -> bytes:
    """A text in UTF-8; ArgsInvalid when it holds half of a character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    raise ArgsInvalid(f"{function}(): the text holds half of a character (a lone surrogate)")


def kind_of(value: Json) -> str:
    """What a value is, in words."""
    if isinstance(value, FileValue):
        return "a file"
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "null")


def is_whole(value: Json) -> bool:
    """Whether a value is a number without a fraction."""
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def one_of(words: Sequence[str]) -> Check:
    """A check that a value is one of these words."""

    def check(value: Json) -> str:
        return "" if value in words else f"expected one of {', '.join(words)}"

    return check


def not_empty(value: Json) -> str:
    """A check that a value is a text with something in it."""
    return "" if isinstance(value, str) and value else "expected a text that is not empty"
