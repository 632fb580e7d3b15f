import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.functions.site import ROOT, ROWS, error, same

from habilis.schedule import checked_cron, checked_zone

ROUTES = [(row["name"], route.replace("*", "acme", 1).replace("*", "blog")) for row in ROWS for route in row["routes"]]
OPEN = {"connect_callback": {"GET"}, "relay": {"GET"}}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NO_TOKENS = {
    "none": {},
    "empty": {"Authorization": "Bearer "},
    "wrong": {"Authorization": "Bearer x"},
    "basic": {"Authorization": "Basic YWRtaW46YWRtaW4="},
    "other header": {"X-Api-Key": "TOKEN"},
    "no scheme": {"Authorization": "TOKEN"},
    "basic with the token": {"Authorization": "Basic TOKEN"},
}


CLOSED = [
    (name, path, [method for method in METHODS if method not in OPEN.get(name, ())])
    for name, path in ROUTES
    if name != "connect_callback"
]
"""What a token opens. The callback has no other method than GET: the others are nothing to anybody."""


def test_the_table_of_functions_and_the_folder_agree():
    assert {row["name"] for row in ROWS} == {path.stem for path in (ROOT / "functions").glob("*.py")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_row_says_all_that_a_deploy_needs(row):
    assert row.keys() <= {"name", "routes", "timeout_s", "memory_mb", "public", "cron", "zone", "body"}
    assert row["routes"]
    assert all(route.startswith("/") for route in row["routes"])
    assert 0 < row["timeout_s"] <= 3600
    assert 128 <= row["memory_mb"] <= 4096
    if "cron" in row:
        assert checked_cron(row["cron"]) == row["cron"]
        assert checked_zone(row["zone"]).key == row["zone"]
        assert isinstance(row["body"], dict)


def test_no_two_functions_share_a_route():
    routes = [route for row in ROWS for route in row["routes"]]

    assert sorted(routes) == sorted(set(routes))


def test_only_the_callback_and_the_relay_are_public():
    assert {row["name"] for row in ROWS if row.get("public")} == OPEN.keys()


@pytest.mark.parametrize("path", sorted((ROOT / "functions").glob("*.py")), ids=lambda path: path.stem)
def test_a_function_is_at_most_50_lines_of_code(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node)
        for number in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    code = [
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#") and number not in documented
    ]

    assert len(code) <= 50


@pytest.mark.parametrize(("name", "path", "methods"), CLOSED, ids=str)
def test_nobody_gets_in_without_a_token(site, name, path, methods):
    before = site.files()
    good = site.tokens["admin"]
    tries = {
        how: {"headers": {key: text.replace("TOKEN", good) for key, text in sent.items()}}
        for how, sent in NO_TOKENS.items()
    }
    tries["query"] = {"headers": {}, "query_string": {"token": good, "access_token": good}}
    tries["body"] = {"headers": {}, "json": {"token": good}}

    replies = [site.raw(name, path, method=method, **sent) for method in methods for sent in tries.values()]

    assert {reply.status_code for reply in replies} == {401}
    assert len({str(same(reply)) for reply in replies}) == 1
    assert error(replies[0])["code"] == "unauthenticated"
    assert {reply.headers["WWW-Authenticate"] for reply in replies} == {"Bearer"}
    assert site.files() == before


@pytest.mark.parametrize(("name", "path"), ROUTES)
def test_no_other_site_may_read_a_reply(site, name, path):
    sent = {"Origin": "https://evil.test", "Access-Control-Request-Method": "POST"}

    replies = [site.raw(name, path, method=method, headers=sent) for method in METHODS]

    assert [name for reply in replies for name, _ in reply.headers if name.startswith("Access-Control-")] == []


@pytest.mark.parametrize(("name", "path"), ROUTES)
def test_reading_changes_nothing(site, name, path):
    site.add_channel()
    before, commit = site.files(), site.home.open().id

    for method in ("GET", "HEAD"):
        site.raw(
            name, path, method=method, query_string={"project": "acme", "tool": "create_post", "spec": "wordpress"}
        )

    assert (site.files(), site.home.open().id) == (before, commit)
    assert site.service.posts == []


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [
        ("call", "GET", "/api/call"),
        ("call", "PUT", "/api/call"),
        ("call", "POST", "/api/projects/acme/call/more"),
        ("call", "POST", "/api/projects/acme/publish"),
        ("call", "POST", "/api/projects/acme"),
        ("install", "GET", "/api/install"),
        ("install", "POST", "/api/projects/acme/install"),
        ("snapshot", "GET", "/api/snapshot"),
        ("publish", "DELETE", "/api/projects/acme/approvals"),
        ("publish", "POST", "/api/projects/acme/approvals"),
        ("account", "PUT", "/api/projects/acme/connections/blog"),
        ("account", "POST", "/api/projects/acme/connections/blog/default"),
        ("account", "GET", "/api/projects/acme/connections/blog/keys"),
        ("account", "GET", "/api/projects/acme/connections/blog/keys/SAMPLE_TOKEN"),
        ("account", "GET", "/api/projects/acme"),
        ("account", "GET", "/api/projects/acme/"),
        ("account", "GET", "/api/projects/../connections"),
        ("account", "GET", "/api/projects/%2e%2e/connections"),
        ("account", "GET", "/api/projects/acme/../connections"),
        ("account", "GET", "/api/projects/acme%2fconnections%2fblog%2fx"),
        ("relay", "PUT", "/r"),
        ("connect_callback", "POST", "/api/connect/callback"),
        ("connect_callback", "HEAD", "/api/connect/callback"),
    ],
)
def test_other_methods_and_addresses_lead_nowhere(site, name, method, path):
    site.add_channel()
    before = site.files()

    reply = site.raw(name, path, method=method, json={"project": "acme", "tool": "list_posts", "spec": "wordpress"})

    assert reply.status_code == 404
    assert site.files() == before


@pytest.mark.parametrize("slug", ["A", "a;x", "a%00", "-rf", "con", "é", "a" * 64])
def test_an_odd_slug_is_refused(site, slug):
    reply = site.raw("account", f"/api/projects/{slug}/connections", method="GET")

    assert (reply.status_code, error(reply)["code"]) == (400, "bad_input")


def documented(section: str) -> str:
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]


def test_the_documentation_lists_every_route():
    table = re.findall(r"`(?:GET|POST|PUT|DELETE) (/[^`?]*)", documented("Orders and replies"))
    routes = {re.sub(r"\{\w+\}", "*", route) for route in table}

    assert routes | {"/api/connect/callback/*"} == {
        route.replace("/connections/*/*", f"/connections/*/{name}")
        for row in ROWS
        for route in row["routes"]
        for name in ("default", "private-hosts", "connect", "verify")
    }


def test_the_documentation_lists_every_setting():
    source = (ROOT / "shared" / "habilis" / "engine" / "settings.py").read_text(encoding="utf-8")
    listed = re.findall(r"`([A-Z_]+)`", "".join(re.findall(r"^\| (.*?) \|", documented("Settings"), re.MULTILINE)))

    assert set(listed) == set(re.findall(r"\b(?:HABILIS_[A-Z_]+|PORT)\b", source))


def test_the_documentation_lists_every_code_with_its_status():
    import habilis.errors

    found = [habilis.errors.HabilisError]
    for error_class in found:
        found.extend(error_class.__subclasses__())

    listed = re.findall(r"^\| `(\w+)` \| (\d+) \|", documented("Errors"), re.MULTILINE)

    assert dict(listed) == {error_class.code: str(error_class.status) for error_class in found}


def test_a_cold_function_has_loaded_nothing_that_its_first_reply_may_not_need():
    program = (
        "import runpy, sys, functions_framework\nfor path in sys.argv[1:]: runpy.run_path(path)\nprint(*sys.modules)"
    )
    paths = sorted((ROOT / "functions").glob("*.py"))
    heavy = {"pydantic", "dulwich", "httpx", "httpcore", "jsonschema_rs", "yaml", "markdown_it", "nh3", "croniter"}

    loaded = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True).stdout

    assert heavy & set(loaded.split()) == set()
