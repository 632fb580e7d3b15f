"""What a token's role and its limit to projects open, and what they do not."""

import json

import pytest
from tests.functions.site import error, same

OPERATORS_ONLY = [
    ("account", "POST", "/api/projects/acme/connections", {"ability": "sample-blog"}),
    ("account", "PUT", "/api/projects/acme/connections/blog/keys/SAMPLE_TOKEN", {"value": "stolen-0123456789"}),
    ("account", "PUT", "/api/projects/acme/connections/blog/default", {}),
    ("account", "POST", "/api/projects/acme/connections/blog/private-hosts", {"host": "127.0.0.1:22"}),
    ("account", "POST", "/api/projects/acme/connections/blog/connect", {}),
    ("account", "POST", "/api/projects/acme/connections/blog/verify", {}),
    ("account", "GET", "/api/projects/acme/connections/blog/choices/SAMPLE_TOKEN", None),
    ("account", "DELETE", "/api/projects/acme/connections/blog", None),
    ("publish", "POST", "/api/projects/acme/approvals/0123456789abcdef", {"decision": "approve"}),
    ("publish", "POST", "/api/projects/acme/approvals/0123456789abcdef", {"decision": "deny"}),
    ("relay", "POST", "/r", {"target": "http://127.0.0.1:8000/api/connect/callback"}),
    ("broker", "POST", "/broker/authorize", {"provider": "part"}),
    ("broker", "POST", "/broker/token", {"provider": "part"}),
    ("broker", "POST", "/broker/refresh", {"provider": "part", "refresh_token": "refresh-0123456789"}),
]
AGENTS = [
    ("account", "GET", "/api/projects/acme/connections", None),
    ("account", "GET", "/api/projects/acme/connections/blog", None),
    ("call", "POST", "/api/call", {"project": "acme", "tool": "list_posts"}),
    ("publish", "POST", "/api/publish", {"project": "acme", "asset": "article/hello", "channel": "blog"}),
    ("publish", "GET", "/api/projects/acme/approvals", None),
]
ADMINS_ONLY = [("install", "POST", "/api/install", {"spec": "wordpress"})]
IN_ANOTHER_PROJECT = [
    ("account", "GET", "/api/projects/{}/connections", None),
    ("account", "GET", "/api/projects/{}/connections/blog", None),
    ("account", "POST", "/api/projects/{}/connections", {"ability": "sample-blog"}),
    ("account", "PUT", "/api/projects/{}/connections/blog/keys/SAMPLE_TOKEN", {"value": "stolen-0123456789"}),
    ("account", "DELETE", "/api/projects/{}/connections/blog", None),
    ("call", "POST", "/api/call", {"project": "{}", "tool": "list_posts"}),
    ("call", "POST", "/api/projects/{}/call", {"tool": "list_posts"}),
    ("publish", "POST", "/api/publish", {"project": "{}", "asset": "article/hello", "channel": "blog"}),
    ("publish", "GET", "/api/projects/{}/approvals", None),
    ("publish", "GET", "/api/projects/{}/approvals/0123456789abcdef", None),
    ("publish", "POST", "/api/projects/{}/approvals/0123456789abcdef", {"decision": "approve"}),
    ("snapshot", "POST", "/api/snapshot", {"project": "{}"}),
    ("snapshot", "POST", "/api/projects/{}/snapshot", {}),
]


def in_project(project, path, order):
    named = {key: project if value == "{}" else value for key, value in order.items()} if order else order
    return path.format(project), named


@pytest.mark.parametrize(("name", "method", "path", "order"), [*OPERATORS_ONLY, *ADMINS_ONLY])
@pytest.mark.parametrize("role", ["agent", "agent@acme", "scheduler"])
def test_neither_an_agent_nor_the_scheduler_may(site, name, method, path, order, role):
    site.add_channel()
    before = site.files()

    reply = site.send(name, method, path, order, role=role)

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")
    assert site.files() == before


@pytest.mark.parametrize(
    ("name", "method", "path", "order"),
    [*(row for row in OPERATORS_ONLY if row[0] not in {"relay", "broker"}), *AGENTS, *ADMINS_ONLY],
)
def test_another_engine_uses_the_relay_and_nothing_else(site, name, method, path, order):
    site.add_channel()
    before = site.files()

    reply = site.send(name, method, path, order, role="engine")

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")
    assert site.files() == before


@pytest.mark.parametrize(("name", "method", "path", "order"), ADMINS_ONLY)
def test_an_operator_may_not(site, name, method, path, order):
    reply = site.send(name, method, path, order, role="operator")

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("name", "method", "path", "order"), AGENTS)
@pytest.mark.parametrize("role", ["agent", "agent@acme", "operator", "operator@acme", "admin"])
def test_who_may_act_in_the_project_may(site, name, method, path, order, role):
    site.add_channel()

    reply = site.send(name, method, path, order, role=role)

    assert reply.status_code in {200, 202}


def test_the_scheduler_may_read_numbers_and_nothing_else(site):
    site.add_account()

    numbers = site.send("snapshot", "POST", "/api/snapshot", {}, role="scheduler")
    others = [site.send(*row, role="scheduler") for row in AGENTS]

    assert numbers.status_code == 200
    assert {reply.status_code for reply in others} == {403}


@pytest.mark.parametrize(("name", "method", "path", "order"), IN_ANOTHER_PROJECT)
def test_another_project_looks_like_one_that_does_not_exist(site, name, method, path, order):
    site.add_channel("beta")
    before = site.files()
    there, there_order = in_project("beta", path, order)
    nowhere, nowhere_order = in_project("nowhere", path, order)

    theirs = site.send(name, method, there, there_order, role="admin@acme")
    missing = site.send(name, method, nowhere, nowhere_order, role="admin")

    assert theirs.status_code == 404
    assert str(same(theirs)).replace("beta", "nowhere") == str(same(missing))
    assert site.files() == before


@pytest.mark.parametrize(
    ("name", "path", "order"),
    [
        ("install", "/api/install", {"spec": "wordpress"}),
        ("install", "/api/install", {"spec": "wordpress", "project": "beta"}),
        ("snapshot", "/api/snapshot", {}),
    ],
)
def test_a_token_of_one_project_does_not_reach_all(site, name, path, order):
    before = site.files()

    reply = site.send(name, "POST", path, order, role="admin@acme")

    assert reply.status_code in {403, 404}
    assert site.files() == before


def test_an_admin_of_one_project_may_install_there(site):
    reply = site.send("install", "POST", "/api/install", {"spec": "wordpress", "project": "acme"}, role="admin@acme")

    assert reply.status_code == 201
    assert "extension.yaml" in site.home.open().list("projects/acme/abilities/wordpress")


@pytest.mark.parametrize("role", ["admin", "agent@acme"])
def test_the_address_and_the_order_may_not_name_two_projects(site, role):
    reply = site.send("call", "POST", "/api/projects/acme/call", {"project": "beta", "tool": "list_posts"}, role=role)

    assert (reply.status_code, error(reply)["code"]) == (403, "forbidden")


@pytest.mark.parametrize("project", [5, ["acme"], {"slug": "acme"}, True])
def test_a_project_is_named_by_a_text(site, project):
    reply = site.send("call", "POST", "/api/call", {"project": project, "tool": "list_posts"})

    assert (reply.status_code, error(reply)["code"]) == (400, "args_invalid")


def test_an_account_of_another_project_is_not_found(site):
    site.add_account()
    site.add_account("beta", id="theirs")

    theirs = site.call("list_posts", account="theirs")
    missing = site.call("list_posts", account="nobody")

    assert theirs.status_code == 404
    assert str(same(theirs)).replace("theirs", "nobody") == str(same(missing))


def test_without_tokens_nobody_gets_in(site, monkeypatch):
    monkeypatch.delenv("HABILIS_TOKENS")

    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HABILIS_TOKENS", "admin:plain-token"),
        ("HABILIS_PRIVATE_NETWORK", "sometimes"),
        ("HABILIS_CLOCK_OFFSET_S", "soon"),
        ("HABILIS_PUBLIC_URL", "habilis.example"),
        ("HABILIS_HOME", "/nowhere/at/all"),
    ],
)
def test_a_wrong_setting_is_told_to_the_log_and_not_to_the_caller(site, monkeypatch, capfd, variable, value):
    monkeypatch.setenv(variable, value)

    reply = site.call("list_posts")

    assert (reply.status_code, error(reply)["code"]) == (500, "engine_failed")
    assert value not in reply.text
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert {line["error_id"] for line in lines} == {error(reply)["error_id"]}
    assert variable in lines[0]["message"] or value in lines[0]["message"]
