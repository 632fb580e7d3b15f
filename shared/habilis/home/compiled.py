"""Compiled forms of files, kept beside the home under the hash of their content: a second process parses nothing."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from habilis import __version__
from habilis.home.durable import LEFTOVER
from habilis.messages import Json


def compiled(private: Path, content_hash: str, make: Callable[[], Json]) -> Json:
    """The compiled form of some content, made when it is not kept yet.

    Args:
        private: The home's private root.
        content_hash: Names the content and the kind of form, hex.
        make: Makes the form; what it raises is passed on, and nothing is kept.

    A file that cannot be read or written costs time and nothing else: it is never the only copy.
    """
    path = private / ".state" / "compiled" / __version__ / f"{content_hash}.json"
    try:
        kept: Json = json.loads(path.read_bytes())
        return kept
    except (OSError, ValueError, RecursionError):
        pass
    form = make()
    temporary = path.with_name(f"{path.name}.{os.getpid()}{LEFTOVER}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary.write_text(json.dumps(form, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        temporary.replace(path)
    return form
