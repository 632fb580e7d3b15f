"""A cassette out of its file: what vcrpy writes, version 1, and a `case` that says what is run against it."""

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import urlsplit

from habilis.cassettes.model import Case, CaseFile, Cassette, Expected, Interaction
from habilis.manifest.faults import Faults, Part, kind_of, suggestion
from habilis.reading import parse_yaml

LARGEST_CASSETTE = 1024 * 1024
NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
"""When a case is run that does not say."""

_T = TypeVar("_T")
_TOP = ("case", "interactions", "version", "metadata")
CASE_FIELDS = ("tool", "source", "arguments", "keys", "files", "now", "expect")
EXPECT_FIELDS = ("text", "link", "error", "says", "files", "rows", "pauses_s", "mail")
_FILE = ("name", "mime", "alt", "text", "base64")


def read_cassette(text: bytes, file: str) -> Cassette:
    """Read one cassette.

    Args:
        text: The file as it is on disk.
        file: Its name as the person knows it, for messages.

    Raises:
        ManifestInvalid: It is no cassette; `problems` has every fault.
    """
    document, problems = parse_yaml(text, file, largest=LARGEST_CASSETTE, with_bytes=True)
    reading = _Reading(Faults(document=document, found=problems))
    cassette = reading.cassette(Part(value=document.data), file)
    if reading.faults.found:
        raise reading.faults.all()
    return cassette


class _Reading:
    """One pass over a document: what is well-formed as data, what is not as faults."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def cassette(self, root: Part, file: str) -> Cassette:
        self._only(root, _TOP)
        if root.at("version").value != 1:
            self.faults.add(("version",), "expected 1, the version of the format that vcrpy writes")
        interactions = self._list(root.at("interactions"), self._interaction)
        return Cassette(file=file, case=self._case(root.at("case")), interactions=tuple(interactions))

    def _case(self, part: Part) -> Case:
        if part.value is None:
            self.faults.add(part.path, "missing; it says which tool or source is run, and what is expected")
        self._only(part, CASE_FIELDS)
        tool, source = self._text(part.at("tool")), self._text(part.at("source"))
        if part.value is not None and bool(tool) == bool(source):
            self.faults.add(part.path, "expected a tool or a source, one of them")
        return Case(
            tool=tool,
            source=source,
            arguments={name: one.value for name, one in self._fields(part.at("arguments")).items()},
            keys=self._texts(part.at("keys")),
            files=tuple(self._list(part.at("files"), self._file)),
            now=self._moment(part.at("now")),
            expected=self._expected(part.at("expect")),
        )

    def _expected(self, part: Part) -> Expected:
        self._only(part, EXPECT_FIELDS)
        files, rows, pauses, mail = (part.at(name) for name in ("files", "rows", "pauses_s", "mail"))
        return Expected(
            text=self._text(part.at("text")) if part.at("text").value is not None else None,
            link=self._text(part.at("link")) if part.at("link").value is not None else None,
            error=self._text(part.at("error")),
            says=self._text(part.at("says")),
            files=tuple(self._list(files, self._named)) if files.value is not None else None,
            rows=tuple(self._list(rows, lambda row: row.value)) if rows.value is not None else None,
            pauses_s=tuple(self._list(pauses, self._seconds)) if pauses.value is not None else None,
            mail=self._texts(mail) if mail.value is not None else None,
        )

    def _named(self, part: Part) -> tuple[str, str]:
        self._only(part, ("name", "mime"))
        return self._text(part.at("name")), self._text(part.at("mime"))

    def _seconds(self, part: Part) -> float:
        if isinstance(part.value, int | float) and not isinstance(part.value, bool):
            return float(part.value)
        self.faults.add(part.path, f"found {kind_of(part.value)}; expected a number of seconds")
        return 0.0

    def _file(self, part: Part) -> CaseFile:
        self._only(part, _FILE)
        text, encoded = part.at("text"), part.at("base64")
        if (text.value is None) == (encoded.value is None):
            self.faults.add(part.path, "expected the file's content as text or as base64, one of them")
        content = self._text(text).encode() if encoded.value is None else self._decoded(encoded)
        return CaseFile(
            name=self._required(part.at("name")),
            mime=self._text(part.at("mime")),
            content=content,
            alt=self._text(part.at("alt")),
        )

    def _interaction(self, part: Part) -> Interaction:
        request, response = part.at("request"), part.at("response")
        status = response.at("status", "code")
        code = status.value if type(status.value) is int else 0
        if not 100 <= code <= 599:
            self.faults.add(status.path, "expected a status, as 200")
        headers = self._headers(request.at("headers"))
        return Interaction(
            method=self._required(request.at("method")).upper(),
            url=self._address(request.at("uri")),
            headers={name.lower(): value for name, value in headers},
            body=self._bytes(request.at("body")),
            status=code,
            answer_headers=self._headers(response.at("headers")),
            answer_body=self._bytes(response.at("body", "string")),
            line=self.faults.line(part.path),
        )

    def _headers(self, part: Part) -> tuple[tuple[str, str], ...]:
        """Pairs of a mapping in which each name has a value, or a list of values."""
        pairs: list[tuple[str, str]] = []
        for name, value in self._fields(part).items():
            values = value.entries() if isinstance(value.value, list) else [value]
            pairs += [(name, self._text(one)) for one in values]
        return tuple(pairs)

    def _bytes(self, part: Part) -> bytes:
        return self._decoded(part) if self.faults.document.is_binary(part.path) else self._text(part).encode()

    def _decoded(self, part: Part) -> bytes:
        try:
            return base64.b64decode("".join(self._text(part).split()), validate=True)
        except (binascii.Error, ValueError):
            self.faults.add(part.path, "expected base64")
            return b""

    def _moment(self, part: Part) -> datetime:
        if part.value is None:
            return NOON
        try:
            moment = datetime.fromisoformat(self._text(part))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.faults.add(part.path, "expected a moment with its zone, as 2026-01-31T12:00:00Z")
            return NOON
        return moment

    def _address(self, part: Part) -> str:
        text = self._required(part)
        try:
            parts = urlsplit(text)
            is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_whole = False
        if text and not is_whole:
            self.faults.add(part.path, "expected a whole address, as https://api.example.com/items")
        return text

    def _required(self, part: Part) -> str:
        if part.value is None:
            self.faults.add(part.path, "missing; it is required here")
        return self._text(part)

    def _text(self, part: Part) -> str:
        if part.value is None or isinstance(part.value, str):
            return part.value or ""
        self.faults.add(part.path, f"found {kind_of(part.value)}; expected text")
        return ""

    def _fields(self, part: Part) -> dict[str, Part]:
        if part.value is not None and not isinstance(part.value, dict):
            self.faults.add(part.path, f"found {kind_of(part.value)}; expected a mapping of names to values")
        return part.fields()

    def _texts(self, part: Part) -> dict[str, str]:
        return {name: self._text(one) for name, one in self._fields(part).items()}

    def _list(self, part: Part, read: Callable[[Part], _T]) -> list[_T]:
        if part.value is not None and not isinstance(part.value, list):
            self.faults.add(part.path, f"found {kind_of(part.value)}; expected a list")
        return [read(entry) for entry in part.entries()]

    def _only(self, part: Part, known: tuple[str, ...]) -> None:
        for name, one in self._fields(part).items():
            if name not in known:
                self.faults.add(one.path, f"there is no such field{suggestion(name, known)}", at_name=True)
