"""Faults of a service, on request: what it answers at one request of a conversation instead of what was recorded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast
from urllib.parse import urlsplit

from habilis.cassettes.compare import Sent, differences
from habilis.cassettes.model import Cassette
from habilis.errors import ArgsInvalid

Kind = Literal["429", "401", "repeated-cursor", "cut-body"]

FAULTS: Mapping[Kind, str] = {
    "429": "the service asks to wait 7 seconds (Retry-After)",
    "401": "the service does not know the key any more",
    "repeated-cursor": "a page comes twice, so that the next one has the same cursor",
    "cut-body": "the connection ends in the middle of an answer",
}
RETRY_AFTER_S = 7

_SPOKEN = re.compile(r"([a-z0-9-]+)(?:@([1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault.

    Attributes:
        at: At which request, from 1; None for the one where it tells most.
    """

    kind: Kind
    at: int | None = None

    def place(self, cassette: Cassette) -> int | None:
        """At which request of this conversation, from 1; None when it has no such place.

        By itself a 429 comes at the first request, a 401 in the middle, a cut body at the end, a repeated cursor with
        the second page of the first list.
        """
        count = len(cassette.interactions)
        if self.at is not None:
            is_there = self.at <= count and (self.at > 1 or self.kind != "repeated-cursor")
            return self.at if is_there else None
        if self.kind == "repeated-cursor":
            return _second_page(cassette)
        return {"429": 1, "401": count // 2 + 1, "cut-body": count}[self.kind] if count else None


def read_fault(text: str) -> Fault:
    """The fault that `429`, `cut-body@3` and the like mean; ArgsInvalid for anything else."""
    match = _SPOKEN.fullmatch(text)
    if match is None or match[1] not in FAULTS:
        raise ArgsInvalid(
            "there is no such fault", hint=f"say one of {', '.join(FAULTS)}, with @N behind it for the Nth request"
        )
    return Fault(kind=cast("Kind", match[1]), at=int(match[2]) if match[2] else None)


def _second_page(cassette: Cassette) -> int | None:
    """The first request that differs in one thing from the one before it, its page: a list is read on."""
    for number, (one, other) in enumerate(pairwise(cassette.interactions), 2):
        again = Sent(method=other.method, url=other.url, headers=other.headers, body=other.body, is_read=True)
        if urlsplit(one.url)[:3] == urlsplit(other.url)[:3] and len(differences(one, again)) == 1:
            return number
    return None
