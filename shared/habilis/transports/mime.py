"""A mail as it travels: header lines, text and HTML, and attachments that are read while they are sent.

Written here and not with the standard library's classes: those hold every attachment in memory, decode what looks like
an encoded word in a value they are given, and so let a subject write headers of its own (CVE-2024-6923).

Everything but addresses is ASCII in lines of at most 76 characters, so that no server has to be asked what else it can
carry. A body is base64 or quoted-printable: neither ever holds the text of a boundary.

Source: RFC 5322 (headers), RFC 2045 and 2046 (bodies), RFC 2047 (words of headers), RFC 2231 (names of files).
"""

import re
from binascii import b2a_base64, b2a_qp
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.utils import format_datetime
from urllib.parse import quote

from habilis.messages import Attachment, FileSlice, Mail, Mailbox
from habilis.transports.pieces import read_pieces

_LONGEST_LINE = 76
_LINE_BYTES = _LONGEST_LINE // 4 * 3
_PIECE_BYTES = _LINE_BYTES * 1024
_WORD_BYTES = 39  # with the longest header's name before it, a word of them still fits a line
_NAME_PART = 50
_LONGEST_ASCII_WORD = 900  # a line is never longer than 998

_LINE_END = re.compile(r"\r\n|\r|\n")
_PLAIN_PHRASE = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+")
_TYPE = re.compile(r"(?!message/|multipart/)[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}", re.IGNORECASE)
_WHOLE_PAGE = re.compile(r"\s*<(?:!doctype|html)\b", re.IGNORECASE)

# A body never holds them: after "=" comes a hexadecimal digit or the end of a line there, and base64 has no "_".
_OUTER, _INNER = "=_mixed", "=_alternative"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A mail ready for the wire.

    Attributes:
        parts: Lines as they are, dots at their beginning doubled; or a file, sent as base64.
        size: Bytes of the message as the server counts them, before dots were doubled.
        needs_utf8: Whether an address has other letters than ASCII, which the server has to know how to carry.
    """

    parts: tuple[bytes | FileSlice, ...]
    size: int
    needs_utf8: bool

    def pieces(self, where: str) -> Iterator[bytes]:
        """Yield the bytes to send, at most a few at a time; EngineFailed when a file is not what it was."""
        for part in self.parts:
            if isinstance(part, bytes):
                yield part
            else:
                yield from map(_as_base64, read_pieces(part, _PIECE_BYTES, where=where))


def compose(mail: Mail) -> Composed:
    """Write a mail out; nothing is read yet."""
    heads = _headers(mail)
    alternative = _multipart("alternative", _INNER, [_text("plain", mail.text), _text("html", _page(mail.html))])
    parts: list[bytes | FileSlice]
    if mail.attachments:
        opening = f'Content-Type: multipart/mixed; boundary="{_OUTER}"\r\n\r\n--{_OUTER}\r\n'
        parts = [(heads + opening).encode() + alternative]
        for attachment in mail.attachments:
            parts += [f"--{_OUTER}\r\n{_attachment_head(attachment)}\r\n".encode(), attachment.file]
        parts.append(f"--{_OUTER}--\r\n".encode())
    else:
        parts = [heads.encode() + alternative]
    return Composed(
        parts=tuple(re.sub(rb"(?m)^\.", b"..", part) if isinstance(part, bytes) else part for part in parts),
        size=sum(len(part) if isinstance(part, bytes) else _base64_size(part.size) for part in parts),
        needs_utf8=not all(
            box.address.isascii() for box in (mail.sender, *mail.to, *mail.cc, *mail.bcc, *mail.reply_to)
        ),
    )


def _headers(mail: Mail) -> str:
    lines = [
        f"Date: {format_datetime(mail.date)}",
        f"Message-ID: <{mail.message_id}>",
        _boxes("From", [mail.sender]),
        _boxes("To", mail.to),
        _boxes("Cc", mail.cc),
        _boxes("Reply-To", mail.reply_to),
        _subject(mail.subject),
        f"List-Unsubscribe: <{mail.unsubscribe}>" if mail.unsubscribe else "",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click" if mail.unsubscribe.startswith("https:") else "",
        "MIME-Version: 1.0",
    ]
    return "".join(f"{line}\r\n" for line in lines if line)


def _boxes(name: str, boxes: Iterable[Mailbox]) -> str:
    written = ",\r\n ".join(f"{_phrase(box.name)} <{box.address}>" if box.name else f"<{box.address}>" for box in boxes)
    return f"{name}: {written}" if written else ""


def _phrase(name: str) -> str:
    if _needs_words(name) or len(name) > _NAME_PART:
        return _encoded_words(name)
    if _PLAIN_PHRASE.fullmatch(name):
        return name
    return '"' + re.sub(r'([\\"])', r"\\\1", name) + '"'


def _subject(text: str) -> str:
    words = text.split(" ")
    if _needs_words(text) or "" in words or max(map(len, words)) > _LONGEST_ASCII_WORD:
        return f"Subject: {_encoded_words(text)}"
    lines = [f"Subject: {words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= _LONGEST_LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(f" {word}")
    return "\r\n".join(lines)


def _needs_words(text: str) -> bool:
    """Whether a reader would take the text for something else than it is."""
    return not (text.isascii() and text.isprintable()) or "=?" in text


def _encoded_words(text: str) -> str:
    """The text as encoded words, each of whole characters. Source: RFC 2047 section 5."""
    words, word = [], b""
    for char in text:
        data = char.encode()
        if len(word) + len(data) > _WORD_BYTES:
            words.append(word)
            word = b""
        word += data
    words.append(word)
    return "\r\n ".join(f"=?utf-8?b?{b2a_base64(word, newline=False).decode()}?=" for word in words)


def _multipart(kind: str, boundary: str, bodies: list[bytes]) -> bytes:
    opening = f"--{boundary}\r\n".encode()
    head = f'Content-Type: multipart/{kind}; boundary="{boundary}"\r\n\r\n'.encode()
    return head + b"".join(opening + body for body in bodies) + f"--{boundary}--\r\n".encode()


def _text(kind: str, text: str) -> bytes:
    """A text with its head, in whichever encoding is shorter."""
    lines = _LINE_END.sub("\n", text)
    encoding, body = "quoted-printable", b2a_qp(lines.encode()).replace(b"\n", b"\r\n") + b"\r\n"
    packed = _as_base64(lines.replace("\n", "\r\n").encode())
    if len(body) > len(packed) > 0:
        encoding, body = "base64", packed
    head = f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
    return head.encode() + body


def _page(html: str) -> str:
    if _WHOLE_PAGE.match(html):
        return html
    return f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{html}\n</body></html>'


def _attachment_head(attachment: Attachment) -> str:
    kind = attachment.mime if _TYPE.fullmatch(attachment.mime) else "application/octet-stream"
    disposition = ";\r\n ".join(["Content-Disposition: attachment", *_file_name(attachment.name)])
    return f"Content-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n{disposition}\r\n"


def _file_name(name: str) -> list[str]:
    """The parameters that carry a file's name. Source: RFC 2231 sections 3 and 4."""
    if not _needs_words(name) and len(name) <= _NAME_PART:
        return ['filename="' + re.sub(r'([\\"])', r"\\\1", name) + '"']
    parts = ["utf-8''"]
    for char in name:
        written = quote(char, safe="")
        if len(parts[-1]) + len(written) > _NAME_PART:
            parts.append("")
        parts[-1] += written
    if len(parts) == 1:
        return [f"filename*={parts[0]}"]
    return [f"filename*{number}*={part}" for number, part in enumerate(parts)]


def _as_base64(data: bytes) -> bytes:
    whole = b2a_base64(data, newline=False)
    return b"".join(whole[at : at + _LONGEST_LINE] + b"\r\n" for at in range(0, len(whole), _LONGEST_LINE))


def _base64_size(size: int) -> int:
    """Bytes of so many bytes as base64 in lines."""
    whole = (size + 2) // 3 * 4
    return whole + (whole + _LONGEST_LINE - 1) // _LONGEST_LINE * 2
