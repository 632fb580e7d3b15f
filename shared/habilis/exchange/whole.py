"""Whole numbers as services want them: JSON has one kind of number, so 5.0 is a good integer, and is sent as 5."""

from collections.abc import Mapping

from habilis.messages import Json
from habilis.templating import MISSING, pick

_LARGEST = 1e21
"""From here on a float stands for no exact whole number, and is written with an exponent."""

_HOLDERS = frozenset({list, dict})
_SETTLED = _HOLDERS | {float}
_BRANCHES = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")

_Rules = list[dict[str, Json]]


class WholeNumbers:
    """Where an input schema wants integers: worked out once for each place that arguments ever lead to."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self._root = schema
        self._places: dict[tuple[int, ...], _Place] = {}

    def settle(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """The arguments, each whole float made an integer where the schema, at any depth, says `integer`."""
        place = self.place([self._root])
        return {name: _settled(value, place.field(name)) for name, value in arguments.items()}

    def place(self, schemas: list[Json]) -> "_Place":
        """The place that these schemas hold for, with what they refer to and branch into."""
        rules = self._all_of(schemas)
        key = tuple(map(id, rules))
        if key not in self._places:
            self._places[key] = _Place(self, rules)
        return self._places[key]

    def _all_of(self, schemas: list[Json]) -> _Rules:
        found: _Rules = []
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or any(schema is other for other in found):
                continue
            found.append(schema)
            waiting += [schema.get(name) for name in _SINGLE]
            for name in _BRANCHES:
                branches = schema.get(name)
                waiting += branches if isinstance(branches, list) else []
            reference = schema.get("$ref")
            if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
                target = pick(self._root, reference[1:])
                waiting.append(None if target is MISSING else target)
        return found


class _Place:
    """A place in arguments, and the rules that hold there.

    Attributes:
        is_free: Whether no rule says anything of it, nor of what is inside.
        wants_integer: Whether a rule wants a whole number.
        own_entries: How many of the first entries of a list have rules of their own.
    """

    __slots__ = ("_entries", "_fields", "_names", "_rules", "_whole", "is_free", "own_entries", "wants_integer")

    def __init__(self, whole: WholeNumbers, rules: _Rules) -> None:
        self._whole = whole
        self._rules = rules
        self._names = frozenset(name for rule in rules for name in _named(rule))
        self._fields: dict[str | None, _Place] = {}
        self._entries: dict[int, _Place] = {}
        self.is_free = not rules
        self.own_entries = max((len(_first(rule)) for rule in rules), default=0)
        self.wants_integer = any(map(_wants_integer, rules))

    def field(self, name: str) -> "_Place":
        """The place of a field; those that no rule names share one."""
        known = name if name in self._names else None
        place = self._fields.get(known)
        if place is None:
            schemas = [_named(rule).get(name, rule.get("additionalProperties")) for rule in self._rules]
            place = self._fields[known] = self._whole.place(schemas)
        return place

    def entry(self, position: int) -> "_Place":
        """The place of an entry of a list; those after the ones with rules of their own share one."""
        position = min(position, self.own_entries)
        place = self._entries.get(position)
        if place is None:
            firsts = [(_first(rule), rule.get("items")) for rule in self._rules]
            schemas = [first[position] if position < len(first) else others for first, others in firsts]
            place = self._entries[position] = self._whole.place(schemas)
        return place


def _settled(value: Json, place: _Place) -> Json:
    if place.is_free:
        return value
    if isinstance(value, float):
        return int(value) if place.wants_integer and _is_whole(value) else value
    if isinstance(value, list):
        if not place.own_entries:
            return _settled_alike(value, place.entry(0))
        return [_settled(entry, place.entry(position)) for position, entry in enumerate(value)]
    if isinstance(value, dict):
        return {
            name: _settled(entry, place.field(name)) if type(entry) in _SETTLED else entry
            for name, entry in value.items()
        }
    return value


def _settled_alike(entries: list[Json], place: _Place) -> list[Json]:
    """The entries of a list that share one place; numbers, of which there may be many, at little cost each."""
    if not place.wants_integer:
        return [_settled(entry, place) if type(entry) in _HOLDERS else entry for entry in entries]
    return [
        (int(entry) if _is_whole(entry) else entry)
        if type(entry) is float
        else _settled(entry, place)
        if type(entry) in _HOLDERS
        else entry
        for entry in entries
    ]


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < _LARGEST


def _wants_integer(rule: Mapping[str, Json]) -> bool:
    types = rule.get("type")
    return types == "integer" or (isinstance(types, list) and "integer" in types)


def _named(rule: Mapping[str, Json]) -> Mapping[str, Json]:
    properties = rule.get("properties")
    return properties if isinstance(properties, dict) else {}


def _first(rule: Mapping[str, Json]) -> list[Json]:
    items = rule.get("prefixItems")
    return items if isinstance(items, list) else []
