"""The text of a `.env` file: what it says, and the same text with some keys set or removed.

One key a line, `NAME=value`, as shells and the dotenv libraries write it:

- bare: up to the end of the line or a blank and `#`; every character is itself;
- in single quotes: every character is itself, line breaks too;
- in double quotes: backslash with n, r, t, a quote, a dollar or another backslash stands for that character.

Nothing is ever expanded: `${OTHER}` is those eight characters. What is written is safe to `source` in a shell, which
only does not know a line break that is written as an escape.

Source: docs/decisions/0002-own-env-file.md.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_HEAD = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")
_BLANKS = re.compile(r"[ \t]*")
_NOTHING = re.compile(r"[ \t]*(?:#.*)?")
_TAIL = re.compile(r"(?:[ \t]+#[^\n]*|[ \t]*\r?)(?:\n|\Z)")

_LITERAL = re.compile(r"'([^']*)'")
_ESCAPED = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE_ESCAPE = re.compile(r"\\([\\'])")
_DOUBLE_ESCAPE = re.compile(r'\\([\\"$`nrt])')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}

_SAFE_BARE = re.compile(r"[A-Za-z0-9_./:@%+,=-]*", re.ASCII)
_UNSAFE_SINGLE = re.compile(r"['\\\n\r]")
_NEEDS_ESCAPE = re.compile(r'[\\"$`\n\r\t]')
_NAMES = {"\n": "n", "\r": "r", "\t": "t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, or the lines of one quoted value.

    Attributes:
        number: Of its first line, from 1.
        start: Where it starts in the text.
        end: Where the next one starts.
        name: Of the key; "" for a blank line, a comment, or a line that says nothing.
        value: Of the key.
        span: Where the value's text is, with its quotes.
        is_broken: It is no blank line, no comment and no key.
    """

    number: int
    start: int
    end: int
    name: str = ""
    value: str = field(default="", repr=False)
    span: tuple[int, int] = (0, 0)
    is_broken: bool = False


def read_lines(text: str) -> list[Line]:
    """Return all lines of a text, in order; together they are the whole text."""
    return list(_lines(text))


def values_of(lines: list[Line]) -> dict[str, str]:
    """Return each key's value; of a name that comes twice the last one counts."""
    return {line.name: line.value for line in lines if line.name}


def with_keys(text: str, values: Mapping[str, str]) -> str | None:
    """Return the text with these keys set, every other line as it was.

    A key that is there keeps its place, `export` and its comment; one that is new goes to the end. A name that came
    twice comes once afterwards: an old value does not stay behind.

    Args:
        text: What the file says now.
        values: Name to value; without NUL and lone surrogates.

    Returns:
        None when an open quote on another line would swallow what is written.
    """
    lines = read_lines(text)
    wanted = values_of(lines) | dict(values)
    for write in (_written, _in_double_quotes):
        found = _put(text, lines, {name: write(value) for name, value in values.items()}, values)
        if values_of(read_lines(found)) == wanted:
            return found
    return None


def without_keys(text: str, names: frozenset[str]) -> str | None:
    """Return the text without the lines of these keys, every other line as it was; None as in `with_keys`."""
    lines = read_lines(text)
    left = {name: value for name, value in values_of(lines).items() if name not in names}
    found = "".join(text[line.start : line.end] for line in lines if line.name not in names)
    return found if values_of(read_lines(found)) == left else None


def _lines(text: str) -> Iterator[Line]:
    at, number = 1 if text.startswith("\ufeff") else 0, 1
    start = 0
    while start < len(text):
        line = _assignment(text, start, at, number) or _other(text, start, at, number)
        yield line
        number += text.count("\n", line.start, line.end)
        start = at = line.end


def _other(text: str, start: int, at: int, number: int) -> Line:
    end = _line_end(text, at)
    is_fine = _NOTHING.fullmatch(text[at:end].rstrip("\r\n")) is not None
    return Line(number=number, start=start, end=end, is_broken=not is_fine)


def _assignment(text: str, start: int, at: int, number: int) -> Line | None:
    head = _HEAD.match(text, at)
    if head is None:
        return None
    found = _value(text, head.end())
    if found is None:
        return None
    value, span, end = found
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value):
        return None
    return Line(number=number, start=start, end=end, name=head[1], value=value, span=span)


def _value(text: str, equals: int) -> tuple[str, tuple[int, int], int] | None:
    """The value after the `=` sign, where its text is, and where the line ends; None for an open or crooked quote."""
    at = _blank_end(text, equals)
    quote = text[at : at + 1]
    if quote == "'":
        return _quoted(text, at, _LITERAL, None) or _quoted(text, at, _ESCAPED, _SINGLE_ESCAPE)
    if quote == '"':
        return _quoted(text, at, _DOUBLE, _DOUBLE_ESCAPE)
    end = _line_end(text, at)
    rest = text[at:end].rstrip("\r\n")
    if rest.startswith("#") and at > equals:
        return "", (equals, equals), end
    comments = [place for place in (rest.find(" #"), rest.find("\t#")) if place >= 0]
    value = rest[: min(comments, default=len(rest))].rstrip(" \t")
    return value, (at if value else equals, at + len(value)), end


def _quoted(
    text: str, at: int, shape: re.Pattern[str], escape: re.Pattern[str] | None
) -> tuple[str, tuple[int, int], int] | None:
    match = shape.match(text, at)
    tail = _TAIL.match(text, match.end()) if match else None
    if match is None or tail is None:
        return None
    value = match[1]
    if escape is not None:
        value = escape.sub(lambda found: _ESCAPES.get(found[1], found[1]), value)
    return value, match.span(), tail.end()


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _blank_end(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _put(text: str, lines: list[Line], written: Mapping[str, str], values: Mapping[str, str]) -> str:
    last = {line.name: line.number for line in lines}
    parts = []
    for line in lines:
        if line.name not in values:
            parts.append(text[line.start : line.end])
        elif line.number == last[line.name]:
            parts.append(_put_value(text, line, written[line.name], values[line.name]))
    found = "".join(parts)
    new = [f"{name}={text}" for name, text in written.items() if name not in last]
    if not new:
        return found
    line_break = "\r\n" if found.endswith("\r\n") else "\n"
    if found and found != "\ufeff" and not found.endswith("\n"):
        line_break = "\r\n" if "\r\n" in found else "\n"
        found += line_break
    return found + "".join(line + line_break for line in new)


def _put_value(text: str, line: Line, written: str, value: str) -> str:
    if line.value == value:
        return text[line.start : line.end]
    start, end = line.span
    return text[line.start : start] + written + text[end : line.end]


def _written(value: str) -> str:
    if _SAFE_BARE.fullmatch(value):
        return value
    return _in_double_quotes(value) if _UNSAFE_SINGLE.search(value) else f"'{value}'"


def _in_double_quotes(value: str) -> str:
    return '"' + _NEEDS_ESCAPE.sub(lambda found: "\\" + _NAMES.get(found[0], found[0]), value) + '"'
