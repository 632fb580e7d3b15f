"""The scheme and host of a URL's template: written out, or a key's, and never an argument's."""

import re
from collections.abc import Callable, Sequence

from habilis.errors import BadInput, SecretMalformed, SecretMissing
from habilis.templating.grammar import Placeholder, shortened
from habilis.templating.scope import Scope
from habilis.templating.texts import FillText

Parts = list[str | Placeholder]

_START = re.compile(r"https?://", re.IGNORECASE)
_END = re.compile(r"[/?#]")
_NOT_IN_SITE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029?#\\@]")
_NOT_IN_HOST = re.compile(r"[^A-Za-z0-9._-]")


def split_authority(parts: Sequence[str | Placeholder], text: str) -> tuple[Parts, Parts]:
    """Part the scheme and host from the path and query; a key at the very start is both scheme and host.

    Raises:
        BadInput: An argument is among them, or they are no host that can be called.
    """
    authority: Parts = []
    for number, part in enumerate(parts):
        if isinstance(part, Placeholder):
            if part.kind != "key":
                raise BadInput("arguments may not be part of the host", where=part.text)
            authority.append(part)
            continue
        begin = _START.match(part) if number == 0 else None
        if number == 0 and begin is None:
            break
        end = _END.search(part, begin.end() if begin else 0)
        if end:
            authority.append(part[: end.start()])
            return _checked(authority, text), [part[end.start() :], *parts[number + 1 :]]
        authority.append(part)
    return _checked(authority, text), []


def _checked(authority: Parts, text: str) -> Parts:
    kept = [part for part in authority if part]
    if not kept or (isinstance(kept[0], str) and len(kept) == 1 and not _START.sub("", kept[0])):
        raise BadInput("only absolute https URLs, or a key at the start", where=shortened(text))
    if isinstance(kept[0], Placeholder) and len(kept) > 1:
        raise BadInput("after a key that gives the site comes / or ?", where=shortened(text))
    if any(isinstance(part, Placeholder) and part.is_encoded for part in kept):
        raise BadInput("|urlencode has no place in a host", where=shortened(text))
    if any(isinstance(part, str) and "@" in part for part in kept):
        raise BadInput("a URL may not carry a user name; use basic_auth", where=shortened(text))
    return kept


def fill_authority(authority: Parts) -> list[FillText]:
    """Make the functions that fill the scheme and host."""
    if isinstance(authority[0], Placeholder):
        return [_site(authority[0], has_scheme=True)]
    if len(authority) == 2 and isinstance(authority[1], Placeholder) and _START.fullmatch(authority[0]):
        return [constant(authority[0]), _site(authority[1], has_scheme=False)]
    return [_host_part(part) if isinstance(part, Placeholder) else constant(part) for part in authority]


def constant(text: str) -> FillText:
    """Make the function that gives the same text whatever the scope."""
    return lambda scope: text


def key_reader(part: Placeholder) -> Callable[[Scope], str]:
    """Make the function that finds a key's value or its default; SecretMissing when there is neither."""
    name, default = part.name, part.default

    def read(scope: Scope) -> str:
        value = scope.keys.get(name) or default
        if not value:
            raise SecretMissing(f"{name} is not set", hint=f"set {name} on the account")
        return value

    return read


def _site(part: Placeholder, *, has_scheme: bool) -> FillText:
    """A key's value as the start of the URL; without its own scheme where the template has one."""
    read, name = key_reader(part), part.name

    def fill(scope: Scope) -> str:
        value = read(scope).rstrip("/")
        if not has_scheme:
            value = _START.sub("", value, count=1)
        if not value or _NOT_IN_SITE.search(value):
            raise SecretMalformed(f"{name} is no site address", hint="write it as https://blog.example")
        return value

    return fill


def _host_part(part: Placeholder) -> FillText:
    read, name = key_reader(part), part.name

    def fill(scope: Scope) -> str:
        value = read(scope)
        if _NOT_IN_HOST.search(value):
            raise SecretMalformed(f"{name} has characters that a host name cannot carry")
        return value

    return fill


def host_of(authority: Parts) -> tuple[str | None, str | None]:
    """The key that is the whole host, or the host as written."""
    first = authority[0]
    host = [_START.sub("", first) if isinstance(first, str) else first, *authority[1:]]
    named = [part for part in host if part]
    if len(named) == 1 and isinstance(named[0], Placeholder):
        return named[0].name, None
    return None, "".join(part if isinstance(part, str) else part.text for part in named)
