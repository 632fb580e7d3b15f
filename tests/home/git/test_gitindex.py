"""The index against the real git."""

import pytest
from tests.home.repository import git

from habilis.errors import HomeReadonly
from habilis.home.git.index import DamagedIndex, Index, rebuilt
from habilis.home.git.objects import FILE, Entry, blob

pytestmark = pytest.mark.part("git")


def index_of(repository):
    return (repository / ".git/index").read_bytes()


@pytest.fixture
def staged(tmp_path):
    """A repository whose index holds files of many lengths of path."""
    repository = tmp_path
    git(repository, "init", "-q", "-b", "main")
    for n in range(60):
        path = repository / f"folder{n % 3}" / ("n" * (n + 1))
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(n))
    git(repository, "add", ".")
    return repository


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_index_of_each_version_reads_back_as_git_lists_it(staged, version):
    if version == 3:
        (staged / "later").touch()
        git(staged, "add", "--intent-to-add", "later")
    git(staged, "update-index", "--index-version", str(version))
    before = git(staged, "ls-files", "--stage", "--debug")

    (staged / ".git/index").write_bytes(Index.read(index_of(staged)).content())

    assert git(staged, "ls-files", "--stage", "--debug") == before


def test_the_rest_of_an_index_stays_when_one_entry_is_placed(staged):
    index = Index.read(index_of(staged))
    before = dict(zip(index.names, index.raw, strict=True))

    index.place("folder1/new", before[b"folder0/n"])
    index.place("folder2/nnn", None)

    after = dict(zip(index.names, index.raw, strict=True))
    assert after == {name: each for name, each in before.items() if name != b"folder2/nnn"} | {
        b"folder1/new": before[b"folder0/n"]
    }
    assert index.names == sorted(index.names)


def test_an_entry_takes_the_place_of_all_stages_of_a_conflict(staged):
    lines = "".join(f"100644 {blob(b'x').id} {stage}\tin/conflict\n" for stage in (1, 2, 3))
    git(staged, "update-index", "--index-info", stdin=lines.encode())
    index = Index.read(index_of(staged))
    assert index.names.count(b"in/conflict") == 3

    index.place("in/conflict", index.raw[0])

    assert index.names.count(b"in/conflict") == 1


def test_a_file_in_the_index_makes_way_for_a_folder_and_back(staged):
    index = Index.read(index_of(staged))

    index.place("folder1", index.raw[0])
    index.place("folder0/n/deeper", index.raw[0])

    assert [name for name in index.names if name.startswith(b"folder1")] == [b"folder1"]
    assert b"folder0/n" not in index.names


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: b"garbage",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-20] + bytes(19) + b"x",
        lambda content: b"DIRC\0\0\0\x09" + content[8:-20] + bytes(20),
        lambda content: b"DIRC\0\0\0\x02\xff\xff\xff\xff" + content[12:-20] + bytes(20),
    ],
)
def test_a_damaged_index_is_said_to_be_one(staged, spoil):
    with pytest.raises(DamagedIndex):
        Index.read(spoil(index_of(staged)))


def test_a_split_index_is_refused_with_the_way_out(staged):
    git(staged, "update-index", "--split-index")

    with pytest.raises(HomeReadonly, match="no-split-index"):
        Index.read(index_of(staged))


def test_an_index_made_anew_says_what_the_commit_holds(staged):
    files = [(name.encode(), Entry(FILE, blob(name.encode()).id)) for name in ("b/c", "a", "b.d", "b/a")]
    for name in ("b/c", "a", "b.d", "b/a"):
        git(staged, "hash-object", "-w", "--stdin", stdin=name.encode())

    (staged / ".git/index").write_bytes(rebuilt(files).content())

    root = git(staged, "write-tree").strip()
    assert git(staged, "ls-tree", "-r", "--name-only", root).split() == ["a", "b.d", "b/a", "b/c"]
