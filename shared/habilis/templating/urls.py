"""Templates of URLs: arguments and keys fill their place and nothing more."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from habilis.errors import ArgsInvalid, BadInput, SecretMalformed, SecretMissing
from habilis.templating.grammar import Placeholder, parse
from habilis.templating.scope import MISSING, Scope, text_of
from habilis.templating.texts import Arguments, FillText, Keys, arguments_of, keys_of, read_argument

_START = re.compile(r"https?://", re.IGNORECASE)
_AUTHORITY_END = re.compile(r"[/?#]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_SITE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029?#\\@]")
_NOT_IN_HOST = re.compile(r"[^A-Za-z0-9._-]")
# What a path segment holds as it is (RFC 3986 section 3.3), and the slash: a key may be several segments.
_PATH_SAFE = "/:@!$&'()*+,;="


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTemplate:
    """An absolute URL with placeholders.

    Attributes:
        source: As written; `compile_url(source)` gives an equal template.
        arguments: The first names of all paths.
        keys: Names of keys, and whether each has a default wherever it stands.
        host_key: The key whose value is the host; None when the host is written out.
        host: The host, and port if any, as written; None when it is a key's value. A key may be a part of it, as in
            `${SHOP}.example.com`.
    """

    source: str
    arguments: frozenset[str]
    keys: Mapping[str, bool]
    host_key: str | None
    host: str | None
    _fill: FillText = field(repr=False, compare=False)

    def fill(self, scope: Scope) -> str:
        """The URL with every placeholder replaced once; still to be checked against the ability's hosts.

        Returns:
            An argument is encoded as a part of one path segment, or of one query value, where missing is "". A key that
            gives the site stands as it is, a trailing slash off; elsewhere it cannot leave the path or query it is in.

        Raises:
            ArgsInvalid: An argument is missing in the path, would climb out of it, or holds control characters.
            SecretMissing: A key is not set and has no default.
            SecretMalformed: A key holds what its place cannot carry.
        """
        return self._fill(scope.arguments, scope.keys)


def compile_url(text: str) -> UrlTemplate:
    """Prepare an absolute URL with placeholders.

    Raises:
        BadInput: A placeholder is malformed, or an argument is in the scheme, host or port; `where` shows it.
    """
    parts = parse(text)
    if _NOT_PRINTABLE.search("".join(part for part in parts if isinstance(part, str))):
        raise BadInput("a URL has no blanks, control characters or backslashes", where=_short(text))
    authority, rest = _split(parts, text)
    fills = [*_authority(authority, text), *_rest(rest)]
    keys = [part for part in authority if isinstance(part, Placeholder)]
    literal = "".join(part if isinstance(part, str) else part.text for part in authority)
    host = _START.sub("", literal)
    is_key_alone = len(keys) == 1 and host == keys[0].text
    return UrlTemplate(
        source=text,
        arguments=arguments_of(parts),
        keys=keys_of(parts),
        host_key=keys[0].name if is_key_alone else None,
        host=None if is_key_alone else host,
        _fill=lambda arguments, keys: "".join([fill(arguments, keys) for fill in fills]),
    )


_NOT_PRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\\]")

Parts = list[str | Placeholder]


def _split(parts: Sequence[str | Placeholder], text: str) -> tuple[Parts, Parts]:
    """Part the scheme and host from the path and query; a key at the very start is both scheme and host."""
    authority: Parts = []
    for number, part in enumerate(parts):
        if isinstance(part, Placeholder):
            if part.kind == "argument":
                raise BadInput("arguments may not be part of the host", where=part.text)
            authority.append(part)
            continue
        begin = _START.match(part) if number == 0 else None
        if number == 0 and begin is None:
            break
        end = _AUTHORITY_END.search(part, begin.end() if begin else 0)
        if end:
            authority.append(part[: end.start()])
            return _checked(authority, text), [part[end.start() :], *parts[number + 1 :]]
        authority.append(part)
    return _checked(authority, text), []


def _checked(authority: Parts, text: str) -> Parts:
    kept = [part for part in authority if part]
    if not kept or (isinstance(kept[0], str) and len(kept) == 1 and not _START.sub("", kept[0])):
        raise BadInput("only absolute https URLs, or a key at the start", where=_short(text))
    if isinstance(kept[0], Placeholder) and len(kept) > 1:
        raise BadInput("after a key that gives the site comes / or ?", where=_short(text))
    if any(isinstance(part, str) and "@" in part for part in kept):
        raise BadInput("a URL may not carry a user name; use basic_auth", where=_short(text))
    return kept


def _authority(authority: Parts, text: str) -> list[FillText]:
    if isinstance(authority[0], Placeholder):
        return [_site(authority[0], has_scheme=True)]
    if len(authority) == 2 and isinstance(authority[1], Placeholder) and _START.fullmatch(authority[0]):
        return [_constant(authority[0]), _site(authority[1], has_scheme=False)]
    return [_host_part(part) if isinstance(part, Placeholder) else _constant(part) for part in authority]


def _constant(text: str) -> FillText:
    return lambda arguments, keys: text


def _key_reader(part: Placeholder) -> Callable[[Keys], str]:
    name, default = part.name, part.default

    def read(keys: Keys) -> str:
        value = keys.get(name) or default
        if not value:
            raise SecretMissing(f"{name} is not set", hint=f"set {name} on the account")
        return value

    return read


def _site(part: Placeholder, *, has_scheme: bool) -> FillText:
    """A key's value as the start of the URL; without its own scheme where the template has one."""
    read, name = _key_reader(part), part.name

    def fill(arguments: Arguments, keys: Keys) -> str:
        value = read(keys).rstrip("/")
        if not has_scheme:
            value = _START.sub("", value, count=1)
        if not value or _NOT_IN_SITE.search(value):
            raise SecretMalformed(f"{name} is no site address", hint="write it as https://blog.example")
        return value

    return fill


def _host_part(part: Placeholder) -> FillText:
    read, name = _key_reader(part), part.name

    def fill(arguments: Arguments, keys: Keys) -> str:
        value = read(keys)
        if _NOT_IN_HOST.search(value):
            raise SecretMalformed(f"{name} has characters that a host name cannot carry")
        return value

    return fill


def _rest(parts: Parts) -> list[FillText]:
    """Fill the path segment by segment, then the query and fragment piece by piece."""
    fills: list[FillText] = []
    segment: Parts = []
    is_path = True
    for part in parts:
        if not is_path:
            fills.append(_value(part) if isinstance(part, Placeholder) else _constant(part))
            continue
        if isinstance(part, Placeholder):
            segment.append(part)
            continue
        end = re.search(r"[?#]", part)
        path, after = (part[: end.start()], part[end.start() :]) if end else (part, "")
        first, *others = path.split("/")
        segment.append(first)
        for other in others:
            fills.extend(_segment(segment))
            fills.append(_constant("/"))
            segment = [other]
        if end:
            fills.extend(_segment(segment))
            fills.append(_constant(after))
            segment, is_path = [], False
    fills.extend(_segment(segment))
    return fills


def _segment(parts: Parts) -> list[FillText]:
    named = [part for part in parts if isinstance(part, Placeholder)]
    if not named:
        return [_constant("".join(part for part in parts if isinstance(part, str)))]
    fills = [_path_piece(part) if isinstance(part, Placeholder) else _constant(part) for part in parts]

    def fill(arguments: Arguments, keys: Keys) -> str:
        filled = "".join([fill(arguments, keys) for fill in fills])
        if not filled or any(unquote(piece) in {".", ".."} for piece in filled.split("/")):
            raise _odd(named[0], "cannot be empty, '.' or '..' in the path of a URL")
        return filled

    return [fill]


def _path_piece(part: Placeholder) -> FillText:
    if part.kind == "key":
        return _key_piece(part, safe=_PATH_SAFE)
    return _argument_piece(part, is_needed=True)


def _value(part: Placeholder) -> FillText:
    if part.kind == "key":
        return _key_piece(part, safe="")
    return _argument_piece(part, is_needed=False)


def _key_piece(part: Placeholder, *, safe: str) -> FillText:
    read, kept = _key_reader(part), "" if part.is_encoded else safe

    def fill(arguments: Arguments, keys: Keys) -> str:
        return _encoded(read(keys), part, kept)

    return fill


def _argument_piece(part: Placeholder, *, is_needed: bool) -> FillText:
    read, name, default = read_argument(part), ".".join(part.path), part.default

    def fill(arguments: Arguments, keys: Keys) -> str:
        value = read(arguments)
        if value is MISSING or value is None:
            if default is None and is_needed:
                raise ArgsInvalid(f"{name}: missing, and the URL needs it", hint=f"give {name}")
            value = default
        return _encoded(text_of(value, name), part, "")

    return fill


def _encoded(text: str, part: Placeholder, safe: str) -> str:
    if _CONTROL.search(text):
        raise _odd(part, "control characters and line breaks are not allowed in a URL")
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        pass
    raise _odd(part, "half of a character (a lone surrogate) is not allowed in a URL")


def _odd(part: Placeholder, message: str) -> ArgsInvalid | SecretMalformed:
    """The fault of a value, naming what holds it and never the value."""
    name = ".".join(part.path)
    return SecretMalformed(f"{name}: {message}") if part.kind == "key" else ArgsInvalid(f"{name}: {message}")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
