"""The Link header of an answer: where a list goes on."""

import re

_LINK = re.compile(r"\s*<([^<>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:\"(?:[^\"\\]|\\.)*\"|[^\s;,\"]*))?)*)\s*(?:,|$)")
_PARAMETER = re.compile(r";\s*([^\s=;,]+)(?:\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]*)))?")
_LONGEST = 16 * 1024


def next_link(header: str) -> str:
    """The target of the first link whose relation is `next`, as written; "" when there is none.

    Source: RFC 8288 section 3; a link about another resource (`anchor`) is passed over, as section 3.2 allows.
    """
    at = 0
    text = header[:_LONGEST]
    while found := _LINK.match(text, at):
        if found.end() == at:
            break
        at = found.end()
        parameters: dict[str, str] = {}
        for name, quoted, plain in _PARAMETER.findall(found[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or plain)
        if "next" in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            return found[1].strip()
    return ""
