import pytest

PUBLISH = ("publish", "acme", "article/hello", "blog")


def ask(shell):
    return shell.json(*PUBLISH)["approval"]["id"]


def test_a_publish_waits_for_a_yes_and_goes_out_with_it(shell, channel, service):
    asked = shell.ok(*PUBLISH).out.splitlines()
    approval = asked[-1].split()[-1]
    listed = shell.ok("approvals", "ls", "acme").out
    done = shell.ok("approvals", "approve", "acme", approval)

    assert asked[0] == "publish article/hello to blog with sample-blog.create_post"
    assert f"POST {service.url}/api/posts" in asked
    assert listed.startswith(approval)
    assert done.out == f"Published article/hello to blog: {service.posts[0]['link']}\n"
    assert shell.ok("approvals", "ls", "acme").out == "Nothing waits.\n"


def test_what_waits_is_shown_with_its_exact_request(shell, channel, service):
    shown = shell.ok("approvals", "show", "acme", ask(shell)).out.splitlines()

    assert shown[0] == "publish article/hello to blog with sample-blog.create_post"
    assert shown[1].startswith("asked by user at 20")
    assert f"POST {service.url}/api/posts" in shown
    assert "Authorization: Bearer [redacted SAMPLE_TOKEN]" in shown
    assert '  "title": "Hello",' in shown


def test_a_refused_publish_is_gone(shell, channel, service):
    approval = ask(shell)

    denied = shell.json("approvals", "deny", "acme", approval)

    assert denied["denied"]["id"] == approval
    assert shell.run("approvals", "approve", "acme", approval).code == 1
    assert service.posts == []


@pytest.mark.parametrize("verb", ["show", "approve", "deny"])
def test_an_approval_that_is_not_there_is_not_found(shell, verb):
    outcome = shell.run("approvals", verb, "acme", "0123456789abcdef")

    assert outcome.code == 1
    assert "habilis: no approval '0123456789abcdef' is waiting" in outcome.err


def test_an_asset_without_a_link_back_is_told_by_its_text(shell, channel):
    outcome = shell.run("publish", "acme", "article/none", "blog")

    assert outcome.code == 1
    assert "there is no asset 'article/none'" in outcome.err


def test_numbers_are_read_and_stored(shell, channel):
    read = shell.ok("snapshot", "acme").out.splitlines()
    again = shell.json("snapshot", "acme", "traffic")

    assert read[1:] == ["blog  traffic  120 rows"]
    assert again["sources"][0]["rows"] == 120
    assert any(name.startswith("projects/acme/snapshots/blog/traffic/") for name in shell.files())


def test_a_source_that_fails_is_told_and_the_exit_code_is_1(shell, channel):
    shell.ok("accounts", "set", "acme", channel, "SAMPLE_TOKEN", stdin=b"wrong-0123456789")

    outcome = shell.run("snapshot", "acme", "--json")

    assert outcome.code == 1
    assert "answered 401" in outcome.data["sources"][0]["fault"]


def test_a_project_without_sources_says_so(shell):
    assert shell.ok("snapshot", "acme").out == (
        "No source is ready: add an account of an ability that reads numbers.\n"
    )
