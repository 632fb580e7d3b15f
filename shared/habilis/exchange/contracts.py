"""What a contract is asked for, made the same however it was said: a picture's size, who a mail goes to.

Those who carry it out then find each thing they need under one name.

Source: docs/format.md "Contracts".
"""

import re
from collections.abc import Mapping
from math import gcd
from typing import Final

from habilis.errors import ArgsInvalid, MailInvalid
from habilis.exchange.mailboxes import holds_breaks, read_mailboxes
from habilis.manifest.contracts import LONGEST_SIDE, SIZES
from habilis.markdown import to_html
from habilis.messages import Json

_SHAPED: Final = frozenset({"image", "video"})
_SHAPE: Final = ("size", "width", "height", "orientation", "aspect")
_WRITTEN = re.compile(r"([0-9]{1,5}) ?[x*\u00d7] ?([0-9]{1,5})", re.IGNORECASE)
_RATIO = re.compile(r"([0-9]{1,4}) ?[:/] ?([0-9]{1,4})")
_SHORTEST_SIDE: Final = 16
_MOST_TO_ONE: Final = 20
_LONG_SIDE: Final = 1536
_STEP: Final = 8
"""Models that draw want sides of whole steps of pixels."""

_USUAL_RATIO: Final = (16, 9)
_CLOSE_ENOUGH: Final = 0.02
_ADDRESSES: Final = ("to", "cc", "bcc", "reply_to")


def normalise_contract(
    contract: str, arguments: Mapping[str, Json], sizes: Mapping[str, tuple[int, int]] | None = None
) -> dict[str, Json]:
    """The arguments of a contract, completed; they passed its schema before.

    Args:
        contract: image, video, music or email.
        arguments: As the caller gave them.
        sizes: Width and height by names that count beside the contract's own: the kinds of channels.

    Returns:
        Of a picture or a video: where any of size, width, height, orientation and aspect is given, all but size are
        there, worked out from the most exact ones, and size is a name or such as `1600x900`. Where none is given, none
        is added, so that the manifest's own defaults hold.

        Of a mail: a subject, the title where none is given; html, made of the text where none is given; a list of one
        address is that address.

    Raises:
        ArgsInvalid: A size is none, is out of bounds, or two arguments contradict each other; there is nothing to make
            a picture of.
        MailInvalid: An address is none, or the subject has line breaks.
    """
    completed: dict[str, Json] = {name: value for name, value in arguments.items() if value is not None}
    if contract == "email":
        return _mail(completed)
    prompt = completed.get("prompt")
    if isinstance(prompt, str) and not prompt.strip():
        raise ArgsInvalid("prompt: expected words, got none")
    if contract in _SHAPED and any(name in completed for name in _SHAPE):
        completed |= _shape(completed, SIZES if sizes is None else {**sizes, **SIZES})
    return completed


def _shape(arguments: Mapping[str, Json], sizes: Mapping[str, tuple[int, int]]) -> dict[str, Json]:
    width, height = _sides(arguments, sizes)
    for name, side in (("width", width), ("height", height)):
        if not _SHORTEST_SIDE <= side <= LONGEST_SIDE:
            raise ArgsInvalid(f"{name}: {side} pixels; expected {_SHORTEST_SIDE} to {LONGEST_SIDE}")
    if max(width, height) > _MOST_TO_ONE * min(width, height):
        raise ArgsInvalid(f"{width}x{height}: one side is more than {_MOST_TO_ONE} times the other")
    _require_agreement(arguments, width, height)
    given = _ratio(arguments) if "aspect" in arguments else (width, height)
    return {
        "size": name if (name := _named(arguments.get("size"))) in sizes else f"{width}x{height}",
        "width": width,
        "height": height,
        "orientation": _orientation(width, height),
        "aspect": "{}:{}".format(*_reduced(*given)),
    }


def _sides(arguments: Mapping[str, Json], sizes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Width and height, from the most exact of what is given."""
    width, height = _side(arguments, "width"), _side(arguments, "height")
    if width and height:
        return width, height
    size = arguments.get("size")
    across, down = _ratio(arguments) if size is None else _size(size, sizes)
    if width:
        return width, max(1, round(width * down / across))
    if height:
        return max(1, round(height * across / down)), height
    return (across, down) if size is not None else _drawn(across, down)


def _side(arguments: Mapping[str, Json], name: str) -> int:
    """A side that is given, in pixels; 0 when it is not."""
    value = arguments.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgsInvalid(f"{name}: expected a whole number of pixels")
    if value <= 0 and name in arguments:
        raise ArgsInvalid(f"{name}: {value} pixels; expected {_SHORTEST_SIDE} to {LONGEST_SIDE}")
    return value


def _size(value: Json, sizes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    text = _named(value)
    if text in sizes:
        return sizes[text]
    written = _WRITTEN.fullmatch(text)
    if written and int(written[1]) and int(written[2]):
        return int(written[1]), int(written[2])
    raise ArgsInvalid("size: expected a size", hint=f"write it as 1600x900, or name one of {', '.join(sizes)}")


def _named(size: Json) -> str:
    return size.strip().lower() if isinstance(size, str) else ""


def _ratio(arguments: Mapping[str, Json]) -> tuple[int, int]:
    """Width to height, from the aspect, else from the orientation."""
    if "aspect" in arguments:
        aspect = arguments["aspect"]
        written = _RATIO.fullmatch(aspect.strip()) if isinstance(aspect, str) else None
        if written and int(written[1]) and int(written[2]):
            return int(written[1]), int(written[2])
        raise ArgsInvalid("aspect: expected a ratio", hint="write width to height as 16:9")
    orientation = arguments.get("orientation", "landscape")
    if not isinstance(orientation, str) or orientation not in {"landscape", "portrait", "square"}:
        raise ArgsInvalid("orientation: expected landscape, portrait or square")
    return {"landscape": _USUAL_RATIO, "portrait": _USUAL_RATIO[::-1], "square": (1, 1)}[orientation]


def _drawn(across: int, down: int) -> tuple[int, int]:
    """Sides of this ratio: those of the first named size that has it, else as models draw them."""
    named = next((size for size in SIZES.values() if _reduced(*size) == _reduced(across, down)), None)
    if named is not None:
        return named
    scale = _LONG_SIDE / max(across, down) / _STEP
    return max(1, round(across * scale)) * _STEP, max(1, round(down * scale)) * _STEP


def _reduced(across: int, down: int) -> tuple[int, int]:
    divisor = gcd(across, down)
    return across // divisor, down // divisor


def _require_agreement(arguments: Mapping[str, Json], width: int, height: int) -> None:
    if arguments.get("orientation", _orientation(width, height)) != _orientation(width, height):
        raise ArgsInvalid(
            f"orientation: {width}x{height} is {_orientation(width, height)}", hint="leave one of them out"
        )
    if "aspect" in arguments and ("size" in arguments or arguments.keys() >= {"width", "height"}):
        across, down = _ratio(arguments)
        if abs(width * down / (height * across) - 1) > _CLOSE_ENOUGH:
            raise ArgsInvalid(f"aspect: {width}x{height} is not {across}:{down}", hint="leave one of them out")


def _orientation(width: int, height: int) -> str:
    return "square" if width == height else "landscape" if width > height else "portrait"


def _mail(arguments: dict[str, Json]) -> dict[str, Json]:
    if arguments.get("to") == []:
        raise MailInvalid("to: a mail goes to one address at least")
    for name in _ADDRESSES:
        read_mailboxes(arguments.get(name), field=name)
        match arguments.get(name):
            case [only]:
                arguments[name] = only
    subject = arguments.get("subject") or arguments.get("title")
    if isinstance(subject, str) and subject.strip():
        if holds_breaks(subject):
            raise MailInvalid("subject: line breaks and control characters are not allowed in a subject")
        arguments["subject"] = subject.strip()
    text = arguments.get("text")
    if isinstance(text, str) and not arguments.get("html"):
        arguments["html"] = to_html(text)
    return arguments
