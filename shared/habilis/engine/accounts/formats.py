"""What the value of a key is: an address, a host, a mail address, a number, or what a pattern matches."""

import re
from collections.abc import Callable, Mapping

from habilis.errors import MailInvalid
from habilis.hosts.urls import UrlError, split_url
from habilis.manifest.model import AuthKey
from habilis.templating import whole_value

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def misfit(key: AuthKey, value: str) -> str:
    """What a value of the key ought to be; "" where it is. Never a part of the value."""
    if key.format and not _FITS[key.format](value):
        return _EXPECTED[key.format]
    if key.pattern and not whole_value(key.pattern)(value):
        return f"a value such as {key.placeholder}" if key.placeholder else f"a value that matches {key.pattern}"
    return ""


def _is_url(value: str) -> bool:
    return _ADDRESS.match(value) is not None and _is_address(value)


def _is_host(value: str) -> bool:
    return not re.search(r"[/?#@\\\s]", value) and _is_address(f"https://{value}/")


def _is_address(url: str) -> bool:
    try:
        split_url(url)
    except UrlError:
        return False
    return True


def _is_mail(value: str) -> bool:
    from habilis.exchange.mailboxes import read_mailbox  # most keys are no mail addresses

    try:
        return not read_mailbox(value, field="key").name
    except MailInvalid:
        return False


_FITS: Mapping[str, Callable[[str], bool]] = {
    "url": _is_url,
    "host": _is_host,
    "email": _is_mail,
    "int": lambda value: _NUMBER.fullmatch(value) is not None,
}
_EXPECTED = {
    "url": "an address that starts with https://",
    "host": "a host's name, as api.example.com",
    "email": "a mail address, as ann@example.com",
    "int": "a whole number",
}
