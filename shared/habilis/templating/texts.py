"""Templates of text: headers, user names, subjects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from habilis.reading import Json
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.pointers import follow, steps_of
from habilis.templating.scope import MISSING, Missing, Scope, text_of

Arguments = Mapping[str, Json]
Keys = Mapping[str, str]
FillText = Callable[[Arguments, Keys], str]
ReadArgument = Callable[[Arguments], Json | Missing]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTemplate:
    """Text with placeholders.

    Attributes:
        source: As written; `compile_text(source)` gives an equal template.
        arguments: The first names of all paths.
        keys: Names of keys, and whether each has a default wherever it stands.
    """

    source: str
    arguments: frozenset[str] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    _fill: Callable[[Arguments, Keys], str | Missing] = field(repr=False, compare=False)

    def fill(self, scope: Scope) -> str | Missing:
        """The text with every placeholder replaced once.

        Returns:
            Inside text, missing and null are "", and what is no text is written as JSON. MISSING only when the text is
            exactly one placeholder that stands for nothing.

        Raises:
            ArgsInvalid: An argument holds what JSON cannot carry.
        """
        return self._fill(scope.arguments, scope.keys)


def compile_text(text: str) -> TextTemplate:
    """Prepare text with placeholders.

    Raises:
        BadInput: A placeholder is malformed; `where` shows it.
    """
    parts = parse(text)
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        fill: Callable[[Arguments, Keys], str | Missing] = _whole(parts[0])
    else:
        fill = fill_parts(parts)
    return TextTemplate(source=text, arguments=arguments_of(parts), keys=keys_of(parts), _fill=fill)


def arguments_of(parts: Sequence[str | Placeholder]) -> frozenset[str]:
    """The first names of all arguments' paths."""
    return frozenset(part.name for part in parts if isinstance(part, Placeholder) and part.kind == "argument")


def keys_of(parts: Sequence[str | Placeholder]) -> Mapping[str, bool]:
    """The names of keys, and whether each has a default wherever it stands."""
    found: dict[str, bool] = {}
    for part in parts:
        if isinstance(part, Placeholder) and part.kind == "key":
            found[part.name] = found.get(part.name, True) and part.default is not None
    return found


def read_argument(part: Placeholder) -> ReadArgument:
    """Make the function that finds what a placeholder's path leads to."""
    name, steps = part.name, steps_of(part.path[1:])
    if not steps:
        return lambda arguments: arguments.get(name, MISSING)

    def read(arguments: Arguments) -> Json | Missing:
        root = arguments.get(name, MISSING)
        return MISSING if root is MISSING else follow(root, steps)

    return read


def _whole(part: Placeholder) -> Callable[[Arguments, Keys], str | Missing]:
    default: str | Missing = MISSING if part.default is None else part.default
    name = part.name
    if part.kind == "key":
        if part.is_encoded:
            fill_encoded = fill_parts([part])
            if default is MISSING:
                return lambda arguments, keys: fill_encoded(arguments, keys) or MISSING
            return fill_encoded
        return lambda arguments, keys: keys.get(name) or default
    read = read_argument(part)

    def fill(arguments: Arguments, keys: Keys) -> str | Missing:
        value = read(arguments)
        return default if value is MISSING or value is None else text_of(value, name)

    return fill


def fill_parts(parts: Sequence[str | Placeholder]) -> FillText:
    """Make the function that fills literals and placeholders into one text."""
    frame = [part if isinstance(part, str) else "" for part in parts]
    plain: list[tuple[int, str, str]] = []
    deep: list[tuple[int, ReadArgument, str, str]] = []
    keyed: list[tuple[int, str, str, bool]] = []
    for slot, part in enumerate(parts):
        if isinstance(part, str):
            continue
        default = part.default or ""
        if part.kind == "key":
            keyed.append((slot, part.name, default, part.is_encoded))
        elif len(part.path) == 1:
            plain.append((slot, part.name, default))
        else:
            deep.append((slot, read_argument(part), default, ".".join(part.path)))

    # The commonest placeholder, a bare name, costs no function call of its own: this runs on every call.
    def fill(arguments: Arguments, keys: Keys) -> str:
        out = frame.copy()
        for slot, name, default in plain:
            value = arguments.get(name)
            out[slot] = value if type(value) is str else default if value is None else text_of(value, name)
        for slot, read, default, name in deep:
            found = read(arguments)
            out[slot] = default if found is None or found is MISSING else text_of(found, name)
        for slot, name, default, is_encoded in keyed:
            key = keys.get(name) or default
            out[slot] = quote(key, safe="", errors="replace") if is_encoded else key
        return "".join(out)

    return fill
