"""Compiled forms of files, kept beside the home under the hash of their content: a second process parses nothing."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from habilis import __version__
from habilis.errors import DiskFull
from habilis.home.durable import LEFTOVER, make_folders
from habilis.messages import Json


def compiled(private: Path, content_hash: str, make: Callable[[], Json]) -> Json:
    """Return the compiled form of some content, made when it is not kept yet, or damaged.

    A file that cannot be read or written costs time and nothing else: it is never the only copy, so it is not synced.

    Args:
        private: The home's private root.
        content_hash: Names the content and the kind of form, hex.
        make: Makes the form; what it raises is passed on, and nothing is kept.
    """
    # Another version of the engine compiles to another form.
    path = private / ".state" / "compiled" / __version__ / f"{content_hash}.json"
    try:
        return _opened(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        pass
    form = make()
    text = json.dumps(form, separators=(",", ":")).encode()
    with suppress(OSError, DiskFull):
        make_folders(path.parent, mode=0o700)
        _put(path, _digest(text) + b"\n" + text)
    return form


def _opened(content: bytes) -> Json:
    """The form in a file; ValueError when the file is not as it was written."""
    digest, _, text = content.partition(b"\n")
    if digest != _digest(text):
        raise ValueError
    form: Json = json.loads(text)
    return form


def _digest(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()


def _put(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}{LEFTOVER}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
