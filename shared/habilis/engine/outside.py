"""The world outside, in one value: the transport, the clock, randomness and this engine's own public address."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from habilis.messages import Answer, Request

_T = TypeVar("_T")


class Transport(Protocol):
    """Carries one Request and returns its Answer."""

    def send(self, request: Request, *, before_first_byte: Callable[[], None] | None = None) -> Answer:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the engine needs of the world.

    Attributes:
        transport: Sends requests.
        now: The time, with a zone.
        token: A new secret, 256 bits of randomness, safe in a URL.
        public_url: Where browsers reach this engine, no slash at the end; "" when they cannot.
        relay: The relay it is signed in to, if any.
    """

    transport: Transport
    now: Callable[[], datetime]
    token: Callable[[], str]
    public_url: str = ""
    relay: Relay | None = None

    def drive(
        self,
        exchange: Generator[Request, Answer, _T],
        first: Request,
        *,
        before_first_byte: Callable[[], None] | None = None,
    ) -> _T:
        """Send what a started exchange yields, from `first` on, until it returns."""
        request = first
        try:
            while True:
                request = exchange.send(self.transport.send(request, before_first_byte=before_first_byte))
        except StopIteration as done:
            value: _T = done.value
            return value
