"""The marketplace that comes with the package: its own abilities as folders, and the index that lists them."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, cast

_HERE = Path(__file__).parent


def shipped(ability: str) -> Path | None:
    """The folder of an ability that comes with the package; None for any other id."""
    path = next((entry["path"] for entry in _entries() if entry["id"] == ability), "")
    return _HERE / path if path else None


def index() -> list[dict[str, Any]]:
    """One entry per ability that comes with the package, in the shape of a marketplace's index.

    An entry without a `path` is a reserved place: its id is taken, and there is nothing to install yet.
    """
    return deepcopy(_entries())


@cache
def _entries() -> list[dict[str, Any]]:
    text = (_HERE / "index.json").read_text(encoding="utf-8")
    return cast("list[dict[str, Any]]", json.loads(text)["abilities"])
