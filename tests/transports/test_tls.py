"""Encrypted connections: which certificates are good, and what a bad one means for the order."""

import socket
from dataclasses import replace

import pytest
from tests.transports.certificates import NAME
from tests.upstream import CLOSE, Upstream, answer

from habilis.errors import AddressNotAllowed, EngineFailed, TlsVerifyFailed, UpstreamProtocol, UpstreamUnavailable
from habilis.messages import Request
from habilis.transports.http import HttpTransport

pytestmark = pytest.mark.part("openssl")


@pytest.fixture
def trusting(certificates, naming):
    """A transport that trusts the authority of the good certificates, and finds the service on this machine."""
    one = HttpTransport(ca_file=certificates.authority, resolver=naming(service_test=["127.0.0.1"]))
    yield one
    one.close()


def test_a_good_certificate_is_accepted_and_the_connection_kept_for_reads(trusting, certificates, asking):
    with Upstream(answer(body=b"hello"), tls=certificates.serving("good")) as upstream:
        bodies = [trusting.send(asking(upstream, host=NAME)).body for _ in range(2)]

    assert bodies == [b"hello", b"hello"]
    assert upstream.connections == 1


def test_a_big_body_goes_out_and_comes_back_whole(trusting, certificates, publishing):
    big = bytes(range(256)) * 8000
    with Upstream(lambda seen: answer(body=seen.body), tls=certificates.serving("good")) as upstream:
        got = trusting.send(publishing(upstream, host=NAME, body=big))

    assert got.body == big


def test_the_name_asked_for_is_the_name_the_service_is_told(trusting, certificates, asking):
    told = []
    tls = certificates.serving("good")
    tls.sni_callback = lambda _, name, __: told.append(name)
    with Upstream(answer(), tls=tls) as upstream:
        trusting.send(asking(upstream, host=NAME))

    assert told == [NAME]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("self_signed", "it is self-signed"),
        ("expired", "it has expired"),
        ("other_name", "it is for another name"),
        ("unknown_authority", "it is signed by an unknown authority"),
    ],
)
@pytest.mark.parametrize("is_read", [True, False])
def test_a_bad_certificate_is_refused_with_the_reason_before_anything_is_sent(
    trusting, certificates, publishing, kind, reason, is_read
):
    with Upstream(answer(), tls=certificates.serving(kind)) as upstream, pytest.raises(TlsVerifyFailed) as caught:
        trusting.send(publishing(upstream, host=NAME, is_read=is_read))

    assert caught.value.message == f"the certificate of {NAME} is not good: {reason}"
    assert (caught.value.outcome, caught.value.retryable) == ("not_sent", False)
    assert upstream.requests == []


def test_without_the_operators_file_its_authority_is_unknown(certificates, naming, asking):
    transport = HttpTransport(resolver=naming(service_test=["127.0.0.1"]))
    with Upstream(answer(), tls=certificates.serving("good")) as upstream, pytest.raises(TlsVerifyFailed):
        transport.send(asking(upstream, host=NAME))


def test_a_connection_that_one_account_may_use_is_not_there_for_another(trusting, certificates, asking):
    with Upstream(answer(), tls=certificates.serving("good")) as upstream:
        trusting.send(asking(upstream, host=NAME))
        with pytest.raises(AddressNotAllowed, match=r"service\.test leads to a private address"):
            trusting.send(asking(upstream, host=NAME, private_hosts=frozenset()))

    assert len(upstream.requests) == 1


def test_a_port_that_speaks_no_https_was_not_sent_to(trusting, publishing):
    with Upstream((b"HTTP/1.1 400 Bad Request\r\n\r\n", CLOSE)) as upstream:
        request = publishing(upstream, host=NAME)
        with pytest.raises(UpstreamUnavailable, match="did not agree on an encrypted connection") as caught:
            trusting.send(replace(request, url=request.url.replace("http:", "https:")))

    assert caught.value.outcome == "not_sent"


def test_a_handshake_that_hangs_is_given_up_unsent(trusting, publishing):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"{NAME}:{silent.getsockname()[1]}"
        request = Request(
            where="t",
            method="POST",
            url=f"https://{place}/",
            is_read=False,
            timeout_s=0.2,
            private_hosts=frozenset({place}),
        )
        with pytest.raises(UpstreamUnavailable) as caught:
            trusting.send(request)

    assert caught.value.outcome == "not_sent"


def test_an_answer_cut_off_under_encryption_is_not_whole(trusting, certificates, asking):
    cut = (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", CLOSE)
    with Upstream(cut, tls=certificates.serving("good")) as upstream, pytest.raises(UpstreamProtocol):
        trusting.send(asking(upstream, host=NAME))


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_file_of_authorities_that_cannot_be_read_is_named(tmp_path, text):
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)

    with pytest.raises(EngineFailed) as caught:
        HttpTransport(ca_file=str(file)).send(Request(where="t", method="GET", url="https://api.example.com/"))

    assert caught.value.where == str(file)
