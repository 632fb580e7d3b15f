"""The one strict URL parser: what it lets through is written anew from its parts, so no second parser can differ.

Source: RFC 3986; of the forms it allows, those that two parsers read differently are refused.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

_LONGEST_URL = 65_536
_LONGEST_HOST = 253
_HIGHEST_PORT = 65_535
_DEFAULT_PORTS = {"https": 443, "http": 80}

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SCHEME = re.compile(r"(https?)://([^/?#]*)([^#]*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(?::(.*))?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
_OTHER_DOTS = re.compile("[\u3002\uff0e\uff61]")
_UNSAFE = re.compile(r"""[^!$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]|%(?![0-9A-Fa-f]{2})""")


class UrlError(ValueError):
    """The text is no URL that is ever called; its message is a reason without any part of the URL."""


class NumericHostError(UrlError):
    """The host is a number in disguise: resolvers read `127.1`, `0x7f000001` and `2130706433` as an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlParts:
    """A URL, taken apart and normalised.

    Attributes:
        scheme: "https" or "http".
        host: Lower case, A-labels, no trailing dot; an IPv6 address in brackets.
        port: 1 to 65535; the scheme's own when the URL names none.
        path: Percent-encoded, "/" at least.
        query: Percent-encoded, with its "?"; "" when there is none.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def place(self) -> str:
        """`host:port`, as private hosts are named."""
        return f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """`scheme://host[:port]`, without the scheme's own port."""
        if self.port == _DEFAULT_PORTS[self.scheme]:
            return f"{self.scheme}://{self.host}"
        return f"{self.scheme}://{self.host}:{self.port}"


def split_url(url: str) -> UrlParts:
    """Take an absolute http(s) URL apart; the fragment is dropped.

    Raises:
        UrlError: It is no such URL, carries a user name or control characters, or its host is malformed.
    """
    if len(url) > _LONGEST_URL:
        raise UrlError("the URL is too long")
    if _CONTROL.search(url):
        raise UrlError("the URL holds control characters")
    match = _SCHEME.match(url)
    if not match:
        raise UrlError("only absolute https URLs are called")
    scheme, authority, target = match[1].lower(), match[2], match[3]
    if "@" in authority:
        raise UrlError("a URL may not carry a user name; use basic_auth")
    host, port = split_place(authority)
    path, mark, query = target.partition("?")
    return UrlParts(
        scheme=scheme,
        host=host,
        port=_DEFAULT_PORTS[scheme] if port is None else port,
        path=_encoded(_without_dots(path)) or "/",
        query=mark + _encoded(query),
    )


@lru_cache(maxsize=1024)
def split_place(text: str) -> tuple[str, int | None]:
    """Take `host[:port]` apart and normalise the host; the port is None when there is none.

    Raises:
        UrlError: The host is malformed or the port is not 1 to 65535.
    """
    match = _AUTHORITY.fullmatch(text)
    if not match:
        raise UrlError("the host is malformed")
    host, port = _normal_host(match[1]), match[2]
    if port is None:
        return host, None
    if not _PORT.fullmatch(port) or int(port) > _HIGHEST_PORT:
        raise UrlError("the port is not a number from 1 to 65535")
    return host, int(port)


def _normal_host(host: str) -> str:
    if host.startswith("["):
        return _normal_ipv6(host[1:-1])
    name = host.lower() if host.isascii() else _a_labels(host)
    name = name.removesuffix(".")
    if len(name) > _LONGEST_HOST or not _NAME.fullmatch(name):
        raise UrlError("the host is malformed")
    if _ENDS_IN_NUMBER.fullmatch(name) and not _is_ipv4(name):
        raise NumericHostError("numeric host forms are not accepted")
    return name


def _normal_ipv6(text: str) -> str:
    if "%" in text:
        raise UrlError("an address may not name a network interface")
    try:
        return f"[{IPv6Address(text).compressed}]"
    except ValueError:
        raise UrlError("the host is malformed") from None


def _is_ipv4(name: str) -> bool:
    try:
        IPv4Address(name)  # exactly four decimal parts, no leading zeros
    except ValueError:
        return False
    return True


def _a_labels(host: str) -> str:
    """Write an international name in its ASCII form; dots of other scripts are refused, not mapped."""
    import idna

    if _OTHER_DOTS.search(host) or len(host) > _LONGEST_HOST:
        raise UrlError("the host is malformed")
    try:
        return idna.encode(unicodedata.normalize("NFC", host.lower())).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise UrlError("the host is not a valid international name") from None


def _without_dots(path: str) -> str:
    """Resolve `.` and `..`, as every HTTP client does before sending.

    Source: RFC 3986 section 5.2.4.
    """
    if "/." not in path:
        return path
    kept: list[str] = []
    parts = path.split("/")[1:]
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str) -> str:
    return _UNSAFE.sub(_percent, text)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
