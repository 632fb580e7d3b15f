"""An ability's files out of a local folder, checked one by one: nothing that is never installed gets in.

Source: docs/security.md "Installing"; limits there.
"""

import os
import stat
from pathlib import Path

from habilis.errors import BadInput, NotFound, UnsafeArchive
from habilis.home.paths import checked_path

MOST_FILES = 2_000
LARGEST_FILE_BYTES = 5 * 1024 * 1024
LARGEST_TOTAL_BYTES = 50 * 1024 * 1024
DEEPEST = 16

_IGNORED = frozenset({".git", "__pycache__", ".DS_Store"})
_NEVER = (".gitattributes", ".gitmodules", ".gitignore")


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an ability's folder, by path with `/`, sorted.

    Raises:
        NotFound: There is no such folder.
        BadInput: It holds neither SKILL.md nor extension.yaml.
        UnsafeArchive: It holds a link, a device, a name that is never used, or more than the limits.
    """
    if not folder.is_dir():
        raise NotFound(
            f"there is no folder {folder.name!r}", hint="name a folder that holds SKILL.md or extension.yaml"
        )
    files: dict[str, bytes] = {}
    total = 0
    for path in _walk(folder, folder, depth=1):
        if len(files) >= MOST_FILES:
            raise UnsafeArchive(f"more than {MOST_FILES:,} files", where=folder.name)
        name = path.relative_to(folder).as_posix()
        data = _read_file(path, name)
        total += len(data)
        if total > LARGEST_TOTAL_BYTES:
            raise UnsafeArchive(f"more than {LARGEST_TOTAL_BYTES >> 20} MiB in all", where=folder.name)
        files[name] = data
    if not {"SKILL.md", "extension.yaml"} & files.keys():
        raise BadInput(
            "it holds neither SKILL.md nor extension.yaml",
            where=folder.name,
            hint="an ability has one of them, or both",
        )
    return dict(sorted(files.items()))


def _walk(folder: Path, root: Path, *, depth: int) -> list[Path]:
    if depth > DEEPEST:
        raise UnsafeArchive(f"more than {DEEPEST} folders deep", where=root.name)
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name in _IGNORED:
            continue
        name = Path(entry.path).relative_to(root).as_posix()
        if entry.is_symlink():
            raise UnsafeArchive("links are not allowed", where=name)
        if entry.name.lower() in _NEVER or entry.name.lower().startswith(".env"):
            raise UnsafeArchive("a file of this name is never installed", where=name)
        checked_path(name)
        if entry.is_dir(follow_symlinks=False):
            found += _walk(Path(entry.path), root, depth=depth + 1)
        elif entry.is_file(follow_symlinks=False):
            found.append(Path(entry.path))
        else:
            raise UnsafeArchive("only files and folders are allowed", where=name)
    return found


def _read_file(path: Path, name: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnsafeArchive("only files and folders are allowed", where=name)
        data = file.read(LARGEST_FILE_BYTES + 1)
    if len(data) > LARGEST_FILE_BYTES:
        raise UnsafeArchive(f"larger than {LARGEST_FILE_BYTES >> 20} MiB", where=name)
    return data
