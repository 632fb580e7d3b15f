"""The world outside, in one value: the transport, the clock, randomness and this engine's own public address."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from habilis.errors import HabilisError
from habilis.messages import Answer, Asked, KeysRenewed, Mail, Pause, Request, Sent, SignedOut, StepDone, Streamed

_T = TypeVar("_T")


class Transport(Protocol):
    """Carries one Request and returns its Answer."""

    def send(self, request: Request, *, before_first_byte: Callable[[], None] | None = None) -> Answer:
        """Send once, `before_first_byte` done first; raises UpstreamFailed and Refused classes of `errors`."""


class Mailer(Protocol):
    """Hands one Mail to its server."""

    def send(self, mail: Mail, *, before_first_byte: Callable[[], None] | None = None) -> Sent:
        """Send once, `before_first_byte` done first; raises UpstreamFailed and Refused classes of `errors`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A public callback address that sends a browser on to this engine.

    Attributes:
        url: Where callbacks are registered, such as `https://relay.example`.
        token: This engine's token there.
    """

    url: str
    token: str


class Journal(Protocol):
    """Writes down what an action does outside, as it does it."""

    def begin(self) -> None:
        """Write down what is about to happen; what this raises ends the call with nothing sent."""

    def before_first_byte(self) -> None:
        """Make what was written last, and know that from here on something may have happened."""

    def step_done(self, done: StepDone) -> None:
        """Write down a step that was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """One request as it went, or a wait between two.

    Attributes:
        method: "" for a wait.
        url: As it was sent: it may hold keys.
        status: The answer's HTTP status; 0 where none came.
        elapsed_s: From the first look at the host's address to the last byte; of a wait its length.
        sent_bytes: Of the body.
        received_bytes: Of the answer's body, decoded.
        error: Code of the error that it ended with; "" for none.
    """

    where: str
    method: str = ""
    url: str = ""
    status: int = 0
    elapsed_s: float = 0.0
    sent_bytes: int = 0
    received_bytes: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the engine needs of the world.

    Attributes:
        transport: Sends requests.
        now: The time, with a zone.
        sleep: Returns after so many seconds.
        token: A new secret, 256 bits of randomness, safe in a URL.
        public_url: Where browsers reach this engine, no slash at the end; "" when they cannot.
        relay: The relay it is signed in to, if any.
        mailer: Sends mails; None where none are sent.
        largest_file_bytes: Most bytes of a file that a call brings back.
        trace: Is told of each request and each wait when it is over; None where nobody wants to know.
    """

    transport: Transport
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    token: Callable[[], str]
    public_url: str = ""
    relay: Relay | None = None
    mailer: Mailer | None = None
    largest_file_bytes: int = 50 * 1024 * 1024
    trace: Callable[[Traced], None] | None = None

    def drive(
        self,
        exchange: Generator[Asked, Answer | None, _T],
        journal: Journal | None = None,
        renew: Callable[[], bool] | None = None,
    ) -> _T:
        """Carry out what an exchange asks for until it returns; what goes wrong with it is thrown into it.

        Args:
            exchange: Not started yet. It may be over without having asked for anything.
            journal: Of an action; None for a call that changes nothing outside.
            renew: Puts a new token among the keys that the exchange fills its requests with, and tells whether there
                is one; None where nothing does.
        """
        try:
            asked = next(exchange)
            if journal is not None:
                journal.begin()
            while True:
                is_renewed = False
                try:
                    if isinstance(asked, SignedOut):
                        is_renewed = renew is not None and renew()
                    answer = self._carry_out(asked, journal)
                except HabilisError as error:
                    asked = exchange.throw(error)
                else:
                    asked = exchange.throw(KeysRenewed()) if is_renewed else exchange.send(answer)
        except StopIteration as done:
            value: _T = done.value
            return value
        finally:
            exchange.close()

    def _carry_out(self, asked: Asked, journal: Journal | None) -> Answer | None:
        if isinstance(asked, Request):
            before = None if journal is None or asked.is_read else journal.before_first_byte
            if self.trace is None:
                return self.transport.send(asked, before_first_byte=before)
            return _traced(self.transport, asked, before, self.trace)
        if isinstance(asked, Pause):
            self.sleep(asked.seconds)
            if self.trace is not None:
                self.trace(Traced(where=asked.where, elapsed_s=asked.seconds))
        elif journal is not None and isinstance(asked, StepDone):
            journal.step_done(asked)
        return None


def _traced(
    transport: Transport, request: Request, before: Callable[[], None] | None, trace: Callable[[Traced], None]
) -> Answer:
    body = request.body or b""
    size = body.size if isinstance(body, Streamed) else len(body)
    seen = partial(Traced, where=request.where, method=request.method, url=request.url, sent_bytes=size)
    started = time.perf_counter()
    try:
        answer = transport.send(request, before_first_byte=before)
    except HabilisError as error:
        trace(seen(elapsed_s=time.perf_counter() - started, error=error.code))
        raise
    received = answer.size or len(answer.body)
    trace(seen(elapsed_s=time.perf_counter() - started, status=answer.status, received_bytes=received))
    return answer
