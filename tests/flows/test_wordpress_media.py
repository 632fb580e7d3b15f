"""An article with pictures and tags, on a real WordPress: every byte, every name, every description arrives."""

import struct
import zlib
from base64 import b64decode
from dataclasses import dataclass

import httpx
import pytest
from tests.flows.browser import Browser
from tests.flows.conftest import Studio
from tests.parts.plugin import WordPress

from habilis.engine.publishing import PublishOrder, approve, ask_publish
from habilis.errors import UpstreamError
from habilis.records import Account, Asset, AssetFile

GIF = b64decode("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
ODD_NAMES = ['Say "cheese" Grüße.png', "Straße 🙂 ünïcode; a=b.gif"]


def png(width: int, height: int, shade: int) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([shade]) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blog:
    """A channel of the real blog, and its API for looking at what came of a publish."""

    studio: Studio
    account: Account
    api: httpx.Client

    def publish(self, asset: str) -> str:
        """Publish an asset after a yes, and return the link."""
        studio = self.studio
        asked = ask_publish(
            studio.home, PublishOrder(project="acme", asset=asset, channel="wordpress"), studio.outside, actor="tests"
        )
        return approve(studio.home, "acme", asked.id, studio.outside, actor="tests").link

    def get(self, path: str) -> dict:
        return self.api.get(f"{path}{'&' if '?' in path else '?'}context=edit").raise_for_status().json()

    def post_of(self, link: str) -> dict:
        """The post behind a draft's link, as its author sees it."""
        return self.get(f"/posts/{httpx.URL(link).params['p']}")


@pytest.fixture
def blog(studio: Studio, wordpress: WordPress):
    browser = Browser(wordpress, "admin")
    password = browser.application_password()
    browser.close()
    keys = {"WP_SITE": wordpress.url, "WP_USER": "admin", "WP_APP_PASSWORD": password}
    account = studio.add("wordpress", keys, private=wordpress.url, kind="wordpress")
    with httpx.Client(base_url=wordpress.rest, auth=("admin", password), timeout=60, trust_env=False) as api:
        yield Blog(studio=studio, account=account, api=api)


def test_an_article_goes_out_with_its_pictures_described_and_its_tags_made(blog):
    pictures = [png(1200, 630, 80), GIF]
    files = (
        AssetFile(name=ODD_NAMES[0], file="first.png", alt="A grey wall"),
        AssetFile(name=ODD_NAMES[1], file="second.gif"),
    )
    asset = Asset(
        ref="article/pictures", title="With pictures", text="See **them**.\n", tags=("Grüße & Co",), files=files
    )
    blog.studio.add_asset(asset, dict(zip(("first.png", "second.gif"), pictures, strict=True)))

    post = blog.post_of(blog.publish("article/pictures"))

    media = [item for item in blog.get("/media?per_page=100") if item["id"] >= post["featured_media"]][::-1]
    assert media[0]["id"] == post["featured_media"]
    assert [item["alt_text"] for item in media] == ["A grey wall", "With pictures"]
    assert [item["mime_type"] for item in media] == ["image/png", "image/gif"]
    assert [httpx.get(item["source_url"], trust_env=False).content for item in media] == pictures
    names = [item["source_url"].rpartition("/")[2] for item in media]
    assert names == ["Say-cheese-Grusse.png", "Strasse-_-unicode_-ab.gif"]
    assert [blog.get(f"/tags/{tag}")["name"] for tag in post["tags"]] == ["Grüße &amp; Co"]


def test_a_tag_that_the_blog_has_is_found_and_not_made_again(blog):
    for number in (1, 2):
        asset = Asset(
            ref=f"article/tags-{number}", title=f"Tags {number}", text="x\n", tags=("Found again", f"New {number}")
        )
        blog.studio.add_asset(asset, {})

    first, second = (blog.post_of(blog.publish(f"article/tags-{number}"))["tags"] for number in (1, 2))

    assert len(set(first)) == len(set(second)) == 2
    assert len(set(first) & set(second)) == 1


def test_an_article_without_pictures_has_none(blog):
    blog.studio.add_asset(Asset(ref="article/plain", title="Plain", text="x\n"), {})

    post = blog.post_of(blog.publish("article/plain"))

    assert (post["featured_media"], post["tags"]) == (0, [])


def test_a_picture_that_the_blog_does_not_take_ends_the_publish_and_says_what_was_done(blog):
    files = (AssetFile(name="a.gif", file="a.gif"), AssetFile(name="b.svg", file="b.svg"))
    asset = Asset(ref="article/drawing", title="A drawing", text="x\n", files=files)
    blog.studio.add_asset(asset, {"a.gif": GIF, "b.svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>'})

    with pytest.raises(UpstreamError) as caught:
        blog.publish("article/drawing")

    assert caught.value.where == "step 'media' (file 2)"
    assert "does not take b.svg" in caught.value.message
    (action,) = blog.studio.actions(blog.account)
    assert [(step.step, step.run) for step in action.steps] == [("media", 0)]
    assert [post for post in blog.get("/posts?status=any") if post["title"]["raw"] == "A drawing"] == []
