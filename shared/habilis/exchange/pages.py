"""A list that comes in pages: each asked for in turn, told apart, and joined."""

import json
from collections.abc import Callable, Generator, Sequence
from functools import partial
from urllib.parse import urljoin

from habilis.errors import HabilisError, HostNotAllowed, UpstreamError, UpstreamProtocol
from habilis.exchange.fill import Bounds, fill_request
from habilis.exchange.links import next_link
from habilis.exchange.placing import place
from habilis.exchange.sending import Course, Talk, send
from habilis.manifest.model import PagesRule, RequestTemplate
from habilis.messages import Answer, Asked, Json, Request
from habilis.templating import MISSING, Missing, Scope, Seen, is_nothing

_MOST_BYTES = 32 * 1024 * 1024
"""Of the answers that are joined for an agent, who is told far less."""

_NUMBERED = frozenset({"page", "offset"})


def read_pages(
    template: RequestTemplate, scope: Scope, bounds: Bounds, *, where: str, take: Callable[[Json], None]
) -> Generator[Asked, Answer | None, tuple[str, ...]]:
    """Read a list page by page, or the one answer of a request without `pages`, handing each on as it comes.

    Args:
        template: Of the request.
        scope: What fills it.
        bounds: What it may reach.
        where: What it is for, for messages.
        take: Is given the whole body of each page; nothing of it is kept here.

    Returns:
        What a person should know, as that the list was cut short.

    Raises:
        HabilisError: As `send`; the pages before it were handed on.
    """
    course = Course(bounds, scope.made)
    pages = _Pages(template, scope, course, where)
    while (asked := pages.following()) is not None:
        answer, seen = yield from send(asked, template, scope, course, refill=pages.refill)
        take(seen.body)
        pages.saw(answer, seen)
    return tuple(pages.notes())


def join_pages(template: RequestTemplate, scope: Scope, course: Course, *, where: str) -> Talk:
    """Read a list page by page; the last answer, its body the entries of all pages in one list."""
    pages = _Pages(template, scope, course, where, most_bytes=_MOST_BYTES)
    entries: list[Json] = []
    while (asked := pages.following()) is not None:
        answer, seen = yield from send(asked, template, scope, course, refill=pages.refill)
        entries += pages.saw(answer, seen)
    course.journal.notes += pages.notes()
    return answer, Seen(status=seen.status, headers=seen.headers, body=entries)


class _Pages:
    """Where a list has come to: which request is next, and whether the service goes round in circles.

    Attributes:
        refill: Fills the last request anew.
    """

    def __init__(
        self, template: RequestTemplate, scope: Scope, course: Course, where: str, *, most_bytes: int | None = None
    ) -> None:
        self._template = template
        self._rule = template.pages
        self._scope = scope
        self._course = course
        self._where = where
        self._most_bytes = most_bytes
        self._read = self._count = self._bytes = 0
        self._total: int | None = None
        self._last: Sequence[Json] = ()
        self._known: set[str] = set()
        self._asked: Request | None = None
        is_numbered = self._rule is not None and self._rule.by in _NUMBERED
        first = self._rule.start if self._rule and is_numbered else MISSING
        self.refill: Callable[[], Request] = partial(self._request, first)
        self._next: Callable[[], Request] | None = self.refill

    def following(self) -> Request | None:
        """The request for the next page; None behind the last one, and where enough was read."""
        if self._next is None or self._is_cut():
            return None
        self.refill, self._next = self._next, None
        self._asked = self.refill()
        return self._asked

    def saw(self, answer: Answer, seen: Seen) -> list[Json]:
        """Take the answer to the last request; its entries.

        Raises:
            UpstreamError: The page came before, so that no end is in sight.
            UpstreamProtocol: It holds no list.
        """
        self._read += 1
        rule = self._rule
        if rule is None:
            return []
        entries = self._entries(rule, seen)
        if rule.by in _NUMBERED:
            if entries and entries == self._last:
                raise self._circle("the same page")
            self._last = entries
        self._count += len(entries)
        self._bytes += len(answer.body)
        self._total = self._told_total(rule, seen)
        if rule.stop is None or not rule.stop.holds(self._scope, seen):
            self._next = self._after(rule, seen, entries)
        return entries

    def notes(self) -> list[str]:
        """What a person should know of the list as a whole."""
        if self._next is not None:
            return [f"{self._where}: truncated after {self._read:,} pages, {self._count:,} entries; there are more"]
        if self._total is not None and self._count < self._total:
            return [f"{self._where}: truncated: {self._count:,} of {self._total:,} entries came"]
        return []

    def _is_cut(self) -> bool:
        is_full = self._most_bytes is not None and self._bytes > self._most_bytes
        return self._rule is not None and (self._read >= self._rule.most or is_full)

    def _entries(self, rule: PagesRule, seen: Seen) -> list[Json]:
        found = seen.body if rule.items is None else rule.items.pick(seen)
        if isinstance(found, list):
            return found
        if is_nothing(found):
            return []
        at = "" if rule.items is None else f" at {rule.items.source}"
        raise UpstreamProtocol(f"page {self._read} holds no list{at}", where=self._where, outcome="not_sent")

    def _told_total(self, rule: PagesRule, seen: Seen) -> int | None:
        value = MISSING if rule.total is None else rule.total.pick(seen)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value[:15])
        return value if isinstance(value, int) and not isinstance(value, bool) else self._total

    def _after(self, rule: PagesRule, seen: Seen, entries: Sequence[Json]) -> Callable[[], Request] | None:
        if rule.by in _NUMBERED:
            is_last = len(entries) < max(rule.size, 1) or (self._total is not None and self._count >= self._total)
            number = rule.start + (self._read if rule.by == "page" else self._count)
            return None if is_last else partial(self._request, number)
        told = next_link(seen.headers.get("link", "")) if rule.next is None else rule.next.pick(seen)
        if is_nothing(told):
            return None
        if rule.by == "cursor":
            self._require_new(json.dumps(told), "the same cursor")
            return partial(self._request, told)
        assert self._asked is not None  # noqa: S101 - this is about its answer
        if not isinstance(told, str):
            raise UpstreamProtocol(
                f"page {self._read} gave no address for the next one", where=self._where, outcome="not_sent"
            )
        try:
            url = urljoin(self._asked.url, told)
        except ValueError:
            url = ""
        self._known.add(self._asked.url)
        following = partial(self._request, url=url)
        called = following().url
        self._require_same_host(self._asked.url, called)
        self._require_new(called, "the same address")
        return following

    def _request(self, position: Json | Missing = MISSING, *, url: str | None = None) -> Request:
        """The request for a page: at a position, or at the address that an answer gave."""
        given = {} if url is None else {"url": url}
        request = fill_request(self._template, self._scope, self._course.bounds, where=self._where, **given)
        return request if position is MISSING or self._rule is None else place(request, self._rule.into, position)

    def _require_same_host(self, asked: str, following: str) -> None:
        """Raise where the next page lies at another host: the keys of the request are for the first one alone."""
        host, other = asked.split("/", 3)[2], following.split("/", 3)[2]
        if host != other:
            raise HostNotAllowed(
                f"page {self._read} leads on to {other}, and what the request carries is for {host}",
                where=self._where,
                outcome="not_sent",
            )

    def _require_new(self, mark: str, what: str) -> None:
        if mark in self._known:
            raise self._circle(what)
        self._known.add(mark)

    def _circle(self, what: str) -> HabilisError:
        return UpstreamError(
            f"page {self._read} gave {what} again, so that the list has no end",
            where=self._where,
            hint="check how the manifest's `pages` asks for the next one",
            outcome="not_sent",
        )
