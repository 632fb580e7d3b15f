"""Values of headers, checked before they are sent."""

import re

from habilis.errors import ArgsInvalid

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BEYOND = re.compile(r"[^\x00-\xff]")


def header_fault(text: str) -> str:
    """What in the text a header cannot carry, in words; "" when all is well."""
    if "\r" in text or "\n" in text:
        return "line breaks are not allowed in a header"
    if _CONTROL.search(text):
        return "control characters are not allowed in a header"
    if _BEYOND.search(text):
        return "has characters a header cannot carry"
    return ""


def header_value(text: str, *, name: str) -> str:
    """The value of a header, blanks at its ends off, as it may be sent.

    Args:
        text: The filled value.
        name: The header's name, for the message.

    Raises:
        ArgsInvalid: It holds control characters, or such as latin-1 cannot carry. The message never quotes it.

    Source: RFC 9110 section 5.5.
    """
    if fault := header_fault(text):
        raise ArgsInvalid(f"{name}: {fault}")
    return text.strip(" \t")
