"""The files of an asset as a call sends them."""

import base64
import hashlib
import os
import pathlib
import struct

import pytest

from habilis.engine import files
from habilis.engine.files import asset_files, wanted_facts
from habilis.errors import NotFound, TooLarge, UnsafePath
from habilis.home.bare import BareHome
from habilis.manifest.model import RequestTemplate, Step, Tool
from habilis.names import tool_name
from habilis.records import Asset, AssetFile, read_asset
from habilis.templating import compile_json, compile_url

FOLDER = "projects/acme/assets/article/hello"
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII5B", 13, b"IHDR", 640, 480, 8, 6, 0, 0, 0)


def asset(*entries):
    return Asset(ref="article/hello", title="Hello", text="", files=entries)


def put(home, name, data):
    path = home.private / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read(home, *entries, facts=frozenset()):
    return asset_files(home, home.open(), FOLDER, asset(*entries), facts=frozenset(facts))


def test_a_file_is_used_where_it_lies_with_its_name_type_size_and_alt(home):
    path = put(home, "cat.png", PNG)

    (file,) = read(home, AssetFile(name="A cat.png", file="cat.png", alt="A cat"))

    assert file == {"name": "A cat.png", "mime": "image/png", "size": len(PNG), "alt": "A cat"}
    assert (file.path, file.offset, file.size) == (str(path), 0, len(PNG))


def test_what_takes_a_look_into_the_file_is_there_when_it_is_wanted(home):
    put(home, "cat.png", PNG)

    (file,) = read(home, AssetFile(name="cat.png", file="cat.png"), facts={"width", "sha256", "base64"})

    assert (file["width"], file["height"]) == (640, 480)
    assert file["sha256"] == hashlib.sha256(PNG).hexdigest()
    assert base64.b64decode(file["base64"]) == PNG


@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("photo.png", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("notes.txt", b"just text", "text/plain"),
        ("letter.docx", b"PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("things.zip", b"PK\x03\x04", "application/zip"),
        ("thing", b"\0\1\2", "application/octet-stream"),
    ],
)
def test_the_bytes_say_the_type_and_the_ending_where_they_do_not(home, name, data, mime):
    put(home, name, data)

    (file,) = read(home, AssetFile(name=name, file=name))

    assert file["mime"] == mime


def test_the_record_has_the_last_word_about_the_type(home):
    put(home, "cat.png", PNG)

    (file,) = read(home, AssetFile(name="cat.png", file="cat.png", mime="image/apng"))

    assert file["mime"] == "image/apng"


def test_a_file_that_is_not_there_is_told_with_its_place(home):
    with pytest.raises(NotFound, match=r"no file 'gone\.png'") as caught:
        read(home, AssetFile(name="gone.png", file="gone.png"))

    assert caught.value.where == f"{FOLDER}/gone.png"


def test_a_link_is_not_followed(home, tmp_path):
    (tmp_path / "secret").write_text("x")
    put(home, "cat.png", PNG).unlink()
    (home.private / FOLDER / "cat.png").symlink_to(tmp_path / "secret")

    with pytest.raises(UnsafePath):
        read(home, AssetFile(name="cat.png", file="cat.png"))


def test_a_name_that_no_disk_takes_is_told_how_to_keep_it(home):
    with pytest.raises(UnsafePath) as caught:
        read(home, AssetFile(name='"hi".png', file='"hi".png'))

    assert "{name: …, file: …}" in caught.value.hint


def test_a_file_too_big_to_stand_in_a_body_is_refused(home):
    with put(home, "film.mp4", b"").open("wb") as file:
        file.truncate(files.LARGEST_BASE64_BYTES + 1)

    with pytest.raises(TooLarge, match="base64"):
        read(home, AssetFile(name="film.mp4", file="film.mp4"), facts={"base64"})

    assert read(home, AssetFile(name="film.mp4", file="film.mp4"))[0].size == files.LARGEST_BASE64_BYTES + 1


def test_a_file_too_big_to_send_is_refused(home):
    with put(home, "film.mp4", b"").open("wb") as file:
        file.truncate(files.LARGEST_UPLOAD_BYTES + 1)

    with pytest.raises(TooLarge, match="1024 MiB"):
        read(home, AssetFile(name="film.mp4", file="film.mp4"))


def test_a_file_in_git_alone_is_written_out_once_and_found_again(tmp_path):
    home = BareHome(tmp_path / "home.git", private=tmp_path / "private")
    home.commit(lambda _: {f"{FOLDER}/cat.png": PNG}, subject="Put", action="asset", actor="tests")
    entry = AssetFile(name="cat.png", file="cat.png")

    first, second = read(home, entry)[0], read(home, entry)[0]

    assert first.path == second.path
    kept = list((tmp_path / "private/.state/files").iterdir())
    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in kept] == [(PNG, 0o600)]
    home.close()


def test_another_content_is_another_file_and_what_nobody_asked_for_in_a_week_goes(tmp_path):
    home = BareHome(tmp_path / "home.git", private=tmp_path / "private")
    entry = AssetFile(name="cat.png", file="cat.png")
    home.commit(lambda _: {f"{FOLDER}/cat.png": PNG}, subject="Put", action="asset", actor="tests")
    first = read(home, entry)[0].path
    os.utime(first, (0, 0))
    home.commit(lambda _: {f"{FOLDER}/cat.png": PNG + b"x"}, subject="Change", action="asset", actor="tests")

    second = read(home, entry)[0].path

    assert [str(path) for path in (tmp_path / "private/.state/files").iterdir()] == [second]
    home.close()


def test_a_file_that_a_later_commit_changed_is_the_revision_s_own(home):
    home.commit(lambda _: {f"{FOLDER}/cat.png": PNG}, subject="Put", action="asset", actor="tests")
    revision = home.open()
    home.commit(lambda _: {f"{FOLDER}/cat.png": b"other"}, subject="Change", action="asset", actor="tests")

    (file,) = asset_files(home, revision, FOLDER, asset(AssetFile(name="cat.png", file="cat.png")), facts=frozenset())

    with pathlib.Path(file.path).open("rb") as opened:
        assert opened.read() == PNG


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ({"width": "{{width}}"}, set()),
        ({"w": "{{files.0.width}}", "list": ["{{files.0.base64}}"]}, {"width", "base64"}),
        ("{{files.*.sha256}}", {"sha256"}),
    ],
)
def test_only_what_a_template_names_of_a_file_is_worked_out(said, facts):
    url = compile_url("https://api.example.com/{{width}}")
    step = Step(name="", request=RequestTemplate(method="POST", url=url, json=compile_json(said)))
    tool = Tool(name=tool_name("look"), label="", description="", input={}, steps=(step,))

    assert wanted_facts(tool) == facts


def test_files_are_read_from_the_record(home):
    put(home, "cat.png", PNG)
    record = b"---\ntitle: Hello\nfiles:\n- {name: cat.png, alt: A cat}\n---\n"

    (file,) = asset_files(home, home.open(), FOLDER, read_asset(record, ref="article/hello"), facts=frozenset())

    assert file["alt"] == "A cat"
