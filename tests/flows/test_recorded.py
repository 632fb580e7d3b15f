"""What real services say, by their documentation: whole calls and readings, from a home to what is kept of them."""

import json

from tests.flows.recorded import cassette_of, playing

from habilis.engine.assets import read_project_asset
from habilis.engine.snapshots import snapshot_project
from habilis.engine.workspace import open_workspace
from habilis.records import Asset, AssetFile

GSC = "https://www.googleapis.com/webmasters/v3/sites/sc-domain%3Aexample.com/searchAnalytics/query"


def add(studio, ability: str, cassette, *, kind: str = ""):
    """Add an account with the keys of a case, secret ones made up."""
    secret = {"mastodon": "MASTODON_TOKEN", "fal-image": "FAL_KEY"}.get(ability)
    keys = {**({secret: "made-up-and-never-valid"} if secret else {}), **cassette.case.keys}
    return studio.add(ability, keys, kind=kind)


def stored(studio, path: str) -> list[dict]:
    return [json.loads(line) for line in studio.home.open().require(f"projects/acme/snapshots/{path}").splitlines()]


def test_a_status_waits_until_the_instance_has_worked_through_its_film(studio):
    cassette, path = cassette_of("mastodon", "post")
    account = add(studio, "mastodon", cassette, kind="mastodon")
    files = tuple(
        AssetFile(name=file.name, file=file.name, mime=file.mime, alt=file.alt) for file in cassette.case.files
    )
    studio.add_asset(
        Asset(ref="post/dog", title="Dog", text="x\n", files=files),
        {file.name: file.content for file in cassette.case.files},
    )

    with playing(path):
        done = studio.call("post_status", asset="post/dog", **cassette.case.arguments)

    assert done.link == cassette.case.expected.link
    assert studio.pauses == [2, 2]
    (action,) = studio.actions(account)
    assert (action.outcome, [(step.step, step.run) for step in action.steps]) == (
        "done",
        [("media", 0), ("media", 1), ("posted", None)],
    )


def test_a_picture_is_waited_for_fetched_from_its_own_host_and_put_on_the_asset(studio):
    cassette, path = cassette_of("fal-image", "picture")
    add(studio, "fal-image", cassette)
    studio.add_asset(Asset(ref="article/snow", title="Snow", text="x\n"), {})

    with playing(path):
        done = studio.call("image", asset="article/snow", **cassette.case.arguments)

    (picture,) = done.files
    assert (picture.name, picture.mime) == ("snow dog.gif", "image/gif")
    assert studio.home.open().require(picture.path) == cassette.interactions[-1].answer_body
    revision = studio.home.open()
    asset = read_project_asset(revision, open_workspace(studio.home, revision, "acme"), "article/snow")
    assert [file.name for file in asset.files] == ["snow dog.gif"]
    assert studio.pauses == [1]


def test_the_numbers_of_google_analytics_come_page_by_page_and_become_rows(studio):
    cassette, path = cassette_of("google-analytics", "traffic")
    add(studio, "google-analytics", cassette)

    with playing(path):
        report = snapshot_project(studio.home, "acme", studio.outside, actor="tests", source="traffic")

    assert [(source.fault, source.rows) for source in report.sources] == [("", 5)]
    assert stored(studio, "google-analytics/traffic/2026-11.jsonl") == list(cassette.case.expected.rows)


def test_the_queries_of_search_console_are_read_until_a_page_is_not_full(studio, tmp_path):
    cassette, _ = cassette_of("search-console", "ranks")
    add(studio, "search-console", cassette)
    tape = tmp_path / "pages.yaml"
    tape.write_text(json.dumps({"version": 1, "interactions": [page(0, 25_000), page(25_000, 3)]}))

    with playing(tape):
        report = snapshot_project(studio.home, "acme", studio.outside, actor="tests", source="ranks")

    assert [(source.fault, source.rows, source.notes) for source in report.sources] == [("", 25_003, ())]
    rows = stored(studio, "search-console/ranks/2026-11.jsonl")
    assert {row["dims"]["query"] for row in rows} == {f"query {number}" for number in range(25_003)}


def page(start: int, count: int) -> dict:
    """A request for rows from one on, and so many of them; JSON, which every YAML reader reads."""
    body = {"startDate": "2026-11-01", "endDate": "2026-11-30", "dimensions": ["query", "page"], "type": "web"}
    rows = [
        {"keys": [f"query {number}", "https://example.com/"], "clicks": 1, "impressions": 4, "ctr": 0.25, "position": 2}
        for number in range(start, start + count)
    ]
    return {
        "request": {
            "method": "POST",
            "uri": GSC,
            "headers": {"Content-Type": ["application/json"]},
            "body": json.dumps({**body, "rowLimit": 25_000, "startRow": start}),
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["application/json; charset=UTF-8"]},
            "body": {"string": json.dumps({"rows": rows, "responseAggregationType": "byPage"})},
        },
    }
