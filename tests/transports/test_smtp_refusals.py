"""A mail server that says no, hangs up or falls silent: what is told, and what it means for the mail."""

import re
from dataclasses import replace

import pytest
from tests.mailhost import MailHost
from tests.upstream import CLOSE

from habilis.errors import EngineFailed, UpstreamError, UpstreamFailed, UpstreamProtocol, UpstreamTimeout
from habilis.messages import Attachment, FileSlice, Mailbox, MailServer, Refusal, Sent
from habilis.redaction import recording
from habilis.transports.smtp import Mailer

PASSWORD = "correct-horse-battery"


@pytest.fixture
def sending(mail):
    """Send a mail to a scripted server, signed in."""

    def send(host, *, before_first_byte=None, **fields):
        server = MailServer(host="127.0.0.1", port=host.port, security="none", user="ann", password=PASSWORD)
        one = replace(mail(**fields), server=server, private_hosts=frozenset({server.place}))
        return Mailer().send(one, before_first_byte=before_first_byte)

    return send


NO = [
    ("GREETING", "takes no mail: 554 go away"),
    ("MAIL", "does not take mail from this sender: 554 go away"),
    ("RCPT", "takes the mail for nobody: ben@example.org (554 go away)"),
    ("DATA", "does not take the message: 554 go away"),
    ("END", "does not take the message: 554 go away"),
]


@pytest.mark.parametrize(("verb", "message"), NO)
def test_a_no_of_the_server_is_told_in_its_words_and_nothing_was_sent(sending, verb, message):
    with MailHost(says={verb: b"554 go away\r\n"}) as host, pytest.raises(UpstreamError) as caught:
        sending(host)

    assert caught.value.message == f"127.0.0.1 {message}"
    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", False)
    assert caught.value.where == "tool 'email'"


@pytest.mark.parametrize(("verb", "message"), NO)
def test_a_no_for_now_may_be_tried_again(sending, verb, message):
    with MailHost(says={verb: b"451 4.3.0 try\r\n"}) as host, pytest.raises(UpstreamError) as caught:
        sending(host)

    assert caught.value.message == f"127.0.0.1 {message}".replace("554 go away", "451 4.3.0 try")
    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", True)


@pytest.mark.parametrize("verb", ["GREETING", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"])
def test_a_server_that_hangs_up_before_the_end_was_not_sent_to(sending, verb):
    with MailHost(says={verb: (CLOSE,)}) as host, pytest.raises(UpstreamProtocol) as caught:
        sending(host)

    assert caught.value.message == "127.0.0.1 closed the connection"
    assert caught.value.outcome == "not_sent"


@pytest.mark.parametrize("verb", ["EHLO", "AUTH", "MAIL", "RCPT", "DATA"])
def test_a_server_that_falls_silent_before_the_end_was_not_sent_to(sending, verb):
    with MailHost(says={verb: (5.0,)}) as host, pytest.raises(UpstreamTimeout) as caught:
        sending(host, timeout_s=0.2)

    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", True)


@pytest.mark.parametrize("end", [(CLOSE,), b"what?\r\n", (5.0,), (b"250-kept\r\n", CLOSE), b"\xff\xfe\r\n"])
def test_what_became_of_a_mail_is_unknown_when_nothing_clear_is_heard_after_its_end(sending, end):
    with MailHost(says={"END": end}) as host, pytest.raises(UpstreamFailed) as caught:
        sending(host, timeout_s=0.5)

    assert (caught.value.outcome, caught.value.retryable) == ("unknown", False)
    assert caught.value.hint == "it may have been sent: look before sending it again"
    assert len(host.messages) == 1


@pytest.mark.parametrize("goodbye", [(CLOSE,), b"500 what?\r\n", b"\r\n"])
def test_a_mail_that_was_taken_is_sent_whatever_the_goodbye(sending, goodbye):
    with MailHost(says={"QUIT": goodbye}) as host:
        sent = sending(host)

    assert sent == Sent(taken=("ben@example.org",))


def test_a_goodbye_that_never_comes_is_not_waited_for(sending, monkeypatch):
    monkeypatch.setattr("habilis.transports.smtp._GOODBYE_LIMIT_S", 0.1)
    with MailHost(says={"QUIT": (5.0,)}) as host:
        sent = sending(host)

    assert sent.taken == ("ben@example.org",)


ANN, BEN, EVE = (Mailbox(address=f"{name}@example.org") for name in ("ann", "ben", "eve"))


def test_those_who_were_refused_are_named_and_the_rest_get_the_mail(sending):
    says = {"RCPT": lambda line: b"550 5.1.1 unknown\r\n" if "eve" in line else b"250 fine\r\n"}
    with MailHost(says=says) as host:
        sent = sending(host, to=(ANN, EVE, BEN))

    refusal = Refusal(address="eve@example.org", reason="550 5.1.1 unknown", is_lasting=True)
    assert sent == Sent(taken=("ann@example.org", "ben@example.org"), refused=(refusal,))
    assert len(host.messages) == 1


def test_a_mail_that_nobody_may_have_may_be_tried_again_only_when_every_no_is_for_now(sending):
    says = {"RCPT": lambda line: b"550 never\r\n" if "eve" in line else b"450 later\r\n"}
    with MailHost(says=says) as host:
        with pytest.raises(UpstreamError) as mixed:
            sending(host, to=(ANN, EVE))
        with pytest.raises(UpstreamError) as later:
            sending(host, to=(ANN, BEN))

    assert mixed.value.message == (
        "127.0.0.1 takes the mail for nobody: ann@example.org (450 later), eve@example.org (550 never)"
    )
    assert (mixed.value.retryable, later.value.retryable) == (False, True)
    assert "DATA" not in host.verbs


def test_a_server_that_closes_between_two_addresses_is_not_sent_to(sending):
    says = {"RCPT": lambda line: b"421 bye\r\n" if "ben" in line else b"250 fine\r\n"}
    with MailHost(says=says) as host, pytest.raises(UpstreamError, match="closes the connection: 421 bye") as caught:
        sending(host, to=(ANN, BEN))

    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", True)
    assert host.messages == []


@pytest.mark.parametrize("echo", [PASSWORD, "AGFubgBjb3JyZWN0LWhvcnNlLWJhdHRlcnk=", "see https://help.test/1"])
@pytest.mark.parametrize("code", [535, 534, 530, 454])
def test_a_wrong_password_is_told_without_a_word_of_the_server(sending, code, echo):
    says = {"AUTH": f"{code} you said {echo}\r\n".encode()}
    with MailHost(says=says) as host, pytest.raises(UpstreamError) as caught:
        sending(host)

    assert echo not in str(caught.value)
    assert f"({code})" in caught.value.message
    assert caught.value.retryable == (code == 454)
    assert ("check the user name and the password" in caught.value.hint) == (code != 454)
    assert "MAIL" not in host.verbs


def test_a_server_that_hangs_up_at_the_password_has_it_checked(sending):
    with MailHost(says={"AUTH": (CLOSE,)}) as host, pytest.raises(UpstreamProtocol) as caught:
        sending(host)

    assert "check the user name and the password" in caught.value.hint


def test_a_sign_in_that_breaks_off_half_way_says_no_more(sending):
    with MailHost(says={"AUTH": b"504 no\r\n"}, offers=("AUTH LOGIN",)) as host, pytest.raises(UpstreamError):
        sending(host)

    assert host.commands[1:] == ["AUTH LOGIN"]


def test_a_key_in_the_servers_words_is_masked(sending):
    with recording() as ledger, MailHost(says={"MAIL": f"550 {PASSWORD}\r\n".encode()}) as host:
        ledger.add("SMTP_PASSWORD", PASSWORD)
        with pytest.raises(UpstreamError) as caught:
            sending(host)

    assert caught.value.message.endswith("550 [redacted SMTP_PASSWORD]")


def test_the_servers_words_are_one_short_line(sending):
    says = {"MAIL": b"550-first \x1b[2J\r\n550-" + b"x" * 1000 + b"\r\n550 \xff last\r\n"}
    with MailHost(says=says) as host, pytest.raises(UpstreamError) as caught:
        sending(host)

    assert caught.value.message.startswith("127.0.0.1 does not take mail from this sender: 550 first [2J xxx")
    assert caught.value.message.endswith("x…")
    assert len(caught.value.message) < 230


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"\r\n",
        b"2200 ready\r\n",
        b"220x\r\n",
        b"199 no\r\n",
        b"220-" + b"x" * 100_000,
        b"220-more\r\n" * 10_000,
    ],
)
def test_what_is_no_mail_server_is_told_so(sending, greeting):
    with MailHost(says={"GREETING": greeting}) as host, pytest.raises(UpstreamProtocol) as caught:
        sending(host)

    assert caught.value.message == "127.0.0.1 gave an answer that is not SMTP"
    assert caught.value.outcome == "not_sent"


@pytest.mark.parametrize("greeting", [b"220\r\n", b"220 \r\n", b"220-one\r\n220 two\r\n", b"220 bare line feed\n"])
def test_a_greeting_may_be_short_long_or_sloppy(sending, greeting):
    with MailHost(says={"GREETING": greeting}) as host:
        assert sending(host).taken == ("ben@example.org",)


def test_an_answer_that_drips_in_obeys_the_one_deadline(sending):
    drip = (b"2", 0.1, b"5", 0.1, b"0", 0.1, b" ", 0.1, b"x", 5.0)
    with MailHost(says={"MAIL": drip}) as host, pytest.raises(UpstreamTimeout) as caught:
        sending(host, timeout_s=0.3)

    assert caught.value.message == "127.0.0.1 gave no whole answer within 0.3 s"


def test_a_server_without_the_smtp_of_today_is_told_so(sending):
    with MailHost(says={"EHLO": b"502 what?\r\n"}) as host, pytest.raises(UpstreamProtocol, match="of today"):
        sending(host)

    assert host.verbs == ["EHLO"]


@pytest.fixture
def big(tmp_path):
    """A file of 20 MB, nothing in it."""
    path = tmp_path / "big"
    with path.open("wb") as stream:
        stream.truncate(20_000_000)
    return Attachment(name="big", mime="image/png", file=FileSlice(path=str(path), size=20_000_000))


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (
            (b"354 send it\r\n", 0.1, b"552 too much\r\n", CLOSE),
            UpstreamError,
            "does not take the message: 552 too much",
        ),
        (
            (b"354 send it\r\n", 0.1, CLOSE),
            UpstreamProtocol,
            "(closed|broke) the connection( off before a whole answer came)?",
        ),
        ((b"354 send it\r\n250 kept\r\n", 5.0), UpstreamProtocol, "answers before it was asked"),
        ((b"354 send it\r\n", 5.0), UpstreamTimeout, "gave no whole answer within 1 s"),
    ],
)
def test_a_server_that_stops_listening_in_the_middle_of_a_mail_was_not_sent_to(sending, big, said, error, words):
    with MailHost(says={"DATA": said}, offers=("AUTH PLAIN",)) as host, pytest.raises(error) as caught:
        sending(host, attachments=(big,), timeout_s=1)

    assert re.fullmatch(f"127.0.0.1 {words}", caught.value.message)
    assert caught.value.outcome == "not_sent"
    assert host.messages == []


def test_a_file_that_became_shorter_leaves_the_mail_without_an_end(sending, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    short = Attachment(name="a", mime="x/y", file=FileSlice(path=str(path), size=10))
    with MailHost() as host, pytest.raises(EngineFailed, match="the file 'a' became shorter") as caught:
        sending(host, attachments=(short,))

    assert caught.value.outcome == "not_sent"
    assert host.messages == []


def test_a_line_break_in_an_address_never_reaches_the_wire(sending):
    box = Mailbox(address="ben@example.org>\r\nRCPT TO:<eve@example.org")
    with MailHost() as host, pytest.raises(Exception, match="an address holds a line break"):
        sending(host, to=(box,))

    assert "RCPT" not in host.verbs
