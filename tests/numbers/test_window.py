import subprocess
import sys
from datetime import UTC, date, datetime

import pytest

from habilis.numbers.window import last_days

CODE = """
from datetime import datetime
from habilis.numbers.window import last_days
print(last_days(datetime.fromisoformat("2026-11-30T00:00:30+00:00"), 30))
"""


def test_the_window_is_that_many_days_and_ends_on_the_utc_day():
    window = last_days(datetime(2026, 11, 30, 0, 0, 30, tzinfo=UTC), 30)

    assert window.arguments() == {"from": "2026-11-01", "to": "2026-11-30", "days": 30}
    assert (date.fromisoformat(window.last) - date.fromisoformat(window.first)).days + 1 == 30


def test_the_day_is_that_of_the_moment_not_of_the_caller_s_zone():
    window = last_days(datetime.fromisoformat("2026-11-29T19:00:30-05:00"), 1)

    assert (window.first, window.last) == ("2026-11-30", "2026-11-30")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_the_machine_s_time_zone_changes_nothing(zone):
    shown = subprocess.run([sys.executable, "-c", CODE], env={"TZ": zone}, capture_output=True, text=True, check=True)

    assert shown.stdout == "Window(first='2026-11-01', last='2026-11-30', days=30)\n"


def test_both_ends_are_in_the_window():
    window = last_days(datetime(2026, 3, 1, tzinfo=UTC), 2)

    days = ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]

    assert [day in window for day in days] == [False, True, True, False]
