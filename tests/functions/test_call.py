import functions_framework
import pytest
from tests.functions.site import error, same

FAULTY = """
import flask
import functions_framework
from habilis import web
from habilis.engine.resolve import find_manifest, load_keys
from habilis.engine.workspace import open_workspace

@functions_framework.http
def faulty(request: flask.Request) -> flask.Response:
    return web.serve(request, _fail)

def _fail(desk):
    workspace = open_workspace(desk.home, desk.home.open(), "acme")
    keys = load_keys(desk.home, find_manifest(workspace, "sample-blog"), workspace.accounts["sample-blog"])
    raise ValueError("bad token " + keys["SAMPLE_TOKEN"] + " of " + str(desk.order))
"""


def token_of(site, account="sample-blog"):
    return site.key_text(account).split("SAMPLE_TOKEN=")[1].strip()


def test_a_read_tool_answers_at_once(site):
    site.add_account()

    reply = site.call("list_posts", arguments={"search": "none"})

    assert reply.status_code == 200
    assert reply.json["data"] == {"posts": [], "total": 0}
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["Cache-Control"] == "no-store"


def test_the_project_may_stand_in_the_address(site):
    site.add_account()

    reply = site.send("call", "POST", "/api/projects/acme/call", {"tool": "list_posts"})

    assert reply.status_code == 200


def test_a_tool_that_publishes_asks_first_and_sends_nothing(site):
    site.add_account()

    reply = site.call("create_post", arguments={"title": "Hi", "html": "<p>Hi</p>"})

    assert reply.status_code == 202
    assert reply.json["approval"]["arguments"] == {"title": "Hi", "html": "<p>Hi</p>"}
    assert reply.json["approval"]["requests"][0]["headers"]["Authorization"] == "Bearer [redacted SAMPLE_TOKEN]"
    assert site.service.posts == []


def test_a_dry_run_shows_the_exact_request_with_its_keys_masked(site):
    site.add_account()
    before = site.files()

    reply = site.call("create_post", arguments={"title": "Hi", "html": "<p>Hi</p>"}, dry_run=True)

    assert reply.status_code == 200
    assert reply.json["requests"] == [
        {
            "method": "POST",
            "url": f"{site.service.url}/api/posts",
            "headers": {"Authorization": "Bearer [redacted SAMPLE_TOKEN]", "Content-Type": "application/json"},
            "body": {"title": "Hi", "html": "<p>Hi</p>"},
        }
    ]
    assert token_of(site) not in reply.text
    assert site.files() == before


@pytest.mark.parametrize("said", [{"approved": True}, {"approval": "x"}, {"dry_run": False}])
def test_no_argument_gives_the_yes(site, said):
    site.add_account()

    reply = site.call("create_post", arguments={"title": "Hi", "html": "<p>Hi</p>", **said})

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")
    assert site.service.posts == []


@pytest.mark.parametrize("tool", ["nothing", "wordpress.create_post", "publish_article", "", "sample-blog.", "../call"])
def test_whatever_is_not_the_projects_tool_is_said_not_to_exist(site, tool):
    site.add_account()

    reply = site.call(tool)

    assert (reply.status_code, error(reply)["code"]) == (404, "not_found")
    assert error(reply)["message"] == f"the project has no tool {tool!r}"


def test_a_tool_that_is_switched_off_is_said_not_to_exist(site):
    site.add_account()
    missing = site.call("nothing")
    (site.folder / "projects/acme/project.yaml").write_text("name: Acme\nabilities_off: [sample-blog]\n")

    off = site.call("list_posts")

    assert off.status_code == 404
    assert str(same(off)).replace("list_posts", "nothing") == str(same(missing))


def test_a_tool_without_an_account_says_what_is_missing(site):
    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (409, "secret_missing")
    assert "habilis accounts add acme sample-blog" in error(reply)["hint"]


def test_a_wrong_token_at_the_service_is_told_in_its_own_words_and_masked(site):
    site.add_account(keys={"SAMPLE_SITE": site.service.url, "SAMPLE_TOKEN": "wrong-0123456789"})

    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (502, "upstream_error")
    assert "answered 401: the token is missing or wrong" in error(reply)["message"]
    assert "wrong-0123456789" not in reply.text


def test_a_private_address_is_not_called_where_the_settings_say_never(site, monkeypatch):
    site.add_account()
    monkeypatch.delenv("HABILIS_PRIVATE_NETWORK")

    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (403, "address_not_allowed")


def test_the_port_of_the_functions_is_never_called(site, monkeypatch):
    site.add_account()
    monkeypatch.setenv("PORT", site.service.host.rpartition(":")[2])

    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (403, "address_not_allowed")


def test_every_error_is_one_line_of_the_log_under_its_id(site, capfd):
    reply = site.call("nothing\nERROR fake\x1b[2J")

    found = error(reply)
    (line,) = capfd.readouterr().err.splitlines()
    assert f'"error_id": "{found["error_id"]}"' in line
    assert '"severity": "INFO"' in line
    assert "\x1b" not in line


def test_a_fault_of_ours_is_an_id_for_the_caller_and_a_masked_trace_for_the_log(site, tmp_path, capfd):
    site.add_account()
    (tmp_path / "faulty.py").write_text(FAULTY)
    client = functions_framework.create_app("faulty", str(tmp_path / "faulty.py"), "http").test_client()
    typed = {"keys": {"OTHER": "typed-0123456789"}, "value": "value-0123456789", "seen": site.tokens["agent"]}

    reply = client.post("/", json=typed, headers={"Authorization": f"Bearer {site.tokens['agent']}"})

    log = capfd.readouterr().err
    assert (reply.status_code, error(reply)["code"], error(reply)["outcome"]) == (500, "unexpected", "unknown")
    assert "ValueError" not in reply.text
    assert "Traceback" in log
    assert "bad token [redacted SAMPLE_TOKEN]" in log
    assert error(reply)["error_id"] in log
    for secret in (token_of(site), "typed-0123456789", "value-0123456789", site.tokens["agent"]):
        assert secret not in reply.text + log
    assert len(log.splitlines()) == 1
