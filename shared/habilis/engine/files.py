"""The files of an asset as a call sends them: what templates may say of each, and where its bytes lie.

A file of a working directory is sent from where it lies. One that lies in git alone is written out once, under the hash
of its content, and found there again.
"""

import dataclasses
import hashlib
import json
import mimetypes
import os
import re
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from habilis.errors import EngineFailed, NotFound, TooLarge, UnsafePath
from habilis.exchange.filetypes import HEAD_BYTES, type_of
from habilis.home.durable import make_folders, replace_file
from habilis.home.store import Home, Revision
from habilis.manifest.model import Tool
from habilis.messages import Json
from habilis.records import Asset, AssetFile
from habilis.templating import FileValue

LARGEST_UPLOAD_BYTES = 1024 * 1024 * 1024
LARGEST_BASE64_BYTES = 10 * 1024 * 1024
"""A file as base64 stands in memory, several times over."""

_KEPT_S = 7 * 24 * 3600.0
_NAMED = re.compile(r"\.(width|height|sha256|base64)\b")
_FILES = re.compile(r"\bfiles\b")
_CONTAINERS = frozenset({"application/zip", "application/gzip"})
"""Types that say little: a document's ending says which kind of one it is."""

_TYPES = mimetypes.MimeTypes(filenames=())
"""The endings that Python knows; none of the machine's lists, so that a file is the same everywhere."""

for _ending, _kind in (
    (".docx", "wordprocessingml.document"), (".xlsx", "spreadsheetml.sheet"), (".pptx", "presentationml.presentation")
):  # fmt: skip
    _TYPES.add_type(f"application/vnd.openxmlformats-officedocument.{_kind}", _ending)


def asset_files(
    home: Home, revision: Revision, folder: str, asset: Asset, *, facts: frozenset[str]
) -> tuple[FileValue, ...]:
    """The files of an asset, in the order of its record.

    Args:
        home: Where files that lie in git alone are written out.
        revision: Where the files are read from.
        folder: The asset's folder.
        asset: Names the files.
        facts: Which of `width`, `height`, `sha256` and `base64` are wanted beside name, mime, size and alt.

    Raises:
        NotFound: A file is not there.
        UnsafePath: It is a link, or its path is one that is never used.
        TooLarge: It is bigger than a call may send.
    """
    paths = [f"{folder}/{file.file}" for file in asset.files]
    return tuple(
        file_value(_place(home, revision, path, file), file, facts, where=path)
        for path, file in zip(paths, asset.files, strict=True)
    )


def wanted_facts(tool: Tool) -> frozenset[str]:
    """Which facts about files, of those that cost a look into them, the tool's templates name."""
    return frozenset(name for source in _sources(tool.steps) for name in _NAMED.findall(source))


def sends_files(tool: Tool) -> bool:
    """Whether the tool does anything with an asset's files; a mail, which has no steps, attaches them."""
    loops = any(step.loop is not None and step.loop.over == "files" for step in tool.steps)
    return loops or not tool.steps or any(_FILES.search(source) for source in _sources(tool.steps))


def digest(path: str) -> str:
    """SHA-256 of a file, hex; EngineFailed when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise _unreadable(path) from None


def file_value(place: Path, file: AssetFile, facts: frozenset[str], *, where: str) -> FileValue:
    """A file as templates see it.

    Args:
        place: Where its bytes lie.
        file: What its asset says of it.
        facts: As for `asset_files`.
        where: The file, for messages.

    Raises:
        EngineFailed: It cannot be read.
        TooLarge: It is bigger than a call may send.
    """
    try:
        size = place.stat().st_size
        with place.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
    except OSError:
        raise _unreadable(str(place)) from None
    if size > LARGEST_UPLOAD_BYTES:
        raise TooLarge(f"the file {file.name!r} is larger than {LARGEST_UPLOAD_BYTES >> 20} MiB", where=where)
    known: dict[str, Json] = {"name": file.name, "mime": file.mime or _type(head, file), "size": size, "alt": file.alt}
    return FileValue({**known, **_further(place, where, size, facts)}, path=str(place))


def _further(place: Path, where: str, size: int, facts: frozenset[str]) -> dict[str, Json]:
    """The facts that take a look into the file."""
    found: dict[str, Json] = {}
    if facts & {"width", "height"}:
        from habilis.engine.pictures import picture_size

        with place.open("rb") as opened:
            shape = picture_size(opened)
        if shape is not None:
            found["width"], found["height"] = shape
    if "sha256" in facts:
        found["sha256"] = digest(str(place))
    if "base64" in facts:
        if size > LARGEST_BASE64_BYTES:
            raise TooLarge(
                f"this service takes the file as base64, and it is larger than {LARGEST_BASE64_BYTES >> 20} MiB",
                where=where,
                hint="make it smaller",
            )
        found["base64"] = b64encode(place.read_bytes()).decode()
    return found


def _type(head: bytes, file: AssetFile) -> str:
    seen = type_of(head)
    if seen and seen not in _CONTAINERS:
        return seen
    named = _TYPES.guess_type(file.name, strict=False)[0] or _TYPES.guess_type(file.file, strict=False)[0]
    return named or seen or "application/octet-stream"


def _place(home: Home, revision: Revision, path: str, file: AssetFile) -> Path:
    try:
        place = revision.lies_at(path)
    except UnsafePath as error:
        error.hint = error.hint and f"{error.hint}, and say it beside the name: {{name: …, file: …}}"
        raise
    if place is not None:
        return place
    key = revision.content_key(path)
    if key is None:
        raise NotFound(
            f"the asset has no file {file.name!r}", where=path, hint="put it there, or take it out of asset.md"
        )
    return _written_out(home, revision, path, key)


def _written_out(home: Home, revision: Revision, path: str, key: str) -> Path:
    folder = home.private / ".state" / "files"
    place = folder / key
    with suppress(FileNotFoundError):
        os.utime(place)
        return place
    make_folders(folder, mode=0o700)
    _sweep(folder)
    replace_file(place, revision.require(path), mode=0o600)
    return place


def _sweep(folder: Path) -> None:
    """Remove what no call asked for in a week."""
    oldest = time.time() - _KEPT_S
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _sources(value: object) -> Iterator[str]:
    """What every template inside a value is written as."""
    source = getattr(value, "source", None)
    if source is not None:
        yield json.dumps(source)
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            yield from _sources(getattr(value, entry.name))
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _sources(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _sources(entry)


def _unreadable(path: str) -> EngineFailed:
    return EngineFailed("the file cannot be read", where=Path(path).name)
