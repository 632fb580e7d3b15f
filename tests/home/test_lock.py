import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from habilis.errors import Busy
from habilis.home.lock import hold, lock_file

HOLDER = """
import sys, time
from pathlib import Path
from habilis.home.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "a.lock"], stdout=subprocess.PIPE, env={"PYTHONPATH": "shared"}
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_two_threads_never_hold_it_at_once(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(20):
            with hold(tmp_path / "locks/a.lock"):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (most, inside) == (1, 0)


def test_another_process_that_holds_it_is_named(tmp_path, holder):
    with pytest.raises(Busy, match=f"process {holder.pid} holds the lock"), hold(tmp_path / "a.lock", timeout_s=0.05):
        pass


def test_it_is_gone_with_a_killed_holder(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)

    with hold(tmp_path / "a.lock", timeout_s=5):
        pass


def test_a_forked_child_does_not_keep_it(tmp_path):
    with hold(tmp_path / "a.lock"):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        with hold(tmp_path / "a.lock", timeout_s=1):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_an_error_inside_lets_go_of_it(tmp_path):
    with pytest.raises(ValueError, match="x"), hold(tmp_path / "a.lock"):
        raise ValueError("x")

    with hold(tmp_path / "a.lock", timeout_s=0):
        pass


def test_a_thread_that_waits_too_long_is_told_so(tmp_path):
    with hold(tmp_path / "a.lock"):
        told = []

        def wait():
            try:
                with hold(tmp_path / "a.lock", timeout_s=0.01):
                    pass
            except Busy as error:
                told.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()

    assert told[0].retryable


def test_any_text_names_a_lock_in_one_folder(tmp_path):
    names = ["projects/p/connections/blog", "../../x", "a" * 300, "a" * 299 + "b", "x y", "é"]

    files = [lock_file(tmp_path, name) for name in names]

    assert {file.parent for file in files} == {tmp_path}
    assert len(set(files)) == len(names)
    for file in files:
        with hold(file, timeout_s=0):
            pass
