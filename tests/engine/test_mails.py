"""Mails as calls: written down before they leave, told of when they are over, shown before a yes."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from tests.mailhost import MailHost

from habilis.engine.mails import mail_as_data, post
from habilis.engine.outside import Outside, Traced
from habilis.errors import EngineFailed, UpstreamError
from habilis.messages import Attachment, FileSlice, Mail, Mailbox, MailServer, Sent, StepDone
from habilis.redaction import recording
from habilis.transports.http import HttpTransport
from habilis.transports.smtp import Mailer

MAIL = Mail(
    where="tool 'email'",
    server=MailServer(host="127.0.0.1", port=25, security="none"),
    sender=Mailbox(address="ann@example.com", name="Ann"),
    to=(Mailbox(address="evil@x.test", name="ceo@corp.test"), Mailbox(address="ben@example.org")),
    subject="Hello",
    text="Hi **Ben**",
    html="<p>Hi <strong>Ben</strong></p>\n",
    message_id="1@example.com",
    date=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
    timeout_s=5.0,
)


def talking(mail: Mail) -> Generator[Mail, Sent, Sent]:
    return (yield mail)


def to(host: MailHost) -> Mail:
    server = replace(MAIL.server, port=host.port)
    return replace(MAIL, server=server, private_hosts=frozenset({server.place}))


@dataclass
class Lines:
    """A journal that notes what it was told, and what the server had heard by then."""

    host: MailHost
    seen: list[tuple[str, list[str]]] = field(default_factory=list)

    def begin(self) -> None:
        self.seen.append(("begin", list(self.host.commands)))

    def before_first_byte(self) -> None:
        self.seen.append(("before", list(self.host.commands)))

    def step_done(self, done: StepDone) -> None:
        self.seen.append(("step", [done.step]))


@pytest.fixture
def outside(clock):
    """A way out for mails, its trace in a list."""
    transport = HttpTransport()
    traced: list[Traced] = []
    yield (
        Outside(
            transport=transport,
            now=clock,
            sleep=clock.sleep,
            token=lambda: "t",
            mailer=Mailer(),
            trace=traced.append,
        ),
        traced,
    )
    transport.close()


def test_a_mail_is_written_down_before_its_first_byte_leaves(outside):
    with MailHost() as host:
        journal = Lines(host)
        sent = post(outside[0], talking(to(host)), journal)

    assert journal.seen == [("begin", []), ("before", [])]
    assert sent.taken == ("evil@x.test", "ben@example.org")


def test_a_mail_is_traced_with_its_size_and_not_its_words(outside):
    one, traced = outside
    with MailHost() as host:
        post(one, talking(to(host)))

    [seen] = traced
    assert (seen.method, seen.url, seen.status) == ("MAIL", f"smtp://127.0.0.1:{host.port}", 250)
    assert seen.sent_bytes == len(host.messages[0])
    assert seen.elapsed_s > 0


def test_a_mail_that_was_refused_is_traced_by_its_error(outside):
    one, traced = outside
    with MailHost(says={"MAIL": b"550 no\r\n"}) as host, pytest.raises(UpstreamError):
        post(one, talking(to(host)))

    assert [(seen.status, seen.error) for seen in traced] == [(0, "upstream_error")]


def test_where_no_mail_is_sent_nothing_is_begun(outside):
    with MailHost() as host:
        journal = Lines(host)
        with pytest.raises(EngineFailed, match="no mail is sent from here"):
            post(replace(outside[0], mailer=None), talking(to(host)), journal)

    assert (journal.seen, host.connections) == ([], 0)


def test_a_mail_is_shown_with_addresses_before_names():
    shown = mail_as_data(MAIL)

    assert shown == {
        "method": "MAIL",
        "url": "smtp://127.0.0.1:25",
        "headers": {
            "From": "ann@example.com (Ann)",
            "To": "evil@x.test (ceo@corp.test), ben@example.org",
            "Subject": "Hello",
        },
        "body": "Hi **Ben**",
    }


def test_everything_that_goes_along_is_shown():
    box = Mailbox(address="eve@example.org")
    file = Attachment(name="a.png", mime="image/png", file=FileSlice(path="/files/1", size=12345))
    shown = mail_as_data(
        replace(
            MAIL,
            server=MailServer(host="smtp.example.com", port=465, security="tls", user="u", password="p4ssw0rd-long"),
            cc=(box,),
            bcc=(box,),
            reply_to=(box,),
            html="<h1>Other words</h1>",
            attachments=(file, file),
            unsubscribe="https://example.com/off",
        )
    )

    assert shown["url"] == "smtps://smtp.example.com:465"
    assert {name: shown["headers"][name] for name in ("Cc", "Bcc", "Reply-To")} == dict.fromkeys(
        ("Cc", "Bcc", "Reply-To"), "eve@example.org"
    )
    assert shown["headers"]["Attachments"] == "a.png (12,345 bytes), a.png (12,345 bytes)"
    assert shown["headers"]["List-Unsubscribe"] == "https://example.com/off"
    assert shown["body"] == {"text": "Hi **Ben**", "html": "<h1>Other words</h1>"}
    assert "p4ssw0rd" not in str(shown)


def test_a_key_in_a_mail_is_masked_where_it_is_shown():
    with recording() as ledger:
        ledger.add("SMTP_PASSWORD", "correct-horse-battery")

        shown = mail_as_data(replace(MAIL, text="the password is correct-horse-battery", html=""))

    assert shown["body"] == {"text": "the password is [redacted SMTP_PASSWORD]", "html": ""}
