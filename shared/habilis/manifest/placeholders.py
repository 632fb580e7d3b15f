"""Rules of templates: every placeholder can be filled, and only from what it may be filled from."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from habilis.errors import BadInput
from habilis.manifest.contracts import CONTRACTS, contract_arguments
from habilis.manifest.faults import Faults, Part, listing, suggestion
from habilis.templating import JsonTemplate, TextTemplate, UrlTemplate

Template = JsonTemplate | TextTemplate | UrlTemplate
_Compiled = TypeVar("_Compiled", JsonTemplate, TextTemplate, UrlTemplate)

CONTRACT_ARGUMENTS: Mapping[str, frozenset[str]] = {contract: contract_arguments(contract) for contract in CONTRACTS}
SOURCE_ARGUMENTS = frozenset({"from", "to", "days"})
CONNECT_ARGUMENTS = frozenset({"app_id", "app_name"})
_PLACEHOLDER = re.compile(r"(\{\{|\$\{)[^{}]*\}{0,2}…?")
_OF_FILES = frozenset({"files", "file"})
_OF_STEPS = frozenset({"item", "index"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fillable:
    """What the placeholders of one template may be filled from.

    Attributes:
        keys: Names declared in `auth`; None when they could not be read.
        arguments: Names of arguments; None when any may come.
    """

    keys: frozenset[str] | None
    arguments: frozenset[str] | None


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


def check_placeholders(template: Template, part: Part, fillable: Fillable, faults: Faults) -> None:
    """Note each argument and key of a template that nothing will fill."""
    _check_keys(template.keys, part, fillable.keys, faults)
    if fillable.arguments is None:
        return
    for name in sorted(template.arguments - fillable.arguments):
        faults.add(part.path, _unknown_argument(name, fillable.arguments))


def _check_keys(used: Iterable[str], part: Part, declared: frozenset[str] | None, faults: Faults) -> None:
    if declared is None:
        return
    for name in sorted(set(used) - declared):
        faults.add(part.path, f"${{{name}}} is not declared in auth{suggestion(name, declared)}")


def _unknown_argument(name: str, known: frozenset[str]) -> str:
    if name in _OF_FILES:
        return f"this version of Habilis sends no files, and {{{{{name}}}}} is one"
    if name in _OF_STEPS:
        return f"{{{{{name}}}}} is filled inside steps only, which come later"
    listed = suggestion(name, known) or (f"; known here are {listing(known)}" if known else "")
    return f"nothing fills {{{{{name}}}}}{listed}"


def said(error: BadInput) -> str:
    """An error of ours as the message of a fault."""
    where = error.where if _PLACEHOLDER.fullmatch(error.where) else ""
    text = f"{where}: {error.message}" if where.isprintable() and where else error.message
    return f"{text}; {error.hint}" if error.hint else text


def leaves(part: Part) -> list[Part]:
    """Every text inside a JSON value."""
    if isinstance(part.value, str):
        return [part]
    inside: Iterable[Part] = part.fields().values() if isinstance(part.value, dict) else part.entries()
    return [leaf for one in inside for leaf in leaves(one)]
