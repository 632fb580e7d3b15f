import pytest
from tests.manifest.samples import fault, faults, loaded

MAIL = """\
id: post
name: Send email
version: "0.1.0"
summary: Send mail through your own server.
transport: smtp
auth:
  - { env: SMTP_HOST, label: Server }
  - { env: SMTP_PASSWORD, label: Password }
smtp: { host: "${SMTP_HOST}", port: 465, user: ann, password: "${SMTP_PASSWORD}", from: ann@example.com, security: tls }
provides:
  email: { cost: free }
channels:
  - kind: email
    label: Email address
    publish: email
    destination:
      to: { type: string, label: To }
"""


def test_a_mail_server_provides_mail_and_is_called_with_what_mail_takes():
    manifest = loaded(MAIL)

    assert manifest.smtp is not None
    assert (manifest.transport, manifest.hosts, manifest.smtp.port.source) == ("smtp", (), "465")
    assert (manifest.smtp.sender.source, manifest.smtp.security.source) == ("ann@example.com", "tls")
    (email,) = manifest.provides
    assert (email.name, email.role, email.steps, email.cost) == ("email", "publish", (), "free")
    assert manifest.channels[0].publish == "email"


def test_what_is_left_out_of_a_mail_server_has_its_default():
    smtp = loaded(MAIL.replace("port: 465, user: ann, ", "").replace(", from: ann@example.com, security: tls", "")).smtp

    assert smtp is not None
    assert (smtp.port.source, smtp.user.source, smtp.sender.source, smtp.security.source) == ("", "", "", "starttls")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("transport: smtp\n", "hosts: [example.com]\n", "smtp: a mail server goes with `transport: smtp`"),
        ("port: 465", "port: 0", "expected a number from 1 to 65535, or a template"),
        ("port: 465", "port: true", "expected a number from 1 to 65535, or a template"),
        ('host: "${SMTP_HOST}", ', "", "smtp.host: missing"),
        ("${SMTP_HOST}", "${SMTP_HOTS}", "did you mean 'SMTP_HOST'?"),
        ("user: ann", 'user: "{{to}}"', "nothing fills {{to}}"),
        ("security: tls", "security: ssl", "expected starttls, tls or none"),
        ("security: tls", "secure: tls", "unknown field"),
        ("provides:\n  email: { cost: free }\n", "", "missing; a mail server provides mail"),
        ("email: { cost: free }", "email: { request: { method: GET, url: /x } }", "the mail server carries it out"),
        ("email: { cost: free }", "image: { cost: free }", "a mail server provides `email` alone"),
        ("channels:", "hosts: [example.com]\nchannels:", "hosts: a mail server has no part in this; leave it out"),
        ("channels:", "tools: []\nchannels:", "tools: a mail server has no part in this; leave it out"),
    ],
)
def test_a_mail_server_that_cannot_work_is_a_fault_at_install(old, new, expected):
    assert MAIL.count(old) >= 1

    found = faults(MAIL.replace(old, new, 1))

    assert any(expected in one for one in found), found


def test_a_mail_server_is_never_left_out():
    text = "".join(line for line in MAIL.splitlines(keepends=True) if not line.startswith("smtp:"))

    assert fault(text).endswith("smtp: missing; `transport: smtp` needs a mail server")
