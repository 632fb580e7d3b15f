"""Records that wait for one answer: approvals, sign-ins, relay addresses. Each is taken once, by one taker."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from habilis.home.durable import LEFTOVER, make_folders, replace_file
from habilis.messages import Json

_SUFFIX = ".json"


class Waiting:
    """Single-use records in one folder, each until a moment.

    An id may be a secret, so a record's file is named by the id's hash.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, record_id: str, data: Mapping[str, Json], expires_at: datetime) -> None:
        """Let a record wait under an id until `expires_at`; one that waits there already is replaced."""
        make_folders(self._folder, mode=0o700)
        record = {"expires_at": expires_at.timestamp(), "data": dict(data)}
        replace_file(self._path(record_id), json.dumps(record, ensure_ascii=False).encode(), mode=0o600)

    def peek(self, record_id: str, *, now: datetime) -> dict[str, Json] | None:
        """The record under an id, which goes on waiting; None when there is none, or its time is over."""
        return _read(self._path(record_id), now)

    def take(self, record_id: str, *, now: datetime) -> dict[str, Json] | None:
        """Take the record under an id; of all who try, in every process, one gets it and the others None."""
        path = self._path(record_id)
        taken = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}{LEFTOVER}")
        try:
            path.rename(taken)
        except FileNotFoundError:
            return None
        try:
            return _read(taken, now)
        finally:
            taken.unlink(missing_ok=True)

    def list(self, *, now: datetime) -> list[dict[str, Json]]:
        """Every record that waits, in no order; those whose time is over are swept."""
        found = []
        with suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.suffix != _SUFFIX:
                    continue
                record = _read(path, now)
                if record is None:
                    path.unlink(missing_ok=True)
                else:
                    found.append(record)
        return found

    def _path(self, record_id: str) -> Path:
        return self._folder / (hashlib.sha256(record_id.encode()).hexdigest() + _SUFFIX)


def _read(path: Path, now: datetime) -> dict[str, Json] | None:
    try:
        record = json.loads(path.read_bytes())
        if record["expires_at"] <= now.timestamp():
            return None
        data: dict[str, Json] = record["data"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return data
