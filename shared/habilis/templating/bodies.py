"""Templates of JSON: request bodies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from habilis.errors import ArgsInvalid, BadInput
from habilis.reading import Json
from habilis.templating.conditions import Holds, compile_holds, is_nothing
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.reads import Read
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.uses import Uses
from habilis.templating.values import read_written, typed, value_of

_DEEPEST = 64
_EACH, _DO, _IF = "$each", "$do", "$if"
_OF_EACH = frozenset({"item", "index"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTemplate:
    """A JSON value with placeholders in its texts.

    Attributes:
        source: As written; `compile_json(source)` gives an equal template.
        arguments: The first names of all paths.
        paths: The paths of all arguments, also of those that functions are given; without the `item` and `index` that
            a `$each` brings itself.
        keys: Names of keys, and whether each has a default wherever it stands.
    """

    source: Json
    arguments: frozenset[str] = field(compare=False)
    paths: frozenset[tuple[str, ...]] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    _fill: Read = field(repr=False, compare=False)

    def fill(self, scope: Scope) -> Json | Missing:
        """The value with every placeholder replaced once.

        Returns:
            A text that is exactly one placeholder takes the value with its type, and the value itself, not a copy.
            Where that is missing, the field or list entry is left out; MISSING when it is the whole template.

        Raises:
            ArgsInvalid: An argument inside text holds what JSON cannot carry, a function is given what it is not made
                for, or `$each` something that is no list.
        """
        return self._fill(scope)


def compile_json(value: Json) -> JsonTemplate:
    """Prepare a JSON value with placeholders.

    Raises:
        BadInput: A placeholder is malformed, or stands in a field's name; `where` shows it.
    """
    uses = Uses()
    fill = _compile(value, uses, 0)
    return JsonTemplate(source=value, arguments=uses.arguments, paths=frozenset(uses.paths), keys=uses.keys, _fill=fill)


def _compile(value: Json, uses: Uses, depth: int) -> Read:
    if depth > _DEEPEST:
        raise BadInput(f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, dict):
        if _EACH in value or _DO in value:
            return _compile_each(value, uses, depth)
        if _IF in value:
            return _compile_if(value, uses, depth)
        return _compile_object(value, uses, depth)
    if isinstance(value, list):
        fills = [_compile(entry, uses, depth + 1) for entry in value]
        return lambda scope: [entry for fill in fills if (entry := fill(scope)) is not MISSING]
    if isinstance(value, str):
        parts = parse(value)
        uses.add(parts)
        if any(isinstance(part, Placeholder) for part in parts):
            return value_of(parts)
    return lambda scope: value


def _compile_object(template: dict[str, Json], uses: Uses, depth: int) -> Read:
    frame: dict[str, Json] = {}
    plain: list[tuple[str, str, Json | Missing]] = []
    others: list[tuple[str, Read]] = []
    for name, value in template.items():
        _check_name(name)
        frame[name] = None
        parts = parse(value) if isinstance(value, str) else ()
        first = parts[0] if len(parts) == 1 else None
        if isinstance(first, Placeholder) and first.kind == "argument" and len(first.path) == 1:
            uses.add(parts)
            plain.append((name, first.name, typed(first.default)))
        elif isinstance(value, dict | list) or any(isinstance(part, Placeholder) for part in parts):
            others.append((name, _compile(value, uses, depth + 1)))
        else:
            frame[name] = value

    # The copied frame keeps the order of fields and costs one call however many are constant. The commonest value, a
    # bare argument, costs no function call of its own: this runs on every call.
    def fill(scope: Scope) -> dict[str, Json]:
        out = frame.copy()
        arguments = scope.arguments
        for name, argument, default in plain:
            value = arguments.get(argument, default)
            if value is MISSING:
                del out[name]
            else:
                out[name] = value
        for name, make in others:
            value = make(scope)
            if value is MISSING:
                del out[name]
            else:
                out[name] = value
        return out

    return fill


def _compile_each(template: dict[str, Json], uses: Uses, depth: int) -> Read:
    if template.keys() != {_EACH, _DO}:
        raise BadInput("$each and $do stand together, and alone: { $each: files, $do: … }")
    read, inner = _list_of(template[_EACH], uses), Uses()
    fill_one = _compile(template[_DO], inner, depth + 1)
    uses.merge((path for path in inner.paths if path[0] not in _OF_EACH), inner.keys)

    def fill(scope: Scope) -> list[Json] | Missing:
        entries = read(scope)
        if entries is MISSING or entries is None:
            return MISSING
        if not isinstance(entries, list):
            raise ArgsInvalid("$each goes through a list, and found something else")
        filled = (fill_one(scope.with_values({"item": one, "index": at})) for at, one in enumerate(entries))
        return [value for value in filled if value is not MISSING]

    return fill


def _list_of(written: Json, uses: Uses) -> Read:
    if isinstance(written, str):
        return read_written(written, uses)
    raise BadInput("$each is a path or a call that leads to a list, such as files or register.*.id")


def _compile_if(template: dict[str, Json], uses: Uses, depth: int) -> Read:
    holds = _wanted(template[_IF], uses)
    fill = _compile_object({name: value for name, value in template.items() if name != _IF}, uses, depth)
    return lambda scope: fill(scope) if holds(scope, None) else MISSING


def _wanted(written: Json, uses: Uses) -> Holds:
    if isinstance(written, str) and "{{" not in written and "${" not in written:
        read = read_written(written, uses)
        return lambda scope, seen: not is_nothing(read(scope))
    asked = Uses()
    holds = compile_holds(written, asked)
    if asked.asks_answer:
        raise BadInput("$if cannot look into an answer: a body is filled before there is one")
    uses.merge(asked.paths, asked.keys)
    return holds


def _check_name(name: str) -> None:
    if any(isinstance(part, Placeholder) for part in parse(name)):
        raise BadInput("a placeholder may not stand in a field's name", where=name)
