"""Objects, packs and trees against the real git."""

import random
import zlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.home.repository import git, is_whole

from habilis.errors import Collision, HomeCorrupt
from habilis.home.git import trees
from habilis.home.git.database import Database
from habilis.home.git.objects import (
    FILE,
    FOLDER,
    NOTHING,
    Entry,
    Story,
    blob,
    commit,
    read_commit,
    read_tree,
    tree,
)
from habilis.home.git.packs import StoredPack, pack_objects

pytestmark = pytest.mark.part("git")
STORY = Story(message="Say é\n", at=datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))))


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


@pytest.fixture
def database(repository):
    opened = Database(repository / ".git/objects")
    yield opened
    opened.close()


def numbered(count):
    return {f"projects/p{n % 7}/assets/a{n}.md": b"content %d" % n for n in range(count)}


def stored(database, files, root=NOTHING):
    """Store files and return the tree that holds them."""
    blobs = {path: blob(content) for path, content in files.items()}
    root, made = trees.changed(database, root, {path: Entry(FILE, each.id) for path, each in blobs.items()})
    database.write([*blobs.values(), *made])
    return root


def test_an_object_has_the_id_that_git_gives_it(repository):
    assert blob(b"hello\n").id == git(repository, "hash-object", "--stdin", stdin=b"hello\n").strip()
    assert tree({}).id == NOTHING


def test_git_reads_a_commit_as_it_was_written(repository, database):
    root = stored(database, {"a": b"1"})
    made = commit(root, [], STORY)
    database.write([made])

    assert git(repository, "log", "-1", "--format=%an <%ae>|%ad|%s", made.id) == (
        "Habilis <habilis@localhost>|Mon Nov 30 12:00:00 2026 +0530|Say é\n"
    )
    assert read_commit(made.body).tree == root


def test_a_tree_is_in_the_order_of_git(repository, database):
    root = stored(database, {"a/x": b"1", "a.b": b"2", "a-b": b"3", "a0": b"4"})

    assert git(repository, "ls-tree", "--name-only", root).split() == ["a-b", "a.b", "a", "a0"]
    assert is_whole(repository)


@pytest.mark.parametrize("body", [b"100644 a", b"100644 a\0short", b"x a\0" + bytes(20), b"\0" * 30])
def test_what_is_no_tree_is_not_read_as_one(body):
    with pytest.raises(ValueError):
        read_tree(body)


@pytest.mark.parametrize("body", [b"", b"tree x\n", b"tree " + b"a" * 40 + b"\nsomething"])
def test_what_is_no_commit_is_not_read_as_one(body):
    with pytest.raises(ValueError, match="commit"):
        read_commit(body)


def test_git_finds_every_object_of_a_pack(repository, database):
    contents = [bytes([n % 256]) * (n * 37) for n in range(300)]

    database.write([blob(content) for content in contents])

    asked = "".join(f"{blob(content).id}\n" for content in contents).encode()
    answers = git(repository, "cat-file", "--batch-check", stdin=asked).splitlines()
    assert answers == [f"{blob(content).id} blob {len(content)}" for content in contents]
    assert is_whole(repository)


def test_a_pack_reads_back(tmp_path):
    objects = [blob(random.Random(n).randbytes(n * 311)) for n in range(60)]
    packed = pack_objects(objects)
    (tmp_path / "pack-1.pack").write_bytes(packed.pack)
    (tmp_path / "pack-1.idx").write_bytes(packed.index)

    pack = StoredPack(tmp_path / "pack-1.pack")

    assert sorted(pack.ids()) == sorted(each.id for each in objects)
    for each in objects:
        assert pack.read(pack.place_of(bytes.fromhex(each.id))) == ("blob", each.body)
    assert pack.place_of(bytes(20)) is None
    pack.close()


@pytest.mark.parametrize("cut", [0, 3, 20, 40])
def test_a_pack_that_is_cut_off_is_said_to_be_damaged(tmp_path, cut):
    packed = pack_objects([blob(b"some content that is long enough" * 20)])
    (tmp_path / "pack-1.pack").write_bytes(packed.pack[: 12 + cut] if cut else b"")
    (tmp_path / "pack-1.idx").write_bytes(packed.index)
    pack = StoredPack(tmp_path / "pack-1.pack")

    with pytest.raises(ValueError, match=r"cut off|damaged"):
        pack.read(12)

    pack.close()


@pytest.mark.parametrize("content", [b"", b"garbage", b"\377tOc\0\0\0\2" + bytes(100)])
def test_a_pack_with_a_damaged_index_is_not_opened(tmp_path, content):
    (tmp_path / "pack-1.pack").write_bytes(b"PACK")
    (tmp_path / "pack-1.idx").write_bytes(content)

    with pytest.raises(ValueError, match="index"):
        StoredPack(tmp_path / "pack-1.pack")


def test_objects_are_found_wherever_git_put_them(repository, database):
    loose = git(repository, "hash-object", "-w", "--stdin", stdin=b"loose").strip()
    root = stored(database, numbered(200))
    git(repository, "commit-tree", "-m", "x", root)
    git(repository, "update-ref", "refs/heads/main", git(repository, "commit-tree", "-m", "x", root).strip())
    git(repository, "repack", "-adfq", "--depth=50")  # differences, and the first pack is gone
    database.close()

    assert database.blob(loose) == b"loose"
    assert dict(trees.walk(database, root)).keys() == {path.encode() for path in numbered(200)}
    for path, content in numbered(200).items():
        assert database.blob(trees.find(database, root, path).id) == content


def test_objects_that_came_after_the_opening_are_found(repository, database):
    other = Database(repository / ".git/objects")
    stored(database, {"a": b"1"})

    assert other.blob(blob(b"1").id) == b"1"
    stored(database, {"b": b"2"})
    assert other.blob(blob(b"2").id) == b"2"

    other.close()


def test_an_object_that_is_missing_or_damaged_is_named(repository, database):
    with pytest.raises(HomeCorrupt, match=r"is missing.*git fsck"):
        database.blob("ab" * 20)

    for content in (b"", b"garbage", zlib.compress(b"blob 3\0abcd"), zlib.compress(b"blob 4\0abcd")):
        path = repository / ".git/objects/12" / ("34" * 19)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        with pytest.raises(HomeCorrupt, match="is damaged") as caught:
            database.blob("12" + "34" * 19)
        assert caught.value.where == f".git/objects/12/{'34' * 19}"


def test_an_object_of_another_kind_is_no_file(database):
    root = stored(database, {"a": b"1"})

    with pytest.raises(HomeCorrupt, match="is a tree where a blob belongs"):
        database.blob(root)


def test_many_commits_leave_few_packs(repository, database):
    root = NOTHING
    for n in range(300):
        root = stored(database, {f"projects/p{n % 5}/a{n}": b"%d" % n}, root)
        database.tidy()

    packs = list((repository / ".git/objects/pack").iterdir())
    assert len(packs) <= 2 * 32
    assert len(dict(trees.walk(database, root))) == 300
    assert is_whole(repository)


def test_tidying_leaves_packs_alone_that_are_kept_for_a_reason(repository, database):
    for n in range(20):
        stored(database, {f"a{n}": b"%d" % n})
    for path in (repository / ".git/objects/pack").glob("*.pack"):
        path.with_suffix(".keep").touch()

    database.tidy()

    assert len(list((repository / ".git/objects/pack").glob("*.pack"))) == 20


def test_a_reader_goes_on_while_packs_are_put_together(repository, database):
    for n in range(20):
        stored(database, {f"a{n}": b"%d" % n})
    reader = Database(repository / ".git/objects")
    assert reader.blob(blob(b"3").id) == b"3"

    database.tidy()

    assert len(list((repository / ".git/objects/pack").glob("*.pack"))) == 1
    assert [reader.blob(blob(b"%d" % n).id) for n in range(20)] == [b"%d" % n for n in range(20)]
    reader.close()


def test_what_a_killed_writer_left_is_taken_away(repository, database):
    stored(database, {"a": b"1"})
    left = repository / ".git/objects/pack/tmp_habilis_1234"
    left.write_bytes(b"half a pack")

    database.tidy()

    assert not left.exists()


def test_a_change_writes_the_folders_above_it_only(database):
    root = stored(database, numbered(70))

    _, made = trees.changed(database, root, {"projects/p1/assets/a1.md": Entry(FILE, blob(b"new").id)})

    assert [each.kind for each in made] == ["tree"] * 4


def test_a_change_to_what_is_there_already_writes_nothing(database):
    root = stored(database, numbered(7))
    present = {path: trees.find(database, root, path) for path in numbered(7)}

    assert trees.changed(database, root, present | {"not/there": None}) == (root, [])


def test_a_folder_without_files_goes(repository, database):
    root = stored(database, {"a/b/c": b"1", "d": b"2"})

    after, made = trees.changed(database, root, {"a/b/c": None})
    database.write(made)

    assert git(repository, "ls-tree", "-r", "--name-only", after).split() == ["d"]
    assert trees.changed(database, after, {"d": None})[0] == NOTHING


def test_a_file_makes_way_for_a_folder_and_back_in_one_change(database):
    root = stored(database, {"a": b"1", "b/c": b"2", "b/d": b"3"})
    one = Entry(FILE, blob(b"1").id)

    turned, _ = trees.changed(database, root, {"a": None, "a/x": one, "b/c": None, "b/d": None, "b": one})

    assert {path for path, _ in trees.walk(database, turned)} == {b"a/x", b"b"}


@pytest.mark.parametrize("path", ["a/x", "b", "B/c", "A"])
def test_a_path_cannot_be_two_things_at_once(database, path):
    root = stored(database, {"a": b"1", "b/c": b"2"})

    with pytest.raises(Collision):
        trees.changed(database, root, {path: Entry(FILE, blob(b"1").id)})


def test_a_name_is_not_looked_for_in_a_file(database):
    root = stored(database, {"a": b"1"})

    assert trees.find(database, root, "a/x") is None
    assert trees.find(database, root, "") == Entry(FOLDER, root)


def test_the_time_zone_of_a_commit_may_be_utc():
    assert b" +0000\ncommitter" in commit(NOTHING, [], Story(message="x\n", at=datetime.now(UTC))).body
