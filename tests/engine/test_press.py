"""Calls of several steps with files, from the order to what is written down, over the whole engine."""

import json
from dataclasses import replace

import pytest
from tests.engine.press import MANIFEST, PNG, Press, said_json
from tests.home.repository import git
from tests.upstream import Upstream, answer

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.actions import activity_log
from habilis.engine.assets import save_asset
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.installs import install, plan_install
from habilis.engine.resolve import CallOrder
from habilis.errors import (
    AddressNotAllowed,
    ArgsInvalid,
    HostNotAllowed,
    NotFound,
    PlainHttpRefused,
    ResponseTooLarge,
    UpstreamError,
)
from habilis.records import Asset, AssetFile, read_asset

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 300
FOLDER = "projects/acme/assets/article/hello"


@pytest.fixture
def press(world, tmp_path):
    """The service, an account of it, and an asset with two files."""
    folder = tmp_path / "press"
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST)
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    files = (AssetFile(name="Grüße.jpg", file="a.jpg", alt="A greeting"), AssetFile(name="b.png", file="b.png"))
    save_asset(world.home, "acme", Asset(ref="article/hello", title="Hello", text="", files=files), actor="tests")
    (world.home.private / FOLDER / "a.jpg").write_bytes(JPEG)
    (world.home.private / FOLDER / "b.png").write_bytes(PNG)
    with Press() as press:
        keys = {"PRESS_SITE": press.url(""), "PRESS_TOKEN": "token-of-the-press"}
        order = AccountOrder(project="acme", ability="press", keys=keys)
        add_account(world.home, order, actor="tests", now=world.clock())
        allow_private(world.home, "acme", "press", press.place, actor="tests")
        yield press


def call(world, tool="file_article", asset="article/hello", **arguments):
    order = CallOrder(project="acme", tool=tool, arguments=arguments, asset=asset)
    return call_tool(world.home, order, world.outside, actor="agent")


def entries(world):
    from habilis.engine.workspace import open_workspace

    account = open_workspace(world.home, world.home.open(), "acme").accounts["press"]
    return activity_log(world.home, account).entries()


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


def draw(world, asset="", **arguments):
    return call(world, tool="image", asset=asset, prompt="A lighthouse", **arguments)


def test_a_picture_is_kept_beside_the_home_when_no_asset_takes_it(world, press):
    result = draw(world, size="landscape", name="Dawn")

    (kept,) = result.files
    assert (kept.name, kept.mime, kept.size) == ("Dawn.png", "image/png", len(PNG))
    assert kept.path.startswith(".state/downloads/20261130-120000-")
    assert (world.home.private / kept.path).read_bytes() == PNG
    assert json.loads(press.requests[0].body) == {"prompt": "A lighthouse", "width": 1600, "height": 900}
    assert list((world.home.private / ".state/arriving").iterdir()) == []
    assert "authorization" not in press.requests[1].headers


@pytest.mark.parametrize("by_argument", [True, False])
def test_a_picture_is_put_on_its_asset_in_one_commit(world, press, by_argument):
    before = world.home.open().id
    named = {"arguments": {"prompt": "A lighthouse", "name": "b", "asset": "article/hello"}}
    if not by_argument:
        named = {"arguments": {"prompt": "A lighthouse", "name": "b"}, "asset": "article/hello"}

    result = call_tool(world.home, CallOrder(project="acme", tool="image", **named), world.outside, actor="agent")

    (kept,) = result.files
    assert (kept.name, kept.path) == ("b-2.png", f"{FOLDER}/b-2.png")
    revision = world.home.open()
    assert revision.require(kept.path) == PNG
    record = read_asset(revision.require(f"{FOLDER}/asset.md"), ref="article/hello")
    assert [file.name for file in record.files] == ["Grüße.jpg", "b.png", "b-2.png"]
    assert record.files[2].mime == "image/png"
    log = git(world.home.private, "log", "--format=%s", f"{before}..HEAD")
    assert log.splitlines() == ["Put 1 file on article/hello"]


def test_what_came_back_is_kept_though_the_asset_is_gone_meanwhile(world, press):
    def vanish(seen):
        import shutil

        shutil.rmtree(world.home.private / FOLDER)
        return answer(200, body=PNG, headers=(("Content-Type", "image/png"),))

    press.picture = vanish

    result = draw(world, asset="article/hello")

    assert result.files[0].path.startswith(".state/downloads/")
    assert "could not be put on article/hello" in result.notes[0]
    assert entries(world)[0].outcome == "done"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:9/x.png", AddressNotAllowed),
        ("file:///etc/passwd", HostNotAllowed),
        ("https://evil.test/x.png", HostNotAllowed),
        ("data:text/html;base64,PGh0bWw+", UpstreamError),
    ],
)
def test_a_file_is_fetched_through_the_same_gate_and_no_page_is_kept_as_a_picture(world, press, url, error):
    press.picture_url = url

    with pytest.raises(error) as caught:
        draw(world)

    assert caught.value.outcome == "done"
    assert len(press.requests) == 1
    assert entries(world)[0].outcome == "done"
    assert not (world.home.private / ".state/downloads").exists()


def test_a_file_beyond_the_limit_is_refused_and_leaves_nothing_behind(world, press):
    small = replace(world.outside, largest_file_bytes=len(PNG) - 1)
    order = CallOrder(project="acme", tool="image", arguments={"prompt": "A lighthouse"})

    with pytest.raises(ResponseTooLarge):
        call_tool(world.home, order, small, actor="agent")

    assert list((world.home.private / ".state/arriving").iterdir()) == []
    assert not (world.home.private / ".state/downloads").exists()


def test_a_size_may_be_the_kind_of_a_channel(world, press):
    draw(world, size="press")

    assert json.loads(press.requests[0].body) == {"prompt": "A lighthouse", "width": 800, "height": 418}
