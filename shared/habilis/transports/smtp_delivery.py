"""Signing in at a mail server and handing it one mail; what it refuses becomes an error that says what to do."""

from base64 import b64encode
from contextlib import suppress

from habilis.errors import HabilisError, MailInvalid, TooLarge, UpstreamError, UpstreamProtocol
from habilis.messages import Mail, MailServer, Refusal, Sent
from habilis.transports.mime import Composed
from habilis.transports.smtp_line import Delivery, Line, Reply
from habilis.transports.wire import NotTakenError

_GO_ON = 334
_SEND_IT = 354
_CLOSING = 421
_CHECK_KEYS = "check the user name and the password; many providers want an app password here"
_GOOGLE = frozenset({"smtp.gmail.com", "smtp.googlemail.com"})


def refused(what: str, reply: Reply, delivery: Delivery, *, hint: str = "") -> UpstreamError:
    """The error of a server that says no: nothing was sent, and a no for now may be a yes later."""
    return UpstreamError(
        f"{delivery.host} {what}: {reply}",
        where=delivery.where,
        hint=hint,
        outcome="not_sent",
        retryable=not reply.is_lasting,
    )


def sign_in(line: Line, server: MailServer, delivery: Delivery) -> None:
    """Sign in with user name and password, where there is a user name; the server's own words are never repeated.

    Raises:
        UpstreamError: It knows no way that takes a password, or says no.
        UpstreamProtocol: It hung up, as some do on a wrong password.

    Source: RFC 4954; RFC 4616 (PLAIN); LOGIN as mail programs speak it.
    """
    if not server.user:
        return
    ways = line.offers.get("AUTH", "").upper().split()
    try:
        if "PLAIN" in ways:
            reply = line.ask("AUTH PLAIN " + _packed(f"\0{server.user}\0{_password(server)}"))
        elif "LOGIN" in ways:
            reply = _login(line, server)
        else:
            raise _no_way(ways, delivery)
    except UpstreamProtocol as error:
        error.hint = f"some servers hang up on a wrong password: {_CHECK_KEYS}"
        raise
    if not reply.is_good:
        raise UpstreamError(
            f"{server.host} does not take the user name and password ({reply.code})"
            if reply.is_lasting
            else f"{server.host} cannot sign anyone in just now ({reply.code})",
            where=delivery.where,
            hint=_CHECK_KEYS if reply.is_lasting else "try again later",
            outcome="not_sent",
            retryable=not reply.is_lasting,
        )


def _login(line: Line, server: MailServer) -> Reply:
    reply = line.ask("AUTH LOGIN")
    for answer in (server.user, _password(server)):
        if reply.code != _GO_ON:
            break
        reply = line.ask(_packed(answer))
    return reply


def _no_way(ways: list[str], delivery: Delivery) -> UpstreamError:
    known = f", only {', '.join(ways)}"[:80] if ways else ""
    return UpstreamError(
        f"{delivery.host} offers no sign-in with a password{known}",
        where=delivery.where,
        hint="leave the user name empty if it needs none; else ask the provider how programs send mail",
        outcome="not_sent",
    )


def _password(server: MailServer) -> str:
    # Google shows its app passwords in groups, with blanks that are copied along and belong to none.
    return "".join(server.password.split()) if server.host in _GOOGLE else server.password


def _packed(text: str) -> str:
    return b64encode(text.encode()).decode()


def deliver(line: Line, mail: Mail, composed: Composed, delivery: Delivery) -> Sent:
    """Hand the mail over; returns once the server has said that it is its own now.

    Raises:
        TooLarge, MailInvalid: The server said beforehand that it cannot carry it.
        UpstreamError: It takes not the sender, not one of the addresses, or not the message.
        UpstreamFailed: It hangs up or takes too long; unknown only when the message had ended.
        EngineFailed: An attachment is no longer what it was.
    """
    sender = line.ask(f"MAIL FROM:<{mail.sender.address}>{_options(line, composed, delivery)}")
    if not sender.is_good:
        hint = "most servers take only the signed-in account's own address as sender" if sender.is_lasting else ""
        raise refused("does not take mail from this sender", sender, delivery, hint=hint)
    taken, refusals = _addressed(line, mail, delivery)
    data = line.ask("DATA")
    if data.code != _SEND_IT:
        raise refused("does not take the message", data, delivery)
    try:
        _stream(line, composed, delivery)
        delivery.ended = True
        with suppress(NotTakenError):
            line.wire.write(b".\r\n")
        end = line.reply()
    except HabilisError as error:
        error.outcome = delivery.outcome
        if delivery.ended:
            error.hint = "it may have been sent: look before sending it again"
        raise
    if not end.is_good:
        raise refused("does not take the message", end, delivery)
    return Sent(taken=taken, refused=refusals, size=composed.size)


def _options(line: Line, composed: Composed, delivery: Delivery) -> str:
    """What is said about the mail beforehand; TooLarge or MailInvalid when the server cannot carry it."""
    options = ""
    if "SIZE" in line.offers:
        limit = line.offers["SIZE"]
        if limit.isdecimal() and 0 < int(limit) < composed.size:
            raise TooLarge(
                f"the mail is {composed.size} bytes and {delivery.host} takes {limit}",
                where=delivery.where,
                hint="send fewer or smaller files, or a link to them",
                outcome="not_sent",
            )
        options += f" SIZE={composed.size}"
    if composed.needs_utf8:
        if "SMTPUTF8" not in line.offers:
            raise MailInvalid(
                f"{delivery.host} carries no addresses with letters beyond ASCII before the @",
                where=delivery.where,
                hint="use another address of that person",
                outcome="not_sent",
            )
        options += " BODY=8BITMIME SMTPUTF8"
    return options


def _addressed(line: Line, mail: Mail, delivery: Delivery) -> tuple[tuple[str, ...], tuple[Refusal, ...]]:
    """Who the server takes it for and who not; UpstreamError when that is nobody."""
    taken: list[str] = []
    refusals: list[Refusal] = []
    for address in mail.recipients:
        reply = line.ask(f"RCPT TO:<{address}>")
        if reply.code == _CLOSING:
            raise refused("closes the connection", reply, delivery)
        if reply.is_good:
            taken.append(address)
        else:
            refusals.append(Refusal(address=address, reason=str(reply), is_lasting=reply.is_lasting))
    if not taken:
        raise UpstreamError(
            f"{delivery.host} takes the mail for nobody: {', '.join(map(str, refusals))}",
            where=delivery.where,
            hint="check the addresses",
            outcome="not_sent",
            retryable=not any(refusal.is_lasting for refusal in refusals),
        )
    return tuple(taken), tuple(refusals)


def _stream(line: Line, composed: Composed, delivery: Delivery) -> None:
    """Send all but the end of the message; a server that speaks up before that wants no more of it."""
    # What it says is read below; a connection that it broke off has nothing to read, which is told there.
    with suppress(NotTakenError):
        for piece in composed.pieces(delivery.where):
            if line.is_speaking:
                break
            line.wire.write(piece)
        else:
            return
    reply = line.reply()
    if reply.is_good:
        raise delivery.broken("answers before it was asked")
    raise refused("does not take the message", reply, delivery)
