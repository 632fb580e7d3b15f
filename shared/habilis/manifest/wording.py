"""Faults of shape, from Pydantic's findings to our sentences; no text of the library, and no value, gets through."""

import re
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import ValidationError

from habilis.manifest import shape
from habilis.manifest.faults import Faults, Part, as_yaml_read, kind_of, suggestion
from habilis.manifest.later import unknown_field, unknown_flow
from habilis.messages import Json
from habilis.reading.document import Path
from habilis.reading.json_text import shortened

_EXPECTED: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, each entry beginning with '- '",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "model_attributes_type": "a mapping of names to values",
}
_NOT_WRITTEN = frozenset({"[key]", *shape.TAGS})
_UNQUOTED = frozenset({"int_type", "float_type", "bool_type"})


def shaped(data: dict[str, Json], faults: Faults) -> shape.ManifestShape | None:
    """The document as a checked shape; None, with the faults noted, when it is not well-formed."""
    try:
        return shape.ManifestShape.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    # Out here, so that no error of the library, which holds the text, hangs on ours.
    for one in errors:
        path = tuple(part for part in one["loc"] if part not in _NOT_WRITTEN)
        is_name = one["type"] == "extra_forbidden" or "[key]" in one["loc"]
        if one["type"] == "union_tag_not_found":
            path = (*path, "flow")
        message = _sentence(one["type"], one.get("ctx", {}), data, path, faults)
        faults.add(path, message, at_name=is_name)
    return None


def _sentence(kind: str, context: Mapping[str, Any], data: Json, path: Path, faults: Faults) -> str:
    part = _reached(data, path)
    if kind in _EXPECTED:
        return _wrong_type(kind, part, faults)
    if kind == "extra_forbidden":
        return unknown_field(_owner(data, path), str(path[-1]))
    if kind == "union_tag_not_found":
        return unknown_flow(part.value)
    if kind == "literal_error":
        return _wrong_word(part, re.findall(r"'([^']*)'", str(context["expected"])), faults)
    say = _SENTENCES.get(kind)
    return say(context) if say else "not what is expected here"


_SENTENCES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "habilis": lambda context: str(context["message"]),
    "missing": lambda _: "missing; it is required here",
    "greater_than_equal": lambda context: f"expected {context['ge']:g} or more",
    "less_than_equal": lambda context: f"expected {context['le']:g} or less",
    "finite_number": lambda _: "expected a finite number",
    "too_short": lambda context: (
        f"found {context['actual_length'] or 'none'}; expected at least {context['min_length']}"
    ),
    "too_long": lambda context: f"found {context['actual_length']}; expected at most {context['max_length']}",
}


def _wrong_type(kind: str, part: Part, faults: Faults) -> str:
    value = part.value
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f"expected text; {as_yaml_read(value, faults.document.raw(part.path))}"
    quoted = ", without quotes" if kind in _UNQUOTED and isinstance(value, str) else ""
    return f"found {kind_of(value)}; expected {_EXPECTED[kind]}{quoted}"


def _wrong_word(part: Part, allowed: list[str], faults: Faults) -> str:
    expected = f"expected {' or '.join(allowed)}" if len(allowed) < 3 else f"expected one of {', '.join(allowed)}"
    value = part.value
    if isinstance(value, bool | int | float):
        return f"{expected}; {as_yaml_read(value, faults.document.raw(part.path))}"
    # A word is shown only where it is like an allowed one: anything else may be a key in the wrong place.
    if isinstance(value, str) and (meant := suggestion(value, allowed)):
        return f"found {shortened(value)}; {expected}{meant}"
    return expected if isinstance(value, str) else f"found {kind_of(value)}; {expected}"


def _reached(data: Json, path: Path) -> Part:
    value = data
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            value = None
    return Part(value=value, path=path)


def _owner(data: Json, path: Path) -> type[shape.Shape]:
    """The shape whose field a path's last part is meant to be."""
    here: Any = shape.ManifestShape
    value = data
    for part in path[:-1]:
        here = _bare(here, value)
        if isinstance(here, type) and issubclass(here, shape.Shape):
            fields = {field.alias or name: field.annotation for name, field in here.model_fields.items()}
            here = fields[str(part)]
        else:
            here = get_args(here)[-1]
        value = _reached(value, (part,)).value
    return cast("type[shape.Shape]", _bare(here, value))


def _bare(annotation: Any, value: Json) -> Any:  # noqa: ANN401 -- an annotation has no narrower type
    """An annotation without `Annotated`, and of several the one that a value is meant to be."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in {Union, UnionType}:
            members = [one for one in get_args(annotation) if one is not type(None)]
            annotation = next((one for one in members if _is_meant(one, value)), members[0])
        else:
            return annotation


def _is_meant(annotation: Any, value: Json) -> bool:  # noqa: ANN401 -- as above
    bare = _bare(annotation, value)
    if get_origin(bare) is list:
        return isinstance(value, list)
    flow = bare.model_fields.get("flow") if isinstance(bare, type) and issubclass(bare, shape.Shape) else None
    if flow is None:
        return True
    return isinstance(value, dict) and value.get("flow") in get_args(flow.annotation)
