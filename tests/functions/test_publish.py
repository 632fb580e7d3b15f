from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from tests.functions.site import ARTICLE, error

ORDER = {"project": "acme", "asset": ARTICLE.ref, "channel": "blog"}


def ask(site, **order):
    reply = site.send("publish", "POST", "/api/publish", {**ORDER, **order}, role="agent")
    assert reply.status_code == 202, reply.text
    return reply.json["approval"]


def decide(site, approval, decision="approve", role="operator"):
    path = f"/api/projects/acme/approvals/{approval['id']}"
    return site.send("publish", "POST", path, {"decision": decision}, role=role)


def waiting(site):
    reply = site.send("publish", "GET", "/api/projects/acme/approvals", role="agent")
    return [approval["id"] for approval in reply.json["approvals"]]


def test_a_publish_asks_is_approved_and_its_link_is_recorded(site):
    site.add_channel()

    approval = ask(site)
    reply = decide(site, approval)

    assert reply.status_code == 200
    (post,) = site.service.posts
    assert (post["title"], post["html"]) == ("Hello", "<p>Some <strong>bold</strong> words.</p>\n")
    assert reply.json["link"] == post["link"]
    assert post["link"] in site.record("blog")
    assert waiting(site) == []


def test_the_project_may_stand_in_the_address(site):
    site.add_channel()

    reply = site.send("publish", "POST", "/api/projects/acme/publish", {"asset": ARTICLE.ref, "channel": "blog"})

    assert reply.status_code == 202


def test_what_waits_is_shown_whole_and_masked(site):
    site.add_channel()
    approval = ask(site)

    shown = site.send("publish", "GET", f"/api/projects/acme/approvals/{approval['id']}", role="agent")

    assert shown.json == approval
    assert shown.json["requests"][0]["headers"]["Authorization"] == "Bearer [redacted SAMPLE_TOKEN]"
    assert site.key_text("blog").split("SAMPLE_TOKEN=")[1].strip() not in shown.text
    assert waiting(site) == [approval["id"]]


@pytest.mark.parametrize("role", ["agent", "agent@acme", "scheduler"])
def test_an_agent_can_never_approve(site, role):
    site.add_channel()
    approval = ask(site)

    reply = decide(site, approval, role=role)

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")
    assert waiting(site) == [approval["id"]]
    assert site.service.posts == []


def test_an_approval_counts_once(site):
    site.add_channel()
    approval = ask(site)
    decide(site, approval)

    again = decide(site, approval)

    assert (again.status_code, error(again)["code"]) == (404, "not_found")
    assert len(site.service.posts) == 1


def test_of_many_that_approve_at_once_one_sends(site):
    site.add_channel()
    path = f"/api/projects/acme/approvals/{ask(site)['id']}"
    headers = {"Authorization": f"Bearer {site.tokens['operator']}"}
    application = site.clients["publish"].application

    def approve(_):
        return application.test_client().post(path, json={"decision": "approve"}, headers=headers)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(approve, range(8)))

    assert sorted(reply.status_code for reply in replies) == [200] + [404] * 7
    assert len(site.service.posts) == 1


def test_a_refused_publish_is_gone(site):
    site.add_channel()
    approval = ask(site)

    reply = decide(site, approval, "deny")

    assert (reply.status_code, reply.json["denied"]["id"]) == (200, approval["id"])
    assert decide(site, approval).status_code == 404
    assert site.service.posts == []


def edit_asset(site):
    path = site.folder / "projects/acme/assets/article/hello/asset.md"
    path.write_text(path.read_text().replace("bold", "other"))


def edit_private_hosts(site):
    path = site.folder / "projects/acme/connections/blog/connection.yaml"
    path.write_text(path.read_text().replace("private_hosts:\n", "private_hosts:\n- localhost:1\n"))


def edit_ability(site):
    path = site.folder / "abilities/sample-blog/extension.yaml"
    path.write_text(
        path.read_text().replace("/api/posts\n", "/api/drafts\n").replace('/api/posts"\n', '/api/drafts"\n')
    )


def edit_destination(site):
    path = site.folder / "projects/acme/connections/blog/connection.yaml"
    path.write_text(path.read_text().replace("destination: {}", "destination: {title: Another}"))


@pytest.mark.parametrize("edit", [edit_private_hosts, edit_destination, edit_ability])
def test_a_change_after_the_asking_needs_a_new_yes(site, edit):
    site.add_channel()
    approval = ask(site)
    edit(site)

    reply = decide(site, approval)

    assert (reply.status_code, error(reply)["code"]) == (403, "approval_required")
    assert waiting(site) == []
    assert site.service.posts == []
    assert ask(site)["bound_to"] != approval["bound_to"]


def test_what_goes_out_is_what_was_shown_also_when_the_asset_was_edited_meanwhile(site):
    site.add_channel()
    approval = ask(site)
    edit_asset(site)

    reply = decide(site, approval)

    assert reply.status_code == 200
    assert [post["html"] for post in site.service.posts] == [approval["arguments"]["html"]]
    assert ask(site)["bound_to"] != approval["bound_to"]


def test_a_yes_to_one_order_is_none_to_another(site):
    site.add_channel()
    approval = ask(site)
    site.add_account(kind="sample-blog", id="second")
    other = ask(site, channel="second")

    decide(site, approval)

    assert waiting(site) == [other["id"]]
    assert len(site.service.posts) == 1


def test_the_yes_may_come_a_week_later_and_no_later(site):
    site.add_channel()
    early, late = ask(site), None
    site.move_clock(timedelta(days=7, seconds=1))

    late = decide(site, early)

    assert (late.status_code, error(late)["code"]) == (404, "not_found")
    assert site.service.posts == []


@pytest.mark.parametrize("decision", ["yes", "", "APPROVE", True, None])
def test_a_decision_is_one_of_two_words(site, decision):
    site.add_channel()
    approval = ask(site)

    reply = decide(site, approval, decision)

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")
    assert waiting(site) == [approval["id"]]


@pytest.mark.parametrize(
    ("order", "status", "code"),
    [
        ({"asset": "article/none"}, 404, "not_found"),
        ({"asset": "../../etc/passwd"}, 400, "bad_input"),
        ({"asset": "article/hello/asset.md"}, 400, "bad_input"),
        ({"channel": "nobody"}, 404, "not_found"),
        ({"channel": "plain"}, 400, "bad_input"),
    ],
)
def test_what_is_no_asset_or_no_channel_is_refused(site, order, status, code):
    site.add_channel()
    site.add_account(id="plain")

    reply = site.send("publish", "POST", "/api/publish", {**ORDER, **order}, role="agent")

    assert (reply.status_code, error(reply)["code"]) == (status, code)
    assert waiting(site) == []
