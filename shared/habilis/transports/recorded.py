"""Answers out of a recording, to requests that are made ready as for the network: it is all there but the wire."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from habilis.cassettes import Played, Player, Sent
from habilis.messages import Answer, Request, Streamed
from habilis.transports.receiving import take_answer
from habilis.transports.sending import headers_of, pieces_of, require_files
from habilis.transports.wire import Exchange


class RecordedTransport:
    """Carries each request to a player of a cassette; nothing leaves the machine."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def send(self, request: Request, *, before_first_byte: Callable[[], None] | None = None) -> Answer:
        """Give the request to the player and return what it plays, whatever its status unless it redirects.

        Raises:
            UnexpectedRequest: It is not the next one of the recording.
            HabilisError: As the transport over HTTP raises for such a request or such an answer.
        """
        host = urlsplit(request.url).netloc
        exchange = Exchange(
            where=request.where, host=host, is_read=request.is_read, timeout_s=request.timeout_s, before_first_byte=None
        )
        headers = headers_of(request, host.encode())
        body = _whole(request.body, exchange)
        if before_first_byte is not None:
            before_first_byte()
        exchange.sent = True
        named = {name.decode().lower(): value.decode("latin-1") for name, value in headers}
        played = self._player.answer(
            Sent(method=request.method, url=request.url, headers=named, body=body, is_read=request.is_read)
        )
        exchange.heard = True
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in played.headers]
        answer = take_answer(played.status, raw, _pieces(played, exchange), request, exchange)
        return replace(answer, elapsed_s=0.0)  # what is played takes no time of the call


def _whole(body: bytes | Streamed | None, exchange: Exchange) -> bytes:
    if not isinstance(body, Streamed):
        return body or b""
    require_files(body, exchange)
    return b"".join(pieces_of(body, exchange))


def _pieces(played: Played, exchange: Exchange) -> Iterator[bytes]:
    yield played.body
    if played.is_cut:
        raise exchange.broken("gave an answer that breaks off")
