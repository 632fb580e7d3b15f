"""One commit of two files in homes of 1,000, 10,000 and 50,000 files, against `git add` and `git commit`.

Every commit of ours is synced to the disk: its objects, the branch, and in a working directory its files, with the
folders they are in. Git's runs with its defaults. Set TMPDIR to choose the disk.
"""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from harness import conclude, once_each, ratio, table, verdict

from habilis.home.bare import BareHome
from habilis.home.durable import replace_file
from habilis.home.worktree import WorkTreeHome

ROUNDS = 25
SMALL, MIDDLE, LARGE = 1_000, 10_000, 50_000
MOST_GROWTH = 2.0
MOST_OF_GIT_BARE = 0.2
MOST_OF_GIT_WORKTREE = 1.0
FILES_OF_A_PROJECT = 100
GIT = ["git", "-c", "gc.auto=0", "-c", "user.name=Bench", "-c", "user.email=bench@example.test"]
CLEAN = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}


def path_of(number: int) -> str:
    """Return the path of a file, shaped as in a real home: accounts, pieces of content, numbers, instructions."""
    project, place = divmod(number, FILES_OF_A_PROJECT)
    top = f"projects/project-{project:03d}"
    if place < 10:
        return f"{top}/connections/account-{place}/connection.yaml"
    if place < 70:
        return f"{top}/assets/article/piece-{place:02d}/asset.md"
    if place < 90:
        return f"{top}/snapshots/account-{place % 10}/traffic/2026-{place % 12 + 1:02d}-{place}.jsonl"
    return f"{top}/abilities/ability-{place}/SKILL.md"


def content_of(number: int, turn: int) -> bytes:
    """Return a file of some 400 bytes that differs at each turn."""
    return f"title: Number {number}\nturn: {turn}\n".encode() + b"words that say something of it\n" * 12


def changes(size: int, turn: int) -> dict[str, bytes]:
    """Return the two files of a turn: an account and a piece of content of one project, another one each turn."""
    project = turn * 37 % (size // FILES_OF_A_PROJECT) * FILES_OF_A_PROJECT
    return {path_of(each): content_of(each, turn) for each in (project + turn % 10, project + 10 + turn % 60)}


def built(folder: Path, size: int) -> Path:
    """Return a bare repository of so many files, in one pack as git makes it."""
    path = folder / f"built-{size}.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True, env=CLEAN)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=b"".join(imported(size)), check=True, env=CLEAN)
    subprocess.run(["git", "-C", path, "repack", "-adq"], check=True, env=CLEAN)
    return path


def imported(size: int) -> Iterator[bytes]:
    """Return a commit of so many files, as git imports it."""
    yield b"commit refs/heads/main\ncommitter Bench <bench@example.test> 1700000000 +0000\ndata 5\nBegin\n"
    for number in range(size):
        content = content_of(number, 0)
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (path_of(number).encode(), len(content), content)


def checked_out(bare: Path, name: str) -> Path:
    """Return a working directory of a repository."""
    path = bare.with_name(f"{bare.stem}-{name}")
    subprocess.run(["git", "clone", "-q", bare, path], check=True, env=CLEAN)
    return path


def ours(home: BareHome | WorkTreeHome, size: int, turns: Iterator[int]) -> None:
    """Commit two files."""
    home.commit(lambda _: changes(size, next(turns)), subject="Change two files", action="bench", actor="bench")


def git(path: Path, size: int, turns: Iterator[int]) -> None:
    """Commit two files with git, as a person would."""
    files = changes(size, next(turns))
    for name, content in files.items():
        (path / name).write_bytes(content)
    subprocess.run([*GIT, "-C", path, "add", *files], check=True, env=CLEAN)
    subprocess.run([*GIT, "-C", path, "commit", "-q", "-m", "Change two files"], check=True, env=CLEAN)


def main() -> int:
    """Measure, print, and say whether it holds."""
    with tempfile.TemporaryDirectory(prefix="bench-home-") as scratch:
        folder = Path(scratch)
        bares = {size: built(folder, size) for size in (SMALL, MIDDLE, LARGE)}
        peers = {size: checked_out(bares[size], "git") for size in (SMALL, MIDDLE)}
        trees = {size: WorkTreeHome(checked_out(bares[size], "ours")) for size in (SMALL, MIDDLE)}
        homes = {size: BareHome(path, private=folder / "private") for size, path in bares.items()}
        candidates = {
            **{f"git add + git commit, {size:,} files": partial(git, peers[size], size, count(1)) for size in peers},
            **{f"bare, {size:,} files": partial(ours, homes[size], size, count(1)) for size in homes},
            **{f"working directory, {size:,} files": partial(ours, trees[size], size, count(1)) for size in trees},
            "floor: one file replaced and synced": partial(replace_file, folder / "floor", content_of(0, 0)),
        }
        once_each(candidates, rounds=3)
        found = once_each(candidates, rounds=ROUNDS)
        for home in (*homes.values(), *trees.values()):
            home.close()
        for path in (*bares.values(), *peers.values(), *(home.private for home in trees.values())):
            subprocess.run(["git", "-C", path, "fsck", "--strict"], check=True, env=CLEAN, capture_output=True)
        for home in trees.values():
            status = subprocess.run(
                ["git", "-C", home.private, "status", "-s"], check=True, env=CLEAN, capture_output=True
            )
            assert status.stdout == b"", status.stdout

    table("One commit of two files", found, against=f"git add + git commit, {MIDDLE:,} files")
    git_of = {size: found[f"git add + git commit, {size:,} files"] for size in peers}
    bare_of = {size: found[f"bare, {size:,} files"] for size in bares}
    tree_of = {size: found[f"working directory, {size:,} files"] for size in peers}
    return conclude(
        "home",
        [
            _claim(f"bare, growth from {SMALL:,} to {LARGE:,} files", bare_of[LARGE], bare_of[SMALL], MOST_GROWTH),
            _claim(f"bare against git at {MIDDLE:,} files", bare_of[MIDDLE], git_of[MIDDLE], MOST_OF_GIT_BARE),
            *(
                _claim(
                    f"working directory against git at {size:,} files",
                    tree_of[size],
                    git_of[size],
                    MOST_OF_GIT_WORKTREE,
                )
                for size in peers
            ),
        ],
    )


def _claim(name: str, ours: list[float], peer: list[float], most: float) -> dict[str, object]:
    measured = ratio(ours, peer)
    return verdict(
        name,
        ours=statistics.median(ours) * 1e3,
        peer=statistics.median(peer) * 1e3,
        ratio=measured,
        target=f"<= {most:g}",
        holds=measured <= most,
    )


if __name__ == "__main__":
    sys.exit(main())
