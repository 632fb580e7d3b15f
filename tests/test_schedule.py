from datetime import UTC, datetime

import pytest

from habilis.errors import BadInput
from habilis.schedule import checked_cron, due


def at(text):
    return datetime.fromisoformat(text)


def wall_times(expr, zone, after, until):
    return [moment.isoformat(timespec="minutes") for moment in due(expr, zone, after=at(after), until=at(until))]


@pytest.mark.parametrize(
    "expr", ["30 6 * * *", "59/15 * * * *", "0 9 13 * FRI", "0 9 * * 7", "0 9 L * *", "0 9 * * mon#1", "0 0 29 2 *"]
)
def test_an_ordinary_schedule_is_kept_as_written(expr):
    assert checked_cron(expr) == expr


def test_spaces_between_the_fields_are_made_single():
    assert checked_cron("  0  6 \t* * * ") == "0 6 * * *"


@pytest.mark.parametrize(
    "expr",
    [
        "",
        "* * * *",
        "0 0 6 * * *",
        "* * * * * * 2027",
        "@daily",
        "@reboot",
        "R R * * *",
        "r(0-5) 6 * * *",
        "H 6 * * *",
        "*/1000000000 * * * *",
        "*/0 * * * *",
        "60 * * * *",
        "0 24 * * *",
        "0 0 0 * *",
        "0 0 * * 8",
        "0 0 1 1 * ; rm",
        "a b c d e",
        "\uff11 * * * *",
        "1," * 20_000 + "1 * * * *",
    ],
)
def test_what_is_no_schedule_is_refused_when_it_is_saved(expr):
    with pytest.raises(BadInput):
        checked_cron(expr)


@pytest.mark.parametrize("expr", ["0 0 31 2 *", "0 0 31 4,6 *"])
def test_a_day_that_never_comes_is_refused_when_it_is_saved(expr):
    with pytest.raises(BadInput, match="never happens"):
        checked_cron(expr)


@pytest.mark.parametrize("zone", ["", "Mars/Base", "Europe", "../etc/passwd", "/etc/passwd", "a\0b", "x" * 5_000])
def test_what_is_no_time_zone_is_refused(zone):
    with pytest.raises(BadInput, match="no time zone"):
        due("0 6 * * *", zone, after=datetime(2026, 1, 1, tzinfo=UTC), until=datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("night", "expected"),
    [
        ("2026-03-28T12:00Z/2026-03-29T12:00Z", ["2026-03-29T03:00+02:00"]),
        ("2026-10-24T12:00Z/2026-10-25T12:00Z", ["2026-10-25T02:30+02:00"]),
    ],
)
def test_a_daily_time_comes_once_when_the_clock_changes(night, expected):
    after, until = night.split("/")

    found = wall_times("30 2 * * *", "Europe/Paris", after, until)

    assert found == expected


@pytest.mark.parametrize("zone_night", ["2026-03-08", "2026-11-01"])
@pytest.mark.parametrize("expr", ["30 1 * * *", "30 2 * * *"])
def test_one_day_has_one_run_in_new_york_too(expr, zone_night):
    found = wall_times(expr, "America/New_York", f"{zone_night}T04:30Z", f"{zone_night}T23:00Z")

    assert len(found) == 1


def test_a_repeated_time_does_not_come_back_for_a_runner_that_looks_between_the_two():
    found = wall_times("30 2 * * *", "Europe/Paris", "2026-10-25T02:30+02:00", "2026-10-26T00:00+01:00")

    assert found == []


def test_an_hourly_schedule_goes_by_elapsed_hours():
    found = wall_times("0 * * * *", "Europe/Paris", "2026-10-25T01:30+02:00", "2026-10-25T03:00+01:00")

    assert found == ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"]


def test_the_end_counts_and_the_start_does_not():
    found = wall_times("0 6 * * *", "UTC", "2026-11-01T06:00Z", "2026-11-03T06:00Z")

    assert found == ["2026-11-02T06:00+00:00", "2026-11-03T06:00+00:00"]


def test_a_month_begins_at_local_midnight():
    found = wall_times("0 0 1 * *", "Europe/Berlin", "2024-02-23T00:00Z", "2024-05-02T00:00Z")

    assert found == ["2024-03-01T00:00+01:00", "2024-04-01T00:00+02:00", "2024-05-01T00:00+02:00"]


def test_saturday_alone_is_meant_by_six_with_a_step():
    found = wall_times("0 0 * * 6/1", "UTC", "2026-11-30T00:00Z", "2026-12-12T00:00Z")

    assert found == ["2026-12-05T00:00+00:00", "2026-12-12T00:00+00:00"]
