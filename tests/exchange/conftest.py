"""Requests filled as the engine fills them, from templates written as a manifest writes them."""

from pathlib import Path

import pytest

from habilis.exchange.fill import Bounds, fill_request
from habilis.hosts import AllowedHosts
from habilis.manifest.model import PartTemplate, RequestTemplate
from habilis.templating import FileValue, Scope, compile_header, compile_json, compile_text, compile_url

URL = "https://api.example.com/items"


@pytest.fixture
def filling():
    """Fill a request whose fields are written as in a manifest."""

    def fill(arguments=None, keys=None, *, url=URL, bounds=None, instead=None, made=None, **fields):
        return fill_request(
            _template(url, fields),
            Scope(arguments=arguments or {}, keys=keys or {}, made=made),
            Bounds(
                hosts=AllowedHosts.of(["api.example.com"], {}),
                private_hosts=frozenset(),
                is_read=False,
                **(bounds or {}),
            ),
            where="tool 'post'",
            url=instead,
        )

    return fill


@pytest.fixture
def file_at(tmp_path):
    """Make a file of an asset, as templates see it."""

    def make(name="a.png", content=b"\x89PNG data", *, mime="image/png", **facts):
        path = tmp_path / f"asset-{len(list(tmp_path.iterdir()))}"
        path.write_bytes(content)
        return FileValue({"name": name, "mime": mime, "size": len(content), **facts}, path=str(path))

    return make


@pytest.fixture
def sent():
    """Read what a body sends: its bytes, those of files from disk."""

    def read(body):
        if isinstance(body, bytes):
            return body
        return b"".join(piece if isinstance(piece, bytes) else _bytes_of(piece) for piece in body.pieces)

    return read


def _bytes_of(piece):
    with Path(piece.path).open("rb") as file:
        file.seek(piece.offset)
        return file.read(piece.size)


def _template(url, fields):
    given = dict(fields)
    for name in ("json", "form", "body_file"):
        if name in given:
            given[name] = compile_json(given[name])
    return RequestTemplate(
        **{
            "method": "POST",
            **given,
            "url": compile_url(url),
            "query": tuple((name, compile_json(value)) for name, value in given.get("query", {}).items()),
            "headers": tuple((name, compile_header(text)) for name, text in given.get("headers", {}).items()),
            "multipart": tuple(_part(**part) for part in given.get("multipart", ())),
        }
    )


def _part(*, name, value=None, file=None, filename=None, mime=None):
    return PartTemplate(
        name=name,
        value=None if value is None else compile_json(value),
        file=None if file is None else compile_json(file),
        filename=None if filename is None else compile_text(filename),
        mime=None if mime is None else compile_text(mime),
    )
