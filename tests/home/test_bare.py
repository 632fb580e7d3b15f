"""Homes without a working directory: a bare repository here, and one at a real git server."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from tests.home.conftest import NOON
from tests.home.repository import content, files, git, is_whole, subjects

from habilis.errors import (
    AddressNotAllowed,
    BadInput,
    Busy,
    Collision,
    HomeConflict,
    HomeCorrupt,
    HomeReadonly,
    NotFound,
    PlainHttpRefused,
    RedirectRefused,
    RemoteUnreachable,
    TlsVerifyFailed,
    UnsafePath,
)
from habilis.home.bare import BareHome, Pace, RemoteHome
from habilis.home.reach import Reach
from habilis.home.wire import WireClient

pytestmark = pytest.mark.part("git")


def commit(home, changes, subject="Change"):
    return home.commit(lambda _: changes, subject=subject, action="a", actor="b")


def append(home, line, path="log.md"):
    return home.commit(
        lambda at: {path: (at.read(path) or b"") + f"{line}\n".encode()}, subject=line, action="a", actor="b"
    )


@pytest.fixture
def bare(tmp_path):
    home = BareHome(tmp_path / "home.git", private=tmp_path / "private", clock=lambda: NOON)
    yield home
    home.close()


def test_a_bare_home_begins_empty(bare):
    revision = bare.open()

    assert (revision.id, revision.list(""), revision.read("config.yaml")) == ("", [], None)


def test_a_bare_home_keeps_what_is_committed(bare, tmp_path):
    made = commit(bare, {"projects/p/project.yaml": b"name: p\n", "config.yaml": b"a: 1\n"})

    revision = bare.open()

    assert revision.id == made
    assert revision.list("") == ["config.yaml", "projects/"]
    assert revision.require("projects/p/project.yaml") == b"name: p\n"
    assert git(tmp_path / "home.git", "log", "-1", "--format=%an|%aI") == "Habilis|2026-11-30T12:00:00+00:00\n"
    assert is_whole(tmp_path / "home.git")


def test_a_content_has_the_same_key_in_every_kind_of_home(bare, home, write):
    commit(bare, {"a": b"same"})
    write({"a": b"same"})

    assert bare.open().content_key("a") == home.open().content_key("a")


def test_a_revision_of_a_bare_home_never_changes(bare):
    commit(bare, {"a": b"1"})
    revision = bare.open()

    commit(bare, {"a": b"2", "b": b"1"})

    assert (revision.read("a"), revision.list("")) == (b"1", ["a"])


def test_a_bare_home_without_changes_is_not_committed_to(bare):
    assert commit(bare, {}) == ""
    before = commit(bare, {"a": b"1"})

    assert commit(bare, {"a": b"1", "missing": None}) == before


def test_all_files_of_a_bare_home_may_go(bare, tmp_path):
    commit(bare, {"a/b": b"1"})

    commit(bare, {"a/b": None})

    assert bare.open().list("") == []
    assert is_whole(tmp_path / "home.git")


def test_a_bare_home_refuses_what_a_revision_never_holds(bare):
    commit(bare, {"a": b"1"})

    for path in ("projects/p/.env", "../x", ".git/config"):
        with pytest.raises(UnsafePath):
            commit(bare, {path: b"x"})
        with pytest.raises(UnsafePath):
            bare.open().read(path)
    with pytest.raises(Collision):
        commit(bare, {"a/x": b"1"})
    with pytest.raises(NotFound):
        bare.open().require("missing")


def test_links_and_other_repositories_in_a_tree_are_not_read(bare, tmp_path):
    commit(bare, {"a": b"target"})
    repository = tmp_path / "home.git"
    target = git(repository, "rev-parse", "HEAD:a").strip()
    listing = f"120000 blob {target}\tlink\n160000 commit {'1' * 40}\tmodule\n100755 blob {target}\tprogram\n"
    root = git(repository, "mktree", "--missing", stdin=listing.encode()).strip()
    head = git(repository, "commit-tree", "-m", "x", root).strip()
    git(repository, "update-ref", "refs/heads/main", head)

    revision = bare.open()

    assert revision.list("") == ["program"]
    assert revision.read("program") == b"target"
    for path in ("link", "module"):
        with pytest.raises(UnsafePath, match="neither is followed"):
            revision.read(path)


def test_a_damaged_bare_home_begins_no_new_history(bare, tmp_path):
    commit(bare, {"a": b"1"})
    (tmp_path / "home.git/refs/heads/main").write_bytes(b"\0" * 41)

    with pytest.raises(HomeCorrupt, match="update-ref"):
        commit(bare, {"a": b"2"})


def test_threads_and_homes_that_write_at_once_lose_nothing(tmp_path):
    homes = [BareHome(tmp_path / "home.git", private=tmp_path) for _ in range(3)]

    threads = [
        threading.Thread(target=lambda n=n: [append(homes[n % 3], f"{n} {m}") for m in range(10)]) for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(content(tmp_path / "home.git", "log.md").splitlines())) == 60
    assert len(subjects(tmp_path / "home.git")) == 60
    for home in homes:
        home.close()


def test_a_name_is_held_once(bare):
    name = "projects/p/connections/blog"
    with bare.hold(name), bare.hold("another"), pytest.raises(Busy), bare.hold(name, timeout_s=0):
        pass
    assert (bare.private / ".state/locks").is_dir()


# What a remote may be.


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:a/b.git", "ssh://host/x", "ssh://-oProxyCommand=id/x", "ext::sh -c id", "git://host/x",
        "host:path", "--upload-pack=touch /tmp/p", "/tmp/x", "C:\\x", "", "file://host/x", "file://user@/x", "https://",
        "https://a b/x", "https://u:p@ss@host/x", "https://host/x?y=1",
    ],
)  # fmt: skip
def test_a_remote_of_another_kind_is_refused(tmp_path, remote):
    with pytest.raises(BadInput) as caught:
        RemoteHome(remote, tmp_path / "cache", private=tmp_path)

    assert "p@ss" not in str(caught.value)
    assert not (tmp_path / "cache").exists()


def test_an_unencrypted_remote_has_to_be_opted_in(tmp_path):
    with pytest.raises(PlainHttpRefused) as caught:
        RemoteHome("http://user:sk-secret@git.example/home.git", tmp_path / "cache", private=tmp_path)

    assert "sk-secret" not in str(caught.value)
    assert "git.example" in str(caught.value)


def test_the_password_is_in_no_representation():
    address = Reach().address("https://user:sk%2Fsecret@git.example/home.git")

    assert (address.user, address.password) == ("user", "sk/secret")
    assert "secret" not in repr(address)
    assert address.url == "https://git.example/home.git"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]"])
def test_a_remote_on_a_private_address_has_to_be_opted_in(tmp_path, host):
    with pytest.raises((AddressNotAllowed, BadInput)):
        RemoteHome(f"https://{host}:9/home.git", tmp_path / "cache", private=tmp_path).open()


def test_a_name_that_leads_to_a_private_address_is_not_dialled(tmp_path):
    reach = Reach(resolver=lambda *_, **__: [(2, 1, 6, "", ("10.0.0.1", 443))])

    with pytest.raises(AddressNotAllowed, match="private hosts of the home's remote"):
        RemoteHome("https://git.example/home.git", tmp_path / "cache", private=tmp_path, reach=reach).open()


def test_a_name_that_nobody_knows_is_unreachable(tmp_path):
    def unknown(*_, **__):
        raise OSError

    with pytest.raises(RemoteUnreachable, match=r"git\.example") as caught:
        RemoteHome(
            "https://u:sk-secret@git.example/home.git",
            tmp_path / "cache",
            private=tmp_path,
            reach=Reach(resolver=unknown),
        ).open()

    assert caught.value.retryable
    assert "sk-secret" not in str(caught.value)


# A repository on this machine as the remote.


@pytest.fixture
def origin(tmp_path):
    path = tmp_path / "origin.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(path))
    return path


@pytest.fixture
def remote(origin, tmp_path):
    """Make homes of the same remote, each with a cache of its own."""
    made = []

    def make(name="one", **pace):
        home = RemoteHome(f"file://{origin}", tmp_path / name, private=tmp_path / "private", pace=Pace(**pace))
        made.append(home)
        return home

    yield make
    for home in made:
        home.close()


def test_a_commit_has_reached_the_remote_when_it_returns(remote, origin):
    home = remote()
    assert home.open().list("") == []

    made = commit(home, {"a/b": b"1"})

    assert git(origin, "rev-parse", "main").strip() == made
    assert content(origin, "a/b") == "1"
    assert home.open().id == made
    assert is_whole(origin)


def test_two_caches_see_each_others_commits(remote):
    one, two = remote("one"), remote("two")

    commit(one, {"a": b"1"})
    commit(two, {"b": b"2"})

    assert one.open().list("") == two.open().list("") == ["a", "b"]


def test_a_change_is_made_again_on_top_of_what_others_pushed(remote, origin):
    one, two = remote("one"), remote("two", refresh_s=3600)
    append(one, "first")
    two.open()
    append(one, "second")

    append(two, "third")

    assert content(origin, "log.md") == "first\nsecond\nthird\n"


def test_a_change_that_only_looks_done_is_not_taken_for_done(remote, origin):
    one, two = remote("one"), remote("two", refresh_s=3600)
    commit(one, {"a": b"1"})
    two.open()
    commit(one, {"a": b"2"})

    commit(two, {"a": b"1"})

    assert content(origin, "a") == "1"


def test_a_race_that_is_lost_again_and_again_is_given_up(remote, origin):
    waits, calls = [], []
    slow = remote("slow", pause=waits.append, chance=lambda: 1.0)
    fast = remote("fast")
    before = append(fast, "begin")

    def change(revision):
        calls.append(revision.id)
        append(fast, f"faster {len(calls)}")
        return {"mine": b"1"}

    with pytest.raises(HomeConflict, match="8 times"):
        slow.commit(change, subject="s", action="a", actor="b")

    assert calls[0] == before
    assert len(set(calls)) == 8
    assert waits == [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0]
    assert "mine" not in files(origin)
    assert slow.open().read("mine") is None
    commit(slow, {"mine": b"1"})


def test_an_error_in_the_change_pushes_nothing(remote, origin):
    home = remote()
    before = commit(home, {"a": b"1"})

    def fail(_):
        raise BadInput("no")

    with pytest.raises(BadInput):
        home.commit(fail, subject="s", action="a", actor="b")

    assert git(origin, "rev-parse", "main").strip() == before


def test_a_home_that_may_be_a_little_old_is_not_asked_for_each_time(remote):
    one, two = remote("one"), remote("two", refresh_s=3600)
    commit(one, {"a": b"1"})
    assert two.open().read("a") == b"1"

    commit(one, {"a": b"2"})

    assert two.open().read("a") == b"1"
    assert remote("two", refresh_s=0).open().read("a") == b"2"


def test_the_branch_is_the_one_the_remote_names(remote, origin):
    git(origin, "symbolic-ref", "HEAD", "refs/heads/trunk")
    root = git(origin, "mktree", stdin=b"").strip()
    git(origin, "update-ref", "refs/heads/trunk", git(origin, "commit-tree", "-m", "x", root).strip())

    commit(remote(), {"a": b"1"})

    assert content(origin, "a", "trunk") == "1"
    assert git(origin, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/trunk"]


def test_a_remote_whose_history_was_replaced_is_followed(remote, origin):
    home = remote()
    commit(home, {"a": b"1"})
    blob = git(origin, "hash-object", "-w", "--stdin", stdin=b"2").strip()
    root = git(origin, "mktree", stdin=f"100644 blob {blob}\tb\n".encode()).strip()
    git(origin, "update-ref", "refs/heads/main", git(origin, "commit-tree", "-m", "x", root).strip())

    assert home.open().list("") == ["b"]
    commit(home, {"c": b"1"})
    assert files(origin) == ["b", "c"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda cache: (cache / "refs/heads/main").write_bytes(b""),
        lambda cache: (cache / "HEAD").write_bytes(b"garbage"),
        lambda cache: [path.unlink() for path in (cache / "objects/pack").iterdir()],
        lambda cache: [path.write_bytes(b"x") for path in (cache / "objects/pack").glob("*.idx")],
    ],
)
def test_a_damaged_cache_is_fetched_anew(remote, origin, spoil, tmp_path):
    commit(remote("one"), {"a": b"1"})
    first = remote("two")
    first.open()
    first.close()
    spoil(tmp_path / "two")

    home = remote("two")

    assert home.open().read("a") == b"1"
    commit(home, {"a": b"2"})
    assert content(origin, "a") == "2"


def test_a_cache_may_be_lost(remote, origin):
    commit(remote("one"), {"a": b"1"})

    commit(remote("anew"), {"b": b"1"})

    assert files(origin) == ["a", "b"]


def test_many_fetches_do_not_pile_up(remote, tmp_path):
    one, two = remote("one"), remote("two")
    for n in range(18):
        commit(one, {f"a{n}": b"1"})
        two.open()
    commit(two, {"b": b"1"})

    assert len(list((tmp_path / "two/objects/pack").glob("*.pack"))) == 1
    assert len(two.open().list("")) == 19


# A real git server over http.


@pytest.fixture
def served(gitremote, tmp_path):
    """Make homes of repositories at the server."""
    made = []
    host = gitremote.url.removeprefix("http://")

    def make(name, user="writer", *, cache=None, password=None, url=None, **reach):
        address = (url or f"{gitremote.url}/{name}").replace(
            "://", f"://{user}:{password or gitremote.passwords[user]}@"
        )
        home = RemoteHome(
            address,
            tmp_path / (cache or f"cache-{len(made)}"),
            private=tmp_path / "private",
            reach=replace(Reach(private_hosts=frozenset({host})), **reach),
        )
        made.append(home)
        return home

    yield make
    for home in made:
        home.close()


@pytest.fixture
def fresh(gitremote, request):
    """Make an empty repository at the server, and return its name and folder."""
    name = f"r{abs(hash(request.node.nodeid))}"

    def make(**options):
        gitremote.make(name, **options)
        return f"{name}.git", gitremote.repos / f"{name}.git"

    return make


def test_a_served_home_is_read_and_written(served, fresh):
    name, folder = fresh()
    one, two = served(name), served(name)
    assert one.open().list("") == []

    made = commit(one, {"projects/p/project.yaml": b"name: p\n", "config.yaml": b"a: 1\n"})
    commit(two, {"config.yaml": b"a: 2\n"})

    assert two.open().read("projects/p/project.yaml") == b"name: p\n"
    assert one.open().read("config.yaml") == b"a: 2\n"
    assert git(folder, "rev-parse", "main~1").strip() == made
    assert is_whole(folder)


def test_a_home_with_a_history_is_fetched_and_written_to(served, fresh, tmp_path):
    name, folder = fresh()
    for n in range(5):
        commit(served(name, cache="first"), {f"projects/p{n}/project.yaml": b"%d" % n, "log": b"%d" % n})
    git(folder, "gc", "-q")

    home = served(name)
    assert home.open().read("projects/p3/project.yaml") == b"3"
    commit(home, {"log": b"new"})
    assert content(folder, "log") == "new"
    for n in range(3):
        commit(served(name, cache="first"), {"log": b"newer %d" % n})
    assert home.open().read("log") == b"newer 2"
    commit(home, {"log": b"newest"})

    assert content(folder, "log") == "newest"
    assert len(files(folder)) == 6
    assert len(subjects(folder)) == 10
    assert is_whole(folder)


WRITER = """
import sys
from pathlib import Path
from habilis.home.bare import RemoteHome
from habilis.home.reach import Reach
from habilis.home.wire import WireClient
remote, cache, host, name, count = sys.argv[1:]
home = RemoteHome(remote, Path(cache), private=Path(cache), reach=Reach(private_hosts=frozenset({host})))
for n in range(int(count)):
    line = f"{name} {n}"
    home.commit(
        lambda at: {f"{name}/{n}": b"x", "log.md": (at.read("log.md") or b"") + line.encode() + b"\\n"},
        subject=line, action="a", actor=name,
    )
    print(line, flush=True)
home.close()
"""


@pytest.mark.parametrize("caches", [("one", "two"), ("shared", "shared")])
def test_two_processes_that_write_the_same_home_at_once_lose_nothing_acknowledged(gitremote, fresh, tmp_path, caches):
    name, folder = fresh()
    host = gitremote.url.removeprefix("http://")
    remote = f"http://writer:{gitremote.passwords['writer']}@{host}/{name}"

    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, remote, tmp_path / cache, host, f"w{n}", "6"],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": "shared"},
        )
        for n, cache in enumerate(caches)
    ]
    acknowledged = [line for writer in writers for line in writer.communicate(timeout=120)[0].splitlines()]

    assert len(acknowledged) == 12
    assert sorted(content(folder, "log.md").splitlines()) == sorted(acknowledged)
    assert sorted(subjects(folder)) == sorted(acknowledged)
    assert len(files(folder)) == 13
    assert is_whole(folder)


def test_a_hook_that_refuses_is_a_conflict_with_its_words_and_the_home_stays_as_it_was(gitremote, served, tmp_path):
    home = served("guarded.git", cache="guarded")
    before = home.open().id
    calls = []

    def change(_):
        calls.append(1)
        return {"keys/x.env": b"A=1", "ok": b"1"}

    with pytest.raises(HomeConflict, match=r"refused the change: guard:.*env") as caught:
        home.commit(change, subject="s", action="a", actor="b")

    assert not caught.value.retryable
    assert "\n" not in str(caught.value)
    assert len(calls) == 1
    assert git(gitremote.repos / "guarded.git", "rev-parse", "main").strip() == before
    assert home.open().id == before
    assert (tmp_path / "guarded/refs/heads/main").read_text().strip() == before
    commit(home, {"ok": b"1"})


def test_a_hooks_words_are_cleaned(served, fresh):
    name, _ = fresh(hook="#!/bin/sh\nprintf 'no\\033[31m way\\n\\tnot %0500d' 1 >&2\nexit 1\n")

    with pytest.raises(HomeConflict) as caught:
        commit(served(name), {"a": b"1"})

    assert "way not 000" in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) <= 300


@pytest.mark.parametrize(("name", "user"), [("readonly.git", "writer"), ("demo.git", "reader")])
def test_a_home_that_takes_no_pushes_can_be_read(served, name, user):
    home = served(name, user)
    before = home.open()

    with pytest.raises(HomeReadonly, match="403") as caught:
        commit(home, {"a": b"1"})

    assert before.list("") != []
    assert home.open().id == before.id
    assert user not in str(caught.value)


def test_a_wrong_password_is_said_to_be_one_and_not_shown(served):
    for act in (lambda home: home.open(), lambda home: commit(home, {"a": b"1"})):
        with pytest.raises(RemoteUnreachable, match="refused the user name and password") as caught:
            act(served("demo.git", password="sk-wrong-one"))

        assert not caught.value.retryable
        assert "sk-wrong-one" not in repr(caught.value) + str(caught.value)
        assert caught.value.__cause__ is None


def test_a_repository_that_is_not_there_is_said_to_be_missing(served):
    with pytest.raises(RemoteUnreachable, match="no repository there"):
        served("nowhere.git").open()


def test_a_redirect_is_not_followed(gitremote, served):
    with pytest.raises(RedirectRefused, match="final address"):
        served("", url=f"{gitremote.moved}/demo.git").open()


def test_an_address_that_is_no_git_repository_is_unreachable(served, tmp_path):
    import http.server

    class Plain(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>welcome</html>")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Plain)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    host = f"127.0.0.1:{server.server_port}"
    try:
        with pytest.raises(RemoteUnreachable, match="not as a git repository"):
            served("", url=f"http://{host}/x.git", private_hosts=frozenset({host})).open()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_server_that_is_gone_is_unreachable(served):
    with pytest.raises(RemoteUnreachable, match="does not take connections") as caught:
        served("", url="http://127.0.0.1:9/x.git", private_hosts=frozenset({"127.0.0.1:9"})).open()

    assert caught.value.retryable
    assert caught.value.outcome == "not_sent"


def test_an_encrypted_home_needs_a_certificate_that_is_trusted(gitremote, served):
    host = gitremote.https_url.removeprefix("https://")
    options = {"url": f"{gitremote.https_url}/demo.git", "private_hosts": frozenset({host})}

    with pytest.raises(TlsVerifyFailed):
        served("", **options).open()

    assert served("", **options, ca_file=gitremote.ca).open().list("") != []


def test_a_push_whose_answer_is_lost_is_looked_up(served, fresh, monkeypatch):
    name, folder = fresh()
    home = served(name)
    commit(home, {"a": b"1"})
    request = WireClient._http_request

    def lost(self, url, headers=None, data=None, raise_for_status=True):
        reply, read = request(self, url, headers, data, raise_for_status)
        if data is not None and "receive-pack" in url:
            reply.close()
            raise RemoteUnreachable("broke off")
        return reply, read

    monkeypatch.setattr(WireClient, "_http_request", lost)

    made = commit(home, {"a": b"2"})

    assert git(folder, "rev-parse", "main").strip() == made


def test_a_push_that_may_have_arrived_is_not_made_again(served, fresh, monkeypatch):
    name, folder = fresh()
    home = served(name)
    before = commit(home, {"a": b"1"})
    request = WireClient._http_request

    def lost(self, url, headers=None, data=None, raise_for_status=True):
        if data is not None and "receive-pack" in url:
            self.has_sent = True
            raise RemoteUnreachable("broke off")
        return request(self, url, headers, data, raise_for_status)

    monkeypatch.setattr(WireClient, "_http_request", lost)

    with pytest.raises(RemoteUnreachable, match="may have arrived") as caught:
        commit(home, {"a": b"2"})

    assert (caught.value.outcome, caught.value.retryable) == ("unknown", False)
    assert git(folder, "rev-parse", "main").strip() == before


def test_many_readers_ask_at_once(served, fresh):
    name, _ = fresh()
    home = served(name)
    commit(home, {"a": b"1"})
    seen = []

    threads = [threading.Thread(target=lambda: seen.append(home.open().read("a"))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [b"1"] * 12
