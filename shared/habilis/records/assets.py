"""Assets, as data: what an asset.md says, and how it is written back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from habilis.errors import BadInput, ManifestInvalid
from habilis.messages import Json
from habilis.reading import read_yaml, write_yaml
from habilis.records.reading import Record, problem, with_extra

RECORD_NAME = "asset.md"
"""What an asset's record is called in its folder."""

_FRONTMATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?:\s*;[\x20-\x7e]*)?", re.ASCII)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetFile:
    """A file of an asset: its picture, its video, an attachment.

    Attributes:
        name: What it is called where it is sent.
        mime: Its type; "" when its bytes tell.
        alt: What it shows, for those who cannot see it; "" when nobody said.
        file: Where it lies in the asset's folder.
        extra: Fields of other makers, as they were read.
    """

    name: str
    file: str
    mime: str = ""
    alt: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A piece of content.

    Attributes:
        ref: `<type>/<id>`.
        files: In the order of its record.
        text: The body, Markdown: lines end in a line feed, none is empty at its beginning or end.
        extra: Fields of other makers, as they were read.
    """

    ref: str
    title: str
    text: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    files: tuple[AssetFile, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


def read_asset(text: bytes, *, ref: str, file: str = RECORD_NAME) -> Asset:
    """Read an asset: frontmatter (title, summary, tags, files) and a Markdown body; ManifestInvalid otherwise."""
    content = text.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if content.encode() != text.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n"):
        line = content.count("\n", 0, content.find("\ufffd")) + 1
        raise ManifestInvalid([problem(file, "", "the file is not UTF-8; save it as UTF-8", line=line)])
    match = _FRONTMATTER.match(content)
    if match is None:
        raise ManifestInvalid([problem(file, "", "starts with no frontmatter: write --- , title: …, --- and the text")])
    # An empty line stands for the opening fence, so that faults have the lines of the file.
    record = Record(read_yaml(b"\n" + match[1].encode(), file), file)
    body = content[match.end() :].strip("\n")
    return Asset(
        ref=ref,
        title=record.text("title"),
        summary=record.text("summary", default=""),
        tags=tuple(record.texts("tags")),
        files=tuple(map(_file, record.records("files"))),
        text=f"{body}\n" if body else "",
        extra=record.rest(),
    )


def write_asset(asset: Asset) -> bytes:
    """The asset.md of an asset; BadInput when its text holds half of a character."""
    record: dict[str, Json] = {"title": asset.title}
    if asset.summary:
        record["summary"] = asset.summary
    if asset.tags:
        record["tags"] = list(asset.tags)
    if asset.files:
        record["files"] = [_file_record(file) for file in asset.files]
    fields = write_yaml(with_extra(record, asset.extra))
    try:
        return b"---\n" + fields + b"---\n\n" + asset.text.encode()
    except UnicodeEncodeError:
        pass
    raise BadInput("the text holds half of a character (a lone surrogate)", where=asset.ref)


def _file(entry: Record) -> AssetFile:
    return AssetFile(
        name=entry.checked("name", _file_name),
        file=entry.checked("file" if entry.has("file") else "name", _own_file),
        mime=entry.checked("mime", _media_type) if entry.has("mime") else "",
        alt=entry.text("alt", default=""),
        extra=entry.rest(),
    )


def _file_record(file: AssetFile) -> Json:
    record: dict[str, Json] = {"name": file.name}
    if file.file != file.name:
        record["file"] = file.file
    if file.mime:
        record["mime"] = file.mime
    if file.alt:
        record["alt"] = file.alt
    return with_extra(record, file.extra)


def _file_name(text: str) -> str:
    if not text.strip() or not text.isprintable() or "/" in text or "\\" in text:
        raise BadInput("expected a file's name, without a folder")
    return text


def _own_file(text: str) -> str:
    if text == RECORD_NAME:
        raise BadInput("expected another file than the asset's own record")
    return _file_name(text)


def _media_type(text: str) -> str:
    if not _MEDIA_TYPE.fullmatch(text):
        raise BadInput("expected a media type such as image/png")
    return text
