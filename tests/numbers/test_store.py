import json
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ManifestInvalid
from habilis.numbers.days import DayRow
from habilis.numbers.store import merge, read_rows_of
from habilis.numbers.window import last_days

WINDOW = last_days(datetime(2026, 12, 3, tzinfo=UTC), 5)  # 2026-11-29 to 2026-12-03


def row(day, dims=(), **metrics):
    return DayRow.of(day, dict(dims), metrics)


def lines(content):
    return [json.loads(line) for line in content.decode().splitlines()]


def test_rows_are_lines_of_a_file_for_each_month():
    rows = [row("2026-12-01", users=3), row("2026-11-30", [("channel", "Grüße\n")], b=0.5, a=1), row("2026-11-30", a=2)]

    files = merge({}, rows, WINDOW)

    assert files == {
        "2026-11.jsonl": (
            '{"date":"2026-11-30","dims":{},"metrics":{"a":2}}\n'
            '{"date":"2026-11-30","dims":{"channel":"Grüße\\n"},"metrics":{"a":1,"b":0.5}}\n'
        ).encode(),
        "2026-12.jsonl": b'{"date":"2026-12-01","dims":{},"metrics":{"users":3}}\n',
    }


def test_a_second_run_replaces_and_does_not_double():
    first = merge({}, [row("2026-12-01", users=3), row("2026-12-02", users=5)], WINDOW)

    second = merge(first, [row("2026-12-01", users=4)], WINDOW)

    assert lines(second["2026-12.jsonl"]) == [{"date": "2026-12-01", "dims": {}, "metrics": {"users": 4}}]


def test_the_same_run_again_changes_nothing():
    rows = [row("2026-12-01", [("channel", "a")], users=3), row("2026-11-30", users=5)]

    files = merge({}, rows, WINDOW)

    assert merge(files, rows, WINDOW) == {}


def test_days_outside_of_the_window_stay():
    existing = {
        "2026-10.jsonl": b"not even a row\n",
        "2026-11.jsonl": b'{"date":"2026-11-28","dims":{},"metrics":{"users":1}}\n',
        "2026-12.jsonl": b'{"date":"2026-12-04","dims":{},"metrics":{"users":9}}\n',
    }

    files = merge(existing, [row("2026-11-29", users=2)], WINDOW)

    assert [entry["date"] for entry in lines(files["2026-11.jsonl"])] == ["2026-11-28", "2026-11-29"]
    assert files.keys() == {"2026-11.jsonl"}


def test_a_file_that_holds_nothing_any_more_goes():
    existing = {"2026-12.jsonl": b'{"date":"2026-12-01","dims":{},"metrics":{"users":1}}\n'}

    assert merge(existing, [], WINDOW) == {"2026-12.jsonl": None}


def test_what_a_reading_says_nothing_about_stays_in_the_window_too():
    existing = merge(
        {},
        [
            row("2026-12-01", users=1, sessions=2),
            row("2026-12-02", users=3),
            row("2026-12-02", [("c", "a")], sessions=4),
        ],
        WINDOW,
    )

    files = merge(existing, [row("2026-12-01", sessions=5)], WINDOW, absent=frozenset({"users"}))

    assert [(entry["date"], entry["metrics"]) for entry in lines(files["2026-12.jsonl"])] == [
        ("2026-12-01", {"sessions": 5, "users": 1}),
        ("2026-12-02", {"users": 3}),
    ]


def test_an_answer_without_any_list_leaves_the_files_as_they_are():
    existing = merge({}, [row("2026-12-01", users=1)], WINDOW)

    assert merge(existing, [], WINDOW, absent=frozenset({"users"})) == {}


@pytest.mark.parametrize(
    "line",
    [
        b"<<<<<<< mine",
        b"{}",
        b"[]",
        b'{"date":"2026-12-1","dims":{},"metrics":{}}',
        b'{"date":"2026-12-01","dims":[],"metrics":{}}',
        b'{"date":"2026-12-01","dims":{"a":1},"metrics":{}}',
        b'{"date":"2026-12-01","dims":{"a":"\\ud800"},"metrics":{}}',
        b'{"date":"2026-12-01","dims":{},"metrics":{"a":NaN}}',
        b'{"date":"2026-12-01","dims":{},"metrics":{"a":true}}',
        b'{"date":"2026-12-01","dims":{},"metrics":{"a":"1"}}',
        b'{"date":"2026-12-01","dims":{},"metrics":{},"more":1}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_row_is_told_with_its_number_and_not_overwritten(line):
    content = b'{"date":"2026-12-01","dims":{},"metrics":{"a":1}}\n\n' + line + b"\n"

    with pytest.raises(ManifestInvalid) as caught:
        merge({"2026-12.jsonl": content}, [], WINDOW)

    assert [(problem.file, problem.line) for problem in caught.value.problems] == [("2026-12.jsonl", 3)]


days = st.dates(date(2026, 10, 20), date(2026, 12, 10)).map(date.isoformat)
figures = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
dims = st.dictionaries(st.sampled_from(["channel", "page"]), texts, max_size=2)
rows_of = st.lists(
    st.builds(DayRow.of, date=days, dims=dims, metrics=st.dictionaries(st.sampled_from("abc"), figures, min_size=1)),
    unique_by=lambda one: one[:3],
)
windows = st.builds(
    last_days,
    st.integers(0, 34).map(lambda day: datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=day)),
    st.integers(1, 40),
)


def stored(files):
    rows = [one for name, content in files.items() if content for one in read_rows_of(content, name)]
    return {one[:3]: one.metrics for one in rows}


def put(files, changed):
    return {name: content for name, content in {**files, **changed}.items() if content is not None}


@given(rows_of, rows_of, windows)
def test_merging_is_idempotent_replaces_the_window_and_keeps_the_rest(before, new, window):
    everything = last_days(datetime(2026, 12, 10, tzinfo=UTC), 60)
    files = put({}, merge({}, before, everything))
    new = [one for one in new if one.date in window]

    after = put(files, merge(files, new, window))

    outside = {key: metrics for key, metrics in stored(files).items() if key[0] not in window}
    inside = {one[:3]: one.metrics for one in new}
    assert stored(after) == outside | inside
    assert merge(after, new, window) == {}


@given(rows_of, windows, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, window, random):
    rows = [one for one in rows if one.date in window]
    shuffled = random.sample(rows, len(rows))

    assert merge({}, rows, window) == merge({}, shuffled, window)


def test_a_year_s_end_is_two_months():
    window = last_days(datetime(2027, 1, 1, tzinfo=UTC), 2)
    rows = [row("2026-12-31", a=1), row("2027-01-01", a=2)]

    assert merge({}, rows, window).keys() == {"2026-12.jsonl", "2027-01.jsonl"}


def test_a_long_window_with_many_rows_is_whole():
    window = last_days(datetime(2026, 12, 3, tzinfo=UTC), 400)
    first = date.fromisoformat(window.first)
    rows = [
        row((first + timedelta(days=day)).isoformat(), [("channel", f"c{channel}")], sessions=channel)
        for day in range(400)
        for channel in range(20)
    ]

    files = merge({}, rows, window)

    assert sum(len(lines(content)) for content in files.values()) == 8_000
    assert len(files) == 15
