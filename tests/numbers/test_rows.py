import os
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import pytest

from habilis.errors import RowsInvalid
from habilis.numbers.rows import Dropped, RowReader


class Row(NamedTuple):
    """One row that was read, its figures by name."""

    day: str
    dims: tuple[str, ...]
    metrics: dict[str, Decimal | None]


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a reader makes of one answer."""

    kept: tuple[Row, ...]
    dropped: tuple[Dropped, ...]
    is_absent: bool


@pytest.fixture
def read(make_request, window, scope):
    def run(answer, **where):
        request = make_request(**where)
        reader = RowReader(request, scope=scope, window=window)
        kept = tuple(
            Row(day, dims, dict(zip(reader.measures, of, strict=True))) for day, dims, of in reader.read(answer)
        )
        return Read(kept=kept, dropped=reader.dropped, is_absent=reader.is_absent)

    return run


def kept(rows):
    return [
        (row.day, *row.dims, {name: str(value) for name, value in row.metrics.items() if value is not None})
        for row in rows.kept
    ]


def test_a_row_is_a_day_its_dimensions_and_its_figures(read):
    answer = {
        "rows": [
            {
                "dimensionValues": [{"value": "20261128"}, {"value": "Organic Search"}],
                "metricValues": [{"value": "213"}, {"value": "0.4375"}],
            }
        ]
    }

    found = read(
        answer,
        date="/dimensionValues/0/value",
        dims={"channel": "/dimensionValues/1/value"},
        metrics={"sessions": "/metricValues/0/value", "rate": "/metricValues/1/value"},
    )

    assert kept(found) == [("2026-11-28", "Organic Search", {"sessions": "213", "rate": "0.4375"})]
    assert found.dropped == ()


def test_a_template_says_one_day_for_every_row(read):
    found = read({"rows": [{"sessions": 1}, {"sessions": 2}]}, date="{{to}}")

    assert kept(found) == [("2026-11-30", {"sessions": "1"}), ("2026-11-30", {"sessions": "2"})]


def test_an_answer_may_be_a_list_itself(read):
    assert kept(read([{"date": "2026-11-01", "sessions": 1}], rows="")) == [("2026-11-01", {"sessions": "1"})]


@pytest.mark.parametrize("day", ["20261128", "2026-11-28", 20261128])
def test_a_day_is_written_with_or_without_dashes(read, day):
    assert [row.day for row in read({"rows": [{"date": day, "sessions": 1}]}).kept] == ["2026-11-28"]


@pytest.mark.parametrize(
    "day",
    [
        "20261131", "20250229", "2026112", "2026-11-8", "2026-W48-6", "202611-28", "2026-1128", "(other)", "",
        "2026-11-28T10:00:00Z", "2026-11-28 10:00:00", " 20261128", "\uff12\uff10\uff12\uff161128",
        None, True, 2026.0, [], {},
    ],
)  # fmt: skip
def test_what_is_no_day_drops_the_row(read, day):
    found = read({"rows": [{"date": day, "sessions": 1}, {"date": "20261128", "sessions": 2}]})

    assert kept(found) == [("2026-11-28", {"sessions": "2"})]
    assert found.dropped == (Dropped(reason="no day", pointer="/date", count=1),)


def test_a_day_outside_of_the_window_drops_the_row(read):
    days = ["2026-10-31", "2026-11-01", "2026-11-30", "2026-12-01"]

    found = read({"rows": [{"date": day, "sessions": 1} for day in days]})

    assert [row.day for row in found.kept] == ["2026-11-01", "2026-11-30"]
    assert [str(dropped) for dropped in found.dropped] == [
        "2 rows left out: a day outside of 2026-11-01 to 2026-11-30 at /date"
    ]


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_times_with_a_zone_are_no_days_on_any_machine(read, zone, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        found = read({"rows": [{"date": "2026-11-01T00:30:00+07:00"}, {"date": "2026-11-28T18:00:00Z"}]})
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found.kept == ()
    assert found.dropped == (Dropped(reason="no day", pointer="/date", count=2),)
    assert "TZ" not in os.environ


@pytest.mark.parametrize(
    "value", [" 12 ", "1_000", "\uff11\uff12", "1,234", "12%", "$3", True, float("nan"), "1e400", {}]
)
def test_what_is_no_number_drops_the_row_and_says_where(read, value):
    found = read({"rows": [{"date": "20261128", "a": 1, "b": value}]}, metrics={"a": "/a", "b": "/b"})

    assert found.kept == ()
    assert found.dropped == (Dropped(reason="no number", pointer="/b", count=1),)


@pytest.mark.parametrize("value", [None, "", "-"])
def test_a_figure_without_a_value_is_left_out_and_is_not_zero(read, value):
    found = read(
        {"rows": [{"metrics": [value, 5], "dimensions": ["2026-11-01"]}]},
        date="/dimensions/0",
        metrics={"revenue": "/metrics/0", "visits": "/metrics/1", "more": "/metrics/2"},
    )

    assert kept(found) == [("2026-11-01", {"visits": "5"})]


@pytest.mark.parametrize(
    ("value", "dim"), [("Direct", "Direct"), ("", ""), ("(not set)", "(not set)"), (None, ""), (7, "7"), (1.5, "1.5")]
)
def test_a_dimension_is_text_or_a_number(read, value, dim):
    rows = {"rows": [{"date": "20261128", "channel": value, "sessions": 1}]}

    assert [row.dims for row in read(rows, dims={"channel": "/channel"}).kept] == [(dim,)]


@pytest.mark.parametrize("value", [True, [], {"a": 1}, "half \ud800"])
def test_a_dimension_that_is_no_text_drops_the_row(read, value):
    found = read({"rows": [{"date": "20261128", "channel": value, "sessions": 1}]}, dims={"channel": "/channel"})

    assert found.dropped == (Dropped(reason="no text", pointer="/channel", count=1),)


@pytest.mark.parametrize("entry", [None, 1, "x", [], {}])
def test_what_is_no_row_is_dropped(read, entry):
    assert read({"rows": [entry]}).dropped == (Dropped(reason="no day", pointer="/date", count=1),)


def test_an_empty_list_is_a_success_without_rows(read):
    found = read({"rows": []})

    assert (found.kept, found.dropped, found.is_absent) == ((), (), False)


@pytest.mark.parametrize(
    "answer",
    [
        {"dimensionHeaders": [{"name": "date"}], "metricHeaders": [], "kind": "analyticsData#runReport"},
        {"rows": None, "kind": "analyticsData#runReport"},
        {"responseAggregationType": "auto"},
    ],
)
def test_an_answer_that_leaves_the_list_out_is_no_fault_and_says_so(read, answer):
    assert read(answer).is_absent


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, "no list at /rows"),
        ({"rows": {}}, "no list at /rows"),
        ({"rows": "x"}, "no list at /rows"),
        ({"rows": 0}, "no list at /rows"),
        (None, "no list at /rows"),
        ("<html>", "no list at /rows"),
        ([], "no list at /rows"),
        ({"error": {"code": 403}}, "answered with an error: 403"),
        ({"error": {"code": 403, "message": "no permission"}}, "answered with an error: no permission"),
        ({"error": "site_id is wrong"}, "answered with an error: site_id is wrong"),
        ({"errors": [{"message": "bad field"}]}, "answered with an error: bad field"),
        ({"error": True}, "answered with an error"),
        ({"error": {"nested": {"deep": 1}}}, "answered with an error"),
    ],
)
def test_an_answer_that_is_something_else_is_a_failure(read, answer, message):
    with pytest.raises(RowsInvalid, match=message):
        read(answer)
