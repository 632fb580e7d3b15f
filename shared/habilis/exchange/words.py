"""What a service says in its own words of what went wrong, fit for a message."""

import json
import re

from habilis.exchange.filetypes import is_page
from habilis.messages import Answer, Json
from habilis.redaction import clean
from habilis.templating import MISSING, Place, Seen, pick

_LONGEST = 200
_PLACES = (
    "/message",
    "/error/message",
    "/error_description",
    "/errors/0/message",
    "/errors/0/detail",
    "/detail",
    "/detail/0/msg",
    "/error/info",
    "/error",
    "/errors/0",
    "/errmsg",
    "/title",
    "/Error/Message",
)
"""Where services put them, the most telling place first."""

_PAGE = re.compile(r"\s*<(?:!doctype|\?xml|html|head|body)\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,59}")


def reason_of(seen: Seen, place: Place | None = None) -> str:
    """The service's own words in one line of at most 200 characters; "" when there are none.

    Args:
        seen: An answer that is a failure.
        place: Where the manifest says they are; None, or nothing there, to look in the usual places. Plain text is
            taken whole; a web page is never quoted, nor are bytes.
    """
    picked = MISSING if place is None else place.pick(seen)
    if picked is not MISSING and picked not in (None, "", [], {}):
        return one_line(picked if isinstance(picked, str) else json.dumps(picked, ensure_ascii=False))
    if isinstance(seen.body, str):
        is_html = "html" in seen.headers.get("content-type", "") or seen.body[:64].lstrip().startswith("<")
        return "" if is_html or "\ufffd" in seen.body or "\0" in seen.body else one_line(seen.body)
    return one_line(_message_in(seen.body))


def is_web_page(answer: Answer) -> bool:
    """Whether an answer is a page for people, which some services send in place of data."""
    return is_page(answer.body)


def one_line(text: str) -> str:
    """Text of someone else as it may stand in a message: keys masked, one line, at most 200 characters."""
    # Masked before it is cut: the part of a key before the cut is no longer known for one.
    start = clean(text)[: 10 * _LONGEST]
    line = " ".join("".join(char if char.isprintable() else " " for char in start).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _message_in(body: Json) -> str:
    for pointer in _PLACES:
        value = pick(body, pointer)
        if isinstance(value, str) and value and not _PAGE.match(value):
            return f"{_code_beside(body)}{value}" if pointer == "/message" else value
    return ""


def _code_beside(body: Json) -> str:
    """The one word by which a service names the failure beside its message, such as `BlobTooLarge`."""
    code = pick(body, "/error")
    return f"{code}: " if isinstance(code, str) and _CODE.fullmatch(code) else ""
