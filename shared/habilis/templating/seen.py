"""What is seen of an answer, and places in it: its status, a header, a pointer into its body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.grammar import shortened
from habilis.templating.pointers import Pointer
from habilis.templating.scope import MISSING, Missing

_HEADER = re.compile(r"header:([!#$%&'*+.^_`|~0-9A-Za-z-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An answer as templates see it.

    Attributes:
        status: The HTTP status.
        headers: By lower-case name.
        body: Parsed as far as it can be.
    """

    status: int
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in an answer.

    Attributes:
        source: As written: a JSON pointer ("" for the whole body), `header:NAME` or `status`.
    """

    source: str
    _pointer: Pointer | None = field(repr=False, compare=False)
    _header: str = field(repr=False, compare=False)

    def pick(self, seen: Seen) -> Json | Missing:
        """What lies there, or MISSING."""
        if self._pointer is not None:
            return self._pointer.pick(seen.body)
        if self._header:
            return seen.headers.get(self._header, MISSING)
        return seen.status


def compile_place(text: str) -> Place:
    """Prepare a place.

    Raises:
        BadInput: It is no JSON pointer, no `header:NAME` and not `status`.
    """
    if text == "status":
        return Place(source=text, _pointer=None, _header="")
    if header := _HEADER.fullmatch(text):
        return Place(source=text, _pointer=None, _header=header[1].lower())
    if text and not text.startswith("/"):
        raise BadInput("a place is a pointer such as /data/id, header:NAME or status", where=shortened(text))
    return Place(source=text, _pointer=Pointer(text), _header="")
