"""Templates of JSON: request bodies."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from habilis.errors import BadInput
from habilis.reading import Json
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.texts import Arguments, Keys, arguments_of, fill_parts, keys_of, read_argument

Fill = Callable[[Arguments, Keys], Json | Missing]

_DEEPEST = 64
# Sent as they are, they would surprise whoever takes the format's later words for granted.
_RESERVED = frozenset({"$each", "$do", "$if"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTemplate:
    """A JSON value with placeholders in its texts.

    Attributes:
        source: As written; `compile_json(source)` gives an equal template.
        arguments: The first names of all paths.
        keys: Names of keys, and whether each has a default wherever it stands.
    """

    source: Json
    arguments: frozenset[str] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    _fill: Fill = field(repr=False, compare=False)

    def fill(self, scope: Scope) -> Json | Missing:
        """The value with every placeholder replaced once.

        Returns:
            A text that is exactly one placeholder takes the value with its type, and the value itself, not a copy.
            Where that is missing, the field or list entry is left out; MISSING when it is the whole template.

        Raises:
            ArgsInvalid: An argument inside text holds what JSON cannot carry.
        """
        return self._fill(scope.arguments, scope.keys)


def compile_json(value: Json) -> JsonTemplate:
    """Prepare a JSON value with placeholders.

    Raises:
        BadInput: A placeholder is malformed, or stands in a field's name; `where` shows it.
    """
    found: list[str | Placeholder] = []
    fill = _compile(value, found, 0)
    return JsonTemplate(source=value, arguments=arguments_of(found), keys=keys_of(found), _fill=fill)


def _compile(value: Json, found: list[str | Placeholder], depth: int) -> Fill:
    if depth > _DEEPEST:
        raise BadInput(f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, dict):
        return _compile_object(value, found, depth)
    if isinstance(value, list):
        fills = [_compile(entry, found, depth + 1) for entry in value]
        return lambda arguments, keys: [entry for fill in fills if (entry := fill(arguments, keys)) is not MISSING]
    if isinstance(value, str):
        parts = parse(value)
        found.extend(parts)
        if len(parts) == 1 and isinstance(parts[0], Placeholder):
            return _whole(parts[0])
        if any(isinstance(part, Placeholder) for part in parts):
            return fill_parts(parts)
    return lambda arguments, keys: value


def _compile_object(template: dict[str, Json], found: list[str | Placeholder], depth: int) -> Fill:
    frame: dict[str, Json] = {}
    plain: list[tuple[str, str, Json | Missing]] = []
    others: list[tuple[str, Fill]] = []
    for name, value in template.items():
        _check_name(name)
        frame[name] = None
        parts = parse(value) if isinstance(value, str) else ()
        first = parts[0] if len(parts) == 1 else None
        if isinstance(first, Placeholder) and first.kind == "argument" and len(first.path) == 1:
            found.append(first)
            plain.append((name, first.name, _typed(first.default)))
        elif isinstance(value, dict | list) or any(isinstance(part, Placeholder) for part in parts):
            others.append((name, _compile(value, found, depth + 1)))
        else:
            frame[name] = value

    # The copied frame keeps the order of fields and costs one call however many are constant. The commonest value, a
    # bare argument, costs no function call of its own: this runs on every call.
    def fill(arguments: Arguments, keys: Keys) -> dict[str, Json]:
        out = frame.copy()
        for name, argument, default in plain:
            value = arguments.get(argument, default)
            if value is MISSING:
                del out[name]
            else:
                out[name] = value
        for name, make in others:
            value = make(arguments, keys)
            if value is MISSING:
                del out[name]
            else:
                out[name] = value
        return out

    return fill


def _check_name(name: str) -> None:
    if any(isinstance(part, Placeholder) for part in parse(name)):
        raise BadInput("a placeholder may not stand in a field's name", where=name)
    if name in _RESERVED:
        raise BadInput(f"{name} is not available in templates yet", where=name)


def _whole(part: Placeholder) -> Fill:
    if part.kind == "key":
        name, is_encoded = part.name, part.is_encoded
        if is_encoded:
            fill_encoded = fill_parts([part])
            return lambda arguments, keys: fill_encoded(arguments, keys) or MISSING
        # A key is text, and so is its default: the type must not depend on whether the key is set.
        text: str | Missing = MISSING if part.default is None else part.default
        return lambda arguments, keys: keys.get(name) or text
    read, default = read_argument(part), _typed(part.default)

    def fill(arguments: Arguments, keys: Keys) -> Json | Missing:
        value = read(arguments)
        return default if value is MISSING else value

    return fill


def _typed(default: str | None) -> Json | Missing:
    """Read a default as the JSON scalar it is, else as its text."""
    if default is None:
        return MISSING
    try:
        value = json.loads(default)
    except (ValueError, RecursionError):
        return default
    is_odd = isinstance(value, dict | list) or (isinstance(value, float) and not math.isfinite(value))
    return default if is_odd else value
