import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from habilis.engine.accounts import allow_private, remove_account, set_key
from habilis.engine.approvals import list_approvals
from habilis.engine.assets import save_asset
from habilis.engine.publishing import PublishOrder, approve, ask_publish, deny
from habilis.errors import ApprovalRequired, BadInput, EngineFailed, HabilisError, NotFound, UpstreamUnavailable
from habilis.home.activity import ActivityLog
from habilis.sample.service import SampleService

from .conftest import ARTICLE

ORDER = PublishOrder(project="acme", asset="article/hello", channel="blog")


def ask(world):
    return ask_publish(world.home, ORDER, world.outside, actor="agent")


def give(world, approval):
    return approve(world.home, "acme", approval.id, world.outside, actor="operator")


def waiting(world):
    return [entry.id for entry in list_approvals(world.home, "acme", now=world.clock())]


def test_a_publish_is_asked_about_and_nothing_goes_out(world):
    world.add_channel()

    asked = ask(world)

    assert world.service.posts == []
    assert waiting(world) == [asked.id]
    assert asked.requests[0]["body"] == {
        "title": "Hello",
        "html": "<p>Some <strong>bold</strong> words.</p>\n",
        "summary": "A greeting.",
        "tags": ["news", "first"],
    }


def test_asking_again_for_the_same_gives_the_same_approval(world):
    world.add_channel()

    assert ask(world).id == ask(world).id
    assert len(waiting(world)) == 1


def test_an_approved_publish_goes_out_and_its_link_is_recorded(world):
    world.add_channel()

    done = give(world, ask(world))

    assert done.link == f"{world.service.url}/posts/1"
    assert world.service.posts[0]["title"] == "Hello"
    record = world.home.open().require("projects/acme/connections/blog/connection.yaml").decode()
    assert f"- asset: article/hello\n  link: {done.link}\n  at: '2026-11-30T12:00:00Z'\n" in record
    assert "last_published: '2026-11-30T12:00:00Z'\n" in record
    assert done.notice == ""


def test_a_publish_is_one_line_of_activity_and_one_commit(world):
    channel = world.add_channel()
    asked = ask(world)
    before = world.home.open().id

    give(world, asked)

    (entry,) = ActivityLog(world.home.private / channel.folder / "activity.jsonl").entries()
    assert (entry.outcome, entry.action.actor) == ("done", "operator")
    assert world.home.open().id != before


def test_an_approval_is_used_once_even_at_the_same_instant(world):
    world.add_channel()
    asked = ask(world)

    def once(_):
        try:
            return give(world, asked).asset
        except HabilisError as error:
            return error.code

    with ThreadPoolExecutor(6) as pool:
        outcomes = sorted(pool.map(once, range(6)))

    assert outcomes == ["article/hello", *["not_found"] * 5]
    assert len(world.service.posts) == 1


def test_a_refused_publish_is_gone_and_nothing_went_out(world):
    world.add_channel()
    asked = ask(world)

    denied = deny(world.home, "acme", asked.id, now=world.clock())

    assert denied.asset == "article/hello"
    assert world.service.posts == []
    with pytest.raises(NotFound):
        give(world, asked)


def test_what_was_approved_is_sent_though_the_article_changed_since(world):
    world.add_channel()
    asked = ask(world)
    save_asset(world.home, "acme", replace(ARTICLE, title="Changed"), actor="user")

    give(world, asked)

    assert world.service.posts[0]["title"] == "Hello"


def test_a_yes_does_not_count_when_the_channel_leads_elsewhere_since(world):
    world.add_channel()
    asked = ask(world)
    path = "projects/acme/connections/blog/connection.yaml"
    text = world.home.open().require(path).replace(b"private_hosts:\n", b"private_hosts:\n- localhost:1\n")
    world.home.commit(lambda _: {path: text}, subject="Edit", action="test", actor="tests")

    with pytest.raises(ApprovalRequired, match="changed"):
        give(world, asked)

    assert world.service.posts == []
    assert waiting(world) == []


def test_a_yes_does_not_count_when_the_ability_changed_since(world):
    world.add_channel()
    asked = ask(world)
    path = "abilities/sample-blog/extension.yaml"
    text = world.home.open().require(path).replace(b"/api/posts", b"/api/elsewhere")
    world.home.commit(lambda _: {path: text}, subject="Edit", action="test", actor="tests")

    with pytest.raises(ApprovalRequired, match="changed"):
        give(world, asked)

    assert world.service.posts == []


def test_a_yes_does_not_count_when_the_site_is_another_since(world):
    world.add_channel()
    with SampleService() as other:
        allow_private(world.home, "acme", "blog", other.host, actor="user")
        asked = ask(world)
        set_key(world.home, "acme", "blog", "SAMPLE_SITE", other.url)
        set_key(world.home, "acme", "blog", "SAMPLE_TOKEN", other.new_token())

        with pytest.raises(ApprovalRequired, match="changed"):
            give(world, asked)

        assert other.posts == []


def test_a_yes_does_not_count_for_a_channel_made_anew_under_the_same_id(world):
    world.add_channel()
    asked = ask(world)
    remove_account(world.home, "acme", "blog", actor="user")
    world.clock.move(timedelta(seconds=1))
    world.add_channel()

    with pytest.raises(ApprovalRequired, match="changed"):
        give(world, asked)

    assert world.service.posts == []


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"project": "acme"},
        {"project": "acme", "asked_at": "soon", "expires_at": "later"},
        {"arguments": []},
        {"request": None},
        {"tool": 7},
        {"asked_at": "2026-11-30T12:00:00"},
        {"unknown": "field"},
    ],
)
def test_a_damaged_approval_is_gone_and_the_others_go_on(world, record):
    world.add_channel()
    asked = ask(world)
    folder = world.home.private / ".state" / "approvals"
    (file,) = folder.glob("*.json")
    kept = json.loads(file.read_text())
    damaged = {**(kept["data"] if record and "project" not in record else {}), **record}
    (folder / f"{'0' * 64}.json").write_text(json.dumps({**kept, "data": damaged}))

    assert waiting(world) == [asked.id]
    assert give(world, asked).link


def test_an_approval_whose_arguments_were_edited_is_not_the_one_that_was_shown(world):
    world.add_channel()
    asked = ask(world)
    (file,) = (world.home.private / ".state" / "approvals").glob("*.json")
    file.write_text(file.read_text().replace('"title": "Hello"', '"title": "Edited"'))

    with pytest.raises(ApprovalRequired, match="changed"):
        give(world, asked)

    assert world.service.posts == []


def test_a_publish_that_is_out_is_never_offered_again_though_the_log_broke_meanwhile(world, monkeypatch):
    channel = world.add_channel()
    asked = ask(world)
    log = world.home.private / channel.folder / "activity.jsonl"
    post = world.service.add_post

    def break_the_log(fields):
        log.unlink()
        log.symlink_to("/dev/full")
        return post(fields)

    monkeypatch.setattr(world.service, "add_post", break_the_log)
    with pytest.raises(EngineFailed, match=f"it was done at {world.service.url}/posts/1") as caught:
        give(world, asked)

    assert caught.value.outcome == "done"
    assert waiting(world) == []


def test_a_yes_still_counts_after_the_password_was_renewed(world):
    world.add_channel()
    asked = ask(world)
    set_key(world.home, "acme", "blog", "SAMPLE_TOKEN", world.service.new_token())

    assert give(world, asked).link


def test_an_approval_waits_again_where_nothing_was_sent(world):
    world.add_channel()
    asked = ask(world)
    world.service.close()

    with pytest.raises(UpstreamUnavailable):
        give(world, asked)

    assert waiting(world) == [asked.id]


def test_an_approval_runs_out_after_a_week(world):
    world.add_channel()
    asked = ask(world)
    world.clock.move(timedelta(days=7, seconds=1))

    with pytest.raises(NotFound, match="no approval"):
        give(world, asked)

    assert world.service.posts == []


def test_the_publish_is_done_though_its_link_cannot_be_recorded(world, monkeypatch):
    world.add_channel()
    asked = ask(world)
    record = world.home.private / "projects/acme/connections/blog/connection.yaml"
    post = world.service.add_post

    def break_the_record(fields):
        record.write_text("broken: [", encoding="utf-8")
        return post(fields)

    monkeypatch.setattr(world.service, "add_post", break_the_record)
    done = give(world, asked)

    assert done.link
    assert "published, but its link could not be recorded" in done.notice
    assert record.read_text(encoding="utf-8") == "broken: ["


def test_an_account_that_is_no_channel_cannot_publish(world):
    world.add_channel()
    world.add_account(id="plain")

    with pytest.raises(BadInput, match="'plain' is no channel"):
        ask_publish(world.home, replace(ORDER, channel="plain"), world.outside, actor="agent")


@pytest.mark.parametrize("asset", ["article/missing", "other/hello"])
def test_an_asset_that_is_not_there_is_not_found(world, asset):
    world.add_channel()

    with pytest.raises(NotFound, match="there is no asset"):
        ask_publish(world.home, replace(ORDER, asset=asset), world.outside, actor="agent")


@pytest.mark.parametrize("asset", ["../x", "article", "article/../../x", "/etc/passwd", "a/b/c", ""])
def test_an_asset_is_named_by_type_and_id_only(world, asset):
    world.add_channel()

    with pytest.raises(BadInput, match="is no asset"):
        ask_publish(world.home, replace(ORDER, asset=asset), world.outside, actor="agent")


def test_an_approval_of_another_project_is_not_found(world):
    from habilis.engine.projects import add_project

    world.add_channel()
    asked = ask(world)
    add_project(world.home, "other", actor="user")

    with pytest.raises(NotFound):
        approve(world.home, "other", asked.id, world.outside, actor="operator")

    assert waiting(world) == [asked.id]


def test_two_channels_of_one_kind_publish_each_on_its_own(world):
    world.add_channel()
    world.add_account(id="second", kind="sample-blog")

    first = ask(world)
    second = ask_publish(world.home, replace(ORDER, channel="second"), world.outside, actor="agent")

    assert (first.account, second.account) == ("blog", "second")
