"""The files that a call brings back: where they arrive, and where they are kept."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from habilis.engine.assets import asset_folder
from habilis.engine.preparing import Prepared
from habilis.errors import HabilisError, TooLarge
from habilis.exchange.filenames import numbered
from habilis.exchange.files import brings_files
from habilis.home.durable import make_folders, replace_file, sync_file, sync_folder
from habilis.home.store import Home, Revision
from habilis.messages import Json, Result, ResultFile
from habilis.records import RECORD_NAME, AssetFile, read_asset, write_asset

LARGEST_IN_GIT_BYTES = 100 * 1024 * 1024
"""Hosts of git refuse larger files, and the history would keep them for ever."""

_ONE_DAY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A file that a call brought back, in its place.

    Attributes:
        path: Where it lies, relative to the home: in the asset's folder, or under `.state/downloads/`.
    """

    name: str
    mime: str
    size: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What a caller is told of a call that was carried out.

    Attributes:
        text: What came of it, readable; never empty.
        link: The address of what was made; "" when there is none.
        data: The whole answer where the tool names no result, else None.
        files: What it brought back.
        notes: What a person should know beside it.
    """

    text: str
    link: str = ""
    data: Json = field(default=None)
    files: tuple[KeptFile, ...] = ()
    notes: tuple[str, ...] = ()


@contextmanager
def arriving(home: Home, call: Prepared) -> Iterator[str]:
    """A folder of the call's own that files come to, "" where none are expected; what is left in it goes."""
    if not brings_files(call.found.tool):
        yield ""
        return
    from shutil import rmtree  # most calls bring no files

    folder = home.private / ".state" / "arriving" / _name(call)
    make_folders(folder, mode=0o700)
    _sweep(folder.parent)
    try:
        yield str(folder)
    finally:
        rmtree(folder, ignore_errors=True)


def keep_files(home: Home, call: Prepared, result: Result, *, actor: str) -> CallResult:
    """Put the files of a result on the call's asset, or keep them beside the home; never fails, for the call is done.

    Where the asset cannot take them they are kept beside the home, and a note says why.
    """
    told = CallResult(text=result.text, link=result.link, data=result.data, notes=result.notes)
    if not result.files:
        return told
    why = ""
    if call.asset:
        try:
            return replace(told, files=_put_on_asset(home, call, result.files, actor=actor))
        except HabilisError as error:
            why = f"the files could not be put on {call.asset}: {error}"
    try:
        kept = _put_aside(home, call, result.files)
    except (HabilisError, OSError) as error:
        return replace(told, notes=(*told.notes, *filter(None, [why]), f"the files could not be kept: {error}"))
    return replace(told, files=kept, notes=(*told.notes, *filter(None, [why])))


def _put_on_asset(home: Home, call: Prepared, files: Sequence[ResultFile], *, actor: str) -> tuple[KeptFile, ...]:
    """Store files in the asset's folder and name them in its record, in one commit."""
    for file in files:
        if file.size > LARGEST_IN_GIT_BYTES:
            raise TooLarge(f"{file.name} is larger than {LARGEST_IN_GIT_BYTES >> 20} MiB, too large for git")
    folder = asset_folder(call.project, call.asset)
    contents = [file.data if file.data is not None else Path(file.path).read_bytes() for file in files]
    kept: list[KeptFile] = []

    def change(revision: Revision) -> Mapping[str, bytes | None]:
        asset = read_asset(revision.require(f"{folder}/{RECORD_NAME}"), ref=call.asset, file=f"{folder}/{RECORD_NAME}")
        there = [RECORD_NAME, *revision.list(folder), *(file.file for file in asset.files)]
        names = numbered([*dict.fromkeys(there), *(file.name for file in files)])[-len(files) :]
        added = [AssetFile(name=name, file=name, mime=file.mime) for name, file in zip(names, files, strict=True)]
        kept[:] = [
            KeptFile(name=name, mime=file.mime, size=file.size, path=f"{folder}/{name}")
            for name, file in zip(names, files, strict=True)
        ]
        record = write_asset(replace(asset, files=(*asset.files, *added)))
        places = (file.path for file in kept)
        return {f"{folder}/{RECORD_NAME}": record, **dict(zip(places, contents, strict=True))}

    subject = f"Put {len(files)} file{'s' if len(files) > 1 else ''} on {call.asset}"
    home.commit(change, subject=subject, action="asset.files", actor=actor)
    return tuple(kept)


def _put_aside(home: Home, call: Prepared, files: Sequence[ResultFile]) -> tuple[KeptFile, ...]:
    place = f".state/downloads/{_name(call)}"
    folder = home.private / place
    make_folders(folder, mode=0o700)
    for file in files:
        if file.data is not None:
            replace_file(folder / file.name, file.data, mode=0o600)
        else:
            sync_file(Path(file.path))
            Path(file.path).rename(folder / file.name)
    sync_folder(folder)
    return tuple(
        KeptFile(name=file.name, mime=file.mime, size=file.size, path=f"{place}/{file.name}") for file in files
    )


def _sweep(arrivals: Path) -> None:
    """Remove what calls left that were killed; none takes a day."""
    from shutil import rmtree

    oldest = time.time() - _ONE_DAY_S
    for folder in arrivals.iterdir():
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < oldest:
                rmtree(folder, ignore_errors=True)


def _name(call: Prepared) -> str:
    """A folder's name: when the call was made, and what tells it from another of that second."""
    return f"{call.made.now:%Y%m%d-%H%M%S}-{sha256(call.made.call_id.encode()).hexdigest()[:8]}"
