"""The secrets of one request, and values with these masked.

Looking costs little, because most texts hold no secret: a few substring searches say so. Only where one is found is it
worked out which characters of the text its own were written with.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from habilis.redaction.escapes import decodings, escapes_of, written
from habilis.redaction.forms import SHORTEST_SECRET, Forms, base64_forms, forms_of

_T = TypeVar("_T")

_LISTS = (list, tuple)
_NUMBERS = frozenset({int, float})
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


class Ledger:
    """The secrets that one request has read."""

    __slots__ = ("_masks", "_numeric", "_probes")

    def __init__(self) -> None:
        self._masks: dict[str, str] = {}
        self._probes: dict[str, None] = {}
        self._numeric = False

    def __repr__(self) -> str:
        return f"<Ledger of {len(set(self._masks.values()))} names>"

    def add(self, name: str, value: str) -> None:
        """Mask this value from now on as `[redacted name]`; one shorter than SHORTEST_SECRET is left alone."""
        value = value.strip()
        if len(value) >= SHORTEST_SECRET:
            self._note(name, forms_of(value))
            self._numeric = self._numeric or _NUMBER.fullmatch(value) is not None

    def add_pair(self, name: str, user: str, password: str) -> None:
        """Mask the password, and what HTTP Basic makes of it together with the user."""
        self.add(name, password)
        if password and len(user) + len(password) >= SHORTEST_SECRET:
            self._note(name, base64_forms(f"{user}:{password}".encode(errors="replace")))

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

    def _note(self, name: str, forms: Forms) -> None:
        probes, needles = forms
        mask = f"[redacted {name}]"
        for needle in needles:
            self._masks.setdefault(needle, mask)
        self._probes |= dict.fromkeys(probes)

    def _holds_secret(self, text: str) -> bool:
        probes = self._probes
        for _, decoded in decodings(text):
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
        if self._numeric and type(value) in _NUMBERS:
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
        for families, decoded in decodings(text):
            needles = [needle for needle in self._masks if needle in decoded]
            levels = escapes_of(text, families) if needles else []
            for needle in needles:
                at = decoded.find(needle)
                while at >= 0:
                    start, end = at, at + len(needle)
                    at = decoded.find(needle, end)
                    for escapes in reversed(levels):
                        start, end = written(escapes, start)[0], written(escapes, end - 1)[1]
                    found.append((start, end, self._masks[needle]))
        if cut := self._cut_off(text):
            at, needle = cut
            found.append((at, len(text) - 1, self._masks[needle]))
        return found

    def _cut_off(self, text: str) -> tuple[int, str] | None:
        """Where the beginning of a secret ends in the dots of a shortened text, and which secret."""
        if not text.endswith("…"):
            return None
        for needle in sorted(self._masks, key=len, reverse=True):
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
            leaves = branch if isinstance(branch, _LISTS) else (branch,)
        for leaf in leaves:
            kind = type(leaf)
            if kind is str:
                texts.append(leaf)  # type: ignore[arg-type]  # as its type says
            elif kind is dict or kind is list:
                branches.append(leaf)
            elif kind in _NUMBERS:
                if numbers:
                    texts.append(str(leaf))
            elif isinstance(leaf, str):
                texts.append(leaf)
            elif isinstance(leaf, (dict, *_LISTS)):
                branches.append(leaf)
    return "\0".join(texts)


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
