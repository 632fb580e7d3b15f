"""Values of headers, filled and checked before they are sent.

The HTTP library refuses what a header cannot carry with an error that quotes the whole value, so nothing may come that
far.

Source: RFC 9110 section 5.5.
"""

import re

from habilis.errors import ArgsInvalid, SecretMalformed
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.texts import TextTemplate, compile_text

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BEYOND_LATIN_1 = re.compile(r"[^\x00-\xff]")


def fill_header(template: TextTemplate, scope: Scope, *, name: str) -> str | Missing:
    """The filled value of a header, as it may be sent; MISSING where the header is left out.

    Args:
        template: What the manifest writes.
        scope: What fills it.
        name: The header's name, for the message where the fault lies in no placeholder.

    Raises:
        ArgsInvalid: An argument holds control characters, or such as latin-1 cannot carry. The message names the
            argument and never its value.
        SecretMalformed: A key holds control characters, or any beyond ASCII, which services read differently.
    """
    text = template.fill(scope)
    if text is MISSING:
        return MISSING
    if not text.isascii() or _CONTROL.search(text):
        _blame(template, scope)
    return header_value(text, name=name)


def header_value(text: str, *, name: str) -> str:
    """The value of a header, blanks at its ends off, as it may be sent.

    Args:
        text: The filled value.
        name: What holds it, for the message: an argument, or the header itself.

    Raises:
        ArgsInvalid: It holds control characters, or such as latin-1 cannot carry. The message never quotes it.
    """
    if fault := _fault(text, name):
        raise ArgsInvalid(fault)
    return text.strip(" \t")


def _blame(template: TextTemplate, scope: Scope) -> None:
    """Raise for the placeholder that brings what a header cannot carry, if it is one."""
    for part in parse(template.source):
        text = compile_text(part.text).fill(scope) if isinstance(part, Placeholder) else MISSING
        if isinstance(part, str) or text is MISSING:
            continue
        if part.kind != "key":
            header_value(text, name=part.label)
        elif not text.isascii() or _CONTROL.search(text):
            hint = f"set {part.name} again, without line breaks around it"
            raise SecretMalformed(f"{part.name} has characters a header cannot carry", hint=hint)


def _fault(text: str, name: str) -> str:
    if "\r" in text or "\n" in text:
        return f"{name}: line breaks are not allowed in a header"
    if _CONTROL.search(text):
        return f"{name}: control characters are not allowed in a header"
    return f"{name} has characters a header cannot carry" if _BEYOND_LATIN_1.search(text) else ""
