import json

import pytest


def test_tools_are_listed_by_ability_with_what_they_need(shell):
    listed = shell.ok("tools", "acme").out.splitlines()

    assert listed[:3] == [
        "Publish to the sample blog",
        "  create_post  publish  needs an account",
        "  list_posts   read     needs an account",
    ]
    assert listed[3] == "Instructions"


def test_tools_that_are_ready_say_what_they_do_and_have_their_schema(shell, channel):
    offered = {tool["name"]: tool for tool in shell.json("tools", "acme")["tools"]}

    assert offered["list_posts"]["needs"] == ""
    assert offered["list_posts"]["input"]["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 50}
    assert "  list_posts   read     Reading recent posts\n" in shell.ok("tools", "acme").out


def test_a_call_prints_what_comes_back(shell, channel, service):
    service.add_post({"title": "Über uns", "html": "<p>x</p>"})

    called = shell.ok("call", "acme", "list_posts")

    assert json.loads(called.out)["posts"][0]["title"] == "Über uns"
    assert called.err == ""


def test_arguments_are_typed_by_the_schema(shell, channel, service):
    for title in ("One", "12", "true"):
        service.add_post({"title": title, "html": "<p>x</p>"})

    limited = shell.json("call", "acme", "list_posts", "--arg", "limit=1")
    searched = shell.json("call", "acme", "list_posts", "--arg", "search=12", "--arg", "limit=5")

    assert len(limited["data"]["posts"]) == 1
    assert [post["title"] for post in searched["data"]["posts"]] == ["12"]


def test_arguments_come_as_a_document_or_from_a_file(shell, channel, tmp_path):
    (tmp_path / "arguments.json").write_text('{"title": "Hi", "html": "<p>é</p>", "tags": ["a"]}', encoding="utf-8")

    shown = shell.json("call", "acme", "create_post", "--input", f"@{tmp_path}/arguments.json", "--dry-run")
    mixed = shell.json(
        "call", "acme", "create_post", "--input", '{"title": "Hi", "html": "x"}', "--arg", "title=Ho", "--dry-run"
    )

    assert shown["requests"][0]["body"] == {"title": "Hi", "html": "<p>é</p>", "tags": ["a"]}
    assert mixed["requests"][0]["body"] == {"title": "Ho", "html": "x"}


def test_a_dry_run_shows_the_exact_request_masked_and_sends_nothing(shell, channel, service):
    before = shell.files()

    shown = shell.ok("call", "acme", "create_post", "--arg", "title=Hi", "--arg", "html=<p>a\nb</p>", "--dry-run")

    assert shown.out.splitlines() == [
        f"POST {service.url}/api/posts",
        "Authorization: Bearer [redacted SAMPLE_TOKEN]",
        "Content-Type: application/json",
        "",
        "{",
        '  "title": "Hi",',
        '  "html": "<p>a\\nb</p>"',
        "}",
        "",
        "A dry run: nothing was sent.",
    ]
    assert (service.posts, shell.files()) == ([], before)


def test_a_publish_tool_asks_first(shell, channel, service):
    asked = shell.ok("call", "acme", "create_post", "--arg", "title=Hi", "--arg", "html=<p>x</p>")

    approval = asked.out.splitlines()[-1]
    assert approval.startswith("Waits for a yes: habilis approvals approve acme ")
    assert service.posts == []
    shell.ok("approvals", "approve", "acme", approval.split()[-1])
    assert [post["title"] for post in service.posts] == ["Hi"]


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["nothing"], 1, "habilis: the project has no tool 'nothing'"),
        (["list_posts", "--account", "nobody"], 1, "habilis: there is no account 'nobody'"),
        (["list_posts", "--arg", "limit"], 1, "habilis: --arg: 'limit' is no NAME=VALUE"),
        (["list_posts", "--arg", "limit=many"], 1, "limit: expected a whole number"),
        (["list_posts", "--arg", "serach=x"], 1, "there is no argument"),
        (["list_posts", "--input", "[1]"], 1, "habilis: --input must be a JSON object"),
        (["list_posts", "--input", "{"], 1, "habilis: --input: no valid JSON"),
        (["list_posts", "--input", "@/none.json"], 1, "habilis: --input: there is no file '/none.json'"),
        (["list_posts", "--limit", "1"], 2, "No such option"),
        ([], 2, "Missing argument 'TOOL'"),
    ],
)
def test_what_cannot_be_called_is_told_in_a_line_with_its_exit_code(shell, channel, words, code, complaint):
    outcome = shell.run("call", "acme", *words)

    assert outcome.code == code
    assert outcome.out == ""
    assert complaint in outcome.err


def test_an_answer_that_would_steer_the_terminal_is_shown_escaped(shell, channel, service):
    service.add_post({"title": "\x1b]52;c;aGk=\x07 \x9b2J", "html": "<p>x</p>"})

    called = shell.ok("call", "acme", "list_posts")
    document = shell.ok("call", "acme", "list_posts", "--json")

    for out in (called.out, document.out):
        assert not {"\x1b", "\x07", "\x9b"} & set(out)
    assert document.data["data"]["posts"][0]["title"] == "\x1b]52;c;aGk=\x07 \x9b2J"


def test_the_services_error_is_told_in_its_own_words_and_masked(shell, channel):
    shell.ok("accounts", "set", "acme", channel, "SAMPLE_TOKEN", stdin=b"wrong-0123456789")

    outcome = shell.run("call", "acme", "list_posts")

    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "habilis: tool 'list_posts': answered 401: the token is missing or wrong",
        "  try: check the account's keys, or sign it in again",
    ]
