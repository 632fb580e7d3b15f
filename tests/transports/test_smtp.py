"""Mail that gets through, and what is asked of a server before a word of it is said."""

import socket
from dataclasses import replace
from email import message_from_bytes, policy

import pytest
from tests.mailhost import MailHost
from tests.transports.certificates import NAME

from habilis.errors import (
    AddressNotAllowed,
    MailInvalid,
    TlsRequired,
    TlsVerifyFailed,
    TooLarge,
    UpstreamError,
    UpstreamProtocol,
    UpstreamUnavailable,
)
from habilis.messages import Attachment, FileSlice, Mailbox, MailServer, Sent
from habilis.transports.smtp import Mailer

PASSWORD = "correct horse Ä"


@pytest.fixture
def mailer(certificates, naming):
    """A mailer that trusts the authority of the good certificates, and finds the servers on this machine."""
    return Mailer(
        ca_file=certificates.authority,
        resolver=naming(service_test=["127.0.0.1"], public_test=["93.184.215.14"], smtp_gmail_com=["127.0.0.1"]),
    )


def over(mail, host, security, *, name="127.0.0.1", **fields):
    """The mail, to go to a scripted server whose place the account's operator allowed."""
    server = MailServer(host=name, port=host.port, security=security, **fields)
    return replace(mail, server=server, private_hosts=frozenset({server.place}))


def test_a_mail_goes_to_a_private_host_without_encryption_when_that_was_allowed(mail):
    with MailHost() as host:
        sent = Mailer().send(over(mail(), host, "none"))

    assert sent == Sent(taken=("ben@example.org",))
    assert host.verbs == ["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]
    assert message_from_bytes(host.messages[0], policy=policy.default)["Subject"] == "Hello"


@pytest.mark.part("openssl")
@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize("offer", ["AUTH PLAIN LOGIN", "AUTH LOGIN", "AUTH XOAUTH2 PLAIN"])
def test_the_password_is_said_only_once_the_line_is_encrypted(mailer, mail, certificates, security, offer):
    login = {"AUTH": lambda line: b"334 go on\r\n" if line == "AUTH LOGIN" or line == "YW5u" else b"235 in\r\n"}
    with MailHost(
        tls=certificates.serving("good"), security=security, offers=(offer,), says=login if "PLAIN" not in offer else {}
    ) as host:
        sent = mailer.send(over(mail(), host, security, name=NAME, user="ann", password=PASSWORD))

    assert sent.taken == ("ben@example.org",)
    assert host.was_encrypted
    spoken = ["EHLO", "STARTTLS", "EHLO"] if security == "starttls" else ["EHLO"]
    assert host.verbs[: len(spoken) + 1] == [*spoken, "AUTH"]
    assert host.verbs[-4:] == ["MAIL", "RCPT", "DATA", "QUIT"]


@pytest.mark.part("openssl")
def test_a_password_goes_out_in_utf_8(mailer, mail, certificates):
    with MailHost(tls=certificates.serving("good"), security="tls") as host:
        mailer.send(over(mail(), host, "tls", name=NAME, user="änn", password=PASSWORD))

    assert host.commands[1] == "AUTH PLAIN AMOkbm4AY29ycmVjdCBob3JzZSDDhA=="


@pytest.mark.part("openssl")
def test_blanks_in_an_app_password_of_google_are_dropped_and_nowhere_else(mail, certificates, naming):
    mailer = Mailer(resolver=naming(smtp_gmail_com=["127.0.0.1"]))
    with MailHost() as host:
        mailer.send(over(mail(), host, "none", name="smtp.gmail.com", user="u", password="ab cd\u00a0ef "))
        mailer.send(over(mail(), host, "none", user="u", password="ab cd"))

    assert [line for line in host.commands if "AUTH" in line] == ["AUTH PLAIN AHUAYWJjZGVm", "AUTH PLAIN AHUAYWIgY2Q="]


@pytest.mark.part("openssl")
def test_a_server_that_offers_no_encryption_gets_no_password_and_no_mail(mailer, mail):
    with MailHost(security="none") as host, pytest.raises(TlsRequired, match="does not offer encryption") as caught:
        mailer.send(over(mail(), host, "starttls", user="ann", password=PASSWORD))

    assert caught.value.outcome == "not_sent"
    assert host.verbs == ["EHLO"]


def test_a_server_that_takes_its_offer_of_encryption_back_gets_nothing(mail):
    says = {"STARTTLS": b"454 not today\r\n"}
    with MailHost(says=says, security="starttls") as host, pytest.raises(TlsRequired, match="454 not today"):
        Mailer().send(over(mail(), host, "starttls", user="ann", password=PASSWORD))

    assert host.verbs == ["EHLO", "STARTTLS"]


def test_words_slipped_in_before_encryption_are_not_believed(mail):
    says = {"STARTTLS": b"220 go on\r\n250 AUTH PLAIN\r\n"}
    with MailHost(says=says, security="starttls") as host, pytest.raises(UpstreamProtocol, match="before encryption"):
        Mailer().send(over(mail(), host, "starttls", user="ann", password=PASSWORD))

    assert "AUTH" not in host.verbs


@pytest.mark.part("openssl")
@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("self_signed", "it is self-signed"),
        ("expired", "it has expired"),
        ("other_name", "it is for another name"),
        ("unknown_authority", "it is signed by an unknown authority"),
    ],
)
def test_a_bad_certificate_is_refused_before_the_sign_in(mailer, mail, certificates, security, kind, reason):
    with (
        MailHost(tls=certificates.serving(kind), security=security) as host,
        pytest.raises(TlsVerifyFailed, match=reason) as caught,
    ):
        mailer.send(over(mail(), host, security, name=NAME, user="ann", password=PASSWORD))

    assert caught.value.outcome == "not_sent"
    assert not host.was_encrypted
    assert "AUTH" not in host.verbs


def test_without_encryption_a_public_server_is_never_dialled(mailer, mail):
    server = MailServer(host="public.test", port=25, security="none")
    one = replace(mail(), server=server, private_hosts=frozenset({"public.test:25"}))

    with pytest.raises(TlsRequired, match="public address without encryption") as caught:
        mailer.send(one)

    assert (caught.value.outcome, caught.value.where) == ("not_sent", "tool 'email'")


@pytest.mark.parametrize("security", ["starttls", "tls", "none"])
def test_a_private_server_is_not_dialled_unless_the_operator_allowed_it(mailer, mail, security):
    with MailHost() as host, pytest.raises(AddressNotAllowed) as caught:
        mailer.send(replace(over(mail(), host, security, name=NAME), private_hosts=frozenset()))

    assert host.connections == 0
    assert f"allow-private <project> <account> {NAME}:{host.port}" in caught.value.hint


def test_an_allowed_server_is_not_dialled_where_private_hosts_are_switched_off(mail):
    with MailHost() as host, pytest.raises(AddressNotAllowed) as caught:
        Mailer(private="never").send(over(mail(), host, "none"))

    assert host.connections == 0
    assert "network.private: never" in caught.value.hint


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "224.0.0.1"])
def test_a_reserved_address_is_never_dialled(mail, naming, address):
    server = MailServer(host="service.test", port=25, security="none")
    one = replace(mail(), server=server, private_hosts=frozenset({server.place}))

    with pytest.raises(AddressNotAllowed, match="never called"):
        Mailer(resolver=naming(service_test=[address])).send(one)


def test_the_engines_own_port_is_never_dialled(mail):
    with MailHost() as host, pytest.raises(AddressNotAllowed, match="this engine itself"):
        Mailer(own_ports=frozenset({host.port})).send(over(mail(), host, "none"))

    assert host.connections == 0


def test_the_checked_address_is_dialled_after_one_lookup(mail, naming):
    resolver = naming(service_test=["127.0.0.1"])
    with MailHost() as host:
        Mailer(resolver=resolver).send(over(mail(), host, "none", name=NAME))

    assert resolver.asked == [NAME]


def test_nobody_at_the_port_is_told_so(mail):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    server = MailServer(host="127.0.0.1", port=port, security="none")

    with pytest.raises(UpstreamUnavailable, match=f"does not take connections on port {port}") as caught:
        Mailer().send(replace(mail(), server=server, private_hosts=frozenset({server.place})))

    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", True)


def test_a_port_that_waits_for_encryption_is_not_waited_for_as_long_as_for_a_mail(mail, monkeypatch):
    monkeypatch.setattr("habilis.transports.smtp._GREETING_LIMIT_S", 0.1)
    with (
        MailHost(says={"GREETING": (5.0,)}) as host,
        pytest.raises(UpstreamUnavailable, match="says nothing") as caught,
    ):
        Mailer().send(over(mail(), host, "starttls"))

    assert "set the security to tls" in caught.value.hint


@pytest.mark.part("openssl")
def test_a_port_that_is_not_encrypted_from_the_first_byte_is_told_so(mailer, mail):
    with MailHost() as host, pytest.raises(UpstreamUnavailable, match="did not agree on an encrypted") as caught:
        mailer.send(over(mail(), host, "tls", name=NAME))

    assert "set the security to starttls" in caught.value.hint


def test_a_server_that_asks_for_no_sign_in_gets_none(mail):
    with MailHost(offers=()) as host:
        Mailer().send(over(mail(), host, "none"))

    assert host.verbs == ["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]


@pytest.mark.parametrize(("offers", "named"), [((), "password"), (("AUTH XOAUTH2",), "password, only XOAUTH2")])
def test_a_server_that_takes_no_password_is_not_given_one(mail, offers, named):
    with MailHost(offers=offers) as host, pytest.raises(UpstreamError, match=f"offers no sign-in with a {named} [(]"):
        Mailer().send(over(mail(), host, "none", user="ann", password=PASSWORD))

    assert host.verbs == ["EHLO"]


def test_this_machine_gives_its_address_and_not_its_name(mail):
    with MailHost() as host:
        Mailer().send(over(mail(), host, "none"))

    assert host.commands[0] == "EHLO [127.0.0.1]"


def test_every_recipient_gets_the_one_mail_and_each_address_once(mail):
    ann, ben, eve = (Mailbox(address=f"{name}@example.org") for name in ("ann", "ben", "eve"))
    with MailHost() as host:
        sent = Mailer().send(over(mail(to=(ann, ben), cc=(ben,), bcc=(eve, ann)), host, "none"))

    assert sent.taken == ("ann@example.org", "ben@example.org", "eve@example.org")
    assert [line for line in host.commands if line.startswith("RCPT")] == [
        f"RCPT TO:<{name}@example.org>" for name in ("ann", "ben", "eve")
    ]
    assert len(host.messages) == 1
    assert b"eve" not in host.messages[0]


def test_what_looks_like_the_end_of_a_mail_is_part_of_it(mail):
    text = "a\r\n.\r\nMAIL FROM:<x>\r\n..\n.b"
    with MailHost() as host:
        Mailer().send(over(mail(text=text), host, "none"))

    [message] = (message_from_bytes(data, policy=policy.default) for data in host.messages)
    assert message.get_body(("plain",)).get_content() == text.replace("\n", "\r\n").replace("\r\r", "\r")
    assert host.verbs.count("MAIL") == 1


def test_a_mail_that_the_server_calls_too_large_is_not_begun(mail, tmp_path):
    path = tmp_path / "big"
    with path.open("wb") as stream:
        stream.truncate(30_000_000)
    big = Attachment(name="big", mime="image/png", file=FileSlice(path=str(path), size=30_000_000))
    with (
        MailHost(offers=("SIZE 10000000",)) as host,
        pytest.raises(TooLarge, match=r"is 4105.... bytes and 127[.]0[.]0[.]1 takes 10000000") as caught,
    ):
        Mailer().send(over(mail(attachments=(big,)), host, "none"))

    assert caught.value.outcome == "not_sent"
    assert host.verbs == ["EHLO"]


@pytest.mark.parametrize("offer", ["SIZE", "SIZE 0", "SIZE what"])
def test_a_server_that_names_no_limit_is_told_the_size(mail, offer):
    with MailHost(offers=(offer,)) as host:
        Mailer().send(over(mail(), host, "none"))

    assert host.commands[1] == f"MAIL FROM:<ann@example.com> SIZE={len(host.messages[0])}"


def test_letters_before_the_at_sign_go_to_a_server_that_carries_them(mail):
    to = Mailbox(address="用户@xn--r8jz45g.jp")
    with MailHost(offers=("8BITMIME", "SMTPUTF8")) as host:
        Mailer().send(over(mail(to=(to,)), host, "none"))

    assert host.commands[1:3] == [
        "MAIL FROM:<ann@example.com> BODY=8BITMIME SMTPUTF8",
        "RCPT TO:<用户@xn--r8jz45g.jp>",
    ]
    assert "用户@xn--r8jz45g.jp".encode() in host.messages[0]


def test_letters_before_the_at_sign_stay_away_from_a_server_that_does_not(mail):
    to = Mailbox(address="用户@xn--r8jz45g.jp")
    with MailHost(offers=()) as host, pytest.raises(MailInvalid, match="letters beyond ASCII before the @") as caught:
        Mailer().send(over(mail(to=(to,)), host, "none"))

    assert caught.value.outcome == "not_sent"
    assert host.verbs == ["EHLO"]


@pytest.mark.part("openssl")
def test_a_big_attachment_arrives_whole_under_encryption(mailer, mail, certificates, tmp_path):
    data = bytes(range(256)) * 20_000
    path = tmp_path / "big"
    path.write_bytes(data)
    big = Attachment(name="big.bin", mime="image/png", file=FileSlice(path=str(path), size=len(data)))
    with MailHost(tls=certificates.serving("good"), security="starttls", offers=()) as host:
        mailer.send(over(mail(attachments=(big,)), host, "starttls", name=NAME))

    [part] = message_from_bytes(host.messages[0], policy=policy.default).iter_attachments()
    assert part.get_content() == data


def test_what_has_to_be_done_first_is_done_once_before_the_first_word(mail):
    heard_then = []
    with MailHost() as host:
        Mailer().send(over(mail(), host, "none"), before_first_byte=lambda: heard_then.append(list(host.commands)))

    assert heard_then == [[]]


def test_what_has_to_be_done_first_stops_the_mail_when_it_fails(mail):
    def fail():
        raise AddressNotAllowed("no")

    with MailHost() as host, pytest.raises(AddressNotAllowed, match="no"):
        Mailer().send(over(mail(), host, "none"), before_first_byte=fail)

    assert host.commands == []
