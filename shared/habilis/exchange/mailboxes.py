"""Mail addresses as people and agents write them, read strictly: one text is one address, with or without a name.

What is read here is written anew from its parts, so nothing of an address decides where a header or a command ends. An
encoded word in an address is refused, for some programs read another address out of it.

Source: RFC 5322 section 3.4 (forms), RFC 5321 section 4.5.3.1 (lengths), RFC 6531 (letters beyond ASCII).
"""

import re
import unicodedata

from habilis.errors import BadInput, MailInvalid, Refused
from habilis.hosts import host_name, literal_of
from habilis.messages import Json, Mailbox

_LONGEST_LOCAL_BYTES = 64
_LONGEST_ADDRESS_BYTES = 254
_LONGEST_NAME = 200

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NEEDS_QUOTES = re.compile(r'[",;<>@]')
_LOCAL_PART = re.compile(r"(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\x00-\x7f])+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_BREAKING = frozenset({"Cc", "Cs", "Zl", "Zp"})


def read_mailboxes(value: Json, *, field: str) -> tuple[Mailbox, ...]:
    """The addresses that an argument holds: one text, or a list of texts; nothing at all is none.

    Args:
        value: As given.
        field: The argument's name, for messages; what it holds is never repeated.

    Raises:
        MailInvalid: It holds what is no single address.
    """
    if value is None or value == "":
        return ()
    if not isinstance(value, list):
        return (read_mailbox(value, field=field),)
    return tuple(read_mailbox(entry, field=f"{field}[{position}]") for position, entry in enumerate(value))


def read_mailbox(value: Json, *, field: str) -> Mailbox:
    """The one address that a text holds: `ann@example.com`, or `Ann Doe <ann@example.com>`; MailInvalid otherwise."""
    if not isinstance(value, str):
        raise MailInvalid(f"{field}: an address is text")
    text = value.strip(" ")
    if holds_breaks(text):
        raise MailInvalid(f"{field}: line breaks and control characters are not allowed in an address")
    if "=?" in text:
        raise MailInvalid(f"{field}: an address is written as it is, not as an encoded word")
    name, address = "", text
    if text.endswith(">"):
        name, _, address = text[:-1].rpartition("<")
    return Mailbox(address=_address(address, field), name=_name(name.strip(" "), field))


def holds_breaks(text: str) -> bool:
    """Whether a text holds what no line of a mail's head can: a break, a control character, half a character."""
    return any(unicodedata.category(char) in _BREAKING for char in text)


def _name(text: str, field: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        text = re.sub(r"\\(.)", r"\1", quoted[1])
    elif _NEEDS_QUOTES.search(text):
        raise _no_address(field, text)
    name = " ".join(text.split())
    if len(name) > _LONGEST_NAME:
        raise MailInvalid(f"{field}: a name of more than {_LONGEST_NAME} characters")
    return name


def _address(text: str, field: str) -> str:
    local, _, domain = text.rpartition("@")
    parts = local.split(".")
    if not all(_LOCAL_PART.fullmatch(part) for part in parts) or any(map(_is_unseen, local)):
        raise _no_address(field, text)
    try:
        host = host_name(domain)
    except (BadInput, Refused) as error:
        raise MailInvalid(f"{field}: what comes after the @ is no host: {error.message}") from None
    if literal_of(host) is not None:
        raise MailInvalid(f"{field}: what comes after the @ is a number and no name")
    address = f"{unicodedata.normalize('NFC', local)}@{host}"
    if len(local.encode()) > _LONGEST_LOCAL_BYTES or len(address.encode()) > _LONGEST_ADDRESS_BYTES:
        raise MailInvalid(f"{field}: the address is too long")
    return address


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN


def _no_address(field: str, text: str) -> MailInvalid:
    hint = "write ann@example.com or Ann Doe <ann@example.com>"
    if "," in text or ";" in text:
        hint = 'give several addresses as a list; a name with a comma stands in quotes: "Doe, Ann" <ann@example.com>'
    return MailInvalid(f"{field}: this is not one mail address", hint=hint)
