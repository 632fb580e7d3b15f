"""What goes out, what comes back and what the agent is told, as data."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSlice:
    """A run of bytes of a file on disk, read when it is sent.

    Attributes:
        path: Absolute path.
        size: Bytes to send, from `offset` on; the file has to hold them still when it is sent.
    """

    path: str
    size: int
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """A body too big to be held in memory: pieces, sent one after the other."""

    pieces: tuple[bytes | FileSlice, ...]

    @property
    def size(self) -> int:
        """Bytes of the whole body."""
        return sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, filled and ready to send.

    Attributes:
        where: What the request is for, as messages name it: `tool 'publish_article'`.
        method: Upper case.
        url: Absolute and checked against the ability's hosts: written anew by `hosts.checked_url`, ASCII only.
        headers: Names as written, values checked: latin-1, no control characters. No Host, Content-Length or
            Authorization where `basic_auth` is given.
        body: What to send; None for no body. Its length is known before it is sent.
        basic_auth: User and password for HTTP Basic, sent as UTF-8.
        timeout_s: Wall clock for the whole exchange, in seconds.
        private_hosts: `host:port` pairs on private addresses that the account's operator allowed.
        is_read: Whether the call changes nothing outside; others never reuse a connection.
        largest_bytes: Most bytes of a decoded answer that is held in memory.
        download_to: A folder for an answer that is a file: one whose content type is no text is written to a new file
            there. "" when no file is expected and every answer is held in memory.
        largest_file_bytes: Most bytes of such a file.
    """

    where: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Streamed | None = None
    basic_auth: tuple[str, str] | None = None
    timeout_s: float = 60.0
    private_hosts: frozenset[str] = frozenset()
    is_read: bool = True
    largest_bytes: int = 10 * 1024 * 1024
    download_to: str = ""
    largest_file_bytes: int = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, whatever its status.

    Attributes:
        status: The HTTP status.
        headers: Lower-case names; a repeated header's values joined by ", ".
        body: Decoded of its content encoding; the first 4 KiB of it when the whole lies in `file`.
        file: Path of the file that the answer was written to; "" when it is in memory. Whoever takes the answer moves
            or removes the file.
        size: Bytes of the decoded body.
        elapsed_s: Seconds from the first byte sent to the last one read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    file: str = ""
    size: int = 0
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A wait before the next request: a service asked for it, or is still at work.

    Attributes:
        where: What is waited for, for messages.
    """

    seconds: float
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """A request that changed something outside came back well: to be written down before anything else is sent.

    Attributes:
        step: Name of the step; "" where a call is one request.
        run: Position in its `for_each`, from 0; None where it runs once.
        saved: What it saved.
    """

    step: str
    run: int | None
    saved: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """A file that a call brought back.

    Attributes:
        name: A plain file name, its ending that of its type.
        mime: Its type, told from its bytes.
        path: Where it lies on this machine until it is put in its place.
        size: In bytes.
    """

    name: str
    mime: str
    path: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the agent is told of a call that was carried out.

    Attributes:
        text: What the result pointer led to, readable; never empty.
        link: The address of what was made; "" when there is none.
        data: The whole answer where the tool names no result, else None.
        files: What the call brought back to be kept.
        notes: What a person should know beside it: a read that was cut short, a step that was passed over.
    """

    text: str
    link: str = ""
    data: Json = field(default=None)
    files: tuple[ResultFile, ...] = ()
    notes: tuple[str, ...] = ()


Exchange = Generator[Request | Pause | StepDone, Answer | None, Result]
"""A conversation: it yields what is to be done and is sent an Answer for each Request, None for the rest. A request
that failed is thrown into it as the HabilisError that it failed with."""
