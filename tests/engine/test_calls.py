import json
from dataclasses import replace
from datetime import timedelta

import pytest

from habilis.engine.accounts import AccountOrder, add_account
from habilis.engine.approvals import Approval
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.installs import install, plan_install
from habilis.engine.resolve import CallOrder
from habilis.errors import (
    AddressNotAllowed,
    ArgsInvalid,
    CapReached,
    DuplicateTarget,
    EngineFailed,
    Forbidden,
    NotFound,
    OutcomeUnknown,
    SecretMissing,
    UpstreamError,
    UpstreamFailed,
    UpstreamUnavailable,
)
from habilis.home.activity import ActivityLog

MANAGING = """\
id: sample-desk
name: Manage the sample blog
version: 0.1.0
summary: Posts without asking, for tests.
transport: http
service: sample-blog
auth:
  - { env: SAMPLE_SITE, label: Site, secret: false }
  - { env: SAMPLE_TOKEN, label: Token }
hosts: ["${SAMPLE_SITE}"]
daily_cap: 2
tools:
  - name: file_post
    label: Filing
    description: Files a post.
    role: manage
    target: "{{title}}"
    input: { type: object, properties: { title: { type: string }, html: { type: string } }, required: [title] }
    request:
      method: POST
      url: "${SAMPLE_SITE}/api/posts"
      headers: { Authorization: "Bearer ${SAMPLE_TOKEN}" }
      json: { title: "{{title}}", html: "{{html|<p></p>}}" }
    result: { text: /link }
"""


def order(tool="list_posts", account="", **arguments):
    return CallOrder(project="acme", tool=tool, arguments=arguments, account=account)


def add_desk(world, tmp_path, text=MANAGING):
    folder = tmp_path / "sample-desk"
    folder.mkdir()
    (folder / "extension.yaml").write_text(text, encoding="utf-8")
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())


def file_post(world, title):
    return call_tool(world.home, order("file_post", title=title), world.outside, actor="tests")


def log_of(world, account):
    return ActivityLog(world.home.private / account.folder / "activity.jsonl")


def test_a_read_call_returns_what_the_service_answers(world):
    world.add_account()
    world.service.add_post({"title": "First", "html": "<p>1</p>"})

    result = call_tool(world.home, order(), world.outside, actor="agent")

    assert result.data["total"] == 1
    assert json.loads(result.text)["posts"][0]["title"] == "First"


def test_a_read_call_leaves_no_line_in_the_activity(world):
    account = world.add_account()

    call_tool(world.home, order(), world.outside, actor="agent")

    assert log_of(world, account).entries() == []


def test_an_argument_in_the_query_cannot_change_the_request(world):
    world.add_account()
    world.service.add_post({"title": "a&limit=0 #x", "html": "<p>1</p>"})

    result = call_tool(world.home, order(search="a&limit=0 #x"), world.outside, actor="agent")

    assert result.data["total"] == 1


def test_an_action_is_written_down_with_its_link(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)

    result = file_post(world, "Hello")

    (entry,) = log_of(world, account).entries()
    assert result.link == entry.link == f"{world.service.url}/posts/1"
    assert (entry.outcome, entry.action.role, entry.action.target) == ("done", "manage", "Hello")


def test_the_same_action_on_the_same_target_is_refused_the_second_time(world, tmp_path):
    world.add_account()
    add_desk(world, tmp_path)
    file_post(world, "Hello")

    with pytest.raises(DuplicateTarget, match="Hello"):
        file_post(world, "Hello")

    assert len(world.service.posts) == 1


def test_an_action_that_the_service_refused_may_be_tried_again(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)
    with pytest.raises(UpstreamError, match="a post has a title and html") as caught:
        call_tool(world.home, order("file_post", title="", html="x"), world.outside, actor="tests")

    assert caught.value.outcome == "not_sent"
    assert log_of(world, account).entries()[0].outcome == "failed"
    assert file_post(world, "Hello").link


def test_the_lowest_cap_of_the_service_counts_per_utc_day(world, tmp_path):
    world.add_account()
    add_desk(world, tmp_path)
    file_post(world, "one")
    file_post(world, "two")

    with pytest.raises(CapReached, match="2 of 2") as caught:
        file_post(world, "three")

    assert "2026-12-01 00:00 UTC" in caught.value.hint
    world.clock.move(timedelta(hours=12, seconds=1))
    assert file_post(world, "three").link.endswith("/posts/3")


def test_an_action_without_an_outcome_blocks_its_target_and_says_so(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)
    world.service.close()
    log = log_of(world, account)
    file_post_action = {
        "id": "0" * 16, "at": "2026-11-30T11:00:00Z", "ability": "sample-desk", "role": "manage", "tool": "file_post",
        "target": "Hello", "actor": "tests",
    }  # fmt: skip
    log_path = world.home.private / account.folder / "activity.jsonl"
    log_path.write_text(json.dumps(file_post_action) + "\n", encoding="utf-8")

    with pytest.raises(OutcomeUnknown, match="may have happened"):
        file_post(world, "Hello")

    assert log.entries()[0].outcome == "unknown"


def test_a_service_that_cannot_be_reached_gives_the_slot_back(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)
    world.service.close()

    with pytest.raises(UpstreamUnavailable) as caught:
        file_post(world, "Hello")

    assert caught.value.outcome == "not_sent"
    log = log_of(world, account)
    assert log.used_today(world.clock()) == 0
    assert log.standing("manage", "Hello") is None


class Stopped:
    """A way out on which somebody presses Ctrl-C: before the first byte of the request leaves, or after it."""

    def __init__(self, *, has_left):
        self._has_left = has_left

    def send(self, request, *, before_first_byte=None):
        if self._has_left:
            before_first_byte()
        raise KeyboardInterrupt


def test_a_call_stopped_before_it_was_sent_gives_the_slot_back(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)
    outside = replace(world.outside, transport=Stopped(has_left=False))

    with pytest.raises(EngineFailed, match="before anything was sent") as caught:
        call_tool(world.home, order("file_post", title="Hello"), outside, actor="tests")

    assert caught.value.outcome == "not_sent"
    assert log_of(world, account).entries()[0].outcome == "not_sent"
    assert log_of(world, account).used_today(world.clock()) == 0


def test_a_call_stopped_under_way_may_have_happened(world, tmp_path):
    account = world.add_account()
    add_desk(world, tmp_path)
    outside = replace(world.outside, transport=Stopped(has_left=True))

    with pytest.raises(EngineFailed, match="may have happened") as caught:
        call_tool(world.home, order("file_post", title="Hello"), outside, actor="tests")

    assert caught.value.outcome == "unknown"
    assert log_of(world, account).entries()[0].outcome == "unknown"
    with pytest.raises(OutcomeUnknown):
        file_post(world, "Hello")


def test_what_the_service_said_is_told_though_the_log_broke_meanwhile(world, tmp_path, monkeypatch):
    account = world.add_account()
    add_desk(world, tmp_path)
    log = world.home.private / account.folder / "activity.jsonl"

    def refuse(fields):
        log.unlink()
        log.symlink_to("/dev/full")
        raise ConnectionAbortedError

    monkeypatch.setattr(world.service, "add_post", refuse)
    with pytest.raises(UpstreamFailed) as caught:
        file_post(world, "Hello")

    assert caught.value.outcome == "unknown"


def test_a_publish_tool_is_asked_about_and_not_sent(world):
    world.add_account()

    asked = call_tool(world.home, order("create_post", title="T", html="<p>h</p>"), world.outside, actor="agent")

    assert isinstance(asked, Approval)
    assert world.service.posts == []


def test_approved_is_no_argument(world):
    world.add_account()

    with pytest.raises(ArgsInvalid, match="approved"):
        call_tool(world.home, order("create_post", title="T", html="h", approved=True), world.outside, actor="agent")


def test_a_rule_that_denies_wins(world):
    world.add_account()
    rules = b"- name: no-reading\n  tool: list_*\n  decision: deny\n"
    world.home.commit(lambda _: {"projects/acme/actauth.yml": rules}, subject="Deny", action="rules", actor="tests")

    with pytest.raises(Forbidden, match="no-reading"):
        call_tool(world.home, order(), world.outside, actor="agent")


def test_a_dry_run_shows_the_exact_request_with_the_key_masked_and_sends_nothing(world):
    account = world.add_account()

    (shown,) = rehearse_call(world.home, order("create_post", title="T", html="<p>h</p>"), world.outside)

    assert shown == {
        "method": "POST",
        "url": f"{world.service.url}/api/posts",
        "headers": {"Authorization": "Bearer [redacted SAMPLE_TOKEN]", "Content-Type": "application/json"},
        "body": {"title": "T", "html": "<p>h</p>"},
    }
    assert world.service.posts == []
    assert log_of(world, account).entries() == []


@pytest.mark.parametrize("tool", ["nothing_here", "sample-blog.nothing", "other.list_posts", "List_Posts", ""])
def test_a_tool_that_is_not_there_is_not_found_in_one_wording(world, tool):
    world.add_account()

    with pytest.raises(NotFound, match="the project has no tool"):
        call_tool(world.home, order(tool), world.outside, actor="agent")


def test_a_tool_of_an_ability_that_is_off_is_not_found_in_the_same_wording(world):
    world.add_account()
    off = b"name: Acme\nabilities_off: [sample-blog]\n"
    world.home.commit(lambda _: {"projects/acme/project.yaml": off}, subject="Off", action="off", actor="tests")

    with pytest.raises(NotFound, match="the project has no tool 'list_posts'"):
        call_tool(world.home, order(), world.outside, actor="agent")


def test_two_abilities_with_one_tool_name_are_told_apart_by_the_ability(world, tmp_path):
    world.add_account()
    add_desk(world, tmp_path, MANAGING.replace("file_post", "list_posts"))

    with pytest.raises(ArgsInvalid, match="more than one ability") as caught:
        call_tool(world.home, order(), world.outside, actor="agent")

    assert "sample-blog.list_posts" in caught.value.hint
    assert call_tool(world.home, order("sample-blog.list_posts"), world.outside, actor="agent").data["total"] == 0


def test_a_call_without_an_account_says_how_to_add_one(world):
    with pytest.raises(SecretMissing, match="no account of 'sample-blog'") as caught:
        call_tool(world.home, order(), world.outside, actor="agent")

    assert caught.value.hint == "add one: habilis accounts add acme sample-blog"


def test_a_call_with_a_key_not_set_names_the_key(world):
    world.add_account(keys={"SAMPLE_SITE": world.service.url})

    with pytest.raises(SecretMissing, match="SAMPLE_TOKEN"):
        call_tool(world.home, order(), world.outside, actor="agent")


def test_the_default_account_is_used_and_another_when_it_is_named(world):
    world.add_account()
    second = world.add_account(id="second")

    assert call_tool(world.home, order(), world.outside, actor="agent").data["total"] == 0
    assert call_tool(world.home, order(account="second"), world.outside, actor="agent").data["total"] == 0
    assert call_tool(world.home, order(connection="second"), world.outside, actor="agent").data["total"] == 0
    with pytest.raises(NotFound, match="no account 'third'"):
        call_tool(world.home, order(account="third"), world.outside, actor="agent")
    assert not second.is_default


def test_an_account_without_the_opt_in_cannot_reach_a_private_host(world):
    world.add_account()
    call_tool(world.home, order(), world.outside, actor="agent")
    keys = {"SAMPLE_SITE": world.service.url, "SAMPLE_TOKEN": world.service.new_token()}
    stranger = AccountOrder(project="acme", ability="sample-blog", id="stranger", keys=keys)
    add_account(world.home, stranger, actor="tests", now=world.clock())

    with pytest.raises(AddressNotAllowed, match=r"127\.0\.0\.1") as caught:
        call_tool(world.home, order(account="stranger"), world.outside, actor="agent")

    assert f"habilis accounts allow-private acme stranger {world.service.host}" in caught.value.hint


def test_an_upstream_that_echoes_the_token_is_masked(world, tmp_path):
    from habilis.redaction import clean

    world.add_account()
    add_desk(world, tmp_path)
    token = (world.home.private / "projects/acme/connections/sample-blog/.env").read_text(encoding="utf-8")
    secret = token.split("SAMPLE_TOKEN=", 1)[1].splitlines()[0].strip("'\"")

    result = file_post(world, f"echo {secret}")

    listed = call_tool(world.home, order(), world.outside, actor="agent")
    assert result.link
    assert secret in listed.text
    assert secret not in str(clean(listed.text))
    log = (world.home.private / "projects/acme/connections/sample-blog/activity.jsonl").read_text(encoding="utf-8")
    assert secret not in log
