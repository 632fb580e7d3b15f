"""Mail through a real server: what it takes, what it refuses, and what a reader finds in the end."""

from dataclasses import replace
from email import message_from_bytes, policy

import pytest

from habilis.errors import AddressNotAllowed, TlsVerifyFailed, TooLarge, UpstreamError
from habilis.messages import Attachment, FileSlice, Mailbox, MailServer
from habilis.transports.smtp import Mailer

SENDER = Mailbox(address="pepe@example.test", name="Pépé")


@pytest.fixture
def sending(exim, mail):
    """Send a mail through Exim, signed in."""

    def send(*, security="starttls", password=exim.password, ca=exim.ca, allowed=True, **fields):
        port = exim.tls_port if security == "tls" else exim.port
        server = MailServer(host="localhost", port=port, security=security, user=exim.user, password=password)
        places = frozenset({server.place}) if allowed else frozenset()
        fields = {"sender": SENDER, "timeout_s": 20.0, **fields}
        return Mailer(ca_file=ca).send(replace(mail(**fields), server=server, private_hosts=places))

    return send


def read(raw):
    return message_from_bytes(raw, policy=policy.default)


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_mail_arrives_by_both_ways_of_encryption(exim, sending, security):
    subject = f"by {security}"

    sent = sending(security=security, subject=subject)

    [raw] = exim.mails(subject)
    assert sent.taken == ("ben@example.org",)
    assert b"with esmtpsa" in raw
    assert read(raw)["From"] == "Pépé <pepe@example.test>"


def test_everything_in_a_mail_arrives_as_it_was_written(exim, sending, tmp_path):
    subject = "Тест длинного-очень письма, где пробелы и ещё слова \U0001f4a9 " + "ü" * 300
    text = "a\n.\nb\n..\nFrom here\nhard break  \n" + "x" * 3000 + "\nжизнь \U0001f44b\n"
    data = bytes(range(256)) * 1000
    path = tmp_path / "picture"
    path.write_bytes(data)
    names = ["тест имя файла.png", 'a"quote\\back.png', "ж" * 57 + ".png"]
    files = tuple(
        Attachment(name=name, mime="image/png", file=FileSlice(path=str(path), size=len(data) - 1, offset=1))
        for name in names
    )

    sending(subject=subject, text=text, html="<p>" + "x" * 3000 + "</p>", attachments=files)

    [raw] = exim.mails(subject)
    message = read(raw)
    assert message.get_body(("plain",)).get_content().replace("\r\n", "\n") == text
    assert "<p>" + "x" * 3000 + "</p>" in message.get_body(("html",)).get_content()
    assert [part.get_filename() for part in message.iter_attachments()] == names
    assert {part.get_content() for part in message.iter_attachments()} == {data[1:]}
    assert max(map(len, raw.splitlines())) <= 998


@pytest.mark.parametrize(
    "subject", ["A \U0001f4a9 =?UTF-8?Q?=0A?=Bcc: injected@example.com", "=?UTF-8?Q?=0D=0ABcc:_injected@example.com?="]
)
def test_a_subject_writes_no_header_of_its_own(exim, sending, subject):
    sending(subject=subject)

    [raw] = exim.mails(subject)
    assert read(raw)["Bcc"] is None
    assert b"\nBcc:" not in raw
    assert b"Envelope-to: ben@example.org\n" in raw


def test_everybody_gets_it_and_those_unseen_stay_unseen(exim, sending):
    to, cc, bcc = (Mailbox(address=f"{name}@example.org") for name in ("to", "cc", "bcc"))

    sent = sending(subject="to three", to=(to,), cc=(cc,), bcc=(bcc,))

    mails = b"".join(exim.mails("to three"))
    assert sent.taken == ("to@example.org", "cc@example.org", "bcc@example.org")
    assert mails.count(b"bcc@example.org") == 1
    assert b"Envelope-to: " in mails


def test_those_it_refuses_are_named_and_the_rest_get_it(exim, sending):
    boxes = tuple(Mailbox(address=f"{name}@example.org") for name in ("nobody", "ben", "busy"))

    sent = sending(subject="to some", to=boxes)

    assert exim.mails("to some")
    assert sent.taken == ("ben@example.org",)
    assert [(refusal.address, refusal.reason, refusal.is_lasting) for refusal in sent.refused] == [
        ("nobody@example.org", "550 there is no such person", True),
        ("busy@example.org", "451 come back later", False),
    ]


@pytest.mark.parametrize(
    ("fields", "words", "retryable"),
    [
        ({"to": (Mailbox(address="nobody@example.org"),)}, "for nobody: nobody@example.org [(]550 there is no", False),
        ({"to": (Mailbox(address="busy@example.org"),)}, "for nobody: busy@example.org [(]451 come back", True),
        ({"sender": Mailbox(address="ann@elsewhere.test")}, "does not take mail from this sender: 550 no mail", False),
        ({"subject": "unwanted"}, "does not take the message: 550 nobody wants it", False),
        ({"password": "wrong"}, "does not take the user name and password [(]535[)]", False),
    ],
)
def test_its_no_is_a_no(sending, fields, words, retryable):
    with pytest.raises(UpstreamError, match=words) as caught:
        sending(**fields)

    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", retryable)


def test_its_limit_is_kept_to_before_anything_is_sent(exim, sending, tmp_path):
    path = tmp_path / "big"
    with path.open("wb") as stream:
        stream.truncate(exim.largest_bytes)
    big = Attachment(name="big", mime="x/y", file=FileSlice(path=str(path), size=exim.largest_bytes))

    with pytest.raises(TooLarge, match=f"bytes and localhost takes {exim.largest_bytes}"):
        sending(attachments=(big,))


def test_its_certificate_is_checked(sending):
    with pytest.raises(TlsVerifyFailed, match="self-signed"):
        sending(ca=None)


def test_without_the_operators_yes_it_is_not_called(sending):
    with pytest.raises(AddressNotAllowed):
        sending(allowed=False)
