"""Rules of templates: every placeholder can be filled, and only from what it may be filled from."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from habilis.errors import BadInput
from habilis.manifest.faults import Faults, Part, listing, suggestion
from habilis.templating import JsonTemplate, compile_json

SOURCE_ARGUMENTS = frozenset({"from", "to", "days"})
CONNECT_ARGUMENTS = frozenset({"app_id", "app_name"})
FILE_FACTS = frozenset({"name", "mime", "size", "alt", "width", "height", "sha256", "base64"})
_PLACEHOLDER = re.compile(r"(\{\{|\$\{)[^{}]*\}{0,2}…?")
_OF_LISTS = frozenset({"$each", "$do", "$if"})


class Template(Protocol):
    """What every compiled template tells of its placeholders."""

    @property
    def paths(self) -> frozenset[tuple[str, ...]]:
        """The path of every argument, also inside functions."""

    @property
    def keys(self) -> Mapping[str, bool]:
        """Names of keys, and whether each has a default wherever it stands."""


_Compiled = TypeVar("_Compiled", bound=Template)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What a placeholder finds behind a name.

    Attributes:
        names: What may stand after the name and a dot; None for anything.
        is_list: Whether a position or `*` comes first.
    """

    names: frozenset[str] | None = None
    is_list: bool = False

    def fault(self, path: tuple[str, ...]) -> str:
        """Why a path leads nowhere; "" when it may lead somewhere."""
        name, rest = path[0], path[1:]
        if self.is_list and rest:
            if rest[0] != "*" and not rest[0].isdigit():
                return f"{name} is a list; write {{{{{name}.0.{rest[0]}}}}} or {{{{{name}.*.{rest[0]}}}}}"
            rest = rest[1:]
        if not rest or self.names is None or rest[0] in self.names:
            return ""
        if not self.names:
            return f"{name} holds nothing that a name leads into"
        return f"{name} has no {rest[0]}{suggestion(rest[0], self.names) or f'; it has {listing(self.names)}'}"


FILES = Inside(names=FILE_FACTS, is_list=True)
FILE = Inside(names=FILE_FACTS)
NUMBER = Inside(names=frozenset())
ANYTHING = Inside()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fillable:
    """What the placeholders of one template may be filled from.

    Attributes:
        keys: Names declared in `auth`; None when they could not be read.
        arguments: Names of arguments; None when any may come.
        inside: Names beside the arguments, and what stands behind each.
        absent: Names that are filled elsewhere, and why not here.
        saved: Names whose values earlier answers gave, and no caller: an address may begin with one.
    """

    keys: frozenset[str] | None
    arguments: frozenset[str] | None
    inside: Mapping[str, Inside] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    saved: frozenset[str] = frozenset()

    def with_names(self, names: Mapping[str, Inside]) -> "Fillable":
        """The same, with more names."""
        return replace(self, inside={**self.inside, **names})


def compiled(make: Callable[[str], _Compiled], part: Part, faults: Faults) -> _Compiled | None:
    """The template of a text; None, with the fault noted, when a placeholder in it is wrong."""
    text = part.text()
    if text is None:
        return None
    try:
        return make(text)
    except BadInput as error:
        faults.add(part.path, said(error))
        return None


def check_template(make: Callable[[str], _Compiled], part: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with the template of a text, if there is one."""
    template = compiled(make, part, faults)
    if template is not None:
        check_placeholders(template, part, fillable, faults)


def check_value(value: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with a template of JSON, each fault at its own text."""
    before = len(faults.found)
    for leaf in _leaves(value):
        template = _compiled_json(leaf, faults)
        if template:
            check_placeholders(template, leaf, fillable, faults)
    if len(faults.found) == before:
        _compiled_json(value, faults)  # for placeholders in names


def _compiled_json(part: Part, faults: Faults) -> JsonTemplate | None:
    try:
        return compile_json(part.value)
    except BadInput as error:
        faults.add(part.path, said(error))
        return None


def _leaves(value: Part) -> Iterator[Part]:
    """The texts in a value; a list that is built from another is one, for it fills names of its own."""
    fields = value.fields()
    if isinstance(value.value, str) or _OF_LISTS & fields.keys():
        yield value
        return
    for inside in (*fields.values(), *value.entries()):
        yield from _leaves(inside)


def check_placeholders(template: Template, part: Part, fillable: Fillable, faults: Faults) -> None:
    """Note each argument and key of a template that nothing will fill."""
    _check_keys(template.keys, part, fillable.keys, faults)
    for path in sorted(template.paths):
        message = _path_fault(path, fillable)
        if message:
            faults.add(part.path, message)


def _check_keys(used: Iterable[str], part: Part, declared: frozenset[str] | None, faults: Faults) -> None:
    if declared is None:
        return
    for name in sorted(set(used) - declared):
        faults.add(part.path, f"${{{name}}} is not declared in auth{suggestion(name, declared)}")


def _path_fault(path: tuple[str, ...], fillable: Fillable) -> str:
    name = path[0]
    if name in fillable.inside:
        return fillable.inside[name].fault(path)
    if fillable.arguments is not None and name in fillable.arguments:
        return ""
    if name in fillable.absent:
        return f"nothing fills {{{{{name}}}}} here: {fillable.absent[name]}"
    if fillable.arguments is None:
        return ""
    known = fillable.arguments | fillable.inside.keys()
    listed = suggestion(name, known) or (f"; known here are {listing(known)}" if known else "")
    return f"nothing fills {{{{{name}}}}}{listed}"


def said(error: BadInput) -> str:
    """An error of ours as the message of a fault."""
    where = error.where if _PLACEHOLDER.fullmatch(error.where) else ""
    text = f"{where}: {error.message}" if where.isprintable() and where else error.message
    return f"{text}; {error.hint}" if error.hint else text
