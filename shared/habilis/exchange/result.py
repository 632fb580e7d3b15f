"""Answer in, Result out: what the agent is told of a call."""

import json
import re
from http import HTTPStatus

from habilis.errors import Outcome, UpstreamError
from habilis.exchange.bodies import read_body
from habilis.manifest.model import ResultTemplate
from habilis.messages import Answer, Json, Result
from habilis.redaction import clean
from habilis.templating import MISSING, pick

_LONGEST_REASON = 200
_LONGEST_LINK = 2048
_LONGEST_TEXT = 64 * 1024
_UNDECIDED = frozenset({408, 425, 499})
"""Statuses of 4xx after which the request may have been carried out all the same."""

_LATER = frozenset({408, 425, 429})
"""Statuses of 4xx that ask to come back later."""

_LINK = re.compile(r"https?://[^\s/?#@\\<>\"]+(?:[/?#][^\s\\<>\"]*)?", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(?:!doctype|\?xml|html|head|body)\b", re.IGNORECASE)
_REASONS = (
    "/message",
    "/error/message",
    "/error_description",
    "/errors/0/message",
    "/detail",
    "/error",
    "/title",
)


def check_status(answer: Answer, *, where: str, is_read: bool) -> None:
    """Raise UpstreamError for a status of 400 and above, in the service's own words.

    A 4xx answer to an action proves that nothing happened; a 5xx does not, so its outcome is unknown.
    """
    if answer.status < HTTPStatus.BAD_REQUEST:
        return
    is_definite = is_read or proves_nothing_happened(answer.status)
    outcome: Outcome = "not_sent" if is_definite else "unknown"
    reason = _reason(answer)
    raise UpstreamError(
        f"answered {answer.status}" + (f": {reason}" if reason else ""),
        where=where,
        hint=_hint(answer.status),
        retryable=is_definite and (answer.status in _LATER or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR),
        outcome=outcome,
    )


def proves_nothing_happened(status: int) -> bool:
    """Whether an error of this status says that the request was not carried out."""
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _UNDECIDED


def pick_result(template: ResultTemplate, answer: Answer) -> Result:
    """Pick what the agent is told; never fails, for the call itself is done.

    Args:
        template: Its `text` is a JSON pointer into the answer, or None for the whole of it.
        answer: Any answer with a good status.

    Returns:
        Readable text; `link` when the text is a web address, or the answer has one at its top (`url`, `link`).
    """
    body = read_body(answer)
    if template.text is None:
        return Result(text=_readable(body), link=_top_link(body), data=body)
    picked = pick(body, template.text)
    text = "no text in the answer" if picked is MISSING or picked in (None, "") else _readable(picked)
    return Result(text=text, link=text.strip() if is_link(text.strip()) else _top_link(body))


def is_link(text: str) -> bool:
    """Whether the text is one web address and nothing else."""
    return len(text) <= _LONGEST_LINK and text.isprintable() and _LINK.fullmatch(text) is not None


def _readable(value: Json) -> str:
    if value is None:
        return "an empty answer"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    data = text.encode()
    if len(data) > _LONGEST_TEXT:
        # Masked first: the part of a key before the cut is no longer known for one.
        shown = clean(text).encode()[:_LONGEST_TEXT].decode(errors="ignore")
        return f"{shown}\n[cut: {len(data)} bytes in all]"
    return text if text.strip() else "an empty answer"


def _top_link(body: Json) -> str:
    if isinstance(body, dict):
        for name in ("url", "link"):
            value = body.get(name)
            if isinstance(value, str) and is_link(value):
                return value
    return ""


def _reason(answer: Answer) -> str:
    """The service's own words, one line: the usual places of a JSON error, or plain text; never a page, never bytes."""
    body = read_body(answer)
    if isinstance(body, str):
        is_text = "html" not in answer.headers.get("content-type", "") and not body.lstrip().startswith("<")
        text = body if is_text and "\ufffd" not in body and "\0" not in body else ""
    else:
        text = _message_in(body)
    # Masked before it is cut: the part of a key before the cut is no longer known for one.
    start = clean(text)[: 10 * _LONGEST_REASON]
    line = " ".join("".join(char if char.isprintable() else " " for char in start).split())
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"


def _message_in(body: Json) -> str:
    for pointer in _REASONS:
        value = pick(body, pointer)
        if isinstance(value, str) and value and not _PAGE.match(value):
            return value
    return ""


def _hint(status: int) -> str:
    match status:
        case 401:
            return "check the account's keys, or sign it in again"
        case 403:
            return "the account may not do this there"
        case 404:
            return "check the address and what the call names"
        case 429:
            return "the service asks for a pause; try again later"
        case _:
            return ""
