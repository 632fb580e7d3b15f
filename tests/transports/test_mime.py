"""A mail as it travels: what a reader gets out is what went in, whatever the lines in between look like."""

from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import parseaddr
from pathlib import Path

import pytest

from habilis.errors import EngineFailed
from habilis.messages import Attachment, FileSlice, Mailbox
from habilis.transports.mime import compose

ANN, BEN = Mailbox(address="ann@example.com", name="Ann"), Mailbox(address="ben@example.org")
PNG = bytes(range(256)) * 500


@pytest.fixture
def attached(tmp_path):
    """Make an attachment out of bytes."""

    def attach(data=PNG, *, name="a.png", mime="image/png"):
        path = tmp_path / f"file{len(list(tmp_path.iterdir()))}"
        path.write_bytes(data)
        return Attachment(name=name, mime=mime, file=FileSlice(path=str(path), size=len(data)))

    return attach


def raw(one):
    return b"".join(compose(one).pieces(one.where))


def read(one):
    """Return the mail as a reader's program understands it."""
    undotted = raw(one).replace(b"\r\n..", b"\r\n.")
    return message_from_bytes(undotted, policy=policy.default)


def text_of(message, kind):
    return message.get_body((kind,)).get_content().replace("\r\n", "\n")


SUBJECTS = [
    "Hello",
    "Тест длинного-очень письма, где пробелы и ещё слова",
    "two  blanks   in a row",
    "\U0001f4a9 emoji \U0001f469\u200d\U0001f680 and \u200f\u05e2\u05d1\u05e8\u05d9\u05ea\u200e",
    "x" * 3000,
    "ü" * 3000,
    "see " + " ".join(f"https://example.com/some/path/{number}" for number in range(14)),
    '"quoted" <b@example.com>, and: more',
    "=?utf-8?b?SGk=?=",
    "A \U0001f4a9 =?UTF-8?Q?=0A?=Bcc: injected@example.com",
    "=?UTF-8?Q?=0D=0ABcc:_injected@example.com?=",
]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_arrives_as_it_was_written(mail, subject):
    message = read(mail(subject=subject))

    assert message["Subject"] == subject
    assert message["Bcc"] is None
    assert message["To"] == "ben@example.org"


NAMES = ["Ann", "Dr. Ann B.", "Doe, Ann", 'Ann "the" \\ Doe', "Pépé", "例え" * 60, "ceo@corp.test", "a" * 150, "=?x?="]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_arrives_beside_its_address(mail, name):
    # The older reader: the newer one puts blanks between the encoded words of a name, against RFC 2047.
    message = message_from_bytes(raw(mail(sender=Mailbox(address="pepe@example.com", name=name))))

    shown, address = parseaddr(message["From"])
    assert (str(make_header(decode_header(shown))), address) == (name, "pepe@example.com")


def test_several_addresses_arrive_and_nobody_learns_of_hidden_ones(mail):
    message = read(mail(to=(ANN, BEN), cc=(BEN,), bcc=(Mailbox(address="secret@example.com"),), reply_to=(ANN,)))

    assert [box.addr_spec for box in message["To"].addresses] == ["ann@example.com", "ben@example.org"]
    assert message["Cc"] == "ben@example.org"
    assert message["Reply-To"] == "Ann <ann@example.com>"
    assert b"secret" not in message.as_bytes()


TEXTS = [
    "Hi",
    "",
    "ends in a blank ",
    "Hi\n",
    "a\r\n.\r\nMAIL FROM:<x>\r\n",
    "a\n.\nb\n",
    "..\n.two\n",
    "hard break  \nafter two blanks \t\n",
    "x" * 3000 + "\n",
    "用户 " * 1000 + "\n",
    "From here\n=3D is not an equals sign\n",
    "--=_mixed--\n--=_alternative--\n",
    "nul \0 and bell \a\n",
    "\n\n\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_arrives_as_it_was_written(mail, text):
    message = read(mail(text=text))

    assert text_of(message, "plain") == text.replace("\r\n", "\n")


def test_a_lone_carriage_return_is_a_line_break(mail):
    message = read(mail(text="one\rtwo"))

    assert text_of(message, "plain") == "one\ntwo"


def test_text_comes_first_and_html_beside_it(mail):
    message = read(mail())

    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert "<p>Hi <strong>Ben</strong></p>" in text_of(message, "html")


@pytest.mark.parametrize("page", ["<!DOCTYPE html><html><body>Hi</body></html>", " <html><p>Hi</html>"])
def test_html_that_is_a_whole_page_stays_as_it_is(mail, page):
    assert text_of(read(mail(html=page)), "html") == page


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_line_is_short_ascii_and_ends_in_both_characters(mail, text, subject):
    data = raw(mail(text=text, html="<p>" + "x" * 3000, subject=subject))

    assert data.isascii()
    assert data.endswith(b"\r\n")
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert b"\n" not in data.replace(b"\r\n", b"")
    words = max(map(len, subject.split(" "))) if subject.isascii() else 0
    assert max(map(len, data.split(b"\r\n"))) <= max(76, min(words, 900) + len("Subject: "))


FILE_NAMES = [
    "a.png",
    "with blank.png",
    'a"quote\\back.png',
    "résumé.pdf",
    "тест имя файла.png",
    "ж" * 57 + ".png",
    "long-" * 20 + ".txt",
    "100% *'star'.txt",
    "\U0001f4a9.gif",
]


@pytest.mark.parametrize("name", FILE_NAMES)
def test_an_attachment_arrives_byte_for_byte_under_its_name(mail, attached, name):
    message = read(mail(attachments=(attached(name=name),)))

    [part] = message.iter_attachments()
    assert (part.get_filename(), part.get_content_type()) == (name, "image/png")
    assert part.get_content() == PNG


@pytest.mark.parametrize("size", [0, 1, 56, 57, 58, 57 * 1024, 57 * 1024 + 1])
def test_files_of_every_size_arrive_whole(mail, attached, size):
    data = b"\xff" * size
    one = mail(attachments=(attached(data), attached(b"second", name="b.bin")))

    first, second = read(one).iter_attachments()

    assert (first.get_content(), second.get_content()) == (data, b"second")


def test_a_part_of_a_file_is_that_part_alone(mail, attached):
    whole = attached(b"0123456789")
    part = Attachment(name="p", mime="text/plain", file=FileSlice(path=whole.file.path, size=3, offset=4))

    [got] = read(mail(attachments=(part,))).iter_attachments()

    assert got.get_content() == "456"


@pytest.mark.parametrize("mime", ["message/rfc822", "multipart/mixed", "", 'x/y"\r\nX: y', "text", "image/png; a=b"])
def test_a_type_that_an_attachment_cannot_have_becomes_plain_bytes(mail, attached, mime):
    [part] = read(mail(attachments=(attached(mime=mime),))).iter_attachments()

    assert part.get_content_type() == "application/octet-stream"


@pytest.mark.parametrize("text", [".", "a\n.\nb", "plain"])
def test_the_size_is_what_is_sent_without_doubled_dots(mail, attached, text):
    one = mail(text=text, attachments=(attached(), attached(b"x")))

    undotted = raw(one).replace(b"\r\n..", b"\r\n.")

    assert compose(one).size == len(undotted)


def test_the_same_mail_is_the_same_bytes(mail, attached):
    one = mail(attachments=(attached(),))

    assert raw(one) == raw(one)


def test_a_way_off_the_list_is_one_click_where_it_is_a_web_address(mail):
    by_web = read(mail(unsubscribe="https://example.com/off?u=1"))
    by_mail = read(mail(unsubscribe="mailto:off@example.com"))

    assert by_web["List-Unsubscribe"] == "<https://example.com/off?u=1>"
    assert by_web["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert (by_mail["List-Unsubscribe"], by_mail["List-Unsubscribe-Post"]) == ("<mailto:off@example.com>", None)


def test_only_letters_before_the_at_sign_need_a_server_that_carries_them(mail):
    ascii_only = compose(mail(to=(Mailbox(address="ben@xn--r8jz45g.jp", name="例え"),)))
    beyond = compose(mail(to=(Mailbox(address="用户@xn--r8jz45g.jp"),)))

    assert (ascii_only.needs_utf8, beyond.needs_utf8) == (False, True)


def test_a_file_that_became_shorter_stops_the_mail(mail, attached):
    shrunk = attached(b"0123456789")
    Path(shrunk.file.path).write_bytes(b"01234")

    with pytest.raises(EngineFailed, match="became shorter while it was sent"):
        raw(mail(attachments=(shrunk,)))


def test_a_file_that_is_gone_stops_the_mail(mail, attached, tmp_path):
    gone = attached()
    (tmp_path / "file0").unlink()

    with pytest.raises(EngineFailed, match="the file 'file0' cannot be read"):
        raw(mail(attachments=(gone,)))
