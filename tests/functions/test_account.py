import json
import re

import pytest
from tests.functions.site import error

CONNECTIONS = "/api/projects/acme/connections"
TOKEN = "tok-9f2c41d7a8b3"


def add(site, **order):
    return site.send("account", "POST", CONNECTIONS, {"ability": "sample-blog", **order}, role="operator")


def test_an_account_is_added_and_its_keys_are_shown_as_set_only(site):
    reply = add(site, label="Our blog", keys={"SAMPLE_SITE": site.service.url, "SAMPLE_TOKEN": TOKEN})

    assert reply.status_code == 201
    account = reply.json["account"]
    assert (account["id"], account["label"]) == ("sample-blog", "Our blog")
    assert {key["name"]: key["is_set"] for key in account["keys"]} == {"SAMPLE_SITE": True, "SAMPLE_TOKEN": True}
    told = {"name", "label", "help", "placeholder", "options", "format"}
    told |= {"is_set", "is_optional", "is_secret", "is_multiline", "has_choices"}
    assert all(set(key) == told for key in account["keys"])
    assert reply.json["notices"] == []
    assert TOKEN in site.key_text("sample-blog")
    assert "created_by: operator" in site.record("sample-blog")


@pytest.mark.parametrize("path", [CONNECTIONS, f"{CONNECTIONS}/sample-blog"])
@pytest.mark.parametrize("role", ["agent", "operator", "admin"])
def test_no_part_of_a_key_is_ever_shown(site, path, role):
    add(site, keys={"SAMPLE_TOKEN": TOKEN})

    reply = site.send("account", "GET", path, role=role)

    assert reply.status_code == 200
    assert not any(TOKEN[at : at + 4] in reply.text for at in range(len(TOKEN) - 3))
    assert str(len(TOKEN)) not in re.sub(r'"created_at": "[^"]*"', "", json.dumps(reply.json))


def test_one_key_is_set_and_counts_at_once(site):
    add(site, keys={"SAMPLE_SITE": site.service.url})

    reply = site.send(
        "account", "PUT", f"{CONNECTIONS}/sample-blog/keys/SAMPLE_TOKEN", {"value": TOKEN}, role="operator"
    )

    assert (reply.status_code, reply.json["account"]["is_ready"]) == (200, True)
    assert TOKEN not in reply.text
    assert f"SAMPLE_TOKEN={TOKEN}" in site.key_text("sample-blog")


@pytest.mark.parametrize(
    ("value", "notice"),
    [
        ("1234", "SAMPLE_TOKEN is so short that it cannot be masked where a service echoes it"),
        (f"{TOKEN}\n", "SAMPLE_TOKEN ended with a line break, which was left off"),
    ],
)
def test_what_to_know_of_a_saved_key_is_told_without_its_value(site, value, notice):
    add(site)

    reply = site.send("account", "PUT", f"{CONNECTIONS}/sample-blog/keys/SAMPLE_TOKEN", {"value": value})

    assert reply.json["notices"] == [notice]
    assert value.strip() not in reply.text


@pytest.mark.parametrize(
    ("key", "value"),
    [("PATH", TOKEN), ("NOBODY", TOKEN), ("SAMPLE_TOKEN", f"{TOKEN}\0"), ("SAMPLE_SITE", f"https://{TOKEN}@x.example")],
)
def test_a_key_that_does_not_fit_is_refused_without_its_value(site, capfd, key, value):
    add(site)

    reply = site.send("account", "PUT", f"{CONNECTIONS}/sample-blog/keys/{key}", {"value": value})

    assert reply.status_code == 400
    assert TOKEN not in reply.text + capfd.readouterr().err
    assert site.key_text("sample-blog") == ""


@pytest.mark.parametrize("keys", [{"NOBODY": TOKEN}, {"SAMPLE_TOKEN": TOKEN, "SAMPLE_SITE": f"javascript:{TOKEN}"}])
def test_an_account_is_not_added_when_one_of_its_keys_does_not_fit(site, capfd, keys):
    reply = add(site, keys=keys)

    assert reply.status_code == 400
    assert TOKEN not in reply.text + capfd.readouterr().err
    assert site.send("account", "GET", CONNECTIONS).json == {"accounts": []}


@pytest.mark.parametrize("name", ["../x", "A", "con", "-x", "a/b", "é"])
def test_an_odd_id_is_refused(site, name):
    before = site.files()

    reply = add(site, id=name)

    assert (reply.status_code, error(reply)["code"]) == (400, "bad_input")
    assert site.files() == before


def test_a_taken_id_is_a_collision(site):
    add(site, id="blog")

    reply = add(site, id="blog")

    assert (reply.status_code, error(reply)["code"]) == (409, "collision")


def test_another_account_becomes_the_default(site):
    site.add_account(id="first")
    site.add_account(id="second")

    reply = site.send("account", "PUT", f"{CONNECTIONS}/second/default", role="operator")

    assert (reply.status_code, reply.json["account"]["is_default"]) == (200, True)
    accounts = site.send("account", "GET", CONNECTIONS).json["accounts"]
    assert {account["id"]: account["is_default"] for account in accounts} == {"first": False, "second": True}


def test_a_private_host_is_allowed_and_shown(site):
    add(site)

    reply = site.send(
        "account", "POST", f"{CONNECTIONS}/sample-blog/private-hosts", {"host": "localhost:8080"}, role="operator"
    )

    assert (reply.status_code, reply.json["account"]["private_hosts"]) == (200, ["localhost:8080"])


@pytest.mark.parametrize("host", ["169.254.169.254:80", "metadata.google.internal:80", "0.0.0.0:80"])
def test_a_host_that_is_never_called_is_not_allowed(site, host):
    add(site)

    reply = site.send("account", "POST", f"{CONNECTIONS}/sample-blog/private-hosts", {"host": host})

    assert (reply.status_code, error(reply)["code"]) == (403, "address_not_allowed")
    assert "private_hosts" not in site.record("sample-blog")


def test_a_removed_account_takes_its_keys_with_it(site):
    site.add_account()

    reply = site.send("account", "DELETE", f"{CONNECTIONS}/sample-blog", role="operator")

    assert (reply.status_code, reply.json) == (200, {"removed": "sample-blog"})
    assert not (site.folder / "projects/acme/connections/sample-blog").exists()
    assert site.send("account", "GET", f"{CONNECTIONS}/sample-blog").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "order"),
    [
        ("GET", "nobody", None),
        ("PUT", "nobody/keys/SAMPLE_TOKEN", {"value": TOKEN}),
        ("PUT", "nobody/default", None),
        ("POST", "nobody/private-hosts", {"host": "localhost:8080"}),
        ("POST", "nobody/connect", None),
        ("DELETE", "nobody", None),
    ],
)
def test_an_account_that_is_not_there_is_not_found(site, method, path, order):
    reply = site.send("account", method, f"{CONNECTIONS}/{path}", order)

    assert (reply.status_code, error(reply)["code"]) == (404, "not_found")
    assert not (site.folder / "projects/acme/connections/nobody").exists()


def test_an_account_whose_record_is_broken_is_shown_with_its_fault_and_the_others_work(site):
    site.add_account(id="good")
    site.add_account(id="broken")
    (site.folder / "projects/acme/connections/broken/connection.yaml").write_text("id: broken\nlabel: [\n")

    accounts = {entry["id"]: entry for entry in site.send("account", "GET", CONNECTIONS).json["accounts"]}

    assert "connection.yaml" in accounts["broken"]["fault"]
    assert accounts["good"]["is_ready"]


def test_choices_are_for_people_who_run_the_project_and_not_for_agents(site):
    add(site)
    path = f"{CONNECTIONS}/sample-blog/choices/SAMPLE_SITE"

    assert site.send("account", "GET", path, role="agent").status_code == 403
    reply = site.send("account", "GET", path, role="operator")
    assert (reply.status_code, error(reply)["hint"]) == (404, "type it: habilis accounts set")


def test_a_second_channel_starts_with_the_keys_of_the_first(site):
    site.add_account(id="blog")

    reply = add(site, id="news", kind="sample-blog", same_as="blog")

    assert (reply.status_code, reply.json["account"]["is_ready"]) == (201, True)
    assert site.key_text("news") == site.key_text("blog")
