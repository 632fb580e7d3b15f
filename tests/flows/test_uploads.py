"""Files on their way to a real web server, as it reads them: filled, streamed from disk, taken byte for byte."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request as Heard
from werkzeug.wrappers import Response

from habilis.exchange.fill import Bounds, fill_request
from habilis.hosts import AllowedHosts
from habilis.manifest.model import PartTemplate, RequestTemplate
from habilis.messages import Answer
from habilis.templating import FileValue, Scope, compile_header, compile_json, compile_text, compile_url
from habilis.transports.http import HttpTransport

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4096
NAMES = ["çiçek ş.png", "Grüße 🙂.png", "it's; a=b.png", "100% & more.png", "a.png"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A media library that insists on what such services insist on, and what it got."""

    url: str
    got: list[dict] = field(default_factory=list)


@contextmanager
def _serving() -> Iterator[Site]:
    got: list[dict] = []

    def app(environ, start_response):
        return _media(Heard(environ), got)(environ, start_response)

    server = make_server("127.0.0.1", 0, app, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Site(url=f"http://127.0.0.1:{server.server_port}", got=got)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


def _media(heard: Heard, got: list[dict]) -> Response:
    if heard.headers.get("Transfer-Encoding") or heard.content_length is None:
        return Response("a length is needed", 411)
    seen = {
        "query": list(heard.args.items(multi=True)),
        "type": heard.content_type,
        "length": heard.content_length,
        "disposition": heard.headers.get("Content-Disposition"),
    }
    if heard.path == "/raw":
        if not (seen["disposition"] and seen["type"]):
            return Response("rest_upload_no_content_disposition", 400)
        seen["sha256"] = sha256(heard.get_data()).hexdigest()
    else:
        if not heard.files:
            return Response("No file field in request", 400)
        seen["form"] = list(heard.form.items(multi=True))
        seen["files"] = []
        for name, file in heard.files.items(multi=True):
            with file.stream:
                seen["files"].append((name, file.filename, file.mimetype, sha256(file.read()).hexdigest()))
    got.append(seen)
    return Response("{}", 201, mimetype="application/json")


@pytest.fixture(scope="module")
def site():
    """The media library, running."""
    with _serving() as running:
        yield running


@pytest.fixture
def upload(site, tmp_path):
    """Fill a request from templates, send it, and return the answer with what the site saw."""
    transport = HttpTransport()

    def run(path: str, files: list[FileValue], arguments: dict | None = None, **fields) -> tuple[Answer, dict | None]:
        keys = {"SITE": site.url}
        bounds = Bounds(
            hosts=AllowedHosts.of(["${SITE}"], keys),
            private_hosts=frozenset({site.url.removeprefix("http://")}),
            is_read=False,
        )
        template = RequestTemplate(**{"method": "POST", "url": compile_url("${SITE}" + path), **fields})
        before = len(site.got)
        scope = Scope(arguments={"files": files, **(arguments or {})}, keys=keys)
        answer = transport.send(fill_request(template, scope, bounds, where="tool 'upload'"))
        return answer, site.got[before] if len(site.got) > before else None

    yield run
    transport.close()


@pytest.fixture
def picture(tmp_path):
    """Put a picture on disk under a name that only the asset knows."""

    def put(name: str, *, content: bytes = PICTURE, mime: str = "image/png") -> FileValue:
        path = Path(tmp_path) / sha256(name.encode() + content).hexdigest()
        path.write_bytes(content)
        return FileValue({"name": name, "mime": mime, "size": len(content)}, path=str(path))

    return put


def test_every_part_arrives_with_its_name_its_file_name_its_type_and_its_bytes(upload, picture):
    answer, seen = upload(
        "/media",
        [picture(name) for name in NAMES],
        {"text": 'a "b"\r\nü', "tags": ["x", "y"]},
        query=(("search", compile_json("{{text}}")),),
        headers=(("Content-Type", compile_header("multipart/form-data")),),
        multipart=(
            PartTemplate(name="caption", value=compile_json("{{text}}")),
            PartTemplate(name="tags[]", value=compile_json("{{tags}}")),
            PartTemplate(name="fileInput", file=compile_json("{{files}}")),
            PartTemplate(name="cover", file=compile_json("{{files.0}}"), filename=compile_text("cover.bin")),
        ),
    )

    digest = sha256(PICTURE).hexdigest()
    assert answer.status == 201
    assert seen["query"] == [("search", 'a "b"\r\nü')]
    assert seen["form"] == [("caption", 'a "b"\r\nü'), ("tags[]", "x"), ("tags[]", "y")]
    assert seen["files"] == [
        *(("fileInput", name, "image/png", digest) for name in NAMES),
        ("cover", "cover.bin", "image/png", digest),
    ]


@pytest.mark.parametrize(("name", "mime", "sent_as"), [("", "image/png", "file.png"), ("a", "image/gif", "a")])
def test_a_file_without_a_good_name_is_still_seen_as_a_file(upload, picture, name, mime, sent_as):
    answer, seen = upload(
        "/media",
        [picture(name, mime=mime)],
        multipart=(PartTemplate(name="media", file=compile_json("{{files.0}}")),),
    )

    assert answer.status == 201
    assert seen["files"] == [("media", sent_as, mime, sha256(PICTURE).hexdigest())]


def test_a_file_as_the_whole_body_has_a_length_a_type_and_the_disposition_of_the_manifest(upload, picture):
    big = bytes(3 << 20)
    answer, seen = upload(
        "/raw",
        [picture("çiçek ş.png", content=big)],
        headers=(("Content-Disposition", compile_header('attachment; filename="{{files.0.name}}"')),),
        body_file=compile_json("{{files.0}}"),
    )

    assert answer.status == 201
    assert (seen["type"], seen["length"], seen["sha256"]) == ("image/png", 3145728, sha256(big).hexdigest())
    assert seen["disposition"] == "attachment; filename=\"cicek s.png\"; filename*=UTF-8''%C3%A7i%C3%A7ek%20%C5%9F.png"


def test_a_service_that_misses_something_says_so_in_its_own_words(upload, picture):
    answer, _ = upload("/raw", [picture("a.png")], body_file=compile_json("{{files.0}}"))

    assert (answer.status, answer.body) == (400, b"rest_upload_no_content_disposition")


def test_a_file_in_parts_arrives_whole(upload, picture):
    whole = picture("a.png")
    half = len(PICTURE) // 2
    parts = [
        FileValue({**whole, "size": size}, path=whole.path, offset=offset)
        for offset, size in ((0, half), (half, len(PICTURE) - half))
    ]
    headers = (("Content-Disposition", compile_header("attachment")),)
    seen = [upload("/raw", [part], headers=headers, body_file=compile_json("{{files.0}}"))[1] for part in parts]

    assert [each["sha256"] for each in seen] == [
        sha256(PICTURE[:half]).hexdigest(),
        sha256(PICTURE[half:]).hexdigest(),
    ]
