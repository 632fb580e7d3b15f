"""The contracts that abilities provide, and the arguments of each as a JSON Schema, as an agent sees them.

An ability says how it carries a contract out; what it may be asked is the same whoever carries it out.

Source: docs/format.md "Contracts".
"""

from collections.abc import Mapping
from typing import Literal, cast

from habilis.messages import Json

ContractName = Literal["image", "video", "music", "email"]

PUBLISH_ARGUMENTS = frozenset({"title", "text", "html", "summary", "tags", "asset"})
"""What a publish hands to the tool or contract of its channel, beside the channel's destination."""

SIZES: Mapping[str, tuple[int, int]] = {
    "square": (1024, 1024),
    "landscape": (1600, 900),
    "portrait": (900, 1600),
    "og": (1200, 630),
    "story": (1080, 1920),
}
"""Sizes by name, as width and height in pixels."""

LONGEST_SIDE = 8192
"""Pixels."""

_SIDE: Json = {"type": "integer", "minimum": 1, "maximum": LONGEST_SIDE}
_ABOUT: dict[str, Json] = {
    "asset": {"type": "string", "description": "The asset that it is for, as article/hello-world."},
    "name": {"type": "string", "description": "A name for the file, without its ending."},
    "title": {"type": "string", "description": "A title for it."},
}
_SHAPE: dict[str, Json] = {
    "size": {
        "type": "string",
        "description": f"Width and height, as 1600x900, or one of {', '.join(SIZES)}, or the kind of a channel.",
    },
    "width": {**cast("dict[str, Json]", _SIDE), "description": "Pixels across."},
    "height": {**cast("dict[str, Json]", _SIDE), "description": "Pixels down."},
    "orientation": {
        "type": "string",
        "enum": ["landscape", "portrait", "square"],
        "description": "How it lies, where no size is given.",
    },
    "aspect": {
        "type": "string",
        "pattern": "^[0-9]{1,4}:[0-9]{1,4}$",
        "description": "Width to height, as 16:9, where no size is given.",
    },
}
_ADDRESSES: Json = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def _made(what: str) -> dict[str, Json]:
    prompt: Json = {"type": "string", "minLength": 1, "description": what}
    return _object({"prompt": prompt, **_SHAPE, **_ABOUT}, ["prompt"])


def _object(properties: dict[str, Json], required: list[Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _mail() -> dict[str, Json]:
    to, others = (cast("dict[str, Json]", _ADDRESSES) for _ in range(2))
    return _object(
        {
            "to": {**to, "description": "Who gets it: an address, or a list of them."},
            "cc": {**others, "description": "Who gets a copy."},
            "bcc": {**others, "description": "Who gets a copy unseen by the others."},
            "reply_to": {"type": "string", "description": "The address that answers go to."},
            "subject": {"type": "string", "description": "The subject; the title when left out."},
            "text": {"type": "string", "description": "What it says, as Markdown."},
            "html": {"type": "string", "description": "The same as HTML; made of the text when left out."},
            "title": {"type": "string", "description": "The subject, where none is given."},
            "unsubscribe": {
                "type": "string",
                "description": "Where a reader leaves a mailing list: an https or mailto address.",
            },
            "summary": {"type": "string", "description": "What it says, in one sentence."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Words that it is filed under."},
            "asset": {"type": "string", "description": "The asset whose files are attached, as article/hello-world."},
        },
        ["to", "text"],
    )


CONTRACTS: Mapping[ContractName, Mapping[str, Json]] = {
    "image": _made("What the picture shows."),
    "video": _made("What the video shows."),
    "music": _made("What the music is like."),
    "email": _mail(),
}
"""The JSON Schema of each contract's arguments."""

DESCRIPTIONS: Mapping[ContractName, str] = {
    "image": "Make a picture from words.",
    "video": "Make a video from words.",
    "music": "Make music from words.",
    "email": "Send an email.",
}
"""What an agent reads before it asks for a contract."""


def contract_arguments(contract: ContractName) -> frozenset[str]:
    """The names of a contract's arguments."""
    return frozenset(cast("Mapping[str, Json]", CONTRACTS[contract]["properties"]))
