"""Which paths a home may hold: each one is safe on every disk, in every git, and is never one of keys or of activity.

Source: the names that git itself refuses (`.git` and what a disk takes for it).
"""

import re
import unicodedata
from functools import lru_cache

from habilis.errors import UnsafePath
from habilis.names import RESERVED_IDS

LONGEST_NAME = 240
LONGEST_PATH = 480
DEEPEST = 24

_PLAIN = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}/)*[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')
_DEVICES = RESERVED_IDS - {"git", "kiqr-render", "habilis-render"}
_SHORT_GIT = re.compile(r"git~[0-9]+")
_GIT_NAMES = frozenset({".git", ".gitmodules", ".gitattributes", ".gitignore"})
_ACCOUNT_DATA = re.compile(r"projects/[^/]+/connections/[^/]+/data(?:/|$)")


@lru_cache(maxsize=8192)
def checked_path(path: str) -> str:
    """Return a path of a revision as it is; UnsafePath when it is one that a home never reads or writes there.

    Args:
        path: Relative to the home, parts parted by "/".

    Raises:
        UnsafePath: It leaves the home, is not portable, looks like git's own, or is private: `.env*`,
            `activity.jsonl`, an account's `data/`, `.state/`.
    """
    if not path or path.startswith("/") or path.endswith("/"):
        raise _refused(path, "it is empty, or starts or ends with a slash")
    if len(path) > LONGEST_PATH or len(path.encode("utf-8", "surrogatepass")) > LONGEST_PATH:
        raise _refused(path, f"it is longer than {LONGEST_PATH} bytes")
    parts = path.split("/")
    if len(parts) > DEEPEST:
        raise _refused(path, f"it is deeper than {DEEPEST} folders")
    plain = _PLAIN.fullmatch(path) is not None
    for part in parts:
        why = (None if plain else _spelling_problem(part)) or _name_problem(part)
        if why:
            raise _refused(path, why)
    if _ACCOUNT_DATA.match(path):
        raise _refused(path, "an account's data/ is private and never part of a revision")
    return path


def checked_folder(path: str) -> str:
    """Return a folder's path as it is, "" for the top; UnsafePath as for `checked_path`."""
    return path and checked_path(path)


def is_visible(folder: str, name: str) -> bool:
    """Tell whether an entry of a folder may be part of a revision: what lies there privately or unsafely may not."""
    try:
        checked_path(f"{folder}/{name}" if folder else name)
    except UnsafePath:
        return False
    return True


def _spelling_problem(part: str) -> str | None:
    if part in {"", ".", ".."}:
        return "it has an empty part, '.' or '..'"
    if len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        return f"a name is longer than {LONGEST_NAME} bytes"
    if any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for char in part):
        return "a name has control or invisible characters"
    if _FORBIDDEN.search(part):
        return "a name has a character that some disks do not take"
    if part != part.strip():
        return "a name starts or ends with a space"
    if not unicodedata.is_normalized("NFC", part):
        return "a name is not in the composed form NFC"
    return None


def _name_problem(part: str) -> str | None:
    lowered = unicodedata.normalize("NFKC", part).casefold().rstrip(". ")
    if lowered in _GIT_NAMES or _SHORT_GIT.fullmatch(lowered):
        return "a name belongs to git"
    if lowered.split(".", 1)[0].rstrip() in _DEVICES:
        return "a name is a device on some systems"
    if lowered.startswith(".env") or lowered in {"activity.jsonl", ".state"} or lowered.endswith(".habilis-tmp"):
        return "it is private and never part of a revision"
    return "a name ends with a dot" if part.endswith(".") else None


def _refused(path: str, why: str) -> UnsafePath:
    return UnsafePath(f"the path cannot be used: {why}", where=ascii(path)[1:-1][:200], hint="choose another name")
