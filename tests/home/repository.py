"""What the real git says of a repository, for tests of the home."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """Run git in a folder and return what it prints; fails where git fails."""
    command = ["git", "-C", str(folder), "-c", "user.name=Person", "-c", "user.email=person@example.test", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, (command, done.stderr.decode(errors="replace"))
    return done.stdout.decode(errors="replace")


def status(folder: Path) -> str:
    """Return the short status; "" when nothing is uncommitted and nothing untracked."""
    return git(folder, "status", "--porcelain", "--untracked-files=all")


def content(folder: Path, path: str, commit: str = "HEAD") -> str:
    """Return a file's content in a commit."""
    return git(folder, "cat-file", "blob", f"{commit}:{path}")


def files(folder: Path, commit: str = "HEAD") -> list[str]:
    """Return all paths in a commit."""
    return git(folder, "ls-tree", "-r", "--name-only", "-z", commit).split("\0")[:-1]


def subjects(folder: Path) -> list[str]:
    """Return the subjects of all commits, the newest first."""
    return git(folder, "log", "--format=%s").splitlines()


def is_whole(folder: Path) -> bool:
    """Tell whether git finds no fault in the repository."""
    git(folder, "fsck", "--strict", "--full")
    return True
