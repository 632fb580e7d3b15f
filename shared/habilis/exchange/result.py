"""Answer in, Result out: what the agent is told of a call."""

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import replace

from habilis.exchange.bodies import content_type
from habilis.exchange.files import Fetch, bring_files
from habilis.exchange.filetypes import type_of
from habilis.exchange.fill import Bounds
from habilis.exchange.words import is_web_page
from habilis.manifest.model import ResultTemplate, Tool
from habilis.messages import Answer, Asked, Json, Result, ResultFile
from habilis.redaction import clean
from habilis.templating import MISSING, Missing, Scope, Seen, pick

_LONGEST_LINK = 2048
_LONGEST_TEXT = 64 * 1024
_LINK = re.compile(r"https?://[^\s/?#@\\<>\"]+(?:[/?#][^\s\\<>\"]*)?", re.IGNORECASE)


def make_result(
    tool: Tool, seen: Seen, answer: Answer, scope: Scope, bounds: Bounds, fetch: Fetch
) -> Generator[Asked, Answer | None, Result]:
    """Bring the files of a call's last answer, and return what the agent is told.

    Args:
        tool: Whose `result` says what that is: a pointer into the last answer, a template over everything saved, or
            nothing for the files that came, else the whole of the answer.
        seen: What was read of the answer.
        answer: The last one of the call, good.
        scope: Everything saved.
        bounds: What may be reached.
        fetch: Sends the requests for files that lie at an address.

    Returns:
        Readable text; `link` when the text is a web address, or the answer has one at its top (`url`, `link`). Only
        files can fail: without them the call is done, whatever the service wrote.

    Raises:
        HabilisError: The call's file did not come; the outcome says that the service did its part.
    """
    brought = yield from bring_files(tool, seen, answer, scope, bounds, fetch)
    told = _told(tool.result, seen, answer, scope, brought.files)
    return replace(told, files=brought.files, notes=brought.notes) if brought.files or brought.notes else told


def _told(template: ResultTemplate, seen: Seen, answer: Answer, scope: Scope, files: Sequence[ResultFile]) -> Result:
    body = seen.body
    if template.said is None and template.text is None:
        if files:
            return Result(text="\n".join(f"{file.name} ({file.mime}, {file.size:,} bytes)" for file in files))
        text = _size_told(answer) if body is None and answer.body.strip() not in {b"", b"null"} else _readable(body)
        return Result(text=text, link=_top_link(body), data=body)
    picked: Json | Missing = MISSING
    if template.said is not None:
        picked = template.said.fill(scope)
    elif template.text is not None:
        picked = pick(body, template.text)
    text = "no text in the answer" if picked is MISSING or picked in (None, "") else _readable(picked)
    if picked is MISSING and is_web_page(answer):
        text = "no text in the answer: it is a web page"
    return Result(text=text, link=text.strip() if is_link(text.strip()) else _top_link(body))


def _size_told(answer: Answer) -> str:
    """What an answer is called that is a file and is not kept."""
    kind = type_of(answer.body) or content_type(answer.headers) or "of no known type"
    return f"a file ({kind}, {max(answer.size, len(answer.body)):,} bytes)"


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
