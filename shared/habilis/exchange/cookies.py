"""Cookies that an answer sets: kept for the one call, and sent back to the host that set them."""

import re
from dataclasses import replace
from datetime import datetime

from habilis.exchange.moments import read_moment
from habilis.hosts import origin_of
from habilis.messages import Request
from habilis.redaction import current

_BETWEEN = re.compile(r",\s*(?=[^;,=\s]+=)")
"""Between two cookies whose headers were joined; a date's own comma is followed by blanks before any `=`."""

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\x20-\x3a\x3c-\x7e]*")
_MOST_KEPT = 50
_LONGEST = 4096
_SHORTEST_SESSION = 16

_Place = tuple[str, int, str, str]
"""Host, port, path and name: what makes a cookie one and the same."""


class CookieJar:
    """The cookies of one call.

    A cookie goes back to the host and port that set it and nowhere else, whatever domain it names, and within its path.

    Source: RFC 6265 sections 5.1.4, 5.3 and 5.4.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[_Place, tuple[str, bool]] = {}

    def keep(self, header: str, url: str, *, now: datetime | None) -> None:
        """Take what an answer sets, and drop what it ends.

        Args:
            header: Its Set-Cookie headers, joined by commas.
            url: What was asked.
            now: When it came, with a time zone; None when nobody knows, and no date ends a cookie.
        """
        for text in _BETWEEN.split(header):
            self._keep_one(text, url, now)

    def onto(self, request: Request) -> Request:
        """The request with the cookies that belong to it; itself when there are none."""
        if not self._kept:
            return request
        scheme, host, port = origin_of(request.url)
        path = _path(request.url)
        # Longer paths come first, as the RFC asks.
        found = sorted(
            (
                (place, value)
                for place, (value, is_secure) in self._kept.items()
                if place[:2] == (host, port) and _covers(place[2], path) and (scheme == "https" or not is_secure)
            ),
            key=lambda entry: -len(entry[0][2]),
        )
        if not found:
            return request
        text = "; ".join(f"{name}={value}" for (_, _, _, name), value in found)
        own = [value for name, value in request.headers if name.lower() == "cookie"]
        others = tuple(pair for pair in request.headers if pair[0].lower() != "cookie")
        return replace(request, headers=(*others, ("Cookie", "; ".join([*own, text]))))

    def _keep_one(self, text: str, url: str, now: datetime | None) -> None:
        pair, *rest = text.split(";")
        name, _, value = (part.strip() for part in pair.partition("="))
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or len(pair) > _LONGEST:
            return
        rules = {rule.strip().lower(): said.strip() for rule, _, said in (entry.partition("=") for entry in rest)}
        _, host, port = origin_of(url)
        path = rules.get("path", "")
        place = (host, port, path if path.startswith("/") else _folder(_path(url)), name)
        self._kept.pop(place, None)
        if _is_over(rules, now) or len(self._kept) >= _MOST_KEPT:
            return
        if "httponly" in rules and len(value) >= _SHORTEST_SESSION:
            # No page may read it, so it is what the session hangs on; shorter ones are words that texts hold too.
            current().add("cookie", value)
        self._kept[place] = (value, "secure" in rules)


def _is_over(rules: dict[str, str], now: datetime | None) -> bool:
    """Whether a cookie ends at once; `Max-Age` counts before `Expires`."""
    if "max-age" in rules:
        return rules["max-age"].startswith(("0", "-"))
    end = read_moment(rules.get("expires", ""))
    return end is not None and now is not None and end <= now


def _path(url: str) -> str:
    """The path of a checked URL."""
    rest = url.partition("://")[2].partition("?")[0]
    return f"/{rest.partition('/')[2]}"


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _covers(kept: str, path: str) -> bool:
    return path == kept or (path.startswith(kept) and (kept.endswith("/") or path[len(kept)] == "/"))
