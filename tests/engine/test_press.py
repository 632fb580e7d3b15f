"""Calls of several steps with files, from the order to what is written down, over the whole engine."""

import base64
import json
from dataclasses import replace

import pytest
from tests.engine.press import FOLDER, JPEG, PNG, call, entries, said_json
from tests.upstream import Upstream, answer

from habilis.engine.assets import save_asset
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.resolve import CallOrder
from habilis.errors import (
    ArgsInvalid,
    EngineFailed,
    HostNotAllowed,
    NotFound,
    PlainHttpRefused,
    UpstreamError,
)
from habilis.records import Asset, AssetFile


def steps_of(entry):
    return [(step.step, step.run) for step in entry.steps]


def test_an_article_goes_out_with_its_files_in_four_steps(world, press):
    result = call(world, title="Hello")

    assert result.link == "https://press.example/1"
    assert press.stored == {"1": JPEG, "2": PNG}
    assert press.alts == {"m1": "A greeting"}
    assert press.posts == [{"title": "Hello", "media_ids": ["m1", "m2"]}]
    put = next(seen for seen in press.requests if seen.method == "PUT")
    assert (put.headers["content-type"], put.headers["content-length"]) == ("image/jpeg", str(len(JPEG)))
    assert json.loads(press.requests[0].body) == {"name": "Grüße.jpg", "size": len(JPEG)}


def test_each_step_is_written_down_with_what_it_saved(world, press):
    call(world, title="Hello")

    (entry,) = entries(world)
    assert (entry.outcome, entry.link) == ("done", "https://press.example/1")
    assert steps_of(entry) == [
        ("register", 0), ("register", 1), ("put", 0), ("put", 1), ("describe", 0), ("post", None),
    ]  # fmt: skip
    assert json.loads(entry.steps[0].saved) == {"upload": press.url("/up/1?sig=1"), "id": "m1"}


def test_a_refused_step_is_named_with_its_file_and_what_was_done_before(world, press):
    press.answers["/up/2"] = [said_json(413, {"message": "too big"})]

    with pytest.raises(UpstreamError, match="answered 413: too big") as caught:
        call(world, title="Hello")

    assert (caught.value.outcome, caught.value.where) == ("partial", "step 'put' (file 2)")
    assert "register" in caught.value.message
    assert "put (file 1)" in caught.value.message
    (entry,) = entries(world)
    assert (entry.outcome, entry.error) == ("partial", "upstream_error")
    assert steps_of(entry) == [("register", 0), ("register", 1), ("put", 0)]
    assert press.posts == []


def test_doing_it_again_after_that_is_a_new_action(world, press):
    press.answers["/up/2"] = [said_json(413, {})]
    with pytest.raises(UpstreamError):
        call(world, title="Hello")

    again = call(world, title="Hello")

    second, first = entries(world)
    assert again.link
    assert (first.outcome, second.outcome) == ("partial", "done")
    assert first.action.id != second.action.id


def test_the_first_step_that_is_refused_leaves_nothing_half_done(world, press):
    press.answers["/uploads"] = [said_json(403, {"message": "no"})]

    with pytest.raises(UpstreamError) as caught:
        call(world, title="Hello")

    assert caught.value.outcome == "not_sent"
    assert [(entry.outcome, entry.steps) for entry in entries(world)] == [("failed", ())]


def test_an_answer_gives_no_permission_for_another_host(world, press):
    with Upstream() as evil:
        press.answers["/uploads"] = [said_json(201, {"uploadUrl": "https://evil.test/up?sig=1", "id": "m1"})]

        with pytest.raises(HostNotAllowed, match=r"evil\.test") as caught:
            call(world, title="Hello")

        assert evil.connections == 0
    assert (caught.value.outcome, caught.value.where) == ("partial", "step 'put' (file 1)")
    assert "register" in caught.value.message
    assert entries(world)[0].outcome == "partial"


def test_an_answer_gives_no_permission_to_send_in_clear(world, press):
    press.answers["/uploads"] = [said_json(201, {"uploadUrl": "http://uploads.example.com/x", "id": "m1"})]

    with pytest.raises(PlainHttpRefused) as caught:
        call(world, title="Hello")

    assert caught.value.outcome == "partial"
    assert [target for target in press.targets if target.startswith("PUT")] == []


def rehearse(world, tool="file_article", asset="article/hello", **arguments):
    order = CallOrder(project="acme", tool=tool, arguments=arguments, asset=asset)
    return rehearse_call(world.home, order, world.outside)


def test_a_dry_run_shows_every_request_and_the_placeholders_that_wait_for_an_answer(world, press):
    shown = rehearse(world, title="Hello")

    assert press.connections == 0
    assert [(one["where"], one["method"], one["url"]) for one in shown] == [
        ("step 'register' (file 1)", "POST", press.url("/uploads")),
        ("step 'register' (file 2)", "POST", press.url("/uploads")),
        ("step 'put' (file 1)", "PUT", "{{item.upload}}"),
        ("step 'put' (file 2)", "PUT", "{{item.upload}}"),
        ("step 'describe' (file 1)", "POST", press.url("/media/{{item.id}}")),
        ("step 'post'", "POST", press.url("/posts")),
    ]
    assert [one["body"] for one in shown] == [
        {"name": "Grüße.jpg", "size": len(JPEG)},
        {"name": "b.png", "size": len(PNG)},
        f"<{len(JPEG):,} bytes of Grüße.jpg>",
        f"<{len(PNG):,} bytes of b.png>",
        {"alt": "A greeting"},
        {"title": "Hello", "media_ids": "{{register.*.id}}"},
    ]
    signed = [one["headers"].get("Authorization") for one in shown]
    assert signed == ["Bearer [redacted PRESS_TOKEN]"] * 2 + [None] * 2 + ["Bearer [redacted PRESS_TOKEN]"] * 2
    assert shown[2]["headers"]["Content-Type"] == "image/jpeg"


def test_all_files_go_in_one_body(world, press):
    call(world, tool="send_all", caption="Hi")

    (seen,) = press.requests
    body = seen.body
    assert body.count(b'name="media[]"; filename="') == 2
    assert JPEG in body
    assert 'filename="Grüße.jpg"'.encode() in body
    assert int(seen.headers["content-length"]) == len(body)


def test_a_list_is_read_page_by_page_and_a_cut_one_is_told(world, press):
    result = call(world, tool="read_feed", asset="")

    assert result.data == [{"id": 0}, {"id": 1}]
    assert any("2" in note for note in result.notes), result.notes
    assert press.targets == ["GET /feed", "GET /feed?after=1"]


def test_a_read_that_is_asked_to_wait_is_sent_again_and_traced_so(world, press):
    busy = answer(429, headers=(("Retry-After", "30"),))
    press.answers["/feed"] = [busy]
    traced, started = [], world.clock()
    outside = replace(world.outside, trace=traced.append)

    call_tool(world.home, CallOrder(project="acme", tool="read_feed", arguments={}), outside, actor="agent")

    assert [(entry.method, entry.status) for entry in traced] == [("GET", 429), ("", 0), ("GET", 200), ("GET", 200)]
    assert traced[1].elapsed_s >= 30
    assert (world.clock() - started).total_seconds() == pytest.approx(traced[1].elapsed_s)


@pytest.mark.parametrize(("status", "outcome"), [(429, "failed"), (400, "failed"), (500, "unknown"), (408, "unknown")])
def test_a_refused_action_is_never_sent_again_by_itself(world, press, status, outcome):
    press.answers["/gallery"] = [answer(status, headers=(("Retry-After", "1"),))]

    with pytest.raises(UpstreamError):
        call(world, tool="send_all")

    assert len(press.requests) == 1
    assert entries(world)[0].outcome == outcome


def test_an_asset_or_a_file_that_is_not_there_stops_the_call_before_anything_is_sent(world, press):
    with pytest.raises(NotFound, match="no asset"):
        call(world, asset="article/gone", title="Hello")
    (world.home.private / FOLDER / "b.png").unlink()
    with pytest.raises(NotFound, match="no file"):
        call(world, title="Hello")

    assert press.connections == 0
    assert entries(world) == []


def test_twenty_files_go_out_and_the_twenty_first_is_refused_before_anything_is_sent(world, press):
    def with_files(count):
        named = tuple(AssetFile(name=f"{n}.png", file=f"{n}.png") for n in range(count))
        for file in named:
            (world.home.private / FOLDER / file.file).write_bytes(PNG)
        save_asset(world.home, "acme", Asset(ref="article/hello", title="H", text="", files=named), actor="tests")

    with_files(20)
    call(world, title="Hello")
    sent = len(press.requests)
    with_files(21)
    with pytest.raises(ArgsInvalid, match="21 times"):
        call(world, title="Hello")

    assert (sent, len(press.requests)) == (41, 41)
    assert len(press.posts[0]["media_ids"]) == 20


def test_a_token_that_ends_half_way_leaves_what_was_done_and_sends_no_file_twice(world, press):
    press.answers["/uploads"] = [None, said_json(401, {"message": "expired"})]

    with pytest.raises(UpstreamError, match="answered 401") as caught:
        call(world, title="Hello")

    assert (caught.value.outcome, caught.value.where) == ("partial", "step 'register' (file 2)")
    assert press.targets == ["POST /uploads", "POST /uploads"]


class StoppedBefore:
    """The real way out, on which somebody presses Ctrl-C before the request of this number leaves, or just after."""

    def __init__(self, transport, number, *, has_left):
        self._transport, self._left, self._has_left = transport, number, has_left

    def send(self, request, *, before_first_byte=None):
        self._left -= 1
        if self._left:
            return self._transport.send(request, before_first_byte=before_first_byte)
        if self._has_left:
            before_first_byte()
        raise KeyboardInterrupt


@pytest.mark.parametrize(("has_left", "outcome"), [(False, "partial"), (True, "unknown")])
def test_a_call_stopped_between_its_steps_says_what_is_known(world, press, has_left, outcome):
    stopped = StoppedBefore(world.outside.transport, 3, has_left=has_left)
    order = CallOrder(project="acme", tool="file_article", arguments={"title": "Hello"}, asset="article/hello")

    with pytest.raises(EngineFailed) as caught:
        call_tool(world.home, order, replace(world.outside, transport=stopped), actor="agent")

    (entry,) = entries(world)
    assert caught.value.outcome == entry.outcome == outcome
    assert steps_of(entry) == [("register", 0), ("register", 1)]


def test_a_file_inside_a_body_is_sent_whole_and_shown_by_its_size(world, press):
    (shown,) = rehearse(world, tool="send_inline")
    call(world, tool="send_inline")

    assert shown["body"] == {
        "image": f"data:image/jpeg;base64,<{len(JPEG):,} bytes of Grüße.jpg as base64>",
        "width": 640,
    }
    sent = json.loads(press.requests[0].body)
    assert base64.b64decode(sent["image"].partition(",")[2]) == JPEG
