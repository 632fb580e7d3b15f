"""Templates of text: headers, user names, subjects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from habilis.templating.grammar import Placeholder, parse
from habilis.templating.reads import Read, reader
from habilis.templating.scope import MISSING, Missing, Scope, text_of
from habilis.templating.uses import Uses

FillText = Callable[[Scope], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTemplate:
    """Text with placeholders.

    Attributes:
        source: As written; `compile_text(source)` gives an equal template.
        arguments: The first names of all paths.
        paths: The paths of all arguments, also of those that functions are given.
        keys: Names of keys, and whether each has a default wherever it stands.
    """

    source: str
    arguments: frozenset[str] = field(compare=False)
    paths: frozenset[tuple[str, ...]] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    _fill: Callable[[Scope], str | Missing] = field(repr=False, compare=False)

    def fill(self, scope: Scope) -> str | Missing:
        """The text with every placeholder replaced once.

        Returns:
            Inside text, missing and null are "", and what is no text is written as JSON. MISSING only when the text is
            exactly one placeholder that stands for nothing.

        Raises:
            ArgsInvalid: An argument holds what JSON cannot carry, or what a function is not made for.
        """
        return self._fill(scope)


def compile_text(text: str) -> TextTemplate:
    """Prepare text with placeholders.

    Raises:
        BadInput: A placeholder is malformed; `where` shows it.
    """
    parts = parse(text)
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        fill: Callable[[Scope], str | Missing] = _whole(parts[0])
    else:
        fill = fill_parts(parts)
    return text_template(text, parts, fill)


def text_template(
    source: str, parts: Sequence[str | Placeholder], fill: Callable[[Scope], str | Missing]
) -> TextTemplate:
    """The template of a text that was parsed, filled by `fill`."""
    uses = Uses(parts)
    return TextTemplate(
        source=source, arguments=uses.arguments, paths=frozenset(uses.paths), keys=uses.keys, _fill=fill
    )


def _whole(part: Placeholder) -> Callable[[Scope], str | Missing]:
    default: str | Missing = MISSING if part.default is None else part.default
    name = part.name
    if part.kind == "key":
        if part.is_encoded:
            fill_encoded = fill_parts([part])
            if default is MISSING:
                return lambda scope: fill_encoded(scope) or MISSING
            return fill_encoded
        return lambda scope: scope.keys.get(name) or default
    read = reader(part.expression)

    def fill(scope: Scope) -> str | Missing:
        value = read(scope)
        return default if value is MISSING or value is None else text_of(value, name)

    return fill


def fill_parts(parts: Sequence[str | Placeholder]) -> FillText:
    """Make the function that fills literals and placeholders into one text."""
    frame = [part if isinstance(part, str) else "" for part in parts]
    plain: list[tuple[int, str, str]] = []
    deep: list[tuple[int, Read, str, str]] = []
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
            deep.append((slot, reader(part.expression), default, part.label))

    # The commonest placeholder, a bare name, costs no function call of its own: this runs on every call.
    def fill(scope: Scope) -> str:
        out = frame.copy()
        arguments, keys = scope.arguments, scope.keys
        for slot, name, default in plain:
            value = arguments.get(name)
            out[slot] = value if type(value) is str else default if value is None else text_of(value, name)
        for slot, read, default, name in deep:
            found = read(scope)
            out[slot] = default if found is None or found is MISSING else text_of(found, name)
        for slot, name, default, is_encoded in keyed:
            key = keys.get(name) or default
            out[slot] = quote(key, safe="", errors="replace") if is_encoded else key
        return "".join(out)

    return fill
