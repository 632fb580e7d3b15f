"""The grammar of placeholders: text in, literals and placeholders out.

    {{expression}}   {{expression|default}}    an argument, what an earlier step saved, or a function of such
    ${NAME}    ${NAME|default}                 a key of the account
    ${NAME|urlencode}    ${NAME|urlencode|default}

Blanks around an expression and around a default do not count. A default ends at the first closing brace and cannot
hold a placeholder.

Source: docs/format.md "Placeholders".
"""

import re
from dataclasses import dataclass
from typing import Literal as OneOf

from habilis.errors import BadInput
from habilis.templating.expressions import CALL, KEY, PATH, Call, Expression, Path, read_call, read_expression

# `${{price}}` is a dollar sign before an argument, `{{{x}}}` an argument in braces.
_OPENING = re.compile(r"\{\{(?!\{)|\$\{(?!\{)")
_BLANKS = re.compile(r"\s*")
_AFTER_CALL = re.compile(r"\s*(?:\||\}\})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """One placeholder.

    Attributes:
        kind: What it stands for.
        text: As written, for messages.
        path: The parts of an argument's path; the one name of a key; () for a call.
        default: As written; None when there is none.
        is_encoded: Whether `|urlencode` is asked for.
        call: The call of a function; None for an argument and a key.
    """

    kind: OneOf["argument", "call", "key"]
    text: str
    path: tuple[str, ...] = ()
    default: str | None = None
    is_encoded: bool = False
    call: Call | None = None

    @property
    def name(self) -> str:
        """The argument's or key's own name; such as `cut()` for a call."""
        return f"{self.call.function}()" if self.call else self.path[0]

    @property
    def label(self) -> str:
        """What messages call it: the whole path, or such as `cut()`."""
        return ".".join(self.path) or self.name

    @property
    def expression(self) -> Expression:
        """What an argument or a call says."""
        return self.call or Path(self.path)


def parse(text: str) -> tuple[str | Placeholder, ...]:
    """Split text into literals and placeholders; () for "".

    Raises:
        BadInput: A placeholder is malformed; `where` shows it.
    """
    parts: list[str | Placeholder] = []
    position = 0
    while opening := _OPENING.search(text, position):
        if opening.start() > position:
            parts.append(text[position : opening.start()])
        part = _key(text, opening.start()) if opening[0] == "${" else _argument(text, opening.start())
        parts.append(part)
        position = opening.start() + len(part.text)
    if position < len(text):
        parts.append(text[position:])
    return tuple(parts)


def _argument(text: str, start: int) -> Placeholder:
    begin = _skip(text, start + 2)
    if CALL.match(text, begin):
        return _call(text, start, begin)
    written, inner = _enclosed(text, start, "}}")
    expression, bar, default = (part.strip() for part in inner.partition("|"))
    if not PATH.fullmatch(expression):
        raise _bad(written, "a placeholder holds names joined by dots, as {{item.id}}")
    _check_default(default, written)
    path = tuple(expression.split("."))
    return Placeholder(kind="argument", text=written, path=path, default=default if bar else None)


def _call(text: str, start: int, begin: int) -> Placeholder:
    try:
        call, end = read_call(text, begin)
        _check_functions(call)
    except BadInput as error:
        close = text.find("}}", begin)
        raise _bad(text[start : close + 2] if close >= 0 else text[start:], error.message, error.hint) from None
    after = _AFTER_CALL.match(text, end)
    if not after:
        raise _bad(text[start : end + 8], "a call is followed by a path, as first(files).name, by |default or by }}")
    # The rest is looked for behind the call, whose texts may hold braces.
    rest, inner = _enclosed(text, end, "}}", opened=0)
    _, bar, default = (part.strip() for part in inner.partition("|"))
    written = text[start:end] + rest
    _check_default(default, written)
    return Placeholder(kind="call", text=written, call=call, default=default if bar else None)


def _check_default(default: str, written: str) -> None:
    if default == "urlencode":
        raise _bad(written, "|urlencode is for keys; arguments in a URL are encoded by themselves")
    if "{" in default:
        raise _bad(written, "a default cannot hold braces")


def _key(text: str, start: int) -> Placeholder:
    written, inner = _enclosed(text, start, "}")
    name, bar, rest = (part.strip() for part in inner.partition("|"))
    if not KEY.fullmatch(name):
        raise _bad(written, "a key's name is upper case, as ${API_KEY}")
    if "{" in rest:
        raise _bad(written, "a default cannot hold braces")
    words = rest.split("|") if bar else []
    is_encoded = "urlencode" in {words[0].strip(), words[-1].strip()} if words else False
    if is_encoded:
        words = words[1:] if words[0].strip() == "urlencode" else words[:-1]
    default = "|".join(words).strip() if words else None
    return Placeholder(kind="key", text=written, path=(name,), default=default, is_encoded=is_encoded)


def _enclosed(text: str, start: int, closing: str, *, opened: int = 2) -> tuple[str, str]:
    """A placeholder as written from a position on, and what is between its braces."""
    end = text.find(closing, start + opened)
    if end < 0:
        raise _bad(text[start:], f"the placeholder is not closed with {closing}")
    return text[start : end + len(closing)], text[start + opened : end]


def _skip(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def parse_expression(text: str) -> Expression:
    """The path or call that a whole text is, without braces.

    Raises:
        BadInput: It is neither, or a function in it is misused; `where` shows it.
    """
    try:
        expression = read_expression(text)
        _check_functions(expression)
    except BadInput as error:
        raise _bad(text, error.message, error.hint) from None
    return expression


def _check_functions(expression: Expression) -> None:
    if isinstance(expression, Call):
        # Loaded by those templates alone that call a function: every call of every ability pays for what is imported.
        from habilis.templating.functions.table import check_call

        check_call(expression)


def _bad(written: str, message: str, hint: str = "") -> BadInput:
    return BadInput(message, where=shortened(written), hint=hint)


def shortened(text: str) -> str:
    """Text of a manifest, fit for a message: at most 60 characters."""
    return text if len(text) <= 60 else text[:59] + "…"
