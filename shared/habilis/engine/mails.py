"""Mails as calls: sent, and shown before they are."""

import time
from collections.abc import Generator
from functools import partial
from typing import TypeVar

from habilis.engine.outside import Journal, Mailer, Outside, Traced
from habilis.errors import EngineFailed, HabilisError
from habilis.markdown import to_html
from habilis.messages import Json, Mail, Mailbox, Sent
from habilis.redaction import clean

_T = TypeVar("_T")
_TAKEN = 250
"""What a server answers when it has taken a mail. Source: RFC 5321 section 4.2.3."""


def post(outside: Outside, exchange: Generator[Mail, Sent, _T], journal: Journal | None = None) -> _T:
    """Send the one mail of an exchange that is not started yet, and return what it returns.

    Args:
        outside: Sends it.
        exchange: It yields one mail.
        journal: Of an action; None where nothing is written down.
    """
    mail = next(exchange)
    if outside.mailer is None:
        raise EngineFailed("no mail is sent from here", where=mail.where)
    if journal is not None:
        journal.begin()
    sent = _sent(outside.mailer, mail, journal, outside)
    try:
        exchange.send(sent)
    except StopIteration as done:
        value: _T = done.value
        return value
    raise AssertionError("an exchange of one mail yields nothing after it")


def mail_as_data(mail: Mail) -> dict[str, Json]:
    """A mail for people to read before it goes out, shaped as a request is; addresses come before names."""
    heads = {
        "From": _told(mail.sender),
        "To": _told(*mail.to),
        "Cc": _told(*mail.cc),
        "Bcc": _told(*mail.bcc),
        "Reply-To": _told(*mail.reply_to),
        "Subject": mail.subject,
        "List-Unsubscribe": mail.unsubscribe,
        "Attachments": ", ".join(f"{one.name} ({one.file.size:,} bytes)" for one in mail.attachments),
    }
    is_derived = mail.html == to_html(mail.text)
    shown: dict[str, Json] = {
        "method": "MAIL",
        "url": _place(mail),
        "headers": {name: value for name, value in heads.items() if value},
        "body": mail.text if is_derived else {"text": mail.text, "html": mail.html},
    }
    cleaned = clean(shown)
    assert isinstance(cleaned, dict)  # noqa: S101 - cleaning keeps the shape
    return cleaned


def _sent(mailer: Mailer, mail: Mail, journal: Journal | None, outside: Outside) -> Sent:
    seen = partial(Traced, where=mail.where, method="MAIL", url=_place(mail))
    trace = outside.trace or (lambda _: None)
    started = time.perf_counter()
    try:
        sent = mailer.send(mail, before_first_byte=None if journal is None else journal.before_first_byte)
    except HabilisError as error:
        trace(seen(elapsed_s=time.perf_counter() - started, error=error.code))
        raise
    trace(seen(elapsed_s=time.perf_counter() - started, status=_TAKEN, sent_bytes=sent.size))
    return sent


def _place(mail: Mail) -> str:
    return f"smtp{'s' if mail.server.security == 'tls' else ''}://{mail.server.place}"


def _told(*boxes: Mailbox) -> str:
    return ", ".join(map(str, boxes))
