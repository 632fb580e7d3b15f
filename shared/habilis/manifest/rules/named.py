"""Rules of names in lists: each is there once."""

from collections.abc import Iterable

from habilis.manifest.faults import Faults, Part


def check_once(parts: Iterable[Part], what: str, faults: Faults) -> None:
    """Note each text that an earlier part holds too."""
    first: dict[str, Part] = {}
    for part in parts:
        text = part.text()
        if text is not None and text in first:
            line = faults.line(first[text].path)
            faults.add(part.path, f"named twice: the first {what} of this name is in line {line}")
        elif text is not None:
            first[text] = part


def named(entries: Part, name: str) -> frozenset[str] | None:
    """The texts under a name in each entry; None when the list is there and cannot be read."""
    if entries.value is not None and not isinstance(entries.value, list):
        return None
    return frozenset(str(part.value) for part in entries.texts(name))
