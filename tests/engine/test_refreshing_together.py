"""Many calls that want a new token at once, processes that are killed, and what else happens meanwhile."""

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.provider import ENDS, REFRESH, TOKEN, Provider, account_of, read_me, sign_in, stored_keys
from tests.upstream import answer

from habilis.engine.resolve import key_file, key_path
from habilis.errors import NeedsReconnect, NotFound, SecretStoreError, UpstreamUnavailable
from habilis.records import stamp

ME = {"me": "ann"}
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def call(world, provider):
    """Make a call through the account."""
    return lambda manifest=None: read_me(world.home, provider, world.outside, manifest)


def in_s(world, seconds):
    return stamp(world.clock() + timedelta(seconds=seconds))


def test_fifty_calls_at_once_renew_a_token_once(world, provider, call):
    provider.wait_s = 0.2
    sign_in(world.home, provider)

    with ThreadPoolExecutor(50) as pool:
        told = list(pool.map(lambda _: call(), range(50)))

    assert told == [ME] * 50
    assert len(provider.asked) == 1


def test_fifty_calls_at_once_share_an_outage(world, provider, call):
    provider.answers = [(0.3, answer(503)), *[answer(503)] * 50]
    sign_in(world.home, provider)
    ready = threading.Barrier(50)

    def one(_):
        ready.wait()
        with pytest.raises(UpstreamUnavailable):
            call()

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(one, range(50)))

    assert len(provider.asked) == 1


CALLERS = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from tests.engine.provider import outside_of, read_me
from habilis.home.worktree import WorkTreeHome
from habilis.transports.http import HttpTransport
home = WorkTreeHome(Path(sys.argv[1]))
url, place = sys.argv[2:4]
provider = SimpleNamespace(place=place)
outside = outside_of(HttpTransport(private="per_account"))
def one(_):
    try:
        return read_me(home, provider, outside) == {"me": "ann"}
    except Exception as error:
        print(repr(error), file=sys.stderr)
        return False
with ThreadPoolExecutor(50) as pool:
    for line in sys.stdin:
        print(sum(pool.map(one, range(50))), flush=True)
"""


def test_two_processes_with_fifty_callers_each_renew_once_a_round_and_lose_no_account(world, provider):
    sign_in(world.home, provider)
    command = [sys.executable, "-c", CALLERS, str(world.home.private), provider.url(""), provider.place]
    callers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for _ in range(2)
    ]
    good, renewals = [], []

    for _ in range(20):
        key_file(world.home, account_of(provider)).set({ENDS: "2020-01-01T00:00:00Z"})
        for caller in callers:
            caller.stdin.write("go\n")
            caller.stdin.flush()
        good += [int(caller.stdout.readline()) for caller in callers]
        renewals.append(len(provider.asked))
    for caller in callers:
        caller.communicate(timeout=30)

    assert good == [50] * 40
    assert renewals == list(range(1, 21))
    assert not provider.is_over


ONE_CALL = """
import sys
sys.dont_write_bytecode = True
from pathlib import Path
from types import SimpleNamespace
from tests.engine.provider import outside_of, read_me
from habilis.home.worktree import WorkTreeHome
from habilis.transports.http import HttpTransport
outside = outside_of(HttpTransport(private="per_account"))
print(read_me(WorkTreeHome(Path(sys.argv[1])), SimpleNamespace(place=sys.argv[2]), outside))
"""
SAVING = "openat,write,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,close"


@needs_strace
def test_a_process_that_is_killed_anywhere_in_the_save_leaves_the_old_tokens_or_the_new_ones_whole(world, provider):
    folder = key_path(world.home, account_of(provider)).parent
    traced = ["strace", "-f", "-o", os.devnull, "-P", f"{folder}/.env.habilis-tmp", "-P", str(folder)]
    code = [sys.executable, "-c", ONE_CALL, str(world.home.private), provider.place]
    left = []

    for number in range(1, 30):
        provider.is_over = False
        sign_in(world.home, provider, ends="2020-01-01T00:00:00Z")
        before = stored_keys(world.home, provider)
        ended = subprocess.run(
            [*traced, "-e", f"inject={SAVING}:signal=SIGKILL:when={number}", *code],
            env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        after = stored_keys(world.home, provider)
        if ended.returncode == 0:
            break
        left.append("old" if after == before else "new")
        if left[-1] == "new":
            assert (after[TOKEN], after[REFRESH]) == (provider.access, provider.refresh)
            assert after[ENDS] > "2026"
        tell_next_call(world, provider, is_lost=left[-1] == "old" and provider.refresh != before[REFRESH])

    assert {"old", "new"} == set(left)
    assert left == sorted(left, reverse=True)


def tell_next_call(world, provider, *, is_lost):
    """The next call works, or says once that a person has to sign in again; nothing goes round in circles."""
    asked = len(provider.asked)
    if is_lost:
        for _ in range(2):
            with pytest.raises(NeedsReconnect):
                read_me(world.home, provider, world.outside)
    else:
        assert read_me(world.home, provider, world.outside) == ME
    assert len(provider.asked) - asked <= 1


def test_an_account_that_was_removed_meanwhile_does_not_come_back(world, provider, call):
    sign_in(world.home, provider)
    path = key_path(world.home, account_of(provider))

    def removed(fields):
        path.unlink()
        path.parent.rmdir()
        return provider.renewed()

    provider.answers = [removed]

    with pytest.raises(NotFound, match="removed meanwhile"):
        call()

    assert not path.parent.exists()


def test_a_person_who_signs_in_meanwhile_keeps_the_new_sign_in(world, provider, call):
    sign_in(world.home, provider)

    def signed_in_anew(fields):
        said = provider.renewed()
        provider.access, provider.refresh = "access-of-a-new-sign-in", "refresh-of-a-new-sign-in"
        sign_in(world.home, provider, ends=in_s(world, 3600))
        return said

    provider.answers = [signed_in_anew]

    assert call() == ME

    assert provider.used == ["access-of-a-new-sign-in"]
    assert stored_keys(world.home, provider)[REFRESH] == "refresh-of-a-new-sign-in"


def test_tokens_that_could_not_be_stored_are_stored_by_the_next_call(world, provider, call):
    sign_in(world.home, provider)
    in_the_way = key_path(world.home, account_of(provider)).with_name(".env.habilis-tmp")
    in_the_way.mkdir()

    with pytest.raises(SecretStoreError):
        call()
    in_the_way.rmdir()

    assert call() == ME
    assert len(provider.asked) == 1
    assert stored_keys(world.home, provider)[REFRESH] == provider.refresh
