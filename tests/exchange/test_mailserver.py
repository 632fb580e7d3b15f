"""Keys of a mail server, each checked by itself before it is stored."""

import pytest

from habilis.errors import AddressNotAllowed, SecretMalformed
from habilis.exchange.mailserver import check_mail_key
from habilis.manifest.model import SmtpTemplate
from habilis.templating import compile_text

SMTP = SmtpTemplate(
    host=compile_text("${SMTP_HOST}"),
    port=compile_text("${SMTP_PORT|587}"),
    user=compile_text("${SMTP_USER}"),
    password=compile_text("${SMTP_PASSWORD}"),
    sender=compile_text("${SMTP_FROM}"),
    security=compile_text("${SMTP_SECURITY|starttls}"),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SMTP_HOST", "smtp.example.com"),
        ("SMTP_PORT", "465"),
        ("SMTP_SECURITY", "tls"),
        ("SMTP_USER", "ann"),
        ("SMTP_PASSWORD", " any thing: Ä "),
        ("SMTP_FROM", "Ann <ann@example.com>"),
        ("OTHER", "any\nthing"),
        *((name, "") for name in ("SMTP_HOST", "SMTP_PORT", "SMTP_SECURITY", "SMTP_FROM")),
    ],
)
def test_a_good_value_and_none_at_all_may_be_stored(name, value):
    check_mail_key(SMTP, name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SMTP_HOST", "smtp.example.com\r\nX"),
        ("SMTP_HOST", "smtp.example.com:587"),
        ("SMTP_PORT", "587abc"),
        ("SMTP_PORT", "0"),
        ("SMTP_SECURITY", "STARTLS"),
        ("SMTP_USER", "ann\r\nX"),
        ("SMTP_PASSWORD", "a\nb"),
        ("SMTP_FROM", "Ann"),
        ("SMTP_FROM", "ann@example.com, eve@example.com"),
    ],
)
def test_a_bad_value_is_refused_by_name(name, value):
    with pytest.raises(SecretMalformed) as caught:
        check_mail_key(SMTP, name, value)

    assert name in caught.value.message
    assert value not in str(caught.value)


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "127.1"])
def test_a_host_that_is_never_called_is_not_stored(host):
    with pytest.raises(AddressNotAllowed):
        check_mail_key(SMTP, "SMTP_HOST", host)


def test_all_but_the_password_is_no_secret():
    assert SMTP.told_keys == {"SMTP_HOST", "SMTP_PORT", "SMTP_USER", "SMTP_FROM", "SMTP_SECURITY"}


def test_a_password_that_is_also_something_else_stays_secret():
    shared = SmtpTemplate(
        host=SMTP.host,
        port=SMTP.port,
        user=SMTP.password,
        password=SMTP.password,
        sender=SMTP.sender,
        security=SMTP.security,
    )

    assert "SMTP_PASSWORD" not in shared.told_keys
