"""What goes out, what comes back and what the agent is told, as data."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

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
    elapsed_s: float = field(default=0.0, compare=False)


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
class SignedOut:
    """The service no longer takes the account's token: the next request wants a new one.

    Whoever got one throws `KeysRenewed` into the exchange; an answer of None says that there is none.

    Attributes:
        where: The request that it turned away.
    """

    where: str


class KeysRenewed(Exception):
    """The keys that requests are filled with are new ones; thrown in answer to `SignedOut`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """A file that a call brought back, until it is put in its place.

    Attributes:
        name: A plain file name, its ending that of its type; two files of one call never have the same.
        mime: Its type, told from its bytes.
        size: In bytes.
        path: Where it lies on this machine; "" when `data` holds it. The folder that it was written to may hold others,
            which were refused: it is removed with all that is left in it.
        data: The bytes of a file that was part of an answer; None when it lies at `path`.
    """

    name: str
    mime: str
    size: int
    path: str = ""
    data: bytes | None = field(default=None, repr=False)


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


Asked = Request | Pause | StepDone | SignedOut
"""What a conversation asks for."""

Exchange = Generator[Asked, Answer | None, Result]
"""A conversation: it yields what is to be done and is sent an Answer for each Request, None for the rest. A request
that failed is thrown into it as the HabilisError that it failed with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """Somebody's mail address, checked.

    Attributes:
        address: `local@domain`, the domain in lower-case A-labels.
        name: Shown beside the address; "" for none. No control characters.
    """

    address: str
    name: str = ""

    def __str__(self) -> str:
        """The address first: a name may look like another address."""
        return f"{self.address} ({self.name})" if self.name else self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that goes out with a mail.

    Attributes:
        name: A plain file name, no path.
        mime: Its type.
    """

    name: str
    mime: str
    file: FileSlice


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The server that takes a mail, and how it is spoken to.

    Attributes:
        host: A normalised name or address.
        security: `starttls`: encrypted before anything is said; `tls`: from the first byte; `none`: never, which only
            a private host is spoken to with.
        user: "" where the server asks for no sign-in.
    """

    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """`host:port`, as private hosts are named."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail, filled, checked and ready to send.

    Attributes:
        where: What it is for, as messages name it: `tool 'email'`.
        to: At least one.
        bcc: They get it too, unseen by the others.
        subject: One line without control characters.
        text: Markdown, sent as it is for those who read plain text.
        html: The same as HTML, a fragment or a whole page.
        message_id: Unique in the world, ASCII, without its angle brackets.
        date: With a zone.
        unsubscribe: An https or mailto address, ASCII, by which a reader leaves a mailing list; "" for none.
        timeout_s: Wall clock for the whole exchange, in seconds.
        private_hosts: `host:port` pairs on private addresses that the account's operator allowed.
    """

    where: str
    server: MailServer
    sender: Mailbox
    to: tuple[Mailbox, ...]
    cc: tuple[Mailbox, ...] = ()
    bcc: tuple[Mailbox, ...] = ()
    reply_to: tuple[Mailbox, ...] = ()
    subject: str
    text: str
    html: str
    attachments: tuple[Attachment, ...] = ()
    message_id: str
    date: datetime
    unsubscribe: str = ""
    timeout_s: float = 60.0
    private_hosts: frozenset[str] = frozenset()

    @property
    def recipients(self) -> tuple[str, ...]:
        """Every address that gets it, each once."""
        return tuple(dict.fromkeys(box.address for box in (*self.to, *self.cc, *self.bcc)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An address that the server did not take.

    Attributes:
        reason: The server's status and words, on one line, without keys.
        is_lasting: Whether another try is as good as lost.
    """

    address: str
    reason: str
    is_lasting: bool

    def __str__(self) -> str:
        return f"{self.address} ({self.reason})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of a mail that a server took for at least one address.

    Attributes:
        taken: The addresses it was taken for.
        refused: Those it was not.
        size: Bytes of the message.
    """

    taken: tuple[str, ...]
    refused: tuple[Refusal, ...] = ()
    size: int = field(default=0, compare=False)
