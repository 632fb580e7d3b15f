"""What may be written in an `extension.yaml`, field by field.

Pydantic checks types and names here; rules that need two fields are in `rules`. The docstrings below a field are its
description in the JSON Schema that editors use. A field that a later version carries is not listed: `later` says so in
plain words when it is met.

Source: docs/format.md.
"""

from typing import Annotated, Literal

from pydantic import Field

from habilis.manifest.shape.calls import CallShape, ProvidedShape, ProvidesShape, ResultShape, StepShape, ToolShape
from habilis.manifest.shape.channels import ChannelShape
from habilis.manifest.shape.numbers import DerivedShape, SourceRequestShape, SourceShape
from habilis.manifest.shape.requests import (
    DefaultsShape,
    OkShape,
    PagesShape,
    RequestShape,
    RetryShape,
    SharedShape,
    SignShape,
    UntilShape,
)
from habilis.manifest.shape.signin import AuthShape, ChoicesShape, IdentityShape, SmtpShape, VerifyShape
from habilis.manifest.shape.ways import (
    FLOWS,
    TAGS,
    ClientCredentialsShape,
    CloudShape,
    ConnectShape,
    DeviceShape,
    OAuth2Shape,
    RedirectShape,
    RegisterShape,
    ServiceAccountShape,
    SessionShape,
    WayShape,
)
from habilis.manifest.shape.words import Dashed, Icon, Id, Line, MaybeLine, Picture, Shape, SourceText, WebAddress

__all__ = [
    "FLOWS",
    "TAGS",
    "AuthShape",
    "CallShape",
    "ChannelShape",
    "ChoicesShape",
    "ClientCredentialsShape",
    "CloudShape",
    "ConnectShape",
    "DefaultsShape",
    "DerivedShape",
    "DeviceShape",
    "IdentityShape",
    "ManifestShape",
    "OAuth2Shape",
    "OkShape",
    "PagesShape",
    "ProvidedShape",
    "ProvidesShape",
    "RedirectShape",
    "RegisterShape",
    "RequestShape",
    "ResultShape",
    "RetryShape",
    "ServiceAccountShape",
    "SessionShape",
    "Shape",
    "SharedShape",
    "SignShape",
    "SmtpShape",
    "SourceRequestShape",
    "SourceShape",
    "StepShape",
    "ToolShape",
    "UntilShape",
    "VerifyShape",
    "WayShape",
]


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
    cost: MaybeLine | None = None
    """What a call costs, in words."""
    transport: Literal["http", "smtp"] = "http"
    """What carries its calls."""
    service: Dashed | None = None
    """Whose accounts it uses; abilities naming the same service share them. The id when left out."""
    auth: list[AuthShape] = []
    """Keys that accounts hold; the values live on the project's accounts."""
    connect: ConnectShape | None = None
    """A button instead of typed keys, or several ways to sign in."""
    verify: VerifyShape | None = None
    """How the keys of an account are proved, when they are saved and whenever somebody asks."""
    identity: IdentityShape | None = None
    """Whose an account is; a sign-in by somebody else is refused."""
    hosts: Annotated[list[str], Field(min_length=1)] | None = None
    """The only hosts it may call, subdomains included; `${KEY}` stands for the address in a key."""
    result_hosts: list[str] = []
    """Hosts, beside those, from which files that a result points to are fetched."""
    defaults: DefaultsShape = DefaultsShape()
    """What every request has in common."""
    smtp: SmtpShape | None = None
    """The mail server of `transport: smtp`."""
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
