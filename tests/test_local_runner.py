import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from local_runner import ROOT, Runner, read_rows

from habilis.engine.settings import current_settings
from habilis.errors import Busy

BEFORE = datetime(2026, 12, 1, 4, 14, 50, tzinfo=UTC)
DUE = datetime(2026, 12, 1, 4, 15, tzinfo=UTC)
FIRED = ["2026-12-01T04:15:00+00:00 snapshot: 200 OK"]


@pytest.fixture
def runner(tmp_path):
    with Runner(tmp_path / "home", start=BEFORE) as runner:
        yield runner


@contextmanager
def started(*options, **environment):
    """Start the runner as a program; yields it and what it said by the time it was up."""
    command = [sys.executable, ROOT / "local_runner.py", "--port", "0", *map(str, options)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as program:
        said = ""
        for line in program.stdout:
            said += line
            if "curl" in said and not line.strip():
                break
        try:
            yield program, said
        finally:
            program.kill()


def run(*options, **environment):
    command = [sys.executable, ROOT / "local_runner.py", *map(str, options)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment}
    )


def send(runner, path, order=None, token=None, method=None):
    headers = {"Authorization": f"Bearer {token or runner.token}", "Content-Type": "application/json"}
    data = None if order is None else json.dumps(order).encode()
    try:
        with urlopen(Request(runner.url + path, data=data, headers=headers, method=method)) as reply:
            return reply.status, json.loads(reply.read())
    except HTTPError as reply:
        with reply:
            return reply.code, reply.read().decode()


def raw_status(url, *lines):
    """Send these lines of a request as they are; returns the status of the answer."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as sock:
        sock.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(sock.makefile("rb").readline().split()[1])


def listening(pid):
    """Return the addresses a process listens on, as the kernel says."""
    mine = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[at] for at in (1, 3, 9))
            if state == "0A" and f"socket:[{inode}]" in mine:
                found.append(local.partition(":")[0])
    return found


def test_the_functions_answer_and_their_relay_lives_on_a_port_of_its_own(runner):
    status, reply = send(runner, "/api/install", {"spec": "wordpress", "dry_run": True})

    assert (status, reply["includes"]["id"]) == (200, "wordpress")
    assert runner.relay_url != runner.url
    assert send(runner, "/r", {"target": f"{runner.url}/x"})[0] == 404
    assert raw_status(runner.relay_url, "GET /r/unknown HTTP/1.1", f"Host: {urlsplit(runner.relay_url).netloc}") == 404
    assert (
        raw_status(runner.relay_url, "POST /api/install HTTP/1.1", f"Host: {urlsplit(runner.relay_url).netloc}") == 404
    )


def test_every_route_of_the_table_leads_to_its_function(runner):
    for row in read_rows():
        for route in row.routes:
            url = runner.relay_url if row.name in {"relay", "broker"} else runner.url
            path = route.replace("*", "acme")
            status = raw_status(url, f"PATCH {path} HTTP/1.1", f"Host: {urlsplit(url).netloc}")
            assert (path, status) == (path, 404 if row.name == "connect_callback" else 401)


def test_the_relay_takes_the_port_that_a_provider_knows(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Busy, match=str(port)):
            Runner(tmp_path / "home", relay_port=port)

    with Runner(tmp_path / "home", relay_port=port) as runner:
        assert runner.relay_url == f"http://127.0.0.1:{port}"


def test_a_relay_that_the_environment_names_is_used_and_none_is_played(tmp_path, monkeypatch):
    monkeypatch.setenv("HABILIS_RELAY_URL", "https://relay.example")
    monkeypatch.setenv("HABILIS_RELAY_TOKEN", "engine-token-0123456789")

    with Runner(tmp_path / "home") as runner:
        settings = current_settings(os.environ)
        status, _ = send(runner, "/r", {"target": f"{runner.url}/x"})

    assert (runner.relay_url, status) == ("https://relay.example", 404)
    assert (settings.relay.url, settings.relay.token) == ("https://relay.example", "engine-token-0123456789")
    assert os.environ["HABILIS_RELAY_TOKEN"] == "engine-token-0123456789"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_this_machine_are_answered(runner, name):
    port = urlsplit(runner.url).port

    assert raw_status(runner.url, "GET /api/install HTTP/1.1", f"Host: {name}:{port}") == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:{port}",
        "127.0.0.1.evil.test:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.test",
        "evil.test@127.0.0.1:{port}",
        "0.0.0.0:{port}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/api/install", "/clock", "/api/connect/callback"])
def test_other_names_are_not(runner, host, path):
    port = urlsplit(runner.url).port

    status = raw_status(
        runner.url,
        f"GET {path} HTTP/1.1",
        f"Host: {host.format(port=port)}",
        f"X-Forwarded-Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {runner.token}",
    )

    assert status == 421


def test_no_name_and_two_names_are_not_answered(runner):
    good = f"Host: {urlsplit(runner.url).netloc}"

    assert raw_status(runner.url, "GET /api/install HTTP/1.1") == 421
    assert raw_status(runner.url, "GET /api/install HTTP/1.1", good, "Host: evil.test") == 421
    assert raw_status(runner.url, "GET http://evil.test/api/install HTTP/1.1", good) == 421


def test_what_comes_due_is_called_once(runner):
    assert runner.tick() == []
    assert runner.move_clock(DUE) == FIRED
    assert runner.tick() == []
    assert runner.move_clock(DUE + timedelta(minutes=1)) == []


def test_a_clock_that_is_put_back_makes_nothing_due_again(runner):
    runner.move_clock(DUE)

    assert runner.move_clock(BEFORE) == []
    assert runner.move_clock(DUE + timedelta(seconds=1)) == []
    assert len(runner.move_clock(DUE + timedelta(days=1))) == 1


def test_every_due_time_of_a_leap_counts(runner):
    fired = runner.move_clock(DUE + timedelta(days=3))

    assert [line[:10] for line in fired] == ["2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04"]


def test_the_clock_goes_on_by_itself_and_calls_what_comes_due_once(tmp_path, capsys):
    with Runner(tmp_path / "home", start=DUE - timedelta(seconds=1)) as runner:
        until = time.monotonic() + 10
        said = ""
        while "snapshot" not in said and time.monotonic() < until:
            time.sleep(0.1)
            said += capsys.readouterr().out
        time.sleep(1.5)
        said += capsys.readouterr().out
        now = runner.now()

    assert re.findall(r"^schedule .*$", said, re.MULTILINE) == [f"schedule   {FIRED[0]}"]
    assert DUE < now < DUE + timedelta(seconds=60)


def test_the_clock_is_told_and_moved_over_http(runner):
    status, told = send(runner, "/clock")
    moved_status, moved = send(runner, "/clock", {"now": "2026-12-01T05:15:00+01:00"})

    assert (status, told["fired"]) == (200, [])
    assert told["now"].startswith("2026-12-01T04:14:5")
    assert (moved_status, moved["fired"]) == (200, FIRED)
    assert moved["now"].startswith("2026-12-01T04:15:0")


@pytest.mark.parametrize("order", [{}, {"now": 5}, {"now": "soon"}, {"now": "2026-12-01T04:15:00"}, {"then": "x"}, []])
def test_the_clock_is_not_moved_by_an_odd_order(runner, order):
    status, _ = send(runner, "/clock", order)

    assert status == 400
    assert runner.now() < DUE


@pytest.mark.parametrize(
    "moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "2027-12-04T00:00:00Z"]
)
def test_the_clock_is_not_moved_where_the_functions_could_not_follow(runner, moment):
    status, said = send(runner, "/clock", {"now": moment})

    assert (status, json.loads(said)["error"]["code"]) == (400, "bad_input")
    assert runner.now() < DUE
    assert send(runner, "/clock")[0] == 200


def test_the_clock_is_not_for_everybody(runner):
    assert send(runner, "/clock", {"now": "2027-01-01T00:00:00Z"}, token="wrong")[0] == 401
    assert runner.now() < DUE


def test_the_functions_live_by_the_runners_clock(runner):
    send(runner, "/api/install", {"spec": "plausible"})

    source = (Path(os.environ["HABILIS_HOME"]) / "abilities/plausible/.source").read_text()
    assert "2026-12-01T04:1" in source


def test_the_environment_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setenv("HABILIS_REMOTE", "https://git.example/home.git")
    before = dict(os.environ)

    with Runner(tmp_path / "home") as runner:
        assert os.environ["HABILIS_REMOTE"] == ""
        assert send(runner, "/api/install", {"spec": "wordpress", "dry_run": True})[0] == 200

    assert dict(os.environ) == before


def test_a_port_that_is_taken_is_refused_and_nothing_is_left_behind(tmp_path):
    before = dict(os.environ)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(Busy, match=f"port {port} is not to be had: address already in use") as caught:
            Runner(tmp_path / "home", port=port)

    assert "--port" in caught.value.hint
    assert dict(os.environ) == before
    assert not (tmp_path / "home").exists()


def test_tokens_that_were_set_up_go_on_counting(tmp_path, monkeypatch):
    from habilis.engine.tokens import token_entry

    monkeypatch.setenv("HABILIS_TOKENS", token_entry("agent", "mine"))

    with Runner(tmp_path / "home") as runner:
        assert send(runner, "/api/projects/acme/connections", token="mine")[0] == 404


def test_the_program_greets_with_a_line_to_try_that_works(tmp_path):
    with started("--home", tmp_path / "home") as (_, said):
        token = re.search(r"^token +(\S+)", said, re.MULTILINE)[1]
        order, url = re.search(r"-d '(.*)' (\S+)$", said, re.MULTILINE).groups()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urlopen(Request(url, data=order.encode(), headers=headers)) as reply:
            answer = json.loads(reply.read())

    assert answer["includes"]["id"] == "wordpress"
    assert str(tmp_path / "home") in said
    assert len(said.splitlines()) < 25


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not tell who listens in /proc")
def test_the_program_listens_on_loopback_only(tmp_path):
    with started("--home", tmp_path / "home") as (program, _):
        addresses = listening(program.pid)

    assert addresses == ["0100007F", "0100007F"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_program_ends_at_once_and_quietly(tmp_path, end):
    with started("--home", tmp_path / "home") as (program, _):
        asked_at = time.monotonic()
        program.send_signal(end)
        code = program.wait(10)
        took_s = time.monotonic() - asked_at
        complaint = program.stderr.read()

    assert (code, complaint) == (0, "")
    assert took_s < 1


def test_a_second_program_on_the_port_says_what_to_do(tmp_path):
    with started("--home", tmp_path / "home") as (_, said):
        port = re.search(r"^functions +http://127.0.0.1:(\d+)", said, re.MULTILINE)[1]
        second = run("--home", tmp_path / "home", "--port", port)

    assert second.returncode == 1
    assert second.stdout == ""
    assert second.stderr.splitlines() == [
        f"habilis: port {port} is not to be had: address already in use",
        "  try: another runner may be up; stop it, or choose a port with --port (0 takes a free one)",
    ]


def test_a_home_that_cannot_be_made_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("x")

    done = run("--home", tmp_path / "file" / "home", "--port", "0")

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("habilis: ")
    assert "file" in line


@pytest.mark.parametrize(
    "options", [["--clock", "soon"], ["--clock", "2026-12-01T04:15:00"], ["--port", "99999"], ["--x"]]
)
def test_wrong_usage_is_told_with_exit_code_2(tmp_path, options):
    done = run("--home", tmp_path / "home", *options)

    assert done.returncode == 2
    assert "error: " in done.stderr
    assert not (tmp_path / "home").exists()


def test_the_demo_tells_its_story_and_leaves_nothing_behind(tmp_path):
    started_at = time.monotonic()

    done = run("--demo", TMPDIR=str(tmp_path))

    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - started_at < 60
    assert list(tmp_path.iterdir()) == []
    steps = re.findall(r"^(\d)  \S.* ms$", done.stdout, re.MULTILINE)
    assert steps == list("1234567")
    assert "article/hello-world is out at http://127.0.0.1:" in done.stdout
    assert "traffic: 120 rows" in done.stdout


@pytest.mark.part("git")
def test_the_home_of_a_demo_is_kept_where_it_was_asked_for_and_its_log_reads_like_a_diary(tmp_path):
    home = tmp_path / "kept"

    done = run("--demo", "--home", home, TMPDIR=str(tmp_path))
    log = subprocess.run(
        ["git", "-C", home, "log", "--reverse", "--format=%s"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    again = run("--demo", "--home", home, TMPDIR=str(tmp_path))

    assert done.returncode == 0
    assert [re.sub(r"127\.0\.0\.1:\d+|\d{4}-\d\d-\d\d", "…", line) for line in log] == [
        "Set up the home",
        "Make the project acme",
        "Write article/hello-world",
        "Install sample-blog 0.1.0",
        "Add an account of sample-blog to acme",
        "Let sample-blog of acme call …",
        "Publish article/hello-world to sample-blog",
        "Read 1 source of acme up to …",
    ]
    assert again.returncode == 1
    assert "there is a project 'acme' already" in again.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
