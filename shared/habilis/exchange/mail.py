"""One mail, as a conversation: it is yielded ready to send, and takes what became of it; nothing is sent here.

    to, cc, bcc, reply_to    an address, or a list of them
    subject, else title      one line
    text                     Markdown, sent as it is and as HTML; html instead of the latter where it is given
    unsubscribe              where a reader leaves a list
    files                    what is attached: the files of the call's asset

Source: RFC 5322; RFC 8058 (unsubscribe).
"""

import re
from collections.abc import Generator, Mapping

from habilis.errors import HabilisError, MailInvalid, TooLarge, UpstreamError
from habilis.exchange.fill import Bounds
from habilis.exchange.mailboxes import holds_breaks, read_mailboxes
from habilis.exchange.mailserver import read_sender, read_server
from habilis.manifest.model import SmtpTemplate, Tool
from habilis.markdown import to_html
from habilis.messages import Attachment, FileSlice, Json, Mail, Result, Sent
from habilis.templating import FileValue, Scope, apply_map

LARGEST_FILES_BYTES = 50 * 1024 * 1024
"""Of all files of one mail together; most servers take less, and say so before anything is sent."""

_MOST_RECIPIENTS = 100
_LONGEST_SUBJECT = 10_000
_LEAST_TIME_S = 60.0
_MOST_TIME_S = 300.0
_SLOWEST_BYTES_PER_S = 256 * 1024
_MOST_TOLD = 5
_UNSUBSCRIBE = re.compile(r"(?:https://|mailto:)[!-;=?-~]{1,1000}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def run_mail(tool: Tool, smtp: SmtpTemplate, scope: Scope, bounds: Bounds) -> Generator[Mail, Sent, Result]:
    """Yield the mail, take what became of it, return what the agent is told.

    Raises:
        MailInvalid, TooLarge, SecretMissing, SecretMalformed, AddressNotAllowed: before anything is yielded.
        UpstreamError: The server took the mail, but not for everybody.
    """
    where = f"tool '{tool.name}'"
    try:
        mail = _filled(apply_map(tool.map, scope.arguments), smtp, scope, bounds, where)
    except HabilisError as error:
        error.where = error.where or where
        raise
    sent = yield mail
    if sent.refused:
        raise UpstreamError(
            f"sent to {_told(sent.taken)}, but not to {', '.join(map(str, sent.refused))}",
            where=where,
            hint="send it again to those alone who did not get it, once their addresses are right",
            outcome="partial",
        )
    return Result(
        text=f"sent to {_told(sent.taken)}",
        data={"message_id": mail.message_id, "recipients": list[Json](sent.taken)},
    )


def _filled(arguments: Mapping[str, Json], smtp: SmtpTemplate, scope: Scope, bounds: Bounds, where: str) -> Mail:
    server, sender = read_server(smtp, scope), read_sender(smtp, scope)
    to, cc, bcc, reply_to = (
        read_mailboxes(arguments.get(field), field=field) for field in ("to", "cc", "bcc", "reply_to")
    )
    if not to:
        raise MailInvalid("to: a mail needs somebody who gets it")
    if len({box.address for box in (*to, *cc, *bcc)}) > _MOST_RECIPIENTS:
        raise MailInvalid(f"to, cc, bcc: more than {_MOST_RECIPIENTS} addresses", hint="send several mails")
    attachments = _attachments(arguments.get("files"))
    text, html = _body(arguments, "text"), _body(arguments, "html")
    if not (text.strip() or html.strip() or attachments):
        raise MailInvalid("text: the mail is empty")
    return Mail(
        where=where,
        server=server,
        sender=sender,
        to=to,
        cc=cc,
        bcc=bcc,
        reply_to=reply_to,
        subject=_subject(arguments),
        text=text,
        html=html or to_html(text),
        attachments=attachments,
        message_id=f"{scope.call().uuid()}@{sender.address.rpartition('@')[2]}",
        date=scope.call().now,
        unsubscribe=_unsubscribe(arguments.get("unsubscribe")),
        timeout_s=min(_MOST_TIME_S, _LEAST_TIME_S + _size(attachments) / _SLOWEST_BYTES_PER_S),
        private_hosts=bounds.private_hosts,
    )


def _subject(arguments: Mapping[str, Json]) -> str:
    field = "subject" if arguments.get("subject") else "title"
    given = arguments.get(field)
    text = given.strip(" ") if isinstance(given, str) else ""
    if not text:
        raise MailInvalid("subject: a mail needs one", hint="give a subject or a title")
    if holds_breaks(text):
        raise MailInvalid(f"{field}: line breaks and control characters are not allowed in a subject")
    if len(text) > _LONGEST_SUBJECT:
        raise MailInvalid(f"{field}: a subject of more than {_LONGEST_SUBJECT} characters")
    return text


def _body(arguments: Mapping[str, Json], field: str) -> str:
    given = arguments.get(field)
    text = given if isinstance(given, str) else ""
    if _SURROGATE.search(text):
        raise MailInvalid(f"{field}: it holds half of a character (a lone surrogate)")
    return text


def _unsubscribe(given: Json) -> str:
    if given is None or given == "":
        return ""
    if not isinstance(given, str) or not _UNSUBSCRIBE.fullmatch(given):
        raise MailInvalid("unsubscribe: this is no https or mailto address in plain characters")
    return given


def _attachments(files: Json) -> tuple[Attachment, ...]:
    given = [file for file in files if isinstance(file, FileValue)] if isinstance(files, list) else []
    attachments = tuple(
        Attachment(
            name=_file_name(str(file.get("name") or "")),
            mime=str(file.get("mime") or ""),
            file=FileSlice(path=file.path, size=file.size, offset=file.offset),
        )
        for file in given
    )
    if _size(attachments) > LARGEST_FILES_BYTES:
        raise TooLarge(
            f"files: they are larger than {LARGEST_FILES_BYTES >> 20} MiB together",
            hint="send fewer or smaller files, or a link to them",
        )
    return attachments


def _size(attachments: tuple[Attachment, ...]) -> int:
    return sum(attachment.file.size for attachment in attachments)


def _file_name(name: str) -> str:
    """A plain name: no folder, nothing that is not seen."""
    last = name.replace("\\", "/").rpartition("/")[2]
    seen = "".join(char for char in last if char.isprintable()).strip(" ")
    return seen if seen.strip(".") else "file"


def _told(addresses: tuple[str, ...]) -> str:
    more = len(addresses) - _MOST_TOLD
    return ", ".join(addresses[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")
