r"""The grammar of expressions: what stands between the braces of a placeholder.

    path        title    item.id    register.*.id    files.0.name
    literal     'text'   "text"     12    -0.5
    call        cut(title, 60)      last(split(item.uri, '/'))      first(files).name

A path is names, list positions and `*` joined by dots. Inside a literal text, `\n`, `\t`, `\\` and a quote after a
backslash are a line break, a tab, a backslash and the quote.

Source: docs/format.md "Placeholders".
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from habilis.errors import BadInput

PATH = re.compile(r"[^\W\d][\w-]*(?:\.[^\s.(){}|\"',\[\]]+)*")
CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
KEY = re.compile(r"[A-Z][A-Z0-9_]*")
_TAKES_KEY = "hmac"
_REST = re.compile(r"(?:\.[^\s.(){}|\"',\[\]]+)+")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?(?![\w.])")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_BLANKS = re.compile(r"\s*")
_DEEPEST = 12


# Named tuples, for making a dataclass takes five times as long, and every process that starts waits for these.
class Path(NamedTuple):
    """A place among the arguments; `parts` are its names, positions and `*`, at least one."""

    parts: tuple[str, ...]


class Literal(NamedTuple):
    """A value written out."""

    value: str | int | float


class Key(NamedTuple):
    """A key of the account, which a call takes by its bare name: `hmac(text, API_SECRET)`."""

    name: str


class Call(NamedTuple):
    """A call of a function of the table.

    Attributes:
        function: Its name, as written: whether there is such a function is not checked here.
        arguments: What it is given.
        rest: The path that is followed into what it gives; () for none.
    """

    function: str
    arguments: tuple["Expression", ...]
    rest: tuple[str, ...]


Expression = Path | Literal | Call | Key


def read_call(text: str, position: int, depth: int = 0) -> tuple[Call, int]:
    """The call that begins at a position of a text, and where it ends.

    Raises:
        BadInput: It is malformed.
    """
    opening = CALL.match(text, position)
    if opening is None or depth > _DEEPEST:
        raise BadInput(f"functions stand in each other at most {_DEEPEST} deep")
    name = opening[0][:-1].strip()
    arguments: list[Expression] = []
    position = _skip(text, opening.end())
    while not text.startswith(")", position):
        if arguments:
            position = _skip(text, _after_comma(text, position))
        argument, position = _read_argument(text, position, depth)
        arguments.append(_key(argument) if name == _TAKES_KEY and len(arguments) == 1 else argument)
        position = _skip(text, position)
    rest = _REST.match(text, position + 1)
    steps = tuple(rest[0][1:].split(".")) if rest else ()
    return Call(function=name, arguments=tuple(arguments), rest=steps), rest.end() if rest else position + 1


def read_expression(text: str) -> Path | Call:
    """The path or call that a whole text is, as `$each: files` writes it.

    Raises:
        BadInput: It is neither.
    """
    text = text.strip()
    if CALL.match(text):
        call, end = read_call(text, 0)
        if end == len(text):
            return call
    elif PATH.fullmatch(text):
        return Path(tuple(text.split(".")))
    raise BadInput("a path such as item.id, or a call such as first(files), is expected")


def inside(expression: Expression) -> Iterator[Expression]:
    """An expression and every expression in it."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from inside(argument)


def _read_argument(text: str, position: int, depth: int) -> tuple[Expression, int]:
    if CALL.match(text, position):
        return read_call(text, position, depth + 1)
    if written := _TEXT.match(text, position):
        return Literal(_unescaped(written[1] if written[1] is not None else written[2])), written.end()
    if number := _NUMBER.match(text, position):
        return Literal(float(number[0]) if number[1] else int(number[0])), number.end()
    if path := PATH.match(text, position):
        return Path(tuple(path[0].split("."))), path.end()
    if text.startswith(("'", '"'), position):
        raise BadInput("a text in a call is not closed with its quote")
    raise BadInput("a function is given paths, 'texts', numbers and calls, parted by commas")


def _key(argument: Expression) -> Key:
    """The key that is meant where a function takes one: whose value never passes through the arguments."""
    if isinstance(argument, Path) and KEY.fullmatch(".".join(argument.parts)):
        return Key(argument.parts[0])
    raise BadInput("hmac() takes the bare name of a key second, as hmac(text, API_SECRET)")


def _after_comma(text: str, position: int) -> int:
    if not text.startswith(",", position):
        raise BadInput("a call is closed with ), and what it is given is parted by commas")
    return position + 1


def _unescaped(written: str) -> str:
    def one(escape: re.Match[str]) -> str:
        if escape[1] not in _ESCAPES:
            raise BadInput("after a backslash in a text comes n, t, a quote or a backslash; write \\\\ for a backslash")
        return _ESCAPES[escape[1]]

    return _ESCAPED.sub(one, written)


def _skip(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position
