"""A document and the places of its parts."""

import re
from dataclasses import dataclass, field

from habilis.reading.json_text import Json, shortened

Path = tuple[str | int, ...]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def path_text(path: Path) -> str:
    """A path as messages show it: `tools[0].request.url`, a name that is no plain word in brackets and quotes."""
    text = ""
    for part in path:
        if isinstance(part, str) and _WORD.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{part}]" if isinstance(part, int) else f"[{shortened(part)}]"
    return text


@dataclass(slots=True)
class Place:
    """Where a node is written: of its value, of its key if it has one, and its parts; and how a scalar is."""

    line: int
    column: int
    raw: str = ""
    is_binary: bool = False
    key: tuple[int, int] | None = None
    parts: "dict[str | int, Place] | None" = None

    def part(self, name: str | int) -> "Place | None":
        """The place of one part; None when there is no such part."""
        return self.parts.get(name) if self.parts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A mapping read from YAML, and where each of its parts is written.

    Attributes:
        data: Plain JSON values; every key is text, as written.
        file: The file's name as the person knows it.
    """

    data: dict[str, Json]
    file: str
    _root: Place = field(repr=False, compare=False)

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at `path`, from 1; of the deepest part that exists when there is none."""
        found = self._nearest(path)
        return found.line, found.column

    def key_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the field's name at `path`, from 1; of the value where it has no name."""
        found = self._nearest(path)
        return found.key or (found.line, found.column)

    def raw(self, path: Path) -> str:
        """The scalar at `path` as written; "" for a mapping, a list, or nothing."""
        found = self._exact(path)
        return found.raw if found else ""

    def is_binary(self, path: Path) -> bool:
        """Whether the scalar at `path` is base64 for bytes: written as `!!binary`."""
        found = self._exact(path)
        return found is not None and found.is_binary

    def _exact(self, path: Path) -> Place | None:
        found: Place | None = self._root
        for name in path:
            found = found.part(name) if found else None
        return found

    def _nearest(self, path: Path) -> Place:
        found = self._root
        for name in path:
            inside = found.part(name)
            if inside is None:
                break
            found = inside
        return found
