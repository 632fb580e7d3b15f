"""Records that wait for one answer: approvals, sign-ins, relay addresses. Each is taken once, by one taker."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from habilis.home.durable import LEFTOVER, make_folders, replace_file, sync_folder
from habilis.messages import Json

_SUFFIX = ".json"
_OLDEST_LEFTOVER_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    data: dict[str, Json]
    expires_at: float

    def is_over(self, now: datetime) -> bool:
        return self.expires_at <= now.timestamp()


class Waiting:
    """Single-use records in one folder, each until a moment.

    An id may be a secret, so a record's file is named by the id's hash, and the id is written nowhere.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, record_id: str, data: Mapping[str, Json], expires_at: datetime) -> None:
        """Let a record wait under an id until `expires_at`; one that waits there already is replaced.

        When this returns, the record survives a crash. Only the home's owner can read it.
        """
        make_folders(self._folder, mode=0o700)
        record = {"expires_at": expires_at.timestamp(), "data": dict(data)}
        replace_file(self._path(record_id), json.dumps(record).encode(), mode=0o600)

    def peek(self, record_id: str, *, now: datetime) -> dict[str, Json] | None:
        """Return the record under an id, which goes on waiting; None when there is none, or its time is over."""
        record = _read(self._path(record_id))
        return None if record is None or record.is_over(now) else record.data

    def take(self, record_id: str, *, now: datetime) -> dict[str, Json] | None:
        """Return the record under an id and let it wait no longer; None as for `peek`.

        Of all who try, in every thread and process, one gets it. It does not come back after a crash.
        """
        path = self._path(record_id)
        record = _read(path)
        if record is None:
            return None
        try:
            path.unlink()
        except FileNotFoundError:
            return None
        sync_folder(self._folder)
        self.list(now=now)
        return None if record.is_over(now) else record.data

    def list(self, *, now: datetime) -> list[dict[str, Json]]:
        """Return every record that waits, the first to run out first; those whose time is over are swept."""
        found = []
        for path in self._files():
            record = _read(path)
            if record is None or record.is_over(now):
                path.unlink(missing_ok=True)
            else:
                found.append(record)
        return [record.data for record in sorted(found, key=lambda record: record.expires_at)]

    def _files(self) -> Iterator[Path]:
        """The files of records; what a killed writer left long ago goes."""
        with suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.suffix == _SUFFIX and path.is_file():
                    yield path
                elif path.name.endswith(LEFTOVER):
                    with suppress(FileNotFoundError):
                        if time.time() - path.stat().st_mtime > _OLDEST_LEFTOVER_S:
                            path.unlink()

    def _path(self, record_id: str) -> Path:
        return self._folder / (sha256(record_id.encode("utf-8", "surrogatepass")).hexdigest() + _SUFFIX)


def _read(path: Path) -> _Record | None:
    """The record of a file; None when there is none, or it is damaged."""
    try:
        found = json.loads(path.read_bytes())
        record = _Record(data=dict(found["data"]), expires_at=float(found["expires_at"]))
    except (FileNotFoundError, IsADirectoryError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return record
