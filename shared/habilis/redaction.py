"""The one sink that masks keys: whatever leaves the engine passes `clean`.

Each request keeps a ledger of the secrets it has read. A secret is masked as `[redacted NAME]` in every form in which
an upstream echoes one: as it is, in base64 (also within `user:password`), percent-encoded, escaped for JSON or HTML,
and line by line where it has several.

Looking costs little, because most texts hold no secret: a few substring searches say so. Only where one is found is the
text taken apart, each decoded character remembering which characters of the text it came from.

Source: docs/security.md "Keys".
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

SHORTEST_SECRET = 6
"""Values shorter than this are not masked: they would be found everywhere, and give themselves away by their holes."""

_T = TypeVar("_T")

_ARMOR = re.compile(r"-----(BEGIN|END)[A-Z0-9 ]*-----")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_PEM_LINE_BREAK = re.compile(r"\r\n|\r|\n|\\r\\n|\\n")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_BACKSLASH = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\"'\\/bfnrt]"
)
_PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# An escape inside an escape is found, as in JSON that quotes JSON; past this nobody writes them.
_MOST_LEVELS = 3
# Characters; an upstream may not buy minutes of work with a long text of escapes.
_MOST_DECODED = 16 * 1024 * 1024


class Ledger:
    """The secrets that one request has read."""

    __slots__ = ("_masks", "_needles", "_numeric", "_probes")

    def __init__(self) -> None:
        self._masks: dict[str, str] = {}
        self._needles: tuple[str, ...] = ()
        self._probes: tuple[str, ...] = ()
        self._numeric = False

    def __repr__(self) -> str:
        return f"<Ledger of {len(set(self._masks.values()))} names>"

    def add(self, name: str, value: str) -> None:
        """Mask this value from now on as `[redacted name]`; one shorter than SHORTEST_SECRET is left alone."""
        value = value.strip()
        if len(value) >= SHORTEST_SECRET:
            self._note(name, _forms(value))
            self._numeric = self._numeric or _NUMBER.fullmatch(value) is not None

    def add_pair(self, name: str, user: str, password: str) -> None:
        """Mask the password, and what HTTP Basic makes of it together with the user."""
        self.add(name, password)
        if password and len(user) + len(password) >= SHORTEST_SECRET:
            self._note(name, _base64_forms(f"{user}:{password}".encode(errors="replace")))

    def clean(self, value: _T) -> _T:
        """The same value with every secret masked.

        Args:
            value: Text, or JSON values (lists and tuples, dicts, texts, numbers) in any depth; else returned as it is.

        Returns:
            The value itself where it holds no secret. Text that is JSON stays JSON, and a dict keeps as many entries
            as it had. A number that is a secret becomes text.
        """
        if not self._probes or not self._holds_secret(_joined(value, numbers=self._numeric)):
            return value
        return self._masked(value)  # type: ignore[return-value]  # the shape stays

    def _note(self, name: str, forms: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        probes, needles = forms
        for needle in needles:
            self._masks.setdefault(needle, f"[redacted {name}]")
        self._probes = tuple(dict.fromkeys((*self._probes, *probes)))
        self._needles = tuple(sorted(self._masks, key=len, reverse=True))

    def _holds_secret(self, text: str) -> bool:
        probes = self._probes
        for _, decoded in _decodings(text):
            for probe in probes:
                if probe in decoded:
                    return True
        return "…" in text and any(self._cut_off(part) for part in text.split("\0"))

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            return self._masked_text(value)
        if isinstance(value, dict):
            return self._masked_dict(value)
        if isinstance(value, list):
            return [self._masked(entry) for entry in value]
        if isinstance(value, tuple):
            return tuple(self._masked(entry) for entry in value)
        if self._numeric and isinstance(value, int | float) and not isinstance(value, bool):
            text = self._masked_text(str(value))
            return value if text == str(value) else text
        return value

    def _masked_dict(self, value: dict[object, object]) -> dict[object, object]:
        masked: dict[object, object] = {}
        for key, entry in value.items():
            shown = self._masked(key)
            if shown != key:
                # Two different secrets may show as one mask; both entries stay.
                plain, number = shown, 2
                while shown in masked or shown in value:
                    shown, number = f"{plain} {number}", number + 1
            masked[shown] = self._masked(entry)
        return masked

    def _masked_text(self, text: str) -> str:
        spans = self._spans(text)
        if not spans:
            return text
        masked = _without(text, spans)
        # A number or several values masked at once break JSON: then each value in it is masked by itself.
        if text.lstrip()[:1] in {"{", "["} and not _is_json(masked) and _is_json(text):
            return json.dumps(self._masked(json.loads(text)), ensure_ascii=False)
        return masked

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where in the text secrets are, and their masks."""
        found = []
        for families, decoded in _decodings(text):
            needles = [needle for needle in self._needles if needle in decoded]
            origins = _origins(text, families) if needles else []
            for needle in needles:
                at = decoded.find(needle)
                while at >= 0:
                    end = at + len(needle)
                    found.append((origins[at][0], origins[end - 1][1], self._masks[needle]))
                    at = decoded.find(needle, end)
        if cut := self._cut_off(text):
            at, needle = cut
            found.append((at, len(text) - 1, self._masks[needle]))
        return found

    def _cut_off(self, text: str) -> tuple[int, str] | None:
        """Where the beginning of a secret ends in the dots of a shortened text, and which secret."""
        if not text.endswith("…"):
            return None
        for needle in self._needles:
            at = text.find(needle[:SHORTEST_SECRET], max(0, len(text) - 1 - len(needle)))
            if at >= 0 and needle.startswith(text[at:-1]):
                return at, needle
        return None


_current: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


def current() -> Ledger:
    """The ledger of the request under way; outside of one, a ledger that lasts as long as the thread."""
    ledger = _current.get()
    if ledger is None:
        ledger = Ledger()
        _current.set(ledger)
    return ledger


@contextmanager
def recording() -> Iterator[Ledger]:
    """Start a fresh ledger for one request; errors and results are cleaned before it ends."""
    ledger = Ledger()
    token = _current.set(ledger)
    try:
        yield ledger
    finally:
        _current.reset(token)


def clean(value: _T) -> _T:
    """The same value with every secret of the request under way masked; see `Ledger.clean`."""
    return current().clean(value)


def _joined(value: object, *, numbers: bool) -> str:
    """Every text inside a value, and every number if asked for, with NUL between them."""
    texts: list[str] = []
    branches: list[object] = [value]
    # Grows while it is walked. Exact types come first: nearly all values have them, and this runs on every result.
    for branch in branches:
        if isinstance(branch, dict):
            texts.extend(map(str, branch))
            leaves: Iterable[object] = branch.values()
        else:
            leaves = branch if isinstance(branch, list | tuple) else (branch,)
        for leaf in leaves:
            kind = type(leaf)
            if kind is str:
                texts.append(leaf)  # type: ignore[arg-type]  # as its type says
            elif kind is dict or kind is list:
                branches.append(leaf)
            elif isinstance(leaf, str):
                texts.append(leaf)
            elif isinstance(leaf, dict | list | tuple):
                branches.append(leaf)
            elif numbers and isinstance(leaf, int | float):
                texts.append(str(leaf))
    return "\0".join(texts)


@lru_cache(maxsize=512)
def _forms(value: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts one of which is in every text that holds the secret, and all texts to mask."""
    is_pem = "-----BEGIN" in value
    raw = {value, value.replace(" ", "+")}
    lines = [line.strip() for line in (_PEM_LINE_BREAK if is_pem else _LINE_BREAK).split(value)]
    if len(lines) > 1:
        raw.update(line for line in lines if len(line) >= SHORTEST_SECRET and not _ARMOR.fullmatch(line))
    probes, needles = _base64_forms(value.encode(errors="replace"))
    return (*raw, *probes), (*raw, *needles)


@lru_cache(maxsize=512)
def _base64_forms(value: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of base64 that are the same whatever stands before and after, and these with the whole."""
    probes: dict[str, None] = {}
    for before in range(3):
        encoded = b64encode(b"\0" * before + value).decode()
        # A character of base64 holds 6 bits: only those that hold nothing but the value are sure.
        sure = encoded[-(-8 * before // 6) : 8 * (before + len(value)) // 6]
        probes[sure] = probes[_url_safe(sure)] = None
    whole = b64encode(value).decode()
    return tuple(probes), (*probes, *{whole, whole.rstrip("="), _url_safe(whole), _url_safe(whole).rstrip("=")})


def _url_safe(encoded: str) -> str:
    return encoded.replace("+", "-").replace("/", "_")


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """The text with spans replaced by their masks; overlapping ones become one."""
    out: list[str] = []
    done = 0
    for start, end, mask in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            out.extend((text[done:start], mask))
        done = max(done, end)
    out.append(text[done:])
    return "".join(out)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Family:
    """A way of writing characters differently.

    Attributes:
        introducer: The character that every escape of it begins with.
        pattern: One escape, or several that only make sense together.
        decode: From these to characters, each with the number of characters it was written with.
    """

    introducer: str
    pattern: re.Pattern[str]
    decode: Callable[[str], list[tuple[str, int]]]

    def undone(self, text: str) -> str:
        return self.pattern.sub(lambda match: "".join([one for one, _ in self.decode(match[0])]), text)


def _decodings(text: str) -> Iterator[tuple[tuple[_Family, ...], str]]:
    """The text as it is, and with its escapes undone, family by family and up to three deep.

    Families are undone apart, since a secret may itself look like an escape of another family.
    """
    yield (), text
    seen = {text}
    budget = _MOST_DECODED
    level: list[tuple[tuple[_Family, ...], str]] = [((), text)]
    while level and len(level[0][0]) < _MOST_LEVELS and budget > 0:
        following = []
        for families, before in level:
            for family in _FAMILIES:
                if family.introducer not in before:
                    continue
                after = family.undone(before)
                budget -= len(before)
                if after not in seen:
                    seen.add(after)
                    following.append(((*families, family), after))
                    yield following[-1]
        level = following


def _origins(text: str, families: tuple[_Family, ...]) -> list[tuple[int, int]]:
    """For each character of the text with these families undone in turn, where in the text it was written."""
    origins = [(at, at + 1) for at in range(len(text))]
    for family in families:
        spans: list[tuple[int, int]] = []
        done = 0
        for match in family.pattern.finditer(text):
            at = match.start()
            spans.extend(origins[done:at])
            for _, length in family.decode(match[0]):
                spans.append((origins[at][0], origins[at + length - 1][1]))
                at += length
            done = match.end()
        spans.extend(origins[done:])
        text, origins = family.undone(text), spans
    return origins


def _percent(escapes: str) -> list[tuple[str, int]]:
    text = bytes.fromhex(escapes.replace("%", "")).decode(errors="surrogateescape")
    return [(one, 3 * len(one.encode(errors="surrogateescape"))) for one in text]


@lru_cache(maxsize=1024)
def _backslash(escape: str) -> list[tuple[str, int]]:
    kind = escape[1]
    if kind not in "ux":
        return [(_PLAIN_ESCAPES.get(kind, kind), len(escape))]
    units = "".join(chr(int(unit, 16)) for unit in re.split(r"\\[ux]", escape)[1:])
    return [(units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"), len(escape))]


@lru_cache(maxsize=1024)
def _entity(escape: str) -> list[tuple[str, int]]:
    from html import unescape

    text = unescape(escape)
    # A few names stand for two characters; both come from the whole of it.
    return [(text[0], len(escape)), *((one, 0) for one in text[1:])] if text else []


_FAMILIES = (
    _Family("\\", _BACKSLASH, _backslash),
    _Family("%", re.compile(r"(?:%[0-9A-Fa-f]{2})+"), _percent),
    _Family("&", re.compile(r"&#?[A-Za-z0-9]{1,31};"), _entity),
)
