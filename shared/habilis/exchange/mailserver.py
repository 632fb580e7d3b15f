"""The mail server and the sender that an account's keys name, each value checked for what it stands for.

Source: RFC 8314 section 7.3: port 465 is encrypted from the first byte.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, cast

from habilis.errors import BadInput, MailInvalid, SecretMalformed, SecretMissing
from habilis.exchange.mailboxes import holds_breaks, read_mailbox
from habilis.hosts import host_name
from habilis.manifest.model import SmtpTemplate
from habilis.messages import Mailbox, MailServer
from habilis.templating import MISSING, Scope, TextTemplate

Security = Literal["starttls", "tls", "none"]

_PORTS: Mapping[str, int] = {"starttls": 587, "tls": 465, "none": 25}
_TLS_PORT = 465
_HIGHEST_PORT = 65_535
_PORT = re.compile(r"[1-9][0-9]{0,4}")


def read_server(smtp: SmtpTemplate, scope: Scope) -> MailServer:
    """The mail server that the keys name; on port 465 `starttls` means `tls`, for nothing else is spoken there.

    Raises:
        SecretMissing: A key that it needs is not set.
        SecretMalformed: A key's value is no such thing; it is never shown.
        AddressNotAllowed: The host is a number in disguise, or an address that is never called.
    """
    host, security = _host(smtp.host, scope), _security(smtp.security, scope)
    port = _port(smtp.port, scope) or _PORTS[security]
    user = _text(smtp.user, scope).strip()
    return MailServer(
        host=host,
        port=port,
        security="tls" if port == _TLS_PORT and security == "starttls" else security,
        user=user,
        password=_required(smtp.password, scope) if user else "",
    )


def read_sender(smtp: SmtpTemplate, scope: Scope) -> Mailbox:
    """The address that mails come from: the user name where none is set; SecretMalformed when it is none."""
    written = _text(smtp.sender, scope).strip()
    source = smtp.sender if written else smtp.user
    try:
        return read_mailbox(written or _text(smtp.user, scope), field=_names(source))
    except MailInvalid as error:
        hint = f"set {_names(smtp.sender)}: the address that mails come from"
        raise SecretMalformed(error.message, hint=hint) from None


def check_mail_key(smtp: SmtpTemplate, name: str, value: str) -> None:
    """Check a key's value by itself, before it is stored; raises as `read_server` and `read_sender`."""
    scope = Scope({}, {name: value})
    checks: tuple[tuple[TextTemplate, Callable[[TextTemplate, Scope], object]], ...] = (
        (smtp.host, _host),
        (smtp.port, _port),
        (smtp.security, _security),
        (smtp.user, _text),
        (smtp.password, _text),
        (smtp.sender, lambda *_: read_sender(smtp, scope)),
    )
    for template, check in checks:
        if value and set(template.keys) == {name}:
            check(template, scope)


def _host(template: TextTemplate, scope: Scope) -> str:
    text = _required(template, scope)
    try:
        return host_name(text)
    except BadInput as error:
        raise SecretMalformed(
            f"{_names(template)} is no host: {error.message}", hint="write it as smtp.example.com"
        ) from None


def _port(template: TextTemplate, scope: Scope) -> int:
    """The port; 0 where none is named."""
    text = _text(template, scope).strip()
    if text and not (_PORT.fullmatch(text) and int(text) <= _HIGHEST_PORT):
        raise SecretMalformed(
            f"{_names(template)} is a number from 1 to {_HIGHEST_PORT}", hint="587 and 465 are the usual ones"
        )
    return int(text or 0)


def _security(template: TextTemplate, scope: Scope) -> Security:
    text = _text(template, scope).strip().lower() or "starttls"
    if text not in _PORTS:
        raise SecretMalformed(f"{_names(template)} is starttls, tls or none", hint="set it to one of them")
    return cast("Security", text)


def _required(template: TextTemplate, scope: Scope) -> str:
    text = _text(template, scope)
    if not text:
        raise SecretMissing(f"{_names(template)} is not set", hint="set it on the account")
    return text


def _text(template: TextTemplate, scope: Scope) -> str:
    filled = template.fill(scope)
    text = "" if filled is MISSING else filled
    if holds_breaks(text):
        raise SecretMalformed(f"{_names(template)} holds line breaks or control characters", hint="set it again")
    return text


def _names(template: TextTemplate) -> str:
    return " or ".join(template.keys) or "the mail server's entry"
