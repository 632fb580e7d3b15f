"""What a body may be, and what becomes of one that is too large, broken or of another kind."""

import io
import json
import time
import tracemalloc

import pytest
from tests.functions.site import error

MIB = 1024 * 1024


def order_of(size):
    """Return an order whose body is exactly so many bytes."""
    start, end = b'{"project":"acme","tool":"list_posts","arguments":{"search":"', b'"}}'
    return start + b"x" * (size - len(start) - len(end)) + end


class Chunks(io.RawIOBase):
    """A body that comes in pieces, and may never end; each read takes one piece at most, as from a network."""

    def __init__(self, pieces):
        self.pieces, self.rest, self.read_bytes = iter(pieces), b"", 0

    def readable(self):
        return True

    def readinto(self, buffer):
        self.rest = self.rest or next(self.pieces, b"")
        piece, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(piece)] = piece
        self.read_bytes += len(piece)
        return len(piece)


def chunked(site, pieces):
    body = Chunks(pieces)
    environ = {"wsgi.input": body, "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    reply = site.raw("call", content_type="application/json", environ_overrides=environ)
    return reply, body.read_bytes


def test_a_body_of_one_mib_is_read(site):
    site.add_account()

    reply = site.raw("call", data=order_of(MIB), content_type="application/json")

    assert reply.status_code != 413


def test_one_byte_more_is_too_large(site):
    reply = site.raw("call", data=order_of(MIB + 1), content_type="application/json")

    assert (reply.status_code, error(reply)["code"]) == (413, "too_large")


def test_a_large_body_is_refused_by_its_length_alone(site):
    body = Chunks([b"x"])

    reply = site.raw(
        "call", content_type="application/json", environ_overrides={"wsgi.input": body, "CONTENT_LENGTH": str(60 * MIB)}
    )

    assert (reply.status_code, error(reply)["code"]) == (413, "too_large")
    assert body.read_bytes == 0


def test_without_a_token_no_body_is_read(site):
    body = Chunks([b"x"])

    reply = site.raw("call", headers={}, environ_overrides={"wsgi.input": body, "CONTENT_LENGTH": str(60 * MIB)})

    assert reply.status_code == 401
    assert body.read_bytes == 0


def test_a_chunked_body_is_read_to_the_limit_and_not_cut_in_silence(site):
    site.add_account()
    order = order_of(4000)

    good, _ = chunked(site, [order[:10], order[10:]])
    large, read_bytes = chunked(site, [b" " * 65536] * 1600)
    endless, _ = chunked(site, iter(lambda: b" " * 65536, None))

    assert good.status_code == 200
    assert (large.status_code, endless.status_code) == (413, 413)
    assert read_bytes < 2 * MIB


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        ("a long text", b'{"search":"' + b"x" * (20 * MIB) + b'"}'),
        ("many items", b'{"search":[' + b"1," * 999_999 + b"1]}"),
        ("deep", b'{"search":' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
        ("deep objects", b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
        ("many keys", b"{" + b",".join(b'"k%d":1' % number for number in range(100_000)) + b"}"),
    ],
)
def test_huge_arguments_are_refused_fast_and_in_little_memory(site, what, arguments):
    site.add_account()
    site.call("list_posts")
    body = b'{"project":"acme","tool":"list_posts","arguments":' + arguments + b"}"

    started = time.process_time()
    reply = site.raw("call", data=body, content_type="application/json")
    took_s = time.process_time() - started
    tracemalloc.start()
    site.raw("call", data=body, content_type="application/json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (reply.status_code, error(reply)["code"]) in {(413, "too_large"), (400, "args_invalid")}
    assert took_s < 0.5  # a tenth of it where nothing else runs
    assert peak < 50 * MIB
    assert len(reply.text) < 1000


@pytest.mark.parametrize(
    "body",
    [
        b'{"project":"acme","project":"beta","tool":"list_posts"}',
        b'{"project":"acme","tool":"list_posts","arguments":{"limit":1,"limit":2}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"limit":NaN}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"limit":Infinity}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"limit":1e400}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"search":"\\ud800"}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"search":"\xff"}}',
        b'{"project":"acme","tool":"list_posts","arguments":{"limit":' + b"9" * 5000 + b"}}",
        b'{"project":"acme","tool":"list_posts"',
        b'["acme","list_posts"]',
        b'"acme"',
        b"null",
        b"project=acme",
        "{}".encode("utf-16"),
    ],
)
def test_a_body_that_is_no_strict_json_object_is_refused(site, body):
    site.add_account()

    reply = site.raw("call", data=body, content_type="application/json")

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", ""]
)
def test_a_body_of_another_type_is_refused(site, kind):
    body = json.dumps({"project": "acme", "tool": "list_posts"})

    reply = site.raw("call", data=body, content_type=kind)

    assert (reply.status_code, error(reply)["code"]) == (415, "wrong_type")


def test_the_type_may_name_its_charset(site):
    site.add_account()
    body = json.dumps({"project": "acme", "tool": "list_posts"})

    reply = site.raw("call", data=body, content_type="application/json; charset=utf-8")

    assert reply.status_code == 200


@pytest.mark.parametrize(
    ("name", "method", "path", "order", "unknown"),
    [
        (
            "account",
            "POST",
            "/api/projects/acme/connections",
            {"ability": "sample-blog", "created_by": "x"},
            "created_by",
        ),
        ("account", "POST", "/api/projects/acme/connections", {"ability": "a", "publications": []}, "publications"),
        ("account", "POST", "/api/projects/acme/connections", {"ability": "a", "private_hosts": []}, "private_hosts"),
        ("account", "POST", "/api/projects/acme/connections", {"ability": "a", "service": "b"}, "service"),
        ("account", "POST", "/api/projects/acme/connections", {"ability": "a", "is_default": True}, "is_default"),
        ("account", "PUT", "/api/projects/acme/connections/blog/default", {"is_default": True}, "is_default"),
        ("account", "PUT", "/api/projects/acme/connections/blog/keys/A", {"value": "x", "name": "B"}, "name"),
        ("account", "POST", "/api/projects/acme/connections/blog/connect", {"callback": "https://x.test"}, "callback"),
        ("account", "DELETE", "/api/projects/acme/connections/blog", {"force": True}, "force"),
        ("call", "POST", "/api/call", {"project": "acme", "tool": "list_posts", "approved": True}, "approved"),
        ("call", "POST", "/api/call", {"project": "acme", "tool": "list_posts", "private_hosts": []}, "private_hosts"),
        (
            "publish",
            "POST",
            "/api/publish",
            {"project": "acme", "files": [{"path": "/etc/passwd", "name": "x"}]},
            "files",
        ),
        ("publish", "POST", "/api/projects/acme/approvals/x", {"decision": "approve", "arguments": {}}, "arguments"),
        ("install", "POST", "/api/install", {"spec": "wordpress", "yes": True}, "yes"),
        ("snapshot", "POST", "/api/snapshot", {"days": 400}, "days"),
        ("relay", "POST", "/r", {"target": "http://127.0.0.1/", "next": "https://evil.test"}, "next"),
    ],
)
def test_fields_that_an_order_does_not_take_are_named(site, name, method, path, order, unknown):
    site.add_channel()
    before = site.files()

    reply = site.send(name, method, path, order)

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")
    assert repr(unknown) in error(reply)["message"]
    assert site.files() == before


def test_several_unknown_fields_are_named_at_once_and_shortened(site):
    order = {"ability": "sample-blog", "created_by": "x", "publications": [], "\x1b[2J" * 100: 1}

    message = error(site.send("account", "POST", "/api/projects/acme/connections", order))["message"]

    assert "created_by" in message
    assert "publications" in message
    assert "\x1b" not in message
    assert len(message) <= 300


@pytest.mark.parametrize(
    ("name", "path", "order"),
    [
        ("call", "/api/call", {"tool": 5}),
        ("call", "/api/call", {"tool": None}),
        ("call", "/api/call", {}),
        ("call", "/api/call", {"tool": "list_posts", "arguments": []}),
        ("call", "/api/call", {"tool": "list_posts", "account": 1}),
        ("call", "/api/call", {"tool": "list_posts", "dry_run": "yes"}),
        ("call", "/api/call", {"tool": "list_posts", "dry_run": 1}),
        ("publish", "/api/publish", {"asset": ["article/hello"], "channel": "blog"}),
        ("snapshot", "/api/snapshot", {"source": 1}),
        ("install", "/api/install", {"spec": {"path": "x"}}),
        ("account", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": {"SAMPLE_TOKEN": None}}),
        ("account", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": {"SAMPLE_TOKEN": 12345678}}),
        ("account", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": "SAMPLE_TOKEN=x"}),
        ("account", "/api/projects/acme/connections", {"ability": "sample-blog", "destination": "x"}),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(site, name, path, order):
    site.add_account()
    before = site.files()

    reply = site.send(name, "POST", path, order if path.count("/") > 3 else {"project": "acme", **order})

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")
    assert site.files() == before
