"""Publishing with files: what is shown, and that a yes is for exactly these files."""

import json

import pytest
from tests.engine.press import FOLDER, JPEG, PNG, add_press_account, call, draw

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.assets import save_asset
from habilis.engine.installs import install, plan_install
from habilis.engine.publishing import PublishOrder, approve, ask_publish
from habilis.errors import (
    ApprovalRequired,
)
from habilis.records import Asset, AssetFile


@pytest.fixture
def asked(world, press):
    """A publish of the asset that waits for a yes."""
    add_press_account(world.home, press, now=world.clock(), id="daily", kind="press")
    publish = PublishOrder(project="acme", asset="article/hello", channel="daily")
    return ask_publish(world.home, publish, world.outside, actor="agent")


def say_yes(world, asked):
    return approve(world.home, "acme", asked.id, world.outside, actor="operator")


def test_a_publish_shows_all_that_would_be_sent_and_a_yes_sends_the_files(world, press, asked):
    published = say_yes(world, asked)

    assert [one["where"] for one in asked.requests][2:4] == ["step 'put' (file 1)", "step 'put' (file 2)"]
    assert published.link == "https://press.example/1"
    assert press.stored == {"1": JPEG, "2": PNG}


@pytest.mark.parametrize("change", ["bytes", "alt", "order"])
def test_a_file_that_changed_needs_a_new_yes(world, press, asked, change):
    folder = world.home.private / FOLDER
    record = (folder / "asset.md").read_text()
    if change == "bytes":
        (folder / "b.png").write_bytes(PNG[:-1] + b"\1")
    elif change == "alt":
        (folder / "asset.md").write_text(record.replace("A greeting", "Another"))
    else:
        first, second = "- name: Grüße.jpg\n  file: a.jpg\n  alt: A greeting\n", "- name: b.png\n"
        assert first + second in record
        (folder / "asset.md").write_text(record.replace(first + second, second + first))

    with pytest.raises(ApprovalRequired, match="file"):
        say_yes(world, asked)

    assert press.connections == 0


def test_a_plain_call_that_is_asked_about_keeps_its_asset_and_records_no_publication(world, press):
    rules = b"- name: ask\n  tool: file_*\n  decision: ask\n"
    world.home.commit(lambda _: {"projects/acme/actauth.yml": rules}, subject="Ask", action="rules", actor="tests")

    asked = call(world, title="Hello")
    result = say_yes(world, asked)

    assert (asked.asset, asked.channel, asked.is_publish) == ("article/hello", "", False)
    assert result.link == "https://press.example/1"
    assert press.stored == {"1": JPEG, "2": PNG}


def test_an_approval_of_a_contract_is_for_the_same_order_when_it_is_given(world, press):
    rules = b"- name: ask\n  tool: image\n  decision: ask\n"
    world.home.commit(lambda _: {"projects/acme/actauth.yml": rules}, subject="Ask", action="rules", actor="tests")

    asked = draw(world, asset="article/hello", size="landscape")
    result = say_yes(world, asked)

    assert result.files[0].path.startswith(FOLDER)


def test_a_tool_that_sends_no_files_needs_none_and_waits_for_none(world, press):
    (world.home.private / FOLDER / "b.png").unlink()

    result = call(world, tool="read_feed")

    assert result.data


LETTERS = """\
id: letters
name: Send letters
version: 0.1.0
summary: Sends mail through a service.
transport: http
auth:
  - { env: LETTERS_SITE, label: Site, secret: false }
hosts: ["${LETTERS_SITE}"]
channels:
  - { kind: letter, label: Letter, publish: email, destination: { to: { label: To } } }
provides:
  email:
    request:
      method: POST
      url: "${LETTERS_SITE}/gallery"
      json: { to: "{{to}}", subject: "{{subject}}", html: "{{html}}", files: "{{files.*.name}}" }
    result: { text: /url }
"""


def test_a_channel_may_publish_through_a_contract(world, press, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters/extension.yaml").write_text(LETTERS)
    install(world.home, plan_install(world.home, str(tmp_path / "letters")), actor="tests", now=world.clock())
    order = AccountOrder(
        project="acme", ability="letters", id="list", kind="letter", keys={"LETTERS_SITE": press.url("")},
        destination={"to": "readers@example.com"},
    )  # fmt: skip
    add_account(world.home, order, actor="tests", now=world.clock())
    allow_private(world.home, "acme", "list", press.place, actor="tests")
    text = "# News\n\nSome **bold** words.\n"
    files = (AssetFile(name="b.png", file="b.png"),)
    save_asset(world.home, "acme", Asset(ref="article/hello", title="Hello", text=text, files=files), actor="tests")

    asked = ask_publish(
        world.home, PublishOrder(project="acme", asset="article/hello", channel="list"), world.outside, actor="agent"
    )
    published = say_yes(world, asked)

    (seen,) = press.requests
    assert published.link == "https://press.example/gallery"
    assert json.loads(seen.body) == {
        "to": "readers@example.com",
        "subject": "Hello",
        "html": "<h1>News</h1>\n<p>Some <strong>bold</strong> words.</p>\n",
        "files": ["b.png"],
    }
