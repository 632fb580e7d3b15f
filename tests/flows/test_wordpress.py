"""From an empty home to a published post, on a real WordPress: its own sign-in page, its own API, its own words."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from local_runner import Runner
from tests.flows.browser import Browser
from tests.parts.plugin import WordPress

from habilis.engine.assets import save_asset
from habilis.engine.projects import add_project
from habilis.home.keyfile import KeyFile
from habilis.home.worktree import WorkTreeHome
from habilis.records import Asset

ARTICLE = Asset(
    ref="article/hello-world",
    title="Hällo & <b>world</b>",
    summary="A greeting.",
    tags=("news",),
    text="We shipped **abilities** today.\n\n<script>alert(1)</script>\n",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A client of the running functions, with an account of the blog that nobody has signed in yet."""

    client: httpx.Client
    home: Path
    account: str

    @property
    def folder(self) -> Path:
        """Where the account's record and keys lie."""
        return self.home / "projects" / "acme" / "connections" / self.account

    def keys(self) -> dict[str, bool]:
        """Which keys of the account are set."""
        (account,) = self.client.get("/api/projects/acme/connections").json()["accounts"]
        return {key["name"]: key["is_set"] for key in account["keys"]}

    def start_sign_in(self) -> str:
        """Return the page that a person opens to sign the account in."""
        started = self.client.post(f"/api/projects/acme/connections/{self.account}/connect", json={})
        return started.raise_for_status().json()["url"]

    def call(self, tool: str, **arguments: object) -> httpx.Response:
        return self.client.post("/api/call", json={"project": "acme", "tool": tool, "arguments": arguments})

    def approve(self, asked: httpx.Response) -> httpx.Response:
        """Say yes to what an order asked for."""
        assert asked.status_code == 202, asked.text
        approval = asked.json()["approval"]["id"]
        return self.client.post(f"/api/projects/acme/approvals/{approval}", json={"decision": "approve"})


@pytest.fixture
def desk(wordpress: WordPress, tmp_path: Path) -> Iterator[Desk]:
    folder = tmp_path / "home"
    with Runner(folder) as runner:
        home = WorkTreeHome(folder)
        add_project(home, "acme", name="Acme", actor="tests")
        save_asset(home, "acme", ARTICLE, actor="tests")
        home.close()
        signed = {"Authorization": f"Bearer {runner.token}"}
        with httpx.Client(base_url=runner.url, headers=signed, timeout=60, trust_env=False) as client:
            client.post("/api/install", json={"spec": "wordpress"}).raise_for_status()
            order = {"ability": "wordpress", "kind": "wordpress", "keys": {"WP_SITE": wordpress.url}}
            account = (
                client.post("/api/projects/acme/connections", json=order).raise_for_status().json()["account"]["id"]
            )
            opted_in = {"host": wordpress.url.removeprefix("http://")}
            path = f"/api/projects/acme/connections/{account}/private-hosts"
            client.post(path, json=opted_in).raise_for_status()
            yield Desk(client=client, home=folder, account=account)


@pytest.fixture
def admin(wordpress: WordPress) -> Iterator[Browser]:
    browser = Browser(wordpress, "admin")
    yield browser
    browser.close()


def test_an_article_is_published_as_a_draft_after_a_sign_in_on_the_blogs_own_page(desk, admin, wordpress):
    admin.decide(desk.start_sign_in(), "approve").raise_for_status()
    order = {"project": "acme", "asset": ARTICLE.ref, "channel": desk.account}

    published = desk.approve(desk.client.post("/api/publish", json=order)).raise_for_status().json()

    post = _read_back(desk, wordpress, published["link"])
    assert post["status"] == "draft"
    assert post["title"]["raw"] == ARTICLE.title
    assert post["excerpt"]["raw"] == ARTICLE.summary
    assert "<strong>abilities</strong>" in post["content"]["raw"]
    assert "<script" not in post["content"]["raw"]
    assert published["link"] in (desk.folder / "connection.yaml").read_text(encoding="utf-8")


def test_a_live_post_can_be_read_by_everybody_and_found_by_the_agent(desk, admin):
    admin.decide(desk.start_sign_in(), "approve").raise_for_status()
    asked = desk.call("publish_article", title="Live from acme", html="<p>For everybody.</p>", status="publish")

    done = desk.approve(asked).raise_for_status().json()

    page = httpx.get(done["link"], follow_redirects=True, timeout=60, trust_env=False)
    assert (page.status_code, "For everybody." in page.text) == (200, True)
    found = desk.call("list_recent_posts", search="acme & more? #live").raise_for_status().json()["data"]
    assert found == []
    found = desk.call("list_recent_posts", search="Live from acme").raise_for_status().json()["data"]
    assert [post["link"] for post in found] == [done["link"]]


def test_the_password_that_wordpress_hands_out_is_kept_beside_the_account_and_nowhere_else(desk, admin):
    page = desk.start_sign_in()

    ended = admin.decide(page, "approve")

    assert desk.keys() == {"WP_SITE": True, "WP_USER": True, "WP_APP_PASSWORD": True}
    password = KeyFile(desk.folder / ".env").load()["WP_APP_PASSWORD"]
    assert (desk.folder / ".env").stat().st_mode & 0o777 == 0o600
    assert password not in f"{ended.url} {ended.text}"  # neither in the browser's history nor on the page
    holders = [path for path in desk.home.rglob("*") if path.is_file() and password.encode() in path.read_bytes()]
    assert holders == [desk.folder / ".env"]


def test_a_sign_in_that_was_refused_stores_nothing_and_says_so(desk, admin):
    ended = admin.decide(desk.start_sign_in(), "reject")

    assert ended.status_code == 400
    assert "refused" in ended.text
    assert desk.keys() == {"WP_SITE": True, "WP_USER": False, "WP_APP_PASSWORD": False}


def test_a_return_that_was_used_is_worth_nothing(desk, admin):
    ended = admin.decide(desk.start_sign_in(), "approve")
    returned = ended.history[-1].url

    again = httpx.get(returned, timeout=60, trust_env=False)

    assert "password" in returned.params
    assert (ended.status_code, again.status_code) == (200, 400)


def test_a_person_who_may_not_post_is_told_in_the_words_of_wordpress(desk, wordpress):
    reader = Browser(wordpress, "reader")
    reader.decide(desk.start_sign_in(), "approve").raise_for_status()
    reader.close()

    refused = desk.approve(desk.call("publish_article", title="Mine", html="<p>No.</p>"))

    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (502, "upstream_error")
    assert "not allowed to create posts" in error["message"]


def test_a_revoked_password_fails_as_an_error_of_the_service(desk, admin, wordpress):
    admin.decide(desk.start_sign_in(), "approve").raise_for_status()
    own = f"{wordpress.rest}/users/me/application-passwords"
    httpx.delete(own, auth=_signed(desk), timeout=60, trust_env=False).raise_for_status()

    # A write: WordPress answers a read of public posts whoever asks.
    refused = desk.approve(desk.call("publish_article", title="Too late", html="<p>No.</p>"))

    assert (refused.status_code, refused.json()["error"]["code"]) == (502, "upstream_error")


def _signed(desk: Desk) -> tuple[str, str]:
    keys = KeyFile(desk.folder / ".env").load()
    return keys["WP_USER"], keys["WP_APP_PASSWORD"]


def _read_back(desk: Desk, wordpress: WordPress, link: str) -> dict:
    """Return the post behind a draft's link, as its author sees it."""
    post = f"{wordpress.rest}/posts/{httpx.URL(link).params['p']}?context=edit"
    answer = httpx.get(post, auth=_signed(desk), timeout=60, trust_env=False)
    return json.loads(answer.raise_for_status().text)
