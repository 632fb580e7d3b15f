"""Calls with files over HTTP: shown before, traced when asked for, told after."""

from datetime import UTC, datetime

import pytest
from tests.engine.press import FOLDER, JPEG, PNG, Press, furnish, said_json
from tests.functions.site import error


@pytest.fixture
def press(site, tmp_path):
    with Press() as press:
        furnish(site.home, tmp_path / "press", press, now=datetime.now(UTC))
        yield press


def file_it(site, **order):
    return site.call("file_article", arguments={"title": "Hello"}, asset="article/hello", **order)


def test_a_call_sends_the_files_of_its_asset(site, press):
    reply = file_it(site)

    assert (reply.status_code, reply.json["link"]) == (200, "https://press.example/1")
    assert press.stored == {"1": JPEG, "2": PNG}
    assert "trace" not in reply.json


def test_a_trace_stands_in_the_reply_when_it_is_asked_for(site, press):
    trace = file_it(site, trace=True).json["trace"]

    assert [entry["where"] for entry in trace][:3] == [
        "step 'register' (file 1)", "step 'register' (file 2)", "step 'put' (file 1)",
    ]  # fmt: skip
    put = trace[2]
    assert put.pop("ms") >= 0
    assert put == {
        "where": "step 'put' (file 1)",
        "method": "PUT",
        "url": press.url("/up/1?sig=1"),
        "status": 204,
        "sent_bytes": len(JPEG),
        "received_bytes": 0,
        "error": "",
    }


def test_a_trace_stands_beside_an_error_too(site, press):
    press.answers["/uploads"] = [said_json(403, {"message": "no token-of-the-press"})]

    reply = file_it(site, trace=True)

    assert reply.json["error"]["outcome"] == "not_sent"
    assert [entry["status"] for entry in reply.json["trace"]] == [403]
    assert "token-of-the-press" not in reply.text


def test_trace_is_true_or_false(site, press):
    reply = file_it(site, trace="yes")

    assert error(reply)["code"] == "args_invalid"
    assert press.connections == 0


def test_a_dry_run_shows_every_request(site, press):
    shown = file_it(site, dry_run=True).json["requests"]

    assert [one["where"] for one in shown][-2:] == ["step 'describe' (file 1)", "step 'post'"]
    assert shown[2]["body"] == f"<{len(JPEG):,} bytes of Grüße.jpg>"
    assert press.connections == 0


def test_a_file_that_came_back_is_named_by_its_place_in_the_home(site, press):
    reply = site.call("image", arguments={"prompt": "A lighthouse", "asset": "article/hello"})

    assert reply.json["files"] == [{"name": "1.png", "mime": "image/png", "size": len(PNG), "path": f"{FOLDER}/1.png"}]
    assert str(site.folder) not in reply.text


def test_a_publish_can_be_rehearsed_and_its_yes_traced(site, press):
    site.send("account", "POST", "/api/projects/acme/connections", {
        "ability": "press", "id": "daily", "kind": "press",
        "keys": {"PRESS_SITE": press.url(""), "PRESS_TOKEN": "token-of-the-press"},
    })  # fmt: skip
    site.send("account", "POST", "/api/projects/acme/connections/daily/private-hosts", {"host": press.place})
    order = {"project": "acme", "asset": "article/hello", "channel": "daily"}

    rehearsed = site.send("publish", "POST", "/api/publish", {**order, "dry_run": True})
    waiting = site.send("publish", "GET", "/api/projects/acme/approvals").json["approvals"]
    asked = site.send("publish", "POST", "/api/publish", order).json["approval"]
    done = site.send(
        "publish", "POST", f"/api/projects/acme/approvals/{asked['id']}", {"decision": "approve", "trace": True}
    )

    assert rehearsed.json["requests"] == asked["requests"]
    assert waiting == []
    assert (done.json["link"], len(done.json["trace"])) == ("https://press.example/1", 6)
