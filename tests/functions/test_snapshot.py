import json

import pytest
from tests.functions.site import error


def read(site, role="scheduler", path="/api/snapshot", **order):
    return site.send("snapshot", "POST", path, order, role=role)


def rows(site, account="sample-blog", project="acme"):
    folder = f"projects/{project}/snapshots/{account}/traffic"
    revision = site.home.open()
    return [
        json.loads(line) for name in revision.list(folder) for line in revision.require(f"{folder}/{name}").splitlines()
    ]


def test_the_schedule_reads_every_project_into_its_snapshots(site):
    site.add_account()
    site.add_account("beta")

    reply = read(site)

    assert reply.status_code == 200
    assert [report["project"] for report in reply.json["snapshots"]] == ["acme", "beta"]
    assert reply.json["renewed"] == []
    assert len(rows(site)) == len(rows(site, project="beta")) == 30 * 4


def test_three_deliveries_of_one_day_are_one_snapshot(site):
    site.add_account()

    replies = [read(site) for _ in range(3)]
    commits = [reply.json["snapshots"][0]["commit"] for reply in replies]

    assert [reply.status_code for reply in replies] == [200, 200, 200]
    assert len(set(commits)) == 1
    assert len(rows(site)) == 30 * 4


@pytest.mark.parametrize(
    ("path", "order"),
    [
        ("/api/snapshot", {"project": "acme"}),
        ("/api/snapshot", {"project": "acme", "source": "traffic"}),
        ("/api/projects/acme/snapshot", {}),
        ("/api/projects/acme/snapshot", {"source": "traffic"}),
    ],
)
def test_one_project_is_read_alone(site, path, order):
    site.add_account()
    site.add_account("beta")

    reply = read(site, path=path, role="operator", **order)

    assert [report["project"] for report in reply.json["snapshots"]] == ["acme"]
    assert rows(site, project="beta") == []


def test_a_source_that_fails_is_told_with_207_and_stops_no_other(site):
    site.add_account()
    site.add_account(id="wrong", keys={"SAMPLE_SITE": site.service.url, "SAMPLE_TOKEN": "wrong-0123456789"})

    reply = read(site)

    assert reply.status_code == 207
    faults = {source["account"]: source["fault"] for source in reply.json["snapshots"][0]["sources"]}
    assert faults["sample-blog"] == ""
    assert "answered 401" in faults["wrong"]
    assert "wrong-0123456789" not in reply.text
    assert len(rows(site)) == 30 * 4


@pytest.mark.parametrize(
    ("order", "status", "code"),
    [
        ({"project": "acme", "source": "nothing"}, 404, "not_found"),
        ({"project": "nowhere"}, 404, "not_found"),
        ({"source": "traffic"}, 400, "args_invalid"),
        ({"project": ""}, 200, None),
    ],
)
def test_an_order_that_names_what_is_not_there_is_refused(site, order, status, code):
    site.add_account()

    reply = read(site, role="admin", **order)

    assert reply.status_code == status
    assert (error(reply)["code"] if code else None) == code
