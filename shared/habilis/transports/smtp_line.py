"""Commands and replies of one conversation with a mail server, over a connection of ours.

The standard library's client is not used: it dials whatever the name leads to, waits for each read anew, holds a whole
message in memory, takes lines without end, and signs in with ASCII alone, by every way the server knows in turn.

Source: RFC 5321 sections 2.4 (lines), 4.2 (replies) and 4.1.1.1 (EHLO).
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from habilis.errors import MailInvalid, Outcome, UpstreamFailed
from habilis.redaction import clean
from habilis.transports.wire import Exchange, Wire

_LARGEST_REPLY_BYTES = 64 * 1024
_READ_BYTES = 4096
_LONGEST_REASON = 160
_REPLY_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)


class Delivery(Exchange):
    """One mail under way.

    Attributes:
        ended: Whether the end of the message may have left: only from then on can the server have taken it.
    """

    __slots__ = ("ended",)

    def __init__(
        self, *, where: str, host: str, timeout_s: float, before_first_byte: Callable[[], None] | None = None
    ) -> None:
        super().__init__(
            where=where, host=host, is_read=False, timeout_s=timeout_s, before_first_byte=before_first_byte
        )
        self.ended = False

    @property
    def outcome(self) -> Outcome:
        """What a failure now means: until the message has ended the server drops what it got of it."""
        return "unknown" if self.ended else "not_sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered.

    Attributes:
        code: Three digits; 2.. is a yes, 3.. asks for more, 4.. is a no for now, 5.. a no.
        lines: Its words, undecodable bytes replaced.
    """

    code: int
    lines: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether the command was carried out."""
        return self.code < 300

    @property
    def is_lasting(self) -> bool:
        """Whether the same command would be refused again."""
        return self.code >= 500

    def __str__(self) -> str:
        """The status and the server's words on one line, without keys."""
        # Masked before it is cut: the part of a key before the cut is no longer known for one.
        words = clean(" ".join(self.lines))[: 10 * _LONGEST_REASON]
        line = " ".join("".join(char if char.isprintable() else " " for char in words).split())
        shown = line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"
        return f"{self.code} {shown}".rstrip()


class Line:
    """A conversation with a mail server.

    Attributes:
        wire: The connection.
        offers: What the server said it can do, by upper-case keyword; empty before `hello`.
    """

    def __init__(self, wire: Wire, delivery: Delivery) -> None:
        self.wire = wire
        self.offers: dict[str, str] = {}
        self._delivery = delivery
        self._heard = b""

    def ask(self, command: str) -> Reply:
        """Send a command and return the reply; MailInvalid when it is more than one line."""
        if "\r" in command or "\n" in command:
            raise MailInvalid("an address holds a line break", where=self._delivery.where)
        self.wire.write(command.encode() + b"\r\n")
        return self.reply()

    def reply(self) -> Reply:
        """Return the next reply; UpstreamProtocol when the connection ends or the reply is none."""
        lines: list[str] = []
        size = 0
        while True:
            line = self._read_line()
            size += len(line)
            match = _REPLY_LINE.fullmatch(line)
            if match is None or size > _LARGEST_REPLY_BYTES:
                raise self._delivery.broken("gave an answer that is not SMTP")
            lines.append((match[3] or b"").decode("utf-8", "replace").strip())
            if match[2] != b"-":
                return Reply(code=int(match[1]), lines=tuple(lines))

    def hello(self) -> None:
        """Greet the server and note what it offers; UpstreamProtocol when it knows no EHLO."""
        # An address stands for this machine: its name is nobody's business.
        address = self.wire.sock.getsockname()[0]
        reply = self.ask(f"EHLO [IPv6:{address}]" if ":" in address else f"EHLO [{address}]")
        if not reply.is_good:
            raise self._delivery.broken("does not speak the SMTP of today (EHLO)")
        words = [line.partition(" ") for line in reply.lines[1:]]
        self.offers = {keyword.upper(): rest.strip() for keyword, _, rest in words}

    @property
    def is_speaking(self) -> bool:
        """Whether the server says something, or hung up, without being asked."""
        return bool(self._heard) or self.wire.is_readable()

    def require_silence(self) -> None:
        """Raise when more was said than asked for: words from before encryption must not count after it."""
        if self._heard:
            raise self._delivery.broken("says more than it was asked for before encryption")

    def quit(self) -> None:
        """Say goodbye; what comes of it is of no interest."""
        with suppress(UpstreamFailed):
            self.ask("QUIT")

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()

    def _read_line(self) -> bytes:
        while b"\n" not in self._heard:
            if len(self._heard) > _LARGEST_REPLY_BYTES:
                raise self._delivery.broken("gave an answer that is not SMTP")
            got = self.wire.read(_READ_BYTES)
            if not got:
                raise self._delivery.broken("closed the connection")
            self._heard += got
        line, _, self._heard = self._heard.partition(b"\n")
        return line.removesuffix(b"\r")
