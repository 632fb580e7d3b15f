"""The grammar of placeholders: text in, literals and placeholders out.

    {{path}}   {{path|default}}           an argument, or what an earlier step saved
    ${NAME}    ${NAME|default}            a key of the account
    ${NAME|urlencode}    ${NAME|urlencode|default}

A path is names, list positions and `*` joined by dots. Blanks around a path and around a default do not count. A
default ends at the first closing brace and cannot hold a placeholder.

Source: docs/format.md "Placeholders".
"""

import re
from dataclasses import dataclass
from typing import Literal

from habilis.errors import BadInput

# `${{price}}` is a dollar sign before an argument, `{{{x}}}` an argument in braces.
_OPENING = re.compile(r"\{\{(?!\{)|\$\{(?!\{)")
_PATH = re.compile(r"[^\W\d][\w-]*(?:\.[^\s.(){}|\"',\[\]]+)*")
_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_KEY = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """One placeholder.

    Attributes:
        kind: What it stands for.
        text: As written, for messages.
        path: The parts of an argument's path; the one name of a key.
        default: As written; None when there is none.
        is_encoded: Whether `|urlencode` is asked for.
    """

    kind: Literal["argument", "key"]
    text: str
    path: tuple[str, ...]
    default: str | None = None
    is_encoded: bool = False

    @property
    def name(self) -> str:
        """The argument's or key's own name."""
        return self.path[0]


def parse(text: str) -> tuple[str | Placeholder, ...]:
    """Split text into literals and placeholders; () for "".

    Raises:
        BadInput: A placeholder is malformed; `where` shows it.
    """
    parts: list[str | Placeholder] = []
    position = 0
    while opening := _OPENING.search(text, position):
        is_key = opening[0] == "${"
        closing = "}" if is_key else "}}"
        end = text.find(closing, opening.end())
        if end < 0:
            raise _bad(text[opening.start() :], f"the placeholder is not closed with {closing}")
        if opening.start() > position:
            parts.append(text[position : opening.start()])
        inner = text[opening.end() : end]
        position = end + len(closing)
        written = text[opening.start() : position]
        parts.append(_key(inner, written) if is_key else _argument(inner, written))
    if position < len(text):
        parts.append(text[position:])
    return tuple(parts)


def _argument(inner: str, written: str) -> Placeholder:
    expression, bar, default = (part.strip() for part in inner.partition("|"))
    if _CALL.match(expression):
        raise _bad(written, "functions are not available in placeholders; use a plain path")
    if not _PATH.fullmatch(expression):
        raise _bad(written, "a placeholder holds names joined by dots, as {{item.id}}")
    if default == "urlencode":
        raise _bad(written, "|urlencode is for keys; arguments in a URL are encoded by themselves")
    if "{" in default:
        raise _bad(written, "a default cannot hold braces")
    path = tuple(expression.split("."))
    return Placeholder(kind="argument", text=written, path=path, default=default if bar else None)


def _key(inner: str, written: str) -> Placeholder:
    name, bar, rest = (part.strip() for part in inner.partition("|"))
    if not _KEY.fullmatch(name):
        raise _bad(written, "a key's name is upper case, as ${API_KEY}")
    if "{" in rest:
        raise _bad(written, "a default cannot hold braces")
    words = rest.split("|") if bar else []
    is_encoded = "urlencode" in {words[0].strip(), words[-1].strip()} if words else False
    if is_encoded:
        words = words[1:] if words[0].strip() == "urlencode" else words[:-1]
    default = "|".join(words).strip() if words else None
    return Placeholder(kind="key", text=written, path=(name,), default=default, is_encoded=is_encoded)


def _bad(written: str, message: str) -> BadInput:
    return BadInput(message, where=shortened(written))


def shortened(text: str) -> str:
    """Text of a manifest, fit for a message: at most 60 characters."""
    return text if len(text) <= 60 else text[:59] + "…"
