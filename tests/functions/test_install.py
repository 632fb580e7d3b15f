import pytest
from tests.functions.site import error

from habilis.sample.story import ABILITY


def install(site, **order):
    return site.send("install", "POST", "/api/install", order)


def test_a_shipped_ability_is_installed_in_one_commit_that_says_so(site):
    before = site.home.open().id

    reply = install(site, spec="wordpress")

    assert reply.status_code == 201
    assert reply.json["includes"]["id"] == "wordpress"
    assert reply.json["commit"] == site.home.open().id != before


def test_a_folder_is_installed_for_one_project(site):
    reply = install(site, spec=str(ABILITY), project="acme")

    assert reply.status_code == 201
    assert "extension.yaml" in site.home.open().list("projects/acme/abilities/sample-blog")


def test_installing_the_same_again_changes_nothing(site):
    before = site.home.open().id

    reply = install(site, spec=str(ABILITY))

    assert (reply.status_code, site.home.open().id) == (200, before)


def test_a_dry_run_shows_what_it_brings_and_writes_nothing(site):
    before = site.files()

    reply = install(site, spec="wordpress", dry_run=True)

    assert reply.status_code == 200
    assert [tool["name"] for tool in reply.json["includes"]["tools"]] == ["publish_article", "list_recent_posts"]
    assert reply.json["commit"] == ""
    assert site.files() == before


def test_every_fault_of_a_manifest_is_told_at_once(site, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "extension.yaml").write_text("id: broken\nversion: 1.10\nhots: [api.example.com]\n")
    before = site.files()

    reply = install(site, spec=str(folder))

    found = error(reply)
    assert (reply.status_code, found["code"]) == (400, "manifest_invalid")
    assert len(found["problems"]) >= 3
    assert any("hosts" in problem for problem in found["problems"])
    assert site.files() == before


@pytest.mark.parametrize(
    ("order", "status", "code"),
    [
        ({"spec": "no-such-ability"}, 404, "not_found"),
        ({"spec": "wordpress", "project": "nowhere"}, 404, "not_found"),
        ({"spec": "wordpress", "project": "../x"}, 400, "bad_input"),
        ({}, 400, "args_invalid"),
    ],
)
def test_what_cannot_be_installed_is_refused(site, order, status, code):
    before = site.files()

    reply = install(site, **order)

    assert (reply.status_code, error(reply)["code"]) == (status, code)
    assert site.files() == before
