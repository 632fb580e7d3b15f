"""Instructions: the frontmatter and the text of a SKILL.md.

Source: docs/format.md "SKILL.md".
"""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from habilis.errors import ManifestInvalid, Problem
from habilis.manifest.faults import (
    Faults,
    Part,
    as_yaml_read,
    blank_fault,
    description_fault,
    kind_of,
    line_fault,
)
from habilis.reading import parse_yaml
from habilis.reading.json_text import shortened
from habilis.reading.yaml_text import LARGEST_YAML

_FENCE = re.compile(r"---[ \t]*")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_LISTS = ("categories", "abilities", "channels")
_FIELDS = ("name", "description", "categories", "icon", "author", "abilities", "channels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """What a SKILL.md says.

    Attributes:
        name: The action, as a person says it.
        description: When the instructions apply: what the agent sees before reading them.
        categories: Shelves of the marketplace.
        icon: A lucide icon; "" for none.
        author: The vendor; "" for one's own.
        abilities: Contracts the instructions need.
        channels: Kinds of channel they write for.
        body: The text below the frontmatter, Markdown, lines ending in a line feed.
    """

    name: str
    description: str
    categories: tuple[str, ...] = ()
    icon: str = ""
    author: str = ""
    abilities: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    body: str = ""


def load_skill(text: bytes, *, file: str = "SKILL.md") -> Skill:
    """The instructions that a text says.

    Fields of other makers are passed over, unless one looks like a misspelt field of ours.

    Args:
        text: The file as it is on disk.
        file: The file's name as the person knows it, for messages.

    Raises:
        ManifestInvalid: The text is no SKILL.md; `problems` holds every fault in the order of the file.
    """
    frontmatter, body = _parted(text, file)
    document, problems = parse_yaml(frontmatter, file)
    faults = Faults(document=document, found=problems)
    root = Part(value=document.data)
    name = _text(root.at("name"), faults, line_fault, is_required=True)
    description = _text(root.at("description"), faults, description_fault, is_required=True)
    icon, author = _text(root.at("icon"), faults, line_fault), _text(root.at("author"), faults, line_fault)
    lists = {field: _names(root.at(field), faults) for field in _LISTS}
    _check_misspelt(root, faults)
    if faults.found:
        raise faults.all()
    return Skill(name=name, description=description, icon=icon, author=author, body=body, **lists)


def _parted(text: bytes, file: str) -> tuple[bytes, str]:
    """The frontmatter, its lines at their places in the file, and the text below it."""
    if len(text) > LARGEST_YAML:
        raise _refusal(file, 1, f"the file is larger than {LARGEST_YAML // 1024} KiB")
    content = text.decode("utf-8-sig", errors="replace")
    if content.encode() != text.removeprefix(b"\xef\xbb\xbf"):
        line = content.count("\n", 0, content.find("\ufffd")) + 1
        raise _refusal(file, line, "the file is not UTF-8; save it as UTF-8")
    lines = content.replace("\r\n", "\n").split("\n")
    if not _FENCE.fullmatch(lines[0]):
        raise _refusal(file, 1, "expected a first line --- and fields such as `name` and `description` below it")
    closing = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if closing is None:
        raise _refusal(file, 1, "the frontmatter that begins here has no closing line ---")
    fields = lines[1:closing]
    if not any(line.strip() for line in fields):
        raise _refusal(file, 1, "the frontmatter is empty; expected `name` and `description`")
    # An empty line stands for the opening fence, so that faults have the lines of the file.
    return "\n".join(["", *fields, ""]).encode(), "\n".join(lines[closing + 1 :]).lstrip("\n")


def _refusal(file: str, line: int, message: str) -> ManifestInvalid:
    return ManifestInvalid([Problem(file=file, line=line, column=1, path="", message=message)])


def _text(part: Part, faults: Faults, fault_of: Callable[[str], str], *, is_required: bool = False) -> str:
    value = part.value
    if isinstance(value, str):
        text = value.strip()
        if fault := fault_of(text) or (blank_fault(text) if is_required else ""):
            faults.add(part.path, fault)
        return text
    if isinstance(value, bool | int | float):
        faults.add(part.path, f"expected text; {as_yaml_read(value, faults.document.raw(part.path))}")
    elif value is not None:
        faults.add(part.path, f"found {kind_of(value)}; expected text")
    elif is_required:
        faults.add(part.path, "missing; it is required here")
    return ""


def _names(part: Part, faults: Faults) -> tuple[str, ...]:
    if part.value is None:
        return ()
    if not isinstance(part.value, list):
        faults.add(part.path, f"found {kind_of(part.value)}; expected a list, as [writing]")
        return ()
    names = []
    for entry in part.entries():
        name = _text(entry, faults, line_fault, is_required=True)
        if name and not _NAME.fullmatch(name):
            faults.add(entry.path, f"found {shortened(name)}; expected a-z, 0-9, dashes and underscores, from a letter")
        names.append(name)
    return tuple(names)


def _check_misspelt(root: Part, faults: Faults) -> None:
    given = root.fields()
    for name, part in given.items():
        missing = [field for field in _FIELDS if field not in given]
        meant = difflib.get_close_matches(name, missing, n=1, cutoff=0.75)
        if name not in _FIELDS and meant:
            faults.add(part.path, f"unknown field; did you mean {meant[0]!r}?", at_name=True)
