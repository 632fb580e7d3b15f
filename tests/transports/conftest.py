"""The transport under test, and requests to a scripted upstream on this machine."""

import socket
from datetime import UTC, datetime

import pytest
from tests.transports.certificates import Certificates

from habilis.messages import Mail, Mailbox, MailServer, Request
from habilis.transports.http import HttpTransport


@pytest.fixture
def transport():
    """A transport as a local runner has it, closed afterwards."""
    one = HttpTransport()
    yield one
    one.close()


@pytest.fixture
def asking():
    """Make a request to an upstream whose place the account's operator allowed."""

    def ask(upstream, target="/", *, host=None, **fields):
        url = upstream.url(target, host=host)
        place = f"{host}:{upstream.port}" if host else upstream.place
        defaults = {"where": "tool 'get'", "method": "GET", "private_hosts": frozenset({place}), "timeout_s": 5.0}
        return Request(url=url, **{**defaults, **fields})

    return ask


@pytest.fixture
def publishing(asking):
    """Make a request that changes something outside."""

    def publish(upstream, target="/posts", **fields):
        defaults = {"where": "tool 'publish'", "method": "POST", "body": b'{"title":"x"}', "is_read": False}
        return asking(upstream, target, **{**defaults, **fields})

    return publish


@pytest.fixture
def naming():
    """Make a resolver out of names and their addresses; it knows no other name."""

    def resolver(**names):
        def resolve(host, port, **_):
            found = names.get(host.replace(".", "_"))
            if found is None:
                raise socket.gaierror(socket.EAI_NONAME, "unknown")
            resolve.asked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

        resolve.asked = []
        return resolve

    return resolver


@pytest.fixture
def mail():
    """Make a mail from Ann to Ben."""

    def write(**fields):
        defaults = {
            "where": "tool 'email'",
            "server": MailServer(host="mail.test", port=587, security="starttls"),
            "sender": Mailbox(address="ann@example.com", name="Ann"),
            "to": (Mailbox(address="ben@example.org"),),
            "subject": "Hello",
            "text": "Hi **Ben**",
            "html": "<p>Hi <strong>Ben</strong></p>",
            "message_id": "1@example.com",
            "date": datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
            "timeout_s": 5.0,
        }
        return Mail(**{**defaults, **fields})

    return write


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Real certificates for service.test; a test that takes them needs the part "openssl"."""
    return Certificates(tmp_path_factory.mktemp("certificates"))
