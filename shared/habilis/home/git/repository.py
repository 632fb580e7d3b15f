"""A repository's folder: made where it is missing, and locked against other writers of ours."""

import errno
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from habilis.errors import Busy, HomeLocked, HomeReadonly
from habilis.home.durable import make_folders, no_room_is_told, replace_file
from habilis.home.git.refs import FIRST_BRANCH
from habilis.home.lock import hold

_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FOREIGN = re.compile(
    r"^\s*(?:refstorage\s*=\s*(?!files\b)|objectformat\s*=\s*(?!sha1\b))", re.IGNORECASE | re.MULTILINE
)

PATIENCE_S = 10.0
"""How long a writer waits for another one, in seconds."""


def make_repository(git_dir: Path, *, bare: bool) -> None:
    """Make an empty repository in a folder; what is there already stays as it is."""
    make_folders(git_dir)
    with alone(git_dir):
        lay_out(git_dir, bare=bare)


def lay_out(git_dir: Path, *, bare: bool) -> None:
    """Do as `make_repository`, for a caller that holds the repository's lock."""
    for part in ("objects/pack", "objects/info", "refs/heads", "refs/tags"):
        make_folders(git_dir / part)
    settings = ["repositoryformatversion = 0", "filemode = true", f"bare = {str(bare).lower()}", "autocrlf = false"]
    if not bare:
        settings.append("logallrefupdates = true")
    config = "[core]\n" + "".join(f"\t{line}\n" for line in settings)
    # HEAD comes last: a folder without it is no repository to git.
    for name, content in (("config", config), ("HEAD", f"ref: {FIRST_BRANCH}\n")):
        if not (git_dir / name).exists():
            replace_file(git_dir / name, content.encode())


def _refuse_foreign(git_dir: Path) -> None:
    """Refuse a repository whose refs or ids are of a kind that is not written here: better than a second history."""
    try:
        config = (git_dir / "config").read_text("utf-8", "replace")
    except FileNotFoundError:
        return
    if _FOREIGN.search(config):
        raise HomeReadonly(
            "the home's repository is of a format that is not written here: reftable or SHA-256",
            where=str(git_dir / "config"),
            hint="keep the home in a repository with files for refs and SHA-1",
        )


@contextmanager
def alone(git_dir: Path, *, timeout_s: float = PATIENCE_S) -> Iterator[None]:
    """Keep other writers of ours out of a repository; HomeLocked when one stays in."""
    with ExitStack() as held:
        try:
            held.enter_context(hold(git_dir / "habilis.lock", timeout_s=timeout_s))
            _refuse_foreign(git_dir)
        except OSError as error:
            if error.errno not in _READ_ONLY:
                raise
            raise HomeReadonly(
                "this user may read the home and not write it",
                where=str(git_dir),
                hint="check the owner and mode of the folder",
            ) from None
        except Busy as error:
            raise HomeLocked(
                f"another change is being written to the home: {error.message}", where=str(git_dir), hint="try again"
            ) from None
        with no_room_is_told(git_dir):
            yield
