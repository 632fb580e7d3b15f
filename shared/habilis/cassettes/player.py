"""Plays a recorded conversation back: each request is held against the recorded one, and gets its answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from habilis.cassettes.compare import Sent, differences
from habilis.cassettes.faults import RETRY_AFTER_S, Fault
from habilis.cassettes.model import Cassette, Interaction

_JSON = ("Content-Type", "application/json")


class UnexpectedRequest(Exception):
    """What was to be sent is not what was recorded; nothing further can be played.

    Attributes:
        lines: What was expected and what came.
    """

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines[0])
        self.lines = lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An answer to play.

    Attributes:
        is_cut: Whether the connection ends in the middle of the body.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """One request and what it was answered.

    Attributes:
        fault: The fault that was played instead of the recorded answer; "" for none.
    """

    method: str
    url: str
    status: int
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A pause that a real call would have made."""

    pause_s: float


class Player:
    """One run through a cassette.

    Attributes:
        events: What happened so far, in order.
        has_met_fault: Whether the fault was played.
    """

    def __init__(
        self, cassette: Cassette, *, fault: Fault | None = None, idempotency: frozenset[str] = frozenset()
    ) -> None:
        """Begin at the first request.

        Args:
            cassette: What to play.
            fault: A fault to play at its place.
            idempotency: Headers, in lower case, by which the service knows a request that it has seen.
        """
        self.events: list[Exchanged | Paused] = []
        self.has_met_fault = False
        self._cassette = cassette
        self._fault = fault
        self._fault_at = fault.place(cassette) if fault else None
        self._idempotency = idempotency
        self._next = 0
        self._cut: Interaction | None = None

    @property
    def missing(self) -> list[str]:
        """The recorded requests that were not sent, a line each."""
        rest = enumerate(self._cassette.interactions[self._next :], self._next + 1)
        return [f"request {number} was not sent: {one} (line {one.line})" for number, one in rest]

    def pause(self, seconds: float) -> None:
        """Note a pause; none is made."""
        self.events.append(Paused(pause_s=seconds))

    def answer(self, sent: Sent) -> Played:
        """The answer to a request.

        Raises:
            UnexpectedRequest: It is not the next one of the recording.
        """
        if self._cut is not None:
            again, self._cut = self._cut, None
            if not differences(again, sent):
                return self._answered_again(again, sent)
        number = self._next + 1
        if number > len(self._cassette.interactions):
            raise UnexpectedRequest([f"request {number} is not in the cassette: {sent}"])
        recorded = self._cassette.interactions[self._next]
        if lines := differences(recorded, sent):
            told = f"request {number} is not the recorded one: {sent}, recorded {recorded} (line {recorded.line})"
            raise UnexpectedRequest([told, *(f"  {line}" for line in lines)])
        played, fault = self._played(number, recorded)
        self.events.append(Exchanged(method=sent.method, url=sent.url, status=played.status, fault=fault))
        return played

    def _played(self, number: int, recorded: Interaction) -> tuple[Played, str]:
        if self._fault is None or self.has_met_fault or number != self._fault_at:
            self._next += 1
            return _recorded(recorded), ""
        self.has_met_fault = True
        kind = self._fault.kind
        if kind == "429":
            headers = (_JSON, ("Retry-After", str(RETRY_AFTER_S)))
            return Played(status=429, headers=headers, body=b'{"error": "Too many requests"}'), kind
        if kind == "401":
            return Played(status=401, headers=(_JSON,), body=b'{"error": "The access token is invalid"}'), kind
        self._next += 1
        if kind == "repeated-cursor":
            return _recorded(self._cassette.interactions[number - 2]), kind
        self._cut = recorded
        played = _recorded(recorded)
        half = played.body[: len(played.body) // 2]
        return Played(status=played.status, headers=played.headers, body=half, is_cut=True), kind

    def _answered_again(self, recorded: Interaction, sent: Sent) -> Played:
        """The whole answer, to a request whose first answer was cut; it must be one that may be sent twice."""
        if not sent.is_read and not self._idempotency & sent.headers.keys():
            raise UnexpectedRequest([f"sent again, although it may have been done the first time: {sent}"])
        self.events.append(Exchanged(method=sent.method, url=sent.url, status=recorded.status))
        return _recorded(recorded)


def _recorded(one: Interaction) -> Played:
    return Played(status=one.status, headers=tuple(_kept(one.answer_headers)), body=one.answer_body)


def _kept(headers: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    """The headers of an answer that are still true of it: recorders undo transfer codings, and people edit bodies."""
    for name, value in headers:
        if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
            yield name, value
