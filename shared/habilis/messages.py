"""What goes out, what comes back and what the agent is told, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, filled and ready to send.

    Attributes:
        where: What the request is for, as messages name it: `tool 'publish_article'`.
        method: Upper case.
        url: Absolute and checked against the ability's hosts: written anew by `hosts.checked_url`, ASCII only.
        headers: Names as written, values checked: latin-1, no control characters. No Host, Content-Length or
            Authorization where `basic_auth` is given.
        body: The bytes to send; None for no body.
        basic_auth: User and password for HTTP Basic, sent as UTF-8.
        timeout_s: Wall clock for the whole exchange, in seconds.
        private_hosts: `host:port` pairs on private addresses that the account's operator allowed.
        is_read: Whether the call changes nothing outside; others never reuse a connection.
        largest_bytes: Most bytes of a decoded answer.
    """

    where: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    basic_auth: tuple[str, str] | None = None
    timeout_s: float = 60.0
    private_hosts: frozenset[str] = frozenset()
    is_read: bool = True
    largest_bytes: int = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, whatever its status.

    Attributes:
        status: The HTTP status.
        headers: Lower-case names; a repeated header's values joined by ", ".
        body: Decoded of its content encoding.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the agent is told of a call that was carried out.

    Attributes:
        text: What the result pointer led to, readable; never empty.
        link: The address of what was made; "" when there is none.
        data: The whole answer where the tool names no result, else None.
    """

    text: str
    link: str = ""
    data: Json = field(default=None)
