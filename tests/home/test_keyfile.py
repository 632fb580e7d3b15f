import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.privileges import modes_count

from habilis.errors import BadInput, SecretMalformed, SecretStoreError, TooLarge, UnsafePath
from habilis.home.keyfile import KeyFile

PEM = "-----BEGIN PRIVATE KEY-----\nMIIBVQ==\nAQ==\n-----END PRIVATE KEY-----\n"
VALUES = [
    "a b", "a#b", "a #b", "=x", "it's", 'say "hi"', "C:\\", "\\d+", "line1\nline2", "line1\r\nline2", "a\tb", " lead",
    "trail ", "", "👋", PEM, "${HOME}", "$(id)", "`id`", "${OTHER_KEY}", "pa$HOMEword", "abcd EFGH 1234 ijkl MNOP 6789",
]  # fmt: skip
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "connections" / "blog" / ".env"


@pytest.fixture
def by_hand(path):
    def write(content, mode=0o600):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        return KeyFile(path)

    return write


def run(code, *command, **options):
    return subprocess.run(
        [*command, sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, **options
    )


def saving(path, name, value):
    return f"""
from pathlib import Path
from habilis.home.keyfile import KeyFile
KeyFile(Path({str(path)!r})).set({{{name!r}: {value!r}}})
"""


def test_a_file_that_is_not_there_holds_no_keys(path):
    assert dict(KeyFile(path).load()) == {}
    assert KeyFile(path).problems == ()


@pytest.mark.parametrize("value", VALUES)
def test_a_value_reads_back_to_the_byte_also_after_the_next_key_is_saved(path, value):
    keys = KeyFile(path)
    keys.set({"BEFORE": "1"})

    keys.set({"A": value})
    keys.set({"AFTER": "2"})

    assert dict(KeyFile(path).load()) == {"BEFORE": "1", "A": value, "AFTER": "2"}


def test_a_file_by_hand_changes_only_in_the_line_of_the_key_that_is_set(by_hand, path):
    keys = by_hand(
        b"\xef\xbb\xbf# comment\r\nexport A=1\r\n\r\nB='x' # tail\r\nBROKEN LINE\r\nsecret=in\xffvalid\r\nA=2"
    )

    keys.set({"B": "new value"})

    assert path.read_bytes() == (
        b"\xef\xbb\xbf# comment\r\nexport A=1\r\n\r\nB='new value' # tail\r\nBROKEN LINE\r\nsecret=in\xffvalid\r\nA=2"
    )
    assert dict(keys.load()) == {"A": "2", "B": "new value"}
    assert [str(problem) for problem in keys.problems] == [
        ".env:5:1: this line is no NAME=value; it is left alone",
        ".env:6:1: this line is no NAME=value; it is left alone",
    ]


def test_a_new_key_follows_the_file_s_line_ends(by_hand, path):
    by_hand(b"A=1\r\nB=2").set({"C": "3"})

    assert path.read_bytes() == b"A=1\r\nB=2\r\nC=3\r\n"


def test_values_with_backslashes_quotes_and_dollars_leave_their_neighbours_alone(path):
    keys = KeyFile(path)
    values = {
        "A": "C:\\Users\\x\\",
        "B": 'I\'m $5 #1 "q"',
        "C": "line1\nline2",
        "D": "${HOME}/x",
        "E": " lead",
        "F": "",
    }
    keys.set(values)
    with path.open("a") as file:
        file.write("# about G\nG=untouched\n")

    keys.set({"B": "changed's"})

    text = path.read_text()
    assert dict(keys.load()) == values | {"B": "changed's", "G": "untouched"}
    assert text.endswith("# about G\nG=untouched\n")
    assert re.findall(r"^[A-G](?==)", text, re.MULTILINE) == list("ABCDEFG")
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_old_value_does_not_stay_behind_in_a_line_above(by_hand, path):
    by_hand(b"A=old\n# between\nA=older\nB=1\n").set({"A": "new"})

    assert path.read_text() == "# between\nA=new\nB=1\n"


def test_keys_are_removed_with_their_lines(by_hand, path):
    by_hand(b"# head\nA='two\nlines'\nB=2\nexport A=1 # again\nC=3").remove(["A", "C", "NOT_THERE"])

    assert path.read_text() == "# head\nB=2\n"


def test_saving_what_is_there_already_writes_nothing(path):
    keys = KeyFile(path)
    keys.set({"A": "1"})
    before = path.stat()

    keys.set({"A": "1"})

    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_and_its_folder_are_the_owner_s_alone_whatever_the_umask(path, umask):
    outcome = run(f"import os; os.umask({umask})\n{saving(path, 'TOKEN', 's3cret')}")

    assert outcome.stderr == ""
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@needs_strace
def test_the_file_is_narrow_from_its_first_moment(path):
    outcome = run(saving(path, "TOKEN", "s3cret"), "strace", "-f", "-e", "trace=openat,chmod,fchmodat")

    opened = [line for line in outcome.stderr.splitlines() if ".env" in line and "O_CREAT" in line]
    assert len(opened) == 1
    assert "O_EXCL" in opened[0]
    assert ", 0600)" in opened[0]
    assert not [line for line in outcome.stderr.splitlines() if "chmod" in line and ".env" in line]


def test_a_file_that_others_could_read_is_tightened_and_told(by_hand, path):
    keys = by_hand(b"A=1\n", mode=0o644)

    assert dict(keys.load()) == {"A": "1"}

    assert path.stat().st_mode & 0o777 == 0o600
    assert keys.notices == (".env could be read by others (mode 0644); it is 0600 now",)


def test_a_link_is_neither_read_nor_written(path, tmp_path):
    target = tmp_path / "other.env"
    target.write_text("TOKEN=theirs\n")
    path.parent.mkdir(parents=True)
    path.symlink_to(target)

    with pytest.raises(UnsafePath):
        KeyFile(path).load()
    with pytest.raises(UnsafePath):
        KeyFile(path).set({"TOKEN": "mine"})

    assert target.read_text() == "TOKEN=theirs\n"
    assert path.is_symlink()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_plain_file_is_refused(path, make):
    path.parent.mkdir(parents=True)
    make(path)

    with pytest.raises(UnsafePath):
        KeyFile(path).load()


@pytest.mark.parametrize("name", ["", "a", "A B", "A=B", "A\nB", "LD_PRELOAD", "PATH", "1A"])
def test_a_name_that_would_change_the_file_or_a_program_is_refused(path, name):
    with pytest.raises(BadInput):
        KeyFile(path).set({name: "x"})

    assert not path.exists()


@pytest.mark.parametrize("value", ["s3cret\0x", "s3cret\ud800"])
def test_a_value_that_no_program_can_be_given_is_refused_without_being_shown(path, value):
    with pytest.raises(SecretMalformed) as caught:
        KeyFile(path).set({"TOKEN": value})

    assert caught.value.where == "TOKEN"
    assert "s3cret" not in repr(caught.value) + str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert not path.exists()


def test_keys_are_shown_by_their_names_only(path):
    keys = KeyFile(path)
    keys.set({"TOKEN": "s3cret", "USER_NAME": "ann"})

    shown = repr(keys.load()) + repr(keys.__dict__)

    assert "TOKEN" in shown
    assert "s3cret" not in shown
    assert "ann" not in shown


def test_what_load_returned_cannot_be_changed(path):
    keys = KeyFile(path)
    keys.set({"TOKEN": "s3cret"})

    with pytest.raises(TypeError):
        keys.load()["TOKEN"] = "x"


def test_more_than_an_account_needs_is_refused(by_hand, path):
    keys = by_hand(b"A=1\n")

    with pytest.raises(TooLarge):
        keys.set({"B": "x" * 300_000})

    assert path.read_text() == "A=1\n"
    with pytest.raises(TooLarge):
        by_hand(b"A=" + b"x" * 300_000).load()


def test_a_change_by_hand_within_the_same_tick_is_seen(by_hand, path):
    keys = by_hand(b"A=1\n")
    stamp = path.stat().st_mtime_ns

    for number in range(10):
        path.write_text(f"A={number}\n")
        os.utime(path, ns=(stamp, stamp))
        assert keys.load()["A"] == str(number)


def test_what_was_read_is_kept_while_the_file_stays_the_same(by_hand, path):
    keys = by_hand(b"A=1\n")
    time.sleep(0.1)  # the file has to be older than a tick of the file system's clock

    first = keys.load()

    assert keys.load() is first


def test_the_keys_are_gone_with_the_file(by_hand, path):
    keys = by_hand(b"A=1\nBROKEN\n")
    keys.load()

    path.unlink()

    assert dict(keys.load()) == {}
    assert keys.problems == ()


def test_twenty_processes_lose_no_key_and_a_reader_never_misses_one(path):
    KeyFile(path).set({"FIRST": "1"})
    code = f"""
import sys
from pathlib import Path
from habilis.home.keyfile import KeyFile
keys = KeyFile(Path({str(path)!r}))
for number in range(20):
    keys.set({{f"KEY_{{sys.argv[1]}}": f"value {{number}}"}})
"""
    missed = []
    done = threading.Event()

    def read():
        keys = KeyFile(path)
        while not done.is_set():
            if "FIRST" not in keys.load():
                missed.append(1)

    reader = threading.Thread(target=read)
    reader.start()
    writers = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(20)]

    codes = [writer.wait(timeout=120) for writer in writers]
    done.set()
    reader.join()

    assert codes == [0] * 20
    assert missed == []
    assert dict(KeyFile(path).load()) == {"FIRST": "1"} | {f"KEY_{number}": "value 19" for number in range(20)}


@needs_strace
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("write:error=ENOSPC", "DiskFull"),
        ("fsync:error=EIO", "SecretStoreError"),
        ("rename,renameat,renameat2:error=ENOSPC", "DiskFull"),
        ("rename,renameat,renameat2:signal=SIGKILL", ""),
    ],
)
def test_a_fault_while_saving_leaves_the_old_keys(path, fault, error):
    KeyFile(path).set({"TOKEN": "old"})
    calls, _, how = fault.partition(":")
    code = f"import os, sys\nsys.dont_write_bytecode = True\n{saving(path, 'TOKEN', 'new')}"

    outcome = run(code, "strace", "-f", "-o", os.devnull, "-P", f"{path}.habilis-tmp", "-e", f"inject={calls}:{how}")

    assert outcome.returncode != 0
    assert error in outcome.stderr
    assert dict(KeyFile(path).load()) == {"TOKEN": "old"}


@needs_strace
def test_what_a_killed_writer_left_is_narrow_and_gone_with_the_next_one(path):
    KeyFile(path).set({"TOKEN": "old"})
    run(saving(path, "TOKEN", "new"), "strace", "-f", "-o", os.devnull, "-e", "inject=rename,renameat:signal=SIGKILL")
    left = [file for file in path.parent.iterdir() if file != path]
    modes = [file.stat().st_mode & 0o777 for file in left]

    KeyFile(path).set({"TOKEN": "newer"})

    assert modes == [0o600]
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_may_not_be_written_is_told(by_hand, path):
    keys = by_hand(b"A=1\n")
    path.parent.chmod(0o500)

    with modes_count(), pytest.raises(SecretStoreError):
        keys.set({"A": "2"})


def test_a_path_through_a_file_is_told_without_a_traceback_of_the_system(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(SecretStoreError, match="Not a directory"):
        KeyFile(Path(tmp_path / "file" / ".env")).load()
