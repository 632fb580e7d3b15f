"""What may be written of channels, and of the networks behind them."""

from typing import Annotated, Literal

from pydantic import Field

from habilis.manifest.model import Role
from habilis.manifest.shape.words import (
    Dashed,
    Description,
    HostText,
    Icon,
    Line,
    MaybeLine,
    Shape,
    Size,
    ToolText,
    Underscored,
)


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
    """The tool that publishes, or `email` where that is provided; left out by one that only reads or replies there."""
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
