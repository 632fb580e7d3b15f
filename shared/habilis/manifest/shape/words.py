"""The kinds of text and number that fields hold, and the mapping whose fields are all known."""

import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from habilis import names
from habilis.errors import BadInput
from habilis.manifest.faults import (
    LONGEST_DESCRIPTION,
    LONGEST_LINE,
    blank_fault,
    description_fault,
    line_fault,
)
from habilis.reading.json_text import shortened

_LONGEST_NAME = 64
_DASHED = r"^[a-z][a-z0-9-]{0,62}$"
_UNDERSCORED = r"^[a-z][a-z0-9_]{0,63}$"
_HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
_QUERY = r"^[!-z|~]{1,128}$"
_HOST = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$"


def fault(message: str) -> PydanticCustomError:
    """A fault of shape, in words of ours."""
    return PydanticCustomError("habilis", "{message}", {"message": message})


def _checked_by(checker: Callable[[str], str]) -> AfterValidator:
    """A validator that says a name's fault in the words of `names`."""

    def check(text: str) -> str:
        try:
            return checker(text)
        except BadInput as error:
            found = error.message if len(text) <= _LONGEST_NAME else f"found {len(text):,} characters"
            raise fault(f"{found}: {error.hint}") from None

    return AfterValidator(check)


def _matching(pattern: str, expected: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if compiled.search(text) is None:
            raise fault(f"found {shortened(text)}; expected {expected}")
        return text

    return AfterValidator(check)


def _faultless(fault_of: Callable[[str], str]) -> AfterValidator:
    def check(text: str) -> str:
        if found := fault_of(text):
            raise fault(found)
        return text

    return AfterValidator(check)


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or not re.fullmatch(r"[!-~]+", text):
        raise fault("expected a web address, as https://example.com/docs")
    return text


def _picture(text: str) -> str:
    parts = text.split("/")
    if not text.endswith(".svg") or not all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", part) for part in parts):
        raise fault("expected the path of an .svg file inside the ability's folder, as avatar.svg")
    return text


def _named(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern})


Id = Annotated[str, _checked_by(names.ability_id), _named(_DASHED)]
Dashed = Annotated[str, _matching(_DASHED, "a-z, 0-9 and dashes, from a letter, at most 63"), _named(_DASHED)]
Underscored = Annotated[
    str, _matching(_UNDERSCORED, "a-z, 0-9 and underscores, from a letter, at most 64"), _named(_UNDERSCORED)
]
ToolText = Annotated[str, _checked_by(names.tool_name), _named(_UNDERSCORED)]
SourceText = Annotated[str, _checked_by(names.source_name), _named(_UNDERSCORED)]
KeyText = Annotated[str, _checked_by(names.key_name), _named(r"^[A-Z][A-Z0-9_]{0,63}$")]
HeaderText = Annotated[str, _matching(_HEADER, "the literal name of a header"), _named(_HEADER)]
HostText = Annotated[str, _matching(_HOST, "a host name, as linkedin.com"), _named(_HOST)]
Icon = Annotated[str, _matching(r"^([a-z0-9][a-z0-9-]{0,63})?$", "the name of a lucide icon, as book-open")]
MaybeLine = Annotated[str, _faultless(line_fault), Field(json_schema_extra={"maxLength": LONGEST_LINE})]
Line = Annotated[MaybeLine, _faultless(blank_fault), Field(json_schema_extra={"minLength": 1})]
Description = Annotated[str, _faultless(description_fault), Field(json_schema_extra={"maxLength": LONGEST_DESCRIPTION})]
WebAddress = Annotated[str, AfterValidator(_web_address), Field(json_schema_extra={"format": "uri"})]
Picture = Annotated[str, AfterValidator(_picture)]
Parameter = Annotated[str, _matching(r"^[A-Za-z0-9_.~\[\]-]{1,64}$", "the name of a query parameter")]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Size = Annotated[int, Field(ge=1, le=10_000)]
QueryText = Annotated[str, _matching(_QUERY, "the literal name of a query parameter"), _named(_QUERY)]
Seconds = Annotated[float, Field(ge=1, le=300)]
Template = Any
"""JSON with placeholders in its texts."""
Condition = Annotated[Any, WithJsonSchema({"format": "condition"})]
"""A template, or a mapping; `schema` writes its form out once and refers to it."""
Replacements = dict[str, dict[str, Any]]


class Shape(BaseModel):
    """A mapping whose fields are all known."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )
