"""Contracts called by name, and the files that calls bring back."""

import json
import os
from dataclasses import replace

import pytest
from tests.engine.press import FOLDER, MANIFEST, PNG, draw, entries
from tests.home.repository import git
from tests.upstream import answer

from habilis.engine import downloads
from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.calls import call_tool
from habilis.engine.installs import install, plan_install
from habilis.engine.offer import offer_tools
from habilis.engine.resolve import CallOrder
from habilis.errors import (
    AddressNotAllowed,
    HostNotAllowed,
    ResponseTooLarge,
    SecretMissing,
    UpstreamError,
)
from habilis.records import read_asset


def test_a_picture_is_kept_beside_the_home_when_no_asset_takes_it(world, press):
    result = draw(world, size="landscape", name="Dawn")

    (kept,) = result.files
    assert (kept.name, kept.mime, kept.size) == ("Dawn.png", "image/png", len(PNG))
    assert kept.path.startswith(".state/downloads/20261130-120000-")
    assert (world.home.private / kept.path).read_bytes() == PNG
    assert json.loads(press.requests[0].body) == {"prompt": "A lighthouse", "width": 1600, "height": 900}
    assert list((world.home.private / ".state/arriving").iterdir()) == []
    assert "authorization" not in press.requests[1].headers


@pytest.mark.parametrize("by_argument", [True, False])
def test_a_picture_is_put_on_its_asset_in_one_commit(world, press, by_argument):
    before = world.home.open().id
    named = {"arguments": {"prompt": "A lighthouse", "name": "b", "asset": "article/hello"}}
    if not by_argument:
        named = {"arguments": {"prompt": "A lighthouse", "name": "b"}, "asset": "article/hello"}

    result = call_tool(world.home, CallOrder(project="acme", tool="image", **named), world.outside, actor="agent")

    (kept,) = result.files
    assert (kept.name, kept.path) == ("b-2.png", f"{FOLDER}/b-2.png")
    revision = world.home.open()
    assert revision.require(kept.path) == PNG
    record = read_asset(revision.require(f"{FOLDER}/asset.md"), ref="article/hello")
    assert [file.name for file in record.files] == ["Grüße.jpg", "b.png", "b-2.png"]
    assert record.files[2].mime == "image/png"
    log = git(world.home.private, "log", "--format=%s", f"{before}..HEAD")
    assert log.splitlines() == ["Put 1 file on article/hello"]


def test_what_came_back_is_kept_though_the_asset_is_gone_meanwhile(world, press):
    def vanish(seen):
        import shutil

        shutil.rmtree(world.home.private / FOLDER)
        return answer(200, body=PNG, headers=(("Content-Type", "image/png"),))

    press.picture = vanish

    result = draw(world, asset="article/hello")

    assert result.files[0].path.startswith(".state/downloads/")
    assert "could not be put on article/hello" in result.notes[0]
    assert entries(world)[0].outcome == "done"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:9/x.png", AddressNotAllowed),
        ("file:///etc/passwd", HostNotAllowed),
        ("https://evil.test/x.png", HostNotAllowed),
        ("data:text/html;base64,PGh0bWw+", UpstreamError),
    ],
)
def test_a_file_is_fetched_through_the_same_gate_and_no_page_is_kept_as_a_picture(world, press, url, error):
    press.picture_url = url

    with pytest.raises(error) as caught:
        draw(world)

    assert caught.value.outcome == "done"
    assert len(press.requests) == 1
    assert entries(world)[0].outcome == "done"
    assert not (world.home.private / ".state/downloads").exists()


def test_a_file_beyond_the_limit_is_refused_and_leaves_nothing_behind(world, press):
    small = replace(world.outside, largest_file_bytes=len(PNG) - 1)
    order = CallOrder(project="acme", tool="image", arguments={"prompt": "A lighthouse"})

    with pytest.raises(ResponseTooLarge):
        call_tool(world.home, order, small, actor="agent")

    assert list((world.home.private / ".state/arriving").iterdir()) == []
    assert not (world.home.private / ".state/downloads").exists()


def test_a_size_may_be_the_kind_of_a_channel(world, press):
    draw(world, size="press")

    assert json.loads(press.requests[0].body) == {"prompt": "A lighthouse", "width": 800, "height": 418}


def add_studio(world, tmp_path, press, *, token="token-of-the-studio"):
    """A second ability that draws pictures, under a name that comes before the first one's."""
    text = MANIFEST[: MANIFEST.index("tools:")] + MANIFEST[MANIFEST.index("provides:") :]
    text = (
        text.replace("id: press\n", "id: atelier\n")
        .replace("PRESS_", "STUDIO_")
        .replace("url: /draw", "url: /draw?by=2")
    )
    folder = tmp_path / "atelier"
    folder.mkdir()
    (folder / "extension.yaml").write_text(text)
    install(world.home, plan_install(world.home, str(folder)), actor="tests", now=world.clock())
    keys = {"STUDIO_SITE": press.url(""), **({"STUDIO_TOKEN": token} if token else {})}
    order = AccountOrder(project="acme", ability="atelier", keys=keys)
    add_account(world.home, order, actor="tests", now=world.clock())
    allow_private(world.home, "acme", "atelier", press.place, actor="tests")


def drawn_by(world, press, tool="image", account=""):
    order = CallOrder(project="acme", tool=tool, arguments={"prompt": "x"}, account=account)
    call_tool(world.home, order, world.outside, actor="agent")
    return "atelier" if "POST /draw?by=2" in press.targets else "press"


def test_of_two_that_provide_a_contract_the_first_that_is_ready_does_it(world, press, tmp_path):
    add_studio(world, tmp_path, press)

    assert drawn_by(world, press) == "atelier"


def test_one_that_lacks_a_key_is_passed_over(world, press, tmp_path):
    add_studio(world, tmp_path, press, token="")

    assert drawn_by(world, press) == "press"


@pytest.mark.parametrize(("tool", "account"), [("press.image", ""), ("image", "press")])
def test_the_ability_or_the_account_says_which_one_does_it(world, press, tmp_path, tool, account):
    add_studio(world, tmp_path, press)

    assert drawn_by(world, press, tool, account) == "press"


def test_what_none_is_ready_for_says_what_the_first_one_lacks(world, press, tmp_path):
    add_studio(world, tmp_path, press, token="")
    off = b"name: Acme\nabilities_off: [press]\n"
    world.home.commit(lambda _: {"projects/acme/project.yaml": off}, subject="Off", action="off", actor="tests")

    with pytest.raises(SecretMissing, match="STUDIO_TOKEN"):
        drawn_by(world, press)


def test_what_is_provided_is_offered_with_its_arguments_and_its_cost(world, press):
    offered = {tool.name: tool for tool in offer_tools(world.home, "acme")}

    image = offered["image"]
    assert (image.contract, image.cost, image.ability, image.needs) == ("image", "about $0.03 per image", "press", "")
    assert image.input["required"] == ["prompt"]
    assert offered["file_article"].contract == ""


def test_what_a_killed_call_left_goes_with_a_later_one(world, press):
    left = world.home.private / ".state/arriving/20261101-000000-0123"
    left.mkdir(parents=True)
    (left / "answer-x").write_bytes(b"half")
    os.utime(left, (0, 0))

    draw(world)

    assert not left.exists()


def test_a_file_too_large_for_git_is_kept_beside_the_home(world, press, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST_IN_GIT_BYTES", len(PNG) - 1)

    result = draw(world, asset="article/hello")

    assert result.files[0].path.startswith(".state/downloads/")
    assert "too large for git" in result.notes[0]
