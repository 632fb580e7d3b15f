"""A mail out of a call's arguments and an account's keys, and what is told of it; nothing is sent here."""

from datetime import UTC, datetime

import pytest

from habilis.errors import AddressNotAllowed, MailInvalid, SecretMalformed, SecretMissing, TooLarge, UpstreamError
from habilis.exchange.fill import Bounds
from habilis.exchange.mail import LARGEST_FILES_BYTES, run_mail
from habilis.hosts import AllowedHosts
from habilis.manifest.model import SmtpTemplate, Tool
from habilis.messages import Attachment, FileSlice, Mailbox, MailServer, Refusal, Sent
from habilis.templating import FileValue, Made, Scope, compile_text

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOOL = Tool(name="email", label="Email", description="", input={}, steps=(), role="publish", contract="email")
SMTP = SmtpTemplate(
    host=compile_text("${SMTP_HOST}"),
    port=compile_text("${SMTP_PORT|587}"),
    user=compile_text("${SMTP_USER}"),
    password=compile_text("${SMTP_PASSWORD}"),
    sender=compile_text("${SMTP_FROM}"),
    security=compile_text("${SMTP_SECURITY|starttls}"),
)
KEYS = {"SMTP_HOST": "smtp.example.com", "SMTP_USER": "ann@example.com", "SMTP_PASSWORD": "correct horse"}
ARGUMENTS = {"to": "ben@example.org", "subject": "Hello", "text": "Hi **Ben**"}
BOUNDS = Bounds(hosts=AllowedHosts.of((), {}), private_hosts=frozenset({"nas.local:25"}), is_read=False)


def started(arguments=None, keys=None, *, drop=(), smtp=SMTP):
    """Start a mail; returns it and the conversation."""
    given = {name: value for name, value in {**ARGUMENTS, **(arguments or {})}.items() if name not in drop}
    scope = Scope(given, {**KEYS, **(keys or {})}, Made(now=NOW, call_id="call-1"))
    exchange = run_mail(TOOL, smtp, scope, BOUNDS)
    return next(exchange), exchange


def mail(arguments=None, keys=None, **options):
    return started(arguments, keys, **options)[0]


def end(exchange, sent):
    with pytest.raises(StopIteration) as stopped:
        exchange.send(sent)
    return stopped.value.value


def test_a_mail_is_made_of_arguments_and_keys():
    one = mail({"cc": ["Eve <eve@example.org>"], "bcc": ["a@x.test", "b@x.test"], "reply_to": "ann@home.test"})

    assert one.server == MailServer(
        host="smtp.example.com", port=587, security="starttls", user="ann@example.com", password="correct horse"
    )
    assert (one.sender, one.to) == (Mailbox(address="ann@example.com"), (Mailbox(address="ben@example.org"),))
    assert one.recipients == ("ben@example.org", "eve@example.org", "a@x.test", "b@x.test")
    assert one.reply_to == (Mailbox(address="ann@home.test"),)
    assert (one.subject, one.text, one.html) == ("Hello", "Hi **Ben**", "<p>Hi <strong>Ben</strong></p>\n")
    assert (one.date, one.where, one.private_hosts) == (NOW, "tool 'email'", frozenset({"nas.local:25"}))


def test_a_call_made_again_has_the_same_message_id_and_does_not_tell_the_calls_own():
    first, second = mail(), mail()

    assert first.message_id == second.message_id
    assert first.message_id.endswith("@example.com")
    assert "call-1" not in first.message_id


def test_the_password_is_not_in_what_is_printed_of_a_mail():
    assert "correct horse" not in repr(mail())


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"subject": "Subject", "title": "Title"}, "Subject"),
        ({"subject": "", "title": "Title"}, "Title"),
        ({"subject": None, "title": " Title "}, "Title"),
        ({"subject": "\U0001f4a9" * 3000}, "\U0001f4a9" * 3000),
    ],
)
def test_the_title_is_the_subject_where_there_is_none(arguments, subject):
    assert mail(arguments).subject == subject


def test_html_of_the_callers_own_takes_the_place_of_what_is_made_of_the_text():
    assert mail({"html": "<h1>Hi</h1>"}).html == "<h1>Hi</h1>"


def test_html_in_the_text_is_text():
    assert mail({"text": "<script>x</script>"}).html == "&lt;script&gt;x&lt;/script&gt;\n".join(
        ["<p>", "</p>\n"]
    ).replace("\n</p>", "</p>")


BAD_LINES = ["Hi\r\nBcc: e@x.test", "Hi\nX: y", "Hi\n", "Hi\0", "Hi\x85X: y", "Hi\u2028X: y", "Hi\t", "Hi\ud800"]


@pytest.mark.parametrize("subject", BAD_LINES)
@pytest.mark.parametrize("field", ["subject", "title"])
def test_a_subject_of_more_than_one_line_is_refused(field, subject):
    with pytest.raises(MailInvalid, match=f"{field}: line breaks and control characters") as caught:
        mail({field: subject}, drop={"subject"} - {field})

    assert (caught.value.outcome, caught.value.where) == ("refused", "tool 'email'")


@pytest.mark.parametrize("subject", ["", "  ", None, 5])
def test_a_mail_without_subject_and_title_is_refused(subject):
    with pytest.raises(MailInvalid, match="a mail needs one"):
        mail({"subject": subject})


def test_a_subject_of_a_books_length_is_refused():
    with pytest.raises(MailInvalid, match="more than 10000 characters"):
        mail({"subject": "x" * 10_001})


def test_a_mail_with_nothing_in_it_is_refused():
    with pytest.raises(MailInvalid, match="the mail is empty"):
        mail({"text": " \n"})


def test_a_text_with_half_of_a_character_is_refused():
    with pytest.raises(MailInvalid, match="text: it holds half of a character"):
        mail({"text": "a\ud800"})


@pytest.mark.parametrize("field", ["to", "cc", "bcc", "reply_to"])
def test_an_address_that_is_none_is_told_with_its_place(field):
    with pytest.raises(MailInvalid) as caught:
        mail({field: ["good@example.org", "bad"]})

    assert caught.value.message == f"{field}[1]: this is not one mail address"
    assert caught.value.where == "tool 'email'"


@pytest.mark.parametrize("to", [None, "", []])
def test_a_mail_to_nobody_is_refused(to):
    with pytest.raises(MailInvalid, match="to: a mail needs somebody who gets it"):
        mail({"to": to, "cc": "eve@example.org"})


def test_a_hundred_get_a_mail_and_no_more():
    many = [f"p{number}@example.org" for number in range(100)]

    assert len(mail({"to": many[:60], "bcc": many[40:]}).recipients) == 100
    with pytest.raises(MailInvalid, match="more than 100 addresses"):
        mail({"to": many, "cc": "one@example.net"})


@pytest.mark.parametrize("way", ["https://example.com/off?u=1&x=2", "mailto:off@example.com?subject=off"])
def test_a_way_off_the_list_goes_along(way):
    assert mail({"unsubscribe": way}).unsubscribe == way


@pytest.mark.parametrize(
    "way",
    [
        "http://example.com/off",
        "javascript:x",
        "https://example.com/ x",
        "https://a.test/>\r\nX: y",
        "https://ü.test",
        5,
    ],
)
def test_what_is_no_way_off_the_list_is_refused(way):
    with pytest.raises(MailInvalid, match="unsubscribe: this is no https or mailto address"):
        mail({"unsubscribe": way})


def file_value(name="a.png", *, size=10, offset=0, mime="image/png"):
    return FileValue({"name": name, "mime": mime, "size": size}, path="/files/x", offset=offset)


def test_the_assets_files_are_attached():
    one = mail({"files": [file_value(), file_value("b.pdf", size=5, offset=7, mime="application/pdf")]})

    assert one.attachments == (
        Attachment(name="a.png", mime="image/png", file=FileSlice(path="/files/x", size=10)),
        Attachment(name="b.pdf", mime="application/pdf", file=FileSlice(path="/files/x", size=5, offset=7)),
    )


def test_what_only_looks_like_a_file_is_not_attached():
    assert mail({"files": [{"name": "passwd", "path": "/etc/passwd", "size": 10}]}).attachments == ()


def test_a_mail_of_files_alone_needs_no_text():
    assert mail({"text": "", "files": [file_value()]}).text == ""


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../x", "x"),
        ("..\\..\\x.png", "x.png"),
        ("C:\\a\\b.png", "b.png"),
        ('a"\r\nX: y', 'a"X: y'),
        ("résumé.pdf", "résumé.pdf"),
        ("gnp\u202e.exe", "gnp.exe"),
        ("", "file"),
        ("..", "file"),
        ("a/", "file"),
    ],
)
def test_a_file_keeps_its_plain_name(name, safe):
    assert mail({"files": [file_value(name)]}).attachments[0].name == safe


def test_files_that_are_too_large_together_are_refused_before_anything_is_opened():
    half = LARGEST_FILES_BYTES // 2

    assert len(mail({"files": [file_value(size=half), file_value(size=half)]}).attachments) == 2
    with pytest.raises(TooLarge, match="larger than 50 MiB together") as caught:
        mail({"files": [file_value(size=half), file_value(size=half + 1)]})
    assert caught.value.outcome == "refused"


def test_a_mail_with_much_to_carry_has_more_time_up_to_five_minutes():
    assert mail().timeout_s == 60
    assert mail({"files": [file_value(size=25 * 1024 * 1024)]}).timeout_s == 160
    assert mail({"files": [file_value(size=LARGEST_FILES_BYTES)]}).timeout_s == 260


@pytest.mark.parametrize(
    ("keys", "server"),
    [
        ({}, ("smtp.example.com", 587, "starttls")),
        ({"SMTP_PORT": "465"}, ("smtp.example.com", 465, "tls")),
        ({"SMTP_PORT": "465", "SMTP_SECURITY": "starttls"}, ("smtp.example.com", 465, "tls")),
        ({"SMTP_PORT": "2465", "SMTP_SECURITY": "TLS"}, ("smtp.example.com", 2465, "tls")),
        ({"SMTP_PORT": "465", "SMTP_SECURITY": "none"}, ("smtp.example.com", 465, "none")),
        ({"SMTP_HOST": " SMTP.Bücher.Example. ", "SMTP_PORT": " 25 "}, ("smtp.xn--bcher-kva.example", 25, "starttls")),
    ],
)
def test_the_server_is_the_one_the_keys_name(keys, server):
    found = mail(keys=keys).server

    assert (found.host, found.port, found.security) == server


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("none", 25)])
def test_a_port_that_is_not_named_follows_from_the_security(security, port):
    bare = SmtpTemplate(
        host=SMTP.host,
        port=compile_text("${SMTP_PORT}"),
        user=SMTP.user,
        password=SMTP.password,
        sender=SMTP.sender,
        security=SMTP.security,
    )

    assert mail(keys={"SMTP_SECURITY": security}, smtp=bare).server.port == port


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SMTP_PORT", "587abc", "is a number from 1 to 65535"),
        ("SMTP_PORT", "0", "is a number from 1 to 65535"),
        ("SMTP_PORT", "65536", "is a number from 1 to 65535"),
        ("SMTP_PORT", "²", "is a number from 1 to 65535"),
        ("SMTP_SECURITY", "STARTLS", "is starttls, tls or none"),
        ("SMTP_HOST", "smtp.example.com\r\nX", "holds line breaks or control characters"),
        ("SMTP_HOST", "smtp.example.com:587", "without a port"),
        ("SMTP_HOST", "smtps://smtp.example.com", "without https://"),
        ("SMTP_HOST", "smtp example com", "is no host"),
        ("SMTP_USER", "ann@example.com\n", "holds line breaks or control characters"),
        ("SMTP_PASSWORD", "correct\0horse", "holds line breaks or control characters"),
        ("SMTP_FROM", "Ann <ann@example.com>\r\nBcc: e@x.test", "holds line breaks or control characters"),
        ("SMTP_FROM", "Ann", "this is not one mail address"),
        ("SMTP_USER", "ann", "this is not one mail address"),
    ],
)
def test_a_key_that_does_not_fit_is_named_and_never_shown(name, value, words):
    with pytest.raises(SecretMalformed, match=words) as caught:
        mail(keys={name: value})

    assert caught.value.message.startswith(name)
    assert value.strip() not in str(caught.value).replace("starttls", "").replace("smtp.example.com", "")
    assert caught.value.where == "tool 'email'"


def test_a_user_name_that_is_no_address_asks_for_the_sender():
    with pytest.raises(SecretMalformed) as caught:
        mail(keys={"SMTP_USER": "ann"})

    assert caught.value.hint == "set SMTP_FROM: the address that mails come from"


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "0x7f000001"])
def test_a_host_that_is_never_called_is_refused(host):
    with pytest.raises(AddressNotAllowed):
        mail(keys={"SMTP_HOST": host})


@pytest.mark.parametrize("name", ["SMTP_HOST", "SMTP_PASSWORD"])
def test_a_key_that_is_not_set_is_asked_for(name):
    with pytest.raises(SecretMissing, match=f"{name} is not set"):
        mail(keys={name: ""})


def test_a_server_without_sign_in_needs_a_sender_and_no_password():
    one = mail(keys={"SMTP_USER": "", "SMTP_PASSWORD": "", "SMTP_FROM": "Ann <ann@example.com>"})

    assert (one.server.user, one.server.password) == ("", "")
    assert one.sender == Mailbox(address="ann@example.com", name="Ann")


def test_the_sender_is_the_user_where_no_other_is_set():
    assert mail(keys={"SMTP_FROM": " "}).sender == Mailbox(address="ann@example.com")


def test_who_got_it_is_told():
    one, exchange = started({"to": [f"p{number}@example.org" for number in range(7)]})

    result = end(exchange, Sent(taken=one.recipients))

    assert result.text == "sent to " + ", ".join(f"p{number}@example.org" for number in range(5)) + " and 2 more"
    assert result.data == {"message_id": one.message_id, "recipients": list(one.recipients)}
    assert result.link == ""


def test_a_mail_that_not_everybody_got_is_partly_done_and_says_who_did_not():
    _, exchange = started({"to": ["ben@example.org", "eve@example.org"]})
    refusal = Refusal(address="eve@example.org", reason="550 5.1.1 unknown", is_lasting=True)

    with pytest.raises(UpstreamError) as caught:
        exchange.send(Sent(taken=("ben@example.org",), refused=(refusal,)))

    assert caught.value.message == "sent to ben@example.org, but not to eve@example.org (550 5.1.1 unknown)"
    assert (caught.value.outcome, caught.value.retryable) == ("partial", False)
    assert "to those alone" in caught.value.hint
