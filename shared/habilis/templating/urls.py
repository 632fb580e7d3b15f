"""Templates of URLs: arguments and keys fill their place and nothing more."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from habilis.errors import ArgsInvalid, BadInput, SecretMalformed, UpstreamProtocol
from habilis.templating.authority import Parts, constant, fill_authority, host_of, key_reader, split_authority
from habilis.templating.grammar import Placeholder, parse, shortened
from habilis.templating.reads import reader
from habilis.templating.scope import MISSING, Scope, text_of
from habilis.templating.texts import FillText
from habilis.templating.uses import Uses

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_QUERY = re.compile(r"[?#]")
# What a path segment holds as it is (RFC 3986 section 3.3), and the slash: a key may be several segments.
_PATH_SAFE = "/:@!$&'()*+,;="


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTemplate:
    """An absolute URL with placeholders.

    Attributes:
        source: As written; `compile_url(source)` gives an equal template.
        arguments: The first names of all paths.
        paths: The paths of all arguments, also of those that functions are given.
        keys: Names of keys, and whether each has a default wherever it stands.
        host_key: The key whose value is the host; None when the host is written out.
        host: The host, and port if any, as written; None when it is a key's value. A key may be a part of it, as in
            `${SHOP}.example.com`.
        is_saved: Whether it begins with an address that an earlier answer gave; then `host_key` and `host` are None.
    """

    source: str
    arguments: frozenset[str] = field(compare=False)
    paths: frozenset[tuple[str, ...]] = field(compare=False)
    keys: Mapping[str, bool] = field(compare=False)
    host_key: str | None = field(compare=False)
    host: str | None = field(compare=False)
    is_saved: bool = field(compare=False)
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
            UpstreamProtocol: An earlier answer gave no address to begin with.
        """
        return self._fill(scope)


def compile_url(text: str, *, saved: frozenset[str] = frozenset()) -> UrlTemplate:
    """Prepare an absolute URL with placeholders.

    Args:
        text: As written.
        saved: Names whose values come from earlier answers: a URL may begin with a placeholder of these, and what it
            stands for is a whole address, kept as it is.

    Raises:
        BadInput: A placeholder is malformed, or an argument is in the scheme, host or port; `where` shows it.
    """
    parts = parse(text)
    if _NOT_IN_URL.search("".join(part for part in parts if isinstance(part, str))):
        raise BadInput("a URL has no blanks, control characters or backslashes", where=shortened(text))
    uses = Uses(parts)
    host_key = host = None
    start = _saved_start(parts, saved)
    if start:
        fills = [_saved_address(start), *_rest(parts[1:])]
    else:
        authority, rest = split_authority(parts, text)
        fills = [*fill_authority(authority), *_rest(rest)]
        host_key, host = host_of(authority)
    return UrlTemplate(
        source=text,
        arguments=uses.arguments,
        paths=frozenset(uses.paths),
        keys=uses.keys,
        host_key=host_key,
        host=host,
        is_saved=start is not None,
        _fill=lambda scope: "".join([fill(scope) for fill in fills]),
    )


def _saved_start(parts: Sequence[str | Placeholder], saved: frozenset[str]) -> Placeholder | None:
    """The placeholder at the start that earlier answers fill, and nothing that the caller gave; None for another."""
    first = parts[0] if parts else ""
    if isinstance(first, str) or first.kind == "key":
        return None
    uses = Uses([first])
    return first if uses.arguments and uses.arguments <= saved and not uses.keys else None


def _saved_address(part: Placeholder) -> FillText:
    read, label, default = reader(part.expression), part.label, part.default

    def fill(scope: Scope) -> str:
        value = read(scope)
        if value is MISSING or value is None or value == "":
            value = default
        if not isinstance(value, str) or not value:
            raise UpstreamProtocol(f"{label}: the answer gave no address", outcome="not_sent")
        if _NOT_IN_URL.search(value):
            raise UpstreamProtocol(f"{label}: the answer gave an address that is no URL", outcome="not_sent")
        return value

    return fill


def _rest(parts: Sequence[str | Placeholder]) -> list[FillText]:
    """Fill the path segment by segment, then the query and fragment piece by piece."""
    fills: list[FillText] = []
    segment: Parts = []
    is_path = True
    for part in parts:
        if not is_path:
            fills.append(_value(part) if isinstance(part, Placeholder) else constant(part))
            continue
        if isinstance(part, Placeholder):
            segment.append(part)
            continue
        end = _QUERY.search(part)
        path, after = (part[: end.start()], part[end.start() :]) if end else (part, "")
        first, *others = path.split("/")
        segment.append(first)
        for other in others:
            fills.extend(_segment(segment))
            fills.append(constant("/"))
            segment = [other]
        if end:
            fills.extend(_segment(segment))
            fills.append(constant(after))
            segment, is_path = [], False
    fills.extend(_segment(segment))
    return fills


def _segment(parts: Parts) -> list[FillText]:
    # What is empty or climbs is blamed on an argument, if there is one: a key was checked by a person.
    named = sorted((part for part in parts if isinstance(part, Placeholder)), key=lambda part: part.kind)
    if not named:
        return [constant("".join(part for part in parts if isinstance(part, str)))]
    fills = [_path_piece(part) if isinstance(part, Placeholder) else constant(part) for part in parts]

    def fill(scope: Scope) -> str:
        filled = "".join([fill(scope) for fill in fills])
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
    read, kept = key_reader(part), "" if part.is_encoded else safe

    def fill(scope: Scope) -> str:
        return _encoded(read(scope), part, kept)

    return fill


def _argument_piece(part: Placeholder, *, is_needed: bool) -> FillText:
    read, name, default = reader(part.expression), part.label, part.default

    def fill(scope: Scope) -> str:
        value = read(scope)
        if value is MISSING or value is None:
            if default is None and is_needed:
                raise ArgsInvalid(f"{name}: missing, and the URL needs it", hint=f"give {name}")
            value = default
        return _encoded(text_of(value, name), part, "", is_path=is_needed)

    return fill


def _encoded(text: str, part: Placeholder, safe: str, *, is_path: bool = True) -> str:
    # Behind the `?` a text of several lines is a value like any other, once it is encoded.
    if is_path and _CONTROL.search(text):
        raise _odd(part, "control characters and line breaks are not allowed in a URL")
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        pass
    raise _odd(part, "half of a character (a lone surrogate) is not allowed in a URL")


def _odd(part: Placeholder, message: str) -> ArgsInvalid | SecretMalformed:
    """The fault of a value, naming what holds it and never the value."""
    return (SecretMalformed if part.kind == "key" else ArgsInvalid)(f"{part.label}: {message}")
