import json
from dataclasses import dataclass, field, replace

import pytest

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.fresh import LiveKeys
from habilis.engine.installs import install, plan_install
from habilis.engine.snapshots import DAYS, read_source, snapshot_all, snapshot_project
from habilis.errors import NotFound
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.model import PagesRule, RequestTemplate, Source, SourceRequest
from habilis.messages import Answer
from habilis.numbers.window import last_days
from habilis.templating import compile_place, compile_url

KEY = "plausible-key-0123456789abcdef"
KEYS = {"PLAUSIBLE_HOST": "https://plausible.io", "PLAUSIBLE_SITE": "example.com", "PLAUSIBLE_KEY": KEY}
TRAFFIC = "projects/acme/snapshots/plausible/traffic/2026-11.jsonl"


@pytest.fixture(scope="module")
def vcr_config():
    """Requests are told apart by their body: all of them go to one address. Keys are never part of a cassette."""
    return {
        "match_on": ["method", "scheme", "host", "port", "path", "query", "body"],
        "filter_headers": [("authorization", "Bearer [masked]")],
    }


def add_plausible(world):
    install(world.home, plan_install(world.home, "plausible"), actor="tests", now=world.clock())
    order = AccountOrder(project="acme", ability="plausible", keys=KEYS)
    add_account(world.home, order, actor="tests", now=world.clock())


def read(world, source=""):
    return snapshot_project(world.home, "acme", world.outside, actor="scheduler", source=source)


def rows(world, path=TRAFFIC):
    return [json.loads(line) for line in world.home.open().require(path).splitlines()]


@pytest.mark.vcr
def test_the_numbers_of_plausible_become_rows_by_day(world):
    add_plausible(world)

    report = read(world)

    assert (report.first_day, report.last_day, report.is_partial) == ("2026-11-01", "2026-11-30", False)
    assert rows(world) == [
        {
            "date": "2026-11-27",
            "dims": {},
            "metrics": {
                "channel_sessions": 144, "organic_sessions": 90, "pageviews": 301, "sessions": 144, "users": 129,
            },
        },
        {"date": "2026-11-27", "dims": {"channel": "Direct"}, "metrics": {"channel_sessions": 54}},
        {"date": "2026-11-27", "dims": {"channel": "Organic Search"}, "metrics": {"channel_sessions": 90}},
        {
            "date": "2026-11-28",
            "dims": {},
            "metrics": {
                "channel_sessions": 151, "organic_sessions": 100, "pageviews": 322, "sessions": 151, "users": 140,
            },
        },
        {"date": "2026-11-28", "dims": {"channel": "(not set)"}, "metrics": {"channel_sessions": 51}},
        {"date": "2026-11-28", "dims": {"channel": "Organic Search"}, "metrics": {"channel_sessions": 100}},
        {"date": "2026-11-29", "dims": {}, "metrics": {"pageviews": 0, "sessions": 0, "users": 0}},
    ]  # fmt: skip
    assert rows(world, "projects/acme/snapshots/plausible/conversions/2026-11.jsonl") == [
        {"date": "2026-11-27", "dims": {}, "metrics": {"key_events": 12}},
        {"date": "2026-11-27", "dims": {"goal": "Signup"}, "metrics": {"conversion_rate": 9.3, "key_events": 12}},
    ]


@pytest.mark.vcr
def test_reading_the_same_again_changes_nothing(world):
    add_plausible(world)
    read(world)
    before, stored = world.home.open().id, rows(world)

    read(world)

    assert rows(world) == stored
    assert world.home.open().id == before


@pytest.mark.vcr
def test_a_refused_key_is_reported_in_the_services_words_and_stores_nothing(world):
    add_plausible(world)
    before = world.home.open().id

    report = read(world)

    assert report.is_partial
    assert all("answered 401: Invalid API key or site ID" in source.fault for source in report.sources)
    assert KEY not in str(report)
    assert world.home.open().id == before


@pytest.mark.vcr
def test_one_source_that_fails_stops_no_other_and_keeps_what_it_had(world):
    add_plausible(world)
    path = "projects/acme/snapshots/plausible/conversions/2026-11.jsonl"
    kept = b'{"date":"2026-11-02","dims":{},"metrics":{"key_events":3}}\n'
    world.home.commit(lambda _: {path: kept}, subject="Earlier", action="snapshot", actor="tests")

    report = read(world)

    faults = {source.source: source.fault for source in report.sources}
    assert faults["traffic"] == ""
    assert "answered 429: Too many API requests" in faults["conversions"]
    assert world.home.open().require(path) == kept
    assert len(rows(world)) == 7


def test_the_sample_services_numbers_are_read_through_its_account_in_one_commit(world):
    world.add_account()
    before = world.home.open().id

    report = read(world, "traffic")

    (source,) = report.sources
    assert (source.account, source.rows, source.fault) == ("sample-blog", 120, "")
    stored = rows(world, "projects/acme/snapshots/sample-blog/traffic/2026-11.jsonl")
    assert stored[0]["date"] == "2026-11-01"
    assert stored[0]["metrics"]["organic_sessions"] == next(
        row["metrics"]["sessions"] for row in stored if row["dims"] == {"channel": "Organic Search"}
    )
    assert world.home.open().id == report.commit != before


def test_an_account_without_its_keys_is_reported_and_not_asked(world):
    order = AccountOrder(project="acme", ability="sample-blog", keys={"SAMPLE_SITE": world.service.url})
    add_account(world.home, order, actor="tests", now=world.clock())
    allow_private(world.home, "acme", "sample-blog", world.service.host, actor="tests")

    (source,) = read(world).sources

    assert source.fault == "the account lacks SAMPLE_TOKEN"


def test_a_source_that_nobody_has_is_not_found(world):
    world.add_account()

    with pytest.raises(NotFound, match="no source 'ranks'"):
        read(world, "ranks")


def test_a_project_that_cannot_be_read_stops_no_other(world):
    world.add_account()
    broken = world.home.private / "projects" / "broken"
    broken.mkdir()
    (broken / "project.yaml").write_text("name: [\n", encoding="utf-8")

    reports = {report.project: report for report in snapshot_all(world.home, world.outside, actor="scheduler")}

    assert reports["broken"].is_partial
    assert not reports["acme"].is_partial


@dataclass
class Paged:
    """A service whose list has `pages` pages of two rows each, dealt out by number."""

    pages: int
    asked: list[str] = field(default_factory=list)

    def send(self, request, *, before_first_byte=None):
        self.asked.append(request.url)
        page = len(self.asked)
        rows = [{"date": f"2026-11-{2 * page + n:02d}", "visits": page} for n in range(2)] if page <= self.pages else []
        return Answer(status=200, headers={}, body=json.dumps({"rows": rows}).encode())


def paged_source(most=100):
    template = RequestTemplate(
        method="GET",
        url=compile_url("https://numbers.example/rows"),
        pages=PagesRule(by="page", into="query:page", items=compile_place("/rows"), most=most),
    )
    request = SourceRequest(
        request=template, rows="/rows", date_pointer="/date", date_template=None, dims={},
        metrics={"visits": "/visits"}, totals=("visits",), breakdown=(),
    )  # fmt: skip
    return Source(name="traffic", requests=(request,))


def read_paged(world, service, source):
    bounds = Bounds(hosts=AllowedHosts.of(["numbers.example"], {}), private_hosts=frozenset(), is_read=True)
    outside = replace(world.outside, transport=service)
    return read_source(source, LiveKeys(keys={}), bounds, last_days(world.clock(), DAYS), outside)


def test_a_source_whose_rows_come_in_pages_is_read_to_its_end(world):
    service = Paged(pages=2)

    snapshot = read_paged(world, service, paged_source())

    assert [url.rpartition("=")[2] for url in service.asked] == ["1", "2", "3"]
    assert [(row.date, row.metrics["visits"]) for row in snapshot.rows] == [
        ("2026-11-02", 1), ("2026-11-03", 1), ("2026-11-04", 2), ("2026-11-05", 2),
    ]  # fmt: skip
    assert snapshot.notes == ()


def test_a_source_with_more_pages_than_are_read_says_that_its_rows_are_cut_short(world):
    snapshot = read_paged(world, Paged(pages=9), paged_source(most=2))

    assert len(snapshot.rows) == 4
    assert snapshot.notes == ("source 'traffic': truncated after 2 pages, 4 entries; there are more",)
