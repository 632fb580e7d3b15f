"""What may be written in an `extension.yaml`, field by field.

Pydantic checks types and names here; rules that need two fields are in `check`. The docstrings below a field are its
description in the JSON Schema that editors use. A field that a later version carries is not listed: `later` says so in
plain words when it is met.

Source: docs/format.md.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal
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
from habilis.manifest.model import Role
from habilis.reading.json_text import shortened

_LONGEST_NAME = 64
_DASHED = r"^[a-z][a-z0-9-]{0,62}$"
_UNDERSCORED = r"^[a-z][a-z0-9_]{0,63}$"
_HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
_HOST = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$"


def _fault(message: str) -> PydanticCustomError:
    return PydanticCustomError("habilis", "{message}", {"message": message})


def _checked_by(checker: Callable[[str], str]) -> AfterValidator:
    """A validator that says a name's fault in the words of `names`."""

    def check(text: str) -> str:
        try:
            return checker(text)
        except BadInput as error:
            found = error.message if len(text) <= _LONGEST_NAME else f"found {len(text):,} characters"
            raise _fault(f"{found}: {error.hint}") from None

    return AfterValidator(check)


def _matching(pattern: str, expected: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if compiled.search(text) is None:
            raise _fault(f"found {shortened(text)}; expected {expected}")
        return text

    return AfterValidator(check)


def _faultless(fault_of: Callable[[str], str]) -> AfterValidator:
    def check(text: str) -> str:
        if fault := fault_of(text):
            raise _fault(fault)
        return text

    return AfterValidator(check)


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or not re.fullmatch(r"[!-~]+", text):
        raise _fault("expected a web address, as https://example.com/docs")
    return text


def _picture(text: str) -> str:
    parts = text.split("/")
    if not text.endswith(".svg") or not all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", part) for part in parts):
        raise _fault("expected the path of an .svg file inside the ability's folder, as avatar.svg")
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
Replacements = dict[str, dict[str, Any]]


class Shape(BaseModel):
    """A mapping whose fields are all known."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )


class AuthShape(Shape):
    """A key that accounts of the ability hold."""

    env: KeyText
    """Name of the key, as `${NAME}` in templates."""
    label: MaybeLine | None = None
    """How a form names it; the key's name when left out."""
    placeholder: MaybeLine | None = None
    """What a value looks like, shown inside the empty field."""
    help: Description | None = None
    """Where to get the value."""
    options: list[Line] = []
    """The only values allowed."""
    optional: bool = False
    """Whether an account is ready without it."""
    secret: bool = True
    """Whether its value is masked wherever it would be shown; `false` for a site address or a user name."""


class RequestShape(Shape):
    """One HTTP request; every text is a template."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    """The HTTP method."""
    url: str
    """Absolute address; its host is among `hosts` or comes from a key."""
    headers: dict[HeaderText, str] = {}
    """Header names to values."""
    basic_auth: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """User and password for HTTP Basic."""
    body: Annotated[Any, Field(alias="json")] = None
    """The JSON body."""
    timeout_s: Annotated[float, Field(ge=1, le=300)] = 60.0
    """Seconds the whole exchange may take."""


class ResultShape(Shape):
    """Where in the answer lies what the agent is told."""

    text: str | None = None
    """JSON pointer (RFC 6901; `*` steps into every entry of a list)."""


class ToolShape(Shape):
    """Something an agent may call."""

    name: ToolText
    """Name the agent calls it by."""
    label: MaybeLine | None = None
    """What it does, as a progress line; the name when left out."""
    description: Description | None = None
    """What the agent reads before calling; the label when left out."""
    input: dict[str, Any] | None = None
    """JSON Schema of the arguments, of type object; no arguments when left out."""
    request: RequestShape
    """The request that a call sends."""
    result: ResultShape = ResultShape()
    """What the agent is told; the whole answer when left out."""
    role: Role | None = None
    """What a call does outside; `publish` for a kind's publish tool, else `read`, when left out."""
    target: str | None = None
    """Template of the thing acted on: the same role on the same target is refused the second time."""
    map: Replacements = {}
    """Argument to {value: replacement}; `"*"` stands for any other value."""


class DestinationShape(Shape):
    """A field of a channel's destination."""

    type: Literal["string", "integer", "number", "boolean"] = "string"
    """JSON type of the value."""
    label: MaybeLine | None = None
    """How a form names it; the field's name when left out."""
    help: Description | None = None
    """What to write there."""


class ImageSize(Shape):
    """Size of the picture a network shows, in pixels."""

    width: Size
    """Pixels across."""
    height: Size
    """Pixels down."""


class ChannelShape(Shape):
    """A kind of channel that the ability works on; for a network, also what the rest needs to know of it."""

    kind: Dashed
    """Name of the kind."""
    label: Line
    """What a channel of this kind is called."""
    publish: ToolText | None = None
    """The tool that publishes; left out by an ability that only reads or replies there."""
    destination: dict[Underscored, DestinationShape] = {}
    """What a new channel asks for; each fills the argument of the same name."""
    does: Annotated[list[Role], Field(min_length=1)] = ["publish"]
    """What the ability does on such a channel."""
    name: MaybeLine | None = None
    """The network's name, as people write it."""
    icon: Icon | None = None
    """The network's lucide icon."""
    profile_hosts: list[HostText] = []
    """Hosts where a business's profile on the network is found."""
    text_limit: Annotated[int, Field(ge=1)] | None = None
    """Characters a post may have."""
    image: ImageSize | None = None
    """Size of the picture it shows."""
    preview: Dashed | None = None
    """How a post is previewed: `feed` or `article`."""
    writing: Description | None = None
    """How posts for it are written."""


class ProvidedShape(Shape):
    """A contract that the ability provides."""

    cost: MaybeLine | None = None
    """What a call costs, in words."""
    request: RequestShape
    """The request; it takes the contract's own arguments."""
    result: ResultShape = ResultShape()
    """What the agent is told."""
    map: Replacements = {}
    """Argument to {value: replacement}; `"*"` stands for any other value."""


class ProvidesShape(Shape):
    """Contracts that the ability provides."""

    image: ProvidedShape | None = None
    """Makes a picture."""
    video: ProvidedShape | None = None
    """Makes a video."""
    music: ProvidedShape | None = None
    """Makes music."""
    email: ProvidedShape | None = None
    """Sends mail."""


class SourceRequestShape(Shape):
    """One request of a source and where its rows are."""

    request: RequestShape
    """Filled with `{{from}}`, `{{to}}` (YYYY-MM-DD) and `{{days}}`."""
    rows: str
    """JSON pointer to the list of rows in the answer."""
    date: str
    """JSON pointer to the day in a row, or a template such as `{{to}}` for a list over the window."""
    dims: dict[Underscored, str] = {}
    """Dimension to JSON pointer into a row."""
    metrics: Annotated[dict[Underscored, str], Field(min_length=1)]
    """Metric to JSON pointer into a row."""
    totals: list[str] | None = None
    """Metrics summed per day; every metric when left out."""
    breakdown: list[str] | None = None
    """Metrics kept per dimension; every metric, when there are dims, when left out."""
    skip_zero: bool = False
    """Leave out breakdown rows that are 0."""
    scale: dict[str, Finite] = {}
    """Metric to the factor it is multiplied with."""


class DerivedShape(Shape):
    """A metric made from others: a sum over matching breakdown rows, or a ratio of two totals."""

    metric: Underscored
    """Name of the new metric."""
    sum: str | None = None
    """Metric summed over breakdown rows."""
    where: dict[str, str] = {}
    """Dimension to the exact value a row must have."""
    ratio: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """Numerator and denominator."""
    scale: Finite = 1.0
    """Factor of the outcome."""


class SourceShape(Shape):
    """A set of numbers that the ability reads."""

    requests: Annotated[list[SourceRequestShape], Field(min_length=1)]
    """The requests, once a day."""
    derive: list[DerivedShape] = []
    """Metrics made from those."""


class DeniedShape(Shape):
    """How the service says no."""

    param: Parameter
    """Query parameter of the callback."""
    equals: str
    """Its value when the person said no."""


class ConnectShape(Shape):
    """A sign-in by the browser: a page of the service that comes back with the values."""

    label: Line
    """Text of the button."""
    flow: Literal["redirect"]
    """The way to sign in."""
    needs: list[str] = []
    """Keys asked for first; the page lives on them."""
    url: str
    """The page; `{{app_id}}` is a UUID that names this application, `{{app_name}}` a name new for each sign-in."""
    callback_params: Annotated[list[Parameter], Field(min_length=1)]
    """Query parameters that take the callback's address."""
    callback: Literal["https"] | None = None
    """`https` when the service only calls back over https."""
    returns: Annotated[dict[str, Parameter], Field(min_length=1)]
    """Key to the query parameter that brings its value."""
    denied: DeniedShape | None = None
    """How the service says no."""


class ManifestShape(Shape):
    """An ability's connection: what it provides and needs."""

    id: Id | None = None
    """The ability's id; the folder's name when left out."""
    name: Line
    """The ability's name: an action, as a person says it."""
    version: Line
    """Version, quoted."""
    summary: Line
    """What it does, in one sentence."""
    author: MaybeLine | None = None
    """The vendor shown on its card."""
    homepage: WebAddress | None = None
    """Where to read more."""
    icon: Icon | None = None
    """A lucide icon."""
    avatar: Picture | None = None
    """A 64 by 64 picture in the folder."""
    categories: list[Dashed] = []
    """Shelves of the marketplace."""
    transport: Literal["http"] = "http"
    """What carries its calls."""
    service: Dashed | None = None
    """Whose accounts it uses; abilities naming the same service share them. The id when left out."""
    auth: list[AuthShape] = []
    """Keys that accounts hold; the values live on the project's accounts."""
    connect: ConnectShape | None = None
    """A button instead of typed keys."""
    hosts: Annotated[list[str], Field(min_length=1)]
    """The only hosts it may call, subdomains included; `${KEY}` stands for the address in a key."""
    exclusive: bool = False
    """One call at a time per account."""
    daily_cap: Annotated[int, Field(ge=1)] | None = None
    """Most actions per account and UTC day."""
    tools: list[ToolShape] = []
    """The ability's own tools."""
    channels: list[ChannelShape] = []
    """Kinds of channel it works on."""
    provides: ProvidesShape = ProvidesShape()
    """Contracts it provides."""
    sources: dict[SourceText, SourceShape] = {}
    """Numbers it reads once a day: traffic, search, conversions, ranks, mentions."""
