"""Values of headers, filled and checked before they are sent.

The HTTP library refuses what a header cannot carry with an error that quotes the whole value, so nothing may come that
far.

Source: RFC 9110 section 5.5.
"""

import re

from habilis.errors import ArgsInvalid, SecretMalformed
from habilis.templating.filenames import filename_parameter, split_names
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.scope import MISSING, Missing, Scope
from habilis.templating.texts import FillText, TextTemplate, compile_text, fill_parts, text_template

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BEYOND_LATIN_1 = re.compile(r"[^\x00-\xff]")


def compile_header(text: str) -> TextTemplate:
    """Prepare the value of a header.

    It is as `compile_text` makes it, but for a file name in it, as in `attachment; filename="{{file.name}}"`: that may
    hold whatever a name may.

    Raises:
        BadInput: A placeholder is malformed, or the quote around a file name is not closed; `where` shows it.
    """
    runs = split_names(text)
    if len(runs) == 1:
        return compile_text(text)
    fills = [_name(run) if is_name else fill_parts(parse(run)) for is_name, run in runs]
    return text_template(text, parse(text), lambda scope: "".join([fill(scope) for fill in fills]))


def _name(text: str) -> FillText:
    parts = parse(text)
    fill_name = fill_parts(parts)
    named = " or ".join(part.label for part in parts if isinstance(part, Placeholder))

    def fill(scope: Scope) -> str:
        name = fill_name(scope)
        if fault := _control_fault(name, named):
            raise ArgsInvalid(fault)
        if _LONE_SURROGATE.search(name):
            raise ArgsInvalid(f"{named} has half of a character (a lone surrogate)")
        return filename_parameter(name)

    return fill


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
    # A file name was checked when it was filled, and may hold what the rest of a header may not.
    parts = [part for is_name, run in split_names(template.source) if not is_name for part in parse(run)]
    for part in parts:
        text = compile_text(part.text).fill(scope) if isinstance(part, Placeholder) else MISSING
        if isinstance(part, str) or text is MISSING:
            continue
        if part.kind != "key":
            header_value(text, name=part.label)
        elif not text.isascii() or _CONTROL.search(text):
            hint = f"set {part.name} again, without line breaks around it"
            raise SecretMalformed(f"{part.name} has characters a header cannot carry", hint=hint)


def _fault(text: str, name: str) -> str:
    fault = _control_fault(text, name)
    return fault or (f"{name} has characters a header cannot carry" if _BEYOND_LATIN_1.search(text) else "")


def _control_fault(text: str, name: str) -> str:
    if "\r" in text or "\n" in text:
        return f"{name}: line breaks are not allowed in a header"
    return f"{name}: control characters are not allowed in a header" if _CONTROL.search(text) else ""
