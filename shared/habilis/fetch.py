"""An ability's files out of a local folder, checked one by one: nothing that is never installed gets in.

Source: docs/security.md "Installing"; limits there.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from habilis.errors import BadInput, NotFound, UnsafeArchive, UnsafePath
from habilis.home.paths import checked_path

MOST_ENTRIES = 2_000
LARGEST_FILE_BYTES = 5 * 1024 * 1024
LARGEST_TOTAL_BYTES = 50 * 1024 * 1024
LONGEST_PATH_BYTES = 240
DEEPEST = 16

_IGNORED = frozenset({".git", "__pycache__", ".DS_Store"})
_CHANGED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENXIO, errno.ESTALE})
_LONGEST_SHOWN = 200


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an ability's folder, by path with `/`, sorted.

    Raises:
        NotFound: There is no such folder.
        BadInput: It holds neither SKILL.md nor extension.yaml, cannot be read, or changes meanwhile.
        UnsafeArchive: It holds a link, a device, a name that is never used, or more than the limits.
    """
    root = folder.absolute().name
    with _reading(root):
        is_folder = folder.is_dir()
    if not is_folder:
        raise NotFound(f"there is no folder {root!r}", hint="name a folder that holds SKILL.md or extension.yaml")
    files: dict[str, bytes] = {}
    total = 0
    # The folder itself may be a link: a person named it. Nothing below may be one.
    with _opened(str(folder), os.O_DIRECTORY, name=root) as descriptor:
        for name, data in _Walk(root=root).files(descriptor, "", depth=0):
            files[name] = data
            total += len(data)
            if total > LARGEST_TOTAL_BYTES:
                raise UnsafeArchive(f"more than {LARGEST_TOTAL_BYTES >> 20} MiB in all", where=root)
    if not {"SKILL.md", "extension.yaml"} & files.keys():
        raise BadInput(
            "it holds neither SKILL.md nor extension.yaml", where=root, hint="an ability has one of them, or both"
        )
    return dict(sorted(files.items()))


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One pass over a folder that stops at the first entry that is never installed.

    Every folder is read through the descriptor it was opened by, so that none can be exchanged for a link meanwhile.
    """

    root: str
    seen: int = 0

    def files(self, descriptor: int, below: str, *, depth: int) -> Iterator[tuple[str, bytes]]:
        if depth > DEEPEST:
            raise UnsafeArchive(f"more than {DEEPEST} folders deep", where=self.root)
        spellings: dict[str, str] = {}
        for entry in self._entries(descriptor, below or self.root):
            name = below + entry.name
            is_folder = _is_folder(entry, name)
            other = spellings.setdefault(entry.name.casefold(), entry.name)
            if other != entry.name:
                raise UnsafeArchive(f"two members land on the same file: {other} and {entry.name}", where=name)
            kind = os.O_DIRECTORY if is_folder else os.O_NONBLOCK
            with _opened(entry.name, kind | os.O_NOFOLLOW, name=name, inside=descriptor) as opened:
                if is_folder:
                    yield from self.files(opened, f"{name}/", depth=depth + 1)
                else:
                    yield name, _read_file(opened, name)

    def _entries(self, descriptor: int, name: str) -> "list[os.DirEntry[str]]":
        entries = []
        with _reading(name), os.scandir(descriptor) as scan:
            for entry in scan:
                if entry.name in _IGNORED:
                    continue
                entries.append(entry)
                self.seen += 1
                if self.seen > MOST_ENTRIES:
                    raise UnsafeArchive(f"more than {MOST_ENTRIES:,} files and folders", where=self.root)
        return sorted(entries, key=lambda entry: entry.name)


def _is_folder(entry: "os.DirEntry[str]", name: str) -> bool:
    """Whether the entry is a folder; UnsafeArchive unless it is one, or a file, of a name that may be used."""
    with _reading(name):
        if entry.is_symlink():
            raise UnsafeArchive("links are not allowed", where=_shown(name))
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not entry.is_file(follow_symlinks=False):
            raise UnsafeArchive("only files and folders are allowed", where=_shown(name))
    if len(os.fsencode(name)) > LONGEST_PATH_BYTES:
        raise UnsafeArchive(f"a path is longer than {LONGEST_PATH_BYTES} bytes", where=_shown(name))
    try:
        checked_path(name)
    except UnsafePath as error:
        raise UnsafeArchive(error.message, where=error.where, hint=error.hint) from error
    return is_folder


def _read_file(descriptor: int, name: str) -> bytes:
    with _reading(name):
        # What was a file a moment ago may be a pipe by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafeArchive("only files and folders are allowed", where=name)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    if len(data) > LARGEST_FILE_BYTES:
        raise UnsafeArchive(f"larger than {LARGEST_FILE_BYTES >> 20} MiB", where=name)
    return data


@contextmanager
def _opened(path: str, flags: int, *, name: str, inside: int | None = None) -> Iterator[int]:
    with _reading(name):
        descriptor = os.open(path, os.O_RDONLY | flags, dir_fd=inside)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn what the disk refuses into our errors."""
    try:
        yield
    except OSError as error:
        where = _shown(name)
        if error.errno == errno.ELOOP:
            raise UnsafeArchive("links are not allowed", where=where) from error
        if error.errno in _CHANGED:
            raise BadInput("it changed while the folder was read", where=where, hint="try again") from error
        raise BadInput("it cannot be read", where=where, hint="check its permissions") from error


def _shown(name: str) -> str:
    return ascii(name)[1:-1][:_LONGEST_SHOWN]
