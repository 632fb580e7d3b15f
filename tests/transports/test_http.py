"""What goes out and what comes back when all goes well, and where requests may not go."""

import base64
import gc
import gzip
import subprocess
import sys
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
import vcr
from tests.upstream import CLOSE, Upstream, answer

from habilis import __version__
from habilis.errors import AddressNotAllowed, BadInput, HostNotAllowed, PlainHttpRefused, SecretMalformed
from habilis.messages import Answer, Request
from habilis.transports.http import HttpTransport

RECORDED = """\
version: 1
interactions:
- request: {method: GET, uri: https://api.example.com/v1, body: "", headers: {}}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [application/json]}
    body: {string: "{}"}
"""


def test_an_answer_is_its_status_its_headers_and_its_body(transport, asking):
    said = answer(404, body=b'{"a": 1}', headers=(("Content-Type", "application/json"), ("X-A", "1"), ("x-a", "2")))
    with Upstream(said) as upstream:
        got = transport.send(asking(upstream, "/items?x=%20"))

    assert got == Answer(
        status=404,
        headers={"content-type": "application/json", "x-a": "1, 2", "content-length": "8"},
        body=b'{"a": 1}',
        size=8,
    )
    assert 0 < got.elapsed_s < 5
    assert upstream.requests[0].target == "/items?x=%20"


def test_a_request_carries_the_headers_it_needs_and_no_others(transport, asking):
    with Upstream(answer()) as upstream:
        transport.send(asking(upstream, headers=(("X-Title", "caf\u00e9"),)))

    seen = upstream.requests[0]
    assert seen.names == ("host", "x-title", "accept", "accept-encoding", "user-agent")
    assert seen.headers == {
        "host": upstream.place,
        "x-title": "caf\u00e9",
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "user-agent": f"habilis/{__version__}",
    }


def test_a_given_header_takes_the_place_of_the_usual_one(transport, asking):
    with Upstream(answer()) as upstream:
        transport.send(asking(upstream, headers=(("accept", "text/csv"), ("USER-AGENT", "me"))))

    seen = upstream.requests[0]
    assert seen.names.count("accept") == seen.names.count("user-agent") == 1
    assert (seen.headers["accept"], seen.headers["user-agent"]) == ("text/csv", "me")


@pytest.mark.parametrize("body", [None, b"", b"{}", b"x" * 100_000])
def test_a_publishing_request_always_says_how_long_it_is(transport, publishing, body):
    with Upstream(answer()) as upstream:
        transport.send(publishing(upstream, body=body))

    assert upstream.requests[0].headers["content-length"] == str(len(body or b""))
    assert upstream.requests[0].body == (body or b"")


def test_basic_auth_is_sent_in_utf_8_with_the_spaces_of_an_application_password(transport, asking):
    pair = ("j\u00fcrgen", "abcd EFGH 1234 ijkl MNOP 6789")
    with Upstream(answer()) as upstream:
        transport.send(asking(upstream, basic_auth=pair))

    kind, _, value = upstream.requests[0].headers["authorization"].partition(" ")
    assert kind == "Basic"
    assert base64.b64decode(value).decode() == "j\u00fcrgen:abcd EFGH 1234 ijkl MNOP 6789"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_packed_answer_is_unpacked(transport, asking, encoding):
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}[encoding](b"hello")
    with Upstream(answer(body=packed, headers=(("Content-Encoding", encoding),))) as upstream:
        assert transport.send(asking(upstream)).body == b"hello"


def test_an_answer_in_chunks_and_one_that_ends_with_the_connection_are_whole(transport, asking):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    closing = b"HTTP/1.0 200 OK\r\n\r\nhello"
    with Upstream(chunked, (closing, CLOSE)) as upstream:
        bodies = [transport.send(asking(upstream)).body for _ in range(2)]

    assert bodies == [b"hello", b"hello"]


def test_an_answer_to_head_has_no_body_whatever_its_length_says(transport, asking):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Encoding: gzip\r\n\r\n"
    with Upstream(head) as upstream:
        assert transport.send(asking(upstream, method="HEAD")).body == b""


def test_reads_share_a_connection_and_actions_never_do(transport, asking, publishing):
    with Upstream(answer()) as upstream:
        for _ in range(3):
            transport.send(asking(upstream))
            transport.send(publishing(upstream))

    reads = {seen.connection for seen in upstream.requests if seen.method == "GET"}
    actions = {seen.connection for seen in upstream.requests if seen.method == "POST"}
    assert len(reads) == 1
    assert len(actions) == 3
    assert not reads & actions


def test_a_cookie_is_never_sent_back(transport, asking):
    with Upstream(answer(headers=(("Set-Cookie", "sid=A; Path=/"),))) as upstream:
        for _ in range(2):
            transport.send(asking(upstream))

    assert all("cookie" not in seen.headers for seen in upstream.requests)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_not_used(asking, monkeypatch, name):
    with Upstream() as canary, Upstream(answer()) as upstream:
        monkeypatch.setenv(name, canary.url())
        direct = HttpTransport()
        got = direct.send(asking(upstream))
        direct.close()

    assert got.status == 200
    assert canary.connections == 0


def test_a_password_file_of_the_user_is_not_read(asking, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login u password s3cret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    direct = HttpTransport()
    with Upstream(answer()) as upstream:
        direct.send(asking(upstream))
    direct.close()

    assert "authorization" not in upstream.requests[0].headers


@pytest.mark.parametrize("is_read", [True, False])
def test_an_opt_in_opens_one_port_to_one_account(transport, asking, is_read):
    with Upstream(answer()) as opened, Upstream() as closed:
        assert transport.send(asking(opened, is_read=is_read)).status == 200
        for other in (
            asking(closed, private_hosts=frozenset({opened.place}), is_read=is_read),
            asking(opened, private_hosts=frozenset(), is_read=is_read),
        ):
            with pytest.raises(PlainHttpRefused):
                transport.send(other)

    assert len(opened.requests) == 1
    assert closed.connections == 0


def test_where_private_hosts_are_switched_off_an_opt_in_opens_nothing(asking):
    hosted = HttpTransport(private="never")
    with Upstream() as canary, pytest.raises(AddressNotAllowed) as caught:
        hosted.send(asking(canary))

    assert caught.value.hint == "private hosts are switched off here (network.private: never)"
    assert caught.value.where == "tool 'get'"
    assert canary.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_engine_never_calls_itself(asking, host):
    with Upstream(host=host) as engine:
        transport = HttpTransport(own_ports=frozenset({engine.port}))
        with pytest.raises(AddressNotAllowed, match="is this engine itself"):
            transport.send(asking(engine))

    assert engine.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_private_address_behind_a_public_name_is_not_dialled(naming, host):
    with Upstream(host=host) as canary:
        resolver = naming(api_example_com=["93.184.216.34", host])
        request = Request(where="tool 'get'", method="GET", url=f"https://api.example.com:{canary.port}/")
        with pytest.raises(AddressNotAllowed, match=r"api\.example\.com leads to a private address"):
            HttpTransport(resolver=resolver).send(request)

    assert canary.connections == 0
    assert resolver.asked == ["api.example.com"]


def test_a_name_that_starts_to_lead_here_is_refused_each_time(naming):
    with Upstream() as canary:
        transport = HttpTransport(resolver=naming(rebinding_test=["127.0.0.1"]))
        request = Request(where="t", method="POST", url=f"https://rebinding.test:{canary.port}/", is_read=False)
        for _ in range(100):
            with pytest.raises(AddressNotAllowed):
                transport.send(request)

    assert canary.connections == 0


def test_the_checked_address_is_dialled_after_one_lookup_with_the_name_as_host(asking, naming):
    resolver = naming(nas_local=["127.0.0.1"])
    transport = HttpTransport(resolver=resolver)
    with Upstream(answer()) as upstream:
        transport.send(asking(upstream, host="nas.local"))
        transport.send(asking(upstream, host="nas.local"))
    transport.close()

    assert resolver.asked == ["nas.local"]
    assert upstream.requests[0].headers["host"] == f"nas.local:{upstream.port}"


def test_the_next_address_is_tried_when_the_first_does_not_answer(asking, naming):
    with Upstream(answer()) as upstream:
        transport = HttpTransport(resolver=naming(nas_local=["127.0.0.2", "::1", "127.0.0.1"]))
        got = transport.send(asking(upstream, host="nas.local"))
        transport.close()

    assert got.status == 200


def test_without_encryption_a_name_that_turned_public_is_not_dialled(asking, naming):
    with Upstream() as canary, pytest.raises(PlainHttpRefused, match="public address"):
        HttpTransport(resolver=naming(nas_local=["93.184.216.34"])).send(asking(canary, host="nas.local"))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "/x", "https:///", "https://h:\u0661x/", "http://\ud800/"])
def test_a_url_that_was_never_checked_is_refused(transport, url):
    with pytest.raises(HostNotAllowed) as caught:
        transport.send(Request(where="t", method="GET", url=url))

    assert caught.value.__context__ is None


@pytest.mark.parametrize("value", ["x\r\nX-Evil: 1", "x\n", "x\0y", "s3cret\u20ac", "s3cret\U0001f4a9", "s3cret\ud800"])
def test_a_value_no_header_can_carry_is_refused_unsent_and_unsaid(transport, asking, value):
    with Upstream() as canary, pytest.raises(SecretMalformed) as caught:
        transport.send(asking(canary, headers=(("X-Title", value),)))

    assert caught.value.message == "header X-Title has characters a header cannot carry"
    assert caught.value.outcome == "refused"
    assert caught.value.__context__ is None
    assert canary.connections == 0


@pytest.mark.parametrize("pair", [("a:b", "s3cret"), ("a\ud800", "s3cret"), ("a", "s3cret\ud800")])
def test_a_user_name_or_password_basic_cannot_carry_is_refused_unsaid(transport, asking, pair):
    with Upstream() as canary, pytest.raises(SecretMalformed) as caught:
        transport.send(asking(canary, basic_auth=pair))

    assert "s3cret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert canary.connections == 0


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization", "a b", "", "X:", "\u00e9"],
)
def test_a_header_that_changes_how_a_request_is_carried_is_refused(transport, asking, name):
    with Upstream() as canary, pytest.raises(BadInput, match="header"):
        transport.send(asking(canary, headers=((name, "x"),)))

    assert canary.connections == 0


def test_many_threads_each_get_their_own_answer(transport, asking):
    with Upstream(lambda seen: answer(body=seen.target.encode())) as upstream, ThreadPoolExecutor(16) as threads:
        got = list(threads.map(lambda n: transport.send(asking(upstream, f"/{n}")).body, range(200)))

    assert got == [f"/{n}".encode() for n in range(200)]
    assert upstream.connections <= 16


def test_closing_ends_the_kept_connections_and_the_next_request_opens_another(transport, asking):
    with Upstream(answer()) as upstream:
        transport.send(asking(upstream))
        transport.close()
        transport.send(asking(upstream))

    assert upstream.connections == 2


def test_a_recorded_answer_is_played_without_a_connection(transport, tmp_path):
    cassette = tmp_path / "one.yaml"
    cassette.write_text(RECORDED)

    with vcr.use_cassette(str(cassette), record_mode="none"):
        got = transport.send(Request(where="t", method="GET", url="https://api.example.com/v1"))

    assert got == Answer(status=200, headers={"content-type": "application/json"}, body=b"{}", size=2)


def test_a_cold_start_loads_no_command_line():
    program = (
        "import sys, habilis.transports.http, httpx\n"
        "heavy = {'rich', 'pygments', 'click', 'publicsuffixlist', 'httpx._main'}\n"
        "print(sorted(heavy & sys.modules.keys()), callable(httpx.main))"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert said.stdout == "[] True\n"


def test_kept_connections_are_closed_when_nobody_has_the_transport_any_more(asking):
    with Upstream(answer()) as upstream:
        transport = HttpTransport()
        transport.send(asking(upstream))

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            del transport
            gc.collect()

    assert [str(entry.message) for entry in warned if entry.category is ResourceWarning] == []


def test_a_transport_that_outlives_the_librarys_modules_ends_in_silence():
    program = (
        "import atexit, httpcore._trace\n"
        "from habilis.messages import Request\n"
        "from habilis.transports.http import HttpTransport\n"
        "from tests.upstream import Upstream, answer\n"
        "upstream = Upstream(answer()).__enter__()\n"
        "place = upstream.url('').removeprefix('http://')\n"
        "kept = HttpTransport()\n"
        "asked = Request(where='x', method='GET', url=upstream.url('/'), private_hosts=frozenset({place}))\n"
        "print(kept.send(asked).status)\n"
        "atexit.register(setattr, httpcore._trace, 'logging', None)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (said.stdout, said.stderr) == ("200\n", "")
