"""Conversations as `docs/format.md` writes them below its examples, held against what the exchange does.

file "a.png" image/png "its bytes"     a file of the asset that the call is about
call TOOL {arguments}
> METHOD URL body                      a request that goes out: its body as JSON, or as text
>   Header: value                      and one of its headers
< STATUS body                          what comes back
<   Header: value
~ 5 s                                  a wait
= text                                 what the agent is told
! text                                 the error that it ends in
"""

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path

from habilis.errors import HabilisError
from habilis.exchange.call import run_tool
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Manifest
from habilis.messages import Answer, FileSlice, Pause, Request, StepDone
from habilis.templating import FileValue, Made, Scope

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class Conversation:
    """The lines of one call, taken one after the other."""

    def __init__(self, text: str, manifest: Manifest, folder: Path) -> None:
        self._lines = text.strip().splitlines()
        self._manifest = manifest
        self._folder = folder

    def hold(self) -> None:
        """Carry the call out, and fail at the first line that is not what happens."""
        files = []
        while self._lines[0].startswith("file "):
            files.append(self._file(shlex.split(self._lines.pop(0))))
        word, name, arguments = self._lines.pop(0).split(" ", 2)
        assert word == "call"
        tool = self._manifest.tool(name)
        assert tool is not None, name
        required = [key.env for key in self._manifest.auth if not key.optional]
        keys = {name: f"{name.lower().rpartition('_')[2]}-1" for name in required}
        bounds = Bounds(
            hosts=AllowedHosts.of(self._manifest.hosts, keys),
            private_hosts=frozenset(),
            is_read=tool.role == "read",
            download_to=str(self._folder),
        )
        values = {**json.loads(arguments), "files": files}
        exchange = run_tool(tool, Scope(values, keys, Made(now=NOON, call_id="call-1")), bounds)
        try:
            asked = next(exchange)
            while True:
                asked = exchange.send(self._answer(asked))
        except StopIteration as ended:
            self._expect(f"= {ended.value.text}")
        except HabilisError as error:
            self._expect(f"! {error.where}: {error.message}")
        assert self._lines == []

    def _file(self, words: list[str]) -> FileValue:
        _, name, mime, content = words
        path = self._folder / f"file-{len(list(self._folder.iterdir()))}"
        path.write_text(content, encoding="utf-8")
        return FileValue({"name": name, "mime": mime, "size": len(content.encode())}, path=str(path))

    def _expect(self, line: str) -> None:
        assert self._lines[:1] == [line]
        del self._lines[0]

    def _answer(self, asked: Request | Pause | StepDone) -> Answer | None:
        if isinstance(asked, StepDone):
            return None
        if isinstance(asked, Pause):
            self._expect(f"~ {asked.seconds:g} s")
            return None
        if self._lines[0].startswith("> "):
            self._compare(asked)
        status, body, headers = *self._lines.pop(0).removeprefix("< ").partition(" ")[::2], self._headers("<")
        kind = "application/json" if body[:1] in {"{", "["} else "text/plain"
        told = json.loads(body) if body.startswith('"') else body
        lower = {"content-type": kind, **{name.lower(): value for name, value in headers.items()}}
        return Answer(status=int(status), headers=lower, body=told.encode(), size=len(told))

    def _compare(self, request: Request) -> None:
        method, url, *body = self._lines.pop(0).removeprefix("> ").split(" ", 2)
        assert (request.method, request.url) == (method, url)
        assert self._headers(">").items() <= dict(request.headers).items()
        sent = _bytes_of(request).decode()
        if body and body[0].startswith("{"):
            assert json.loads(sent) == json.loads(body[0])
        else:
            assert sent == "".join(body)

    def _headers(self, mark: str) -> dict[str, str]:
        found = {}
        while self._lines and self._lines[0].startswith(f"{mark}   "):
            name, _, value = self._lines.pop(0).removeprefix(f"{mark}   ").partition(": ")
            found[name] = value
        return found


def _bytes_of(request: Request) -> bytes:
    body = request.body
    if body is None or isinstance(body, bytes):
        return body or b""
    return b"".join(piece if isinstance(piece, bytes) else _read(piece) for piece in body.pieces)


def _read(piece: FileSlice) -> bytes:
    return Path(piece.path).read_bytes()[piece.offset : piece.offset + piece.size]
