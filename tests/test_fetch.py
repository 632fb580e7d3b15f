import errno
import os
import shutil
import socket
from pathlib import Path

import pytest
from tests.privileges import modes_count

from habilis import fetch
from habilis.errors import BadInput, NotFound, UnsafeArchive
from habilis.fetch import read_folder

SKILL = b"---\nname: Greet\ndescription: When asked.\n---\nHello.\n"


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a small good ability."""
    made = tmp_path / "greeter"
    made.mkdir()
    (made / "SKILL.md").write_bytes(SKILL)
    return made


@pytest.fixture
def at_opening(monkeypatch):
    """Return a function that has something happen to the disk, once, as an entry of a name is about to be opened."""

    def arrange(name, happens):
        real = os.open

        def opening(path, *args, **kwargs):
            if Path(path).name == name:
                monkeypatch.setattr(os, "open", real)
                happens()
            return real(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", opening)

    return arrange


def fill(folder, *names, data=b"x"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def refused(folder, error=UnsafeArchive):
    with pytest.raises(error) as caught:
        read_folder(folder)
    assert type(caught.value) is error
    return caught.value


def open_descriptors():
    return len(list(Path("/dev/fd").iterdir()))


def test_every_file_comes_out_by_its_path_sorted(folder):
    fill(folder, "templates/b.html", "templates/a.html", "templates-old.html", "avatar.svg")

    files = read_folder(folder)

    assert list(files) == ["SKILL.md", "avatar.svg", "templates-old.html", "templates/a.html", "templates/b.html"]
    assert files["SKILL.md"] == SKILL


@pytest.mark.parametrize("name", ["SKILL.md", "extension.yaml"])
def test_one_of_instructions_and_manifest_is_enough(tmp_path, name):
    fill(tmp_path, name, data=b"any bytes \xff\0")

    assert read_folder(tmp_path) == {name: b"any bytes \xff\0"}


@pytest.mark.parametrize("name", ["README.md", "skill.md", "docs/SKILL.md", "extension.yml"])
def test_a_folder_with_neither_is_no_ability(tmp_path, name):
    fill(tmp_path, f"greeter/{name}")

    error = refused(tmp_path / "greeter", BadInput)

    assert str(error) == "greeter: it holds neither SKILL.md nor extension.yaml (an ability has one of them, or both)"


@pytest.mark.parametrize("name", ["nowhere", "greeter/SKILL.md", "nul\0"])
def test_what_is_no_folder_is_not_found(folder, name):
    with pytest.raises(NotFound, match="there is no folder"):
        read_folder(folder.parent / name)


def test_a_folder_named_by_a_dot_is_called_by_its_own_name(tmp_path, monkeypatch):
    (tmp_path / "greeter").mkdir()
    monkeypatch.chdir(tmp_path / "greeter")

    assert refused(Path(), BadInput).where == "greeter"


def test_a_person_may_name_the_folder_by_a_link(folder, tmp_path):
    (tmp_path / "short").symlink_to(folder)

    assert read_folder(tmp_path / "short") == {"SKILL.md": SKILL}


@pytest.mark.parametrize("name", [".git/config", "__pycache__/a.pyc", "docs/.DS_Store", "sub/.git/hooks/pre-commit"])
def test_what_tools_leave_behind_is_passed_over(folder, name):
    fill(folder, name)

    assert read_folder(folder) == {"SKILL.md": SKILL}


@pytest.mark.parametrize("target", ["/etc/passwd", "../..", "SKILL.md", "nowhere", "."])
def test_a_link_is_never_followed(folder, target):
    (folder / "docs").mkdir()
    (folder / "docs" / "link").symlink_to(target)

    error = refused(folder)

    assert (error.message, error.where) == ("links are not allowed", "docs/link")


def test_a_pipe_is_refused_without_waiting_for_its_writer(folder):
    os.mkfifo(folder / "pipe")

    error = refused(folder)

    assert (error.message, error.where) == ("only files and folders are allowed", "pipe")


def test_a_socket_is_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("plug")

        assert refused(folder).message == "only files and folders are allowed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_refused(folder):
    try:
        os.mknod(folder / "zero", 0o20600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices cannot be made here")

    assert refused(folder).message == "only files and folders are allowed"


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", "sub/.ENV", ".env~", ".environment", ".gitattributes", ".gitmodules", ".gitignore",
        "sub/.GitIgnore", ".GIT/hooks/pre-commit", "git~1/config", ".g\u200cit/config", ".git /x", "con.yaml",
        "docs/aux/a", "a:b", "a\\b", "a?", "line\nbreak", "bell\a", "\u202egnp.exe", "tail ", "tail.", "cafe\u0301",
        "activity.jsonl", ".state/x",
    ],
)  # fmt: skip
def test_a_name_that_is_never_used_is_refused_in_escaped_form(folder, name):
    fill(folder, name)

    error = refused(folder)

    assert error.where.isascii()
    assert error.where.isprintable()
    assert ascii(name)[1:-1].startswith(error.where)


def test_a_name_that_is_no_text_is_refused_in_escaped_form(folder):
    (folder / os.fsdecode(b"caf\xe9")).touch()

    assert refused(folder).where == r"caf\udce9"


def test_names_beyond_latin_letters_are_good(folder):
    fill(folder, "docs/čeština.md", "docs/日本語.md", "emoji-🙂.svg", ".gitkeep")

    assert set(read_folder(folder)) == {"SKILL.md", "docs/čeština.md", "docs/日本語.md", "emoji-🙂.svg", ".gitkeep"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Tools/a", "tools/a"), ("docs/A.md", "docs/a.md"), ("tool", "TOOL/a"), ("stra\u00dfe", "STRASSE")],
)
def test_names_that_are_one_file_on_some_disks_are_refused(folder, one, other):
    fill(folder, one, other)

    assert refused(folder).message.startswith("two members land on the same file: ")


def test_a_path_of_240_bytes_is_read_and_one_of_241_is_not(folder):
    fill(folder, "é" * 60 + "/" + "d" * 119)
    read_folder(folder)
    fill(folder, "é" * 60 + "/" + "e" * 120)

    assert refused(folder).message == "a path is longer than 240 bytes"


def test_sixteen_folders_deep_are_read_and_seventeen_are_not(folder):
    fill(folder, "/".join("d" * 16) + "/file")
    read_folder(folder)
    fill(folder, "/".join("d" * 17) + "/file")

    error = refused(folder)

    assert (error.message, error.where) == ("more than 16 folders deep", "greeter")


def test_as_many_entries_as_the_limit_are_read_and_one_more_is_not(folder):
    (folder / "many").mkdir()
    for number in range(fetch.MOST_ENTRIES - 2):
        (folder / "many" / str(number)).touch()
    assert len(read_folder(folder)) == fetch.MOST_ENTRIES - 1

    (folder / "one-more").touch()

    assert refused(folder).message == "more than 2,000 files and folders"


def test_empty_folders_count_too(folder):
    for number in range(fetch.MOST_ENTRIES):
        (folder / str(number)).mkdir()

    assert refused(folder).message == "more than 2,000 files and folders"


def test_a_file_of_5_mib_is_read_and_a_byte_more_is_not(folder):
    fill(folder, "avatar.png", data=bytes(fetch.LARGEST_FILE_BYTES))
    assert len(read_folder(folder)["avatar.png"]) == 5 * 1024 * 1024
    fill(folder, "avatar.png", data=bytes(fetch.LARGEST_FILE_BYTES + 1))

    error = refused(folder)

    assert (error.message, error.where) == ("larger than 5 MiB", "avatar.png")


def test_a_file_that_claims_a_terabyte_is_refused_after_5_mib(folder):
    (folder / "sparse").touch()
    os.truncate(folder / "sparse", 1 << 40)

    assert refused(folder).message == "larger than 5 MiB"


def test_all_files_together_stay_within_50_mib(folder):
    for number in range(10):
        fill(folder, f"{number}.bin", data=bytes(fetch.LARGEST_FILE_BYTES))

    error = refused(folder)

    assert (error.message, error.where) == ("more than 50 MiB in all", "greeter")


@pytest.mark.parametrize("name", ["secret.md", "closed"])
def test_what_may_not_be_read_is_named(folder, name):
    fill(folder, "secret.md", "closed/a")
    (folder / name).chmod(0)

    with modes_count():
        error = refused(folder, BadInput)
    (folder / name).chmod(0o700)

    assert str(error) == f"{name}: it cannot be read (check its permissions)"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_what_the_disk_does_not_give_is_named_without_a_word_of_the_system(folder, at_opening, code):
    def fail():
        raise OSError(code, "words of the system", "/somewhere/else")

    fill(folder, "docs/page.md")
    at_opening("page.md", fail)

    error = refused(folder, BadInput)

    assert str(error) == "docs/page.md: it cannot be read (check its permissions)"


@pytest.mark.parametrize("name", ["greeter", "docs", "page.md"])
def test_a_folder_that_disappears_meanwhile_says_so(folder, at_opening, name):
    fill(folder, "docs/page.md")
    at_opening(name, lambda: shutil.rmtree(folder))

    error = refused(folder, BadInput)

    assert (error.message, error.hint) == ("it changed while the folder was read", "try again")
    assert error.where.endswith(name)


def test_a_file_that_becomes_a_link_meanwhile_is_not_followed(folder, at_opening):
    fill(folder, "page.md")

    def swap():
        (folder / "page.md").unlink()
        (folder / "page.md").symlink_to("/etc/passwd")

    at_opening("page.md", swap)

    assert refused(folder).message == "links are not allowed"


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(folder, at_opening, tmp_path):
    fill(tmp_path, "elsewhere/page.md")
    fill(folder, "docs/page.md")

    def swap():
        shutil.rmtree(folder / "docs")
        (folder / "docs").symlink_to(tmp_path / "elsewhere")

    at_opening("docs", swap)

    with pytest.raises(BadInput) as caught:
        read_folder(folder)
    assert caught.value.where == "docs"


def test_a_folder_above_that_becomes_a_link_meanwhile_changes_nothing(folder, at_opening, tmp_path):
    fill(tmp_path, "elsewhere/page.md", data=b"theirs")
    fill(folder, "docs/page.md", data=b"mine")

    def swap():
        (folder / "docs").rename(tmp_path / "moved")
        (folder / "docs").symlink_to(tmp_path / "elsewhere")

    at_opening("page.md", swap)

    assert read_folder(folder)["docs/page.md"] == b"mine"


def test_a_file_that_becomes_a_pipe_meanwhile_is_not_waited_for(folder, at_opening):
    fill(folder, "page.md")

    def swap():
        (folder / "page.md").unlink()
        os.mkfifo(folder / "page.md")

    at_opening("page.md", swap)

    assert refused(folder).message == "only files and folders are allowed"


def test_nothing_stays_open_after_a_refusal(folder):
    fill(folder, "a/b/c/page.md")
    (folder / "a/b/c/zz").symlink_to("/etc/passwd")
    before = open_descriptors()

    for _ in range(5):
        refused(folder)

    assert open_descriptors() == before
