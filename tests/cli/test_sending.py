"""Calls with files on the command line: shown before, traced meanwhile, told after."""

from datetime import UTC, datetime

import pytest
from tests.engine.press import FOLDER, JPEG, PNG, Press, furnish, said_json

from habilis.home.worktree import WorkTreeHome


@pytest.fixture
def press(shell, tmp_path):
    with Press() as press:
        home = WorkTreeHome(shell.folder)
        furnish(home, tmp_path / "press", press, now=datetime.now(UTC))
        home.close()
        yield press


FILE_IT = ("call", "acme", "file_article", "--arg", "title=Hello", "--asset", "article/hello")


def test_a_dry_run_prints_every_request_as_it_would_go(shell, press):
    said = shell.ok(*FILE_IT, "--dry-run").out

    assert said.startswith(
        "# step 'register' (file 1)\n"
        f"POST {press.url('/uploads')}\n"
        "Authorization: Bearer [redacted PRESS_TOKEN]\n"
        "Content-Type: application/json\n"
        '\n{\n  "name": "Grüße.jpg",\n'
    )
    assert f"PUT {{{{item.upload}}}}\nContent-Type: image/jpeg\n\n<{len(JPEG):,} bytes of Grüße.jpg>\n\n" in said
    assert "\n\nalt = A greeting\n\n" in said
    assert said.endswith('"media_ids": "{{register.*.id}}"\n}\n\nA dry run: nothing was sent.\n')
    assert press.connections == 0


def test_parts_are_printed_with_their_files_names_and_types(shell, press):
    said = shell.ok("call", "acme", "send_all", "--arg", "caption=Hi", "--asset", "article/hello", "--dry-run").out

    assert (
        "caption = Hi\n"
        f"media[] = <{len(JPEG):,} bytes of Grüße.jpg>  (Grüße.jpg, image/jpeg)\n"
        f"media[] = <{len(PNG)} bytes of b.png>  (b.png, image/png)\n"
    ) in said


def test_a_trace_tells_each_request_on_stderr_with_its_time_and_sizes(shell, press):
    said = shell.ok(*FILE_IT, "--trace")

    lines = said.err.splitlines()
    assert said.out == "https://press.example/1\n"
    assert len(lines) == 6
    assert lines[2].startswith(f"step 'put' (file 1): PUT {press.url('/up/1?sig=1')} -> 204 in ")
    assert lines[2].endswith(f" ms, {len(JPEG):,} bytes up, 0 down")
    assert "token-of-the-press" not in said.err


def test_a_trace_tells_what_failed_too(shell, press):
    press.answers["/up/1"] = [said_json(413, {"message": "too big"})]

    said = shell.run(*FILE_IT, "--trace")

    assert said.code == 1
    assert " -> 413 in " in said.err
    assert "habilis: step 'put' (file 1): answered 413: too big; done before: register" in said.err


@pytest.mark.parametrize(("status", "in_doubt"), [(500, True), (413, False)])
def test_a_person_is_told_where_nobody_knows_whether_it_happened(shell, press, status, in_doubt):
    press.answers["/gallery"] = [said_json(status, {"message": "no"})]

    said = shell.run("call", "acme", "send_all", "--arg", "caption=Hi", "--asset", "article/hello")

    assert said.code == 1
    assert ("it may have happened: look there before you do it again" in said.err) is in_doubt


def test_a_file_that_came_back_is_named_where_it_lies(shell, press):
    beside = shell.ok("call", "acme", "image", "--arg", "prompt=A lighthouse", "--arg", "width=640")
    on_it = shell.json("call", "acme", "image", "--arg", "prompt=A lighthouse", "--asset", "article/hello")

    place = beside.out.splitlines()[-1]
    assert place.startswith(str(shell.folder / ".state/downloads"))
    assert on_it["files"] == [{"name": "1.png", "mime": "image/png", "size": len(PNG), "path": f"{FOLDER}/1.png"}]
    assert (shell.folder / on_it["files"][0]["path"]).read_bytes() == PNG


def test_tools_lists_what_is_provided_with_its_cost(shell, press):
    said = shell.ok("tools", "acme").out

    assert "image" in said
    assert "about $0.03 per image" in said


def test_an_approval_is_shown_with_all_its_requests(shell, press):
    shell.ok("accounts", "add", "acme", "press", "--id", "daily", "--kind", "press", "--keys", "-",
             stdin=f"PRESS_SITE={press.url('')}\nPRESS_TOKEN=token-of-the-press\n".encode())  # fmt: skip
    shell.ok("accounts", "allow-private", "acme", "daily", press.place)

    asked = shell.json("publish", "acme", "article/hello", "daily")["approval"]
    shown = shell.ok("approvals", "show", "acme", asked["id"]).out
    done = shell.ok("approvals", "approve", "acme", asked["id"], "--trace")

    assert [one["where"] for one in asked["requests"]][-1] == "step 'post'"
    assert shown.count("# step 'put' (file ") == 2
    assert done.out == "Published article/hello to daily: https://press.example/1\n"
    assert len(done.err.splitlines()) == 6
