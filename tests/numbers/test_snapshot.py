import pytest

from habilis.errors import RowsInvalid
from habilis.manifest.model import DerivedMetric, Source
from habilis.numbers.snapshot import Reading, derived_over


@pytest.fixture
def run(window, scope):
    def combined(requests, answers, derive=()):
        source = Source(name="traffic", requests=tuple(requests), derive=tuple(derive))
        reading = Reading(source, window=window, scope=scope)
        for number, answer in enumerate(answers):
            reading.take(number, answer)
        return reading.snapshot()

    return combined


def shown(snapshot):
    return [(row.date[-2:], dict(row.dims), dict(row.metrics)) for row in snapshot.rows]


def day(number, **values):
    return {"date": f"2026-11-{number:02d}", **values}


def test_a_day_has_totals_and_rows_by_dimension_sorted(run, make_request):
    request = make_request(
        dims={"channel": "/channel"},
        metrics={"sessions": "/sessions", "key_events": "/events"},
        totals=["sessions", "key_events"],
        breakdown=["sessions"],
    )
    rows = [
        day(2, channel="Direct", sessions="4", events=1),
        day(1, channel="Organic Search", sessions=2, events=0),
        day(1, channel="Direct", sessions=3, events=2),
    ]

    found = run([request], [{"rows": rows}])

    assert shown(found) == [
        ("01", {}, {"key_events": 2, "sessions": 5}),
        ("01", {"channel": "Direct"}, {"sessions": 3}),
        ("01", {"channel": "Organic Search"}, {"sessions": 2}),
        ("02", {}, {"key_events": 1, "sessions": 4}),
        ("02", {"channel": "Direct"}, {"sessions": 4}),
    ]


def test_a_day_that_the_service_leaves_out_has_no_row(run, make_request):
    found = run([make_request()], [{"rows": [day(30, sessions=1), day(1, sessions=2)]}])

    assert shown(found) == [("01", {}, {"sessions": 2}), ("30", {}, {"sessions": 1})]


def test_requests_of_one_source_come_together_by_day(run, make_request):
    sessions = make_request(dims={"channel": "/channel"})
    users = make_request(metrics={"users": "/users"})

    found = run([sessions, users], [{"rows": [day(1, channel="a", sessions=2)]}, {"rows": [day(1, users=1)]}])

    assert shown(found)[0] == ("01", {}, {"sessions": 2, "users": 1})


def test_the_same_row_twice_is_summed_and_noted(run, make_request):
    request = make_request(dims={"channel": "/channel"})

    found = run([request], [{"rows": [day(1, channel="a", sessions=2), day(1, channel="a", sessions=3)]}])

    assert shown(found) == [("01", {}, {"sessions": 5}), ("01", {"channel": "a"}, {"sessions": 5})]
    assert found.notes == ("1 row repeated a day and its dimensions: summed",)


def test_sums_are_exact(run, make_request):
    request = make_request(dims={"page": "/page"}, metrics={"value": "/value"})

    found = run([request], [{"rows": [day(1, page="a", value=0.1), day(1, page="b", value="0.2")]}])

    assert shown(found)[0] == ("01", {}, {"value": 0.3})


def test_scaling_happens_once_and_after_summing(run, make_request):
    request = make_request(metrics={"ctr": "/ctr", "clicks": "/clicks"}, scale={"ctr": 100.0})

    found = run([request], [{"rows": [day(1, ctr=0.0345, clicks=2), day(2, ctr=0.1), day(2, ctr=0.2)]}])

    assert shown(found) == [("01", {}, {"clicks": 2, "ctr": 3.45}), ("02", {}, {"ctr": 30})]


def test_rows_that_are_zero_are_left_out_of_the_breakdown_only_where_asked(run, make_request):
    rows = {
        "rows": [day(1, channel="a", sessions=0), day(1, channel="b", sessions="0.0"), day(1, channel="c", sessions=1)]
    }

    skipping = run([make_request(dims={"channel": "/channel"}, skip_zero=True)], [rows])
    keeping = run([make_request(dims={"channel": "/channel"})], [rows])

    assert [dims for _, dims, _ in shown(skipping)] == [{}, {"channel": "c"}]
    assert [dims for _, dims, _ in shown(keeping)] == [{}, {"channel": "a"}, {"channel": "b"}, {"channel": "c"}]


def test_zero_is_a_total_and_no_value_is_none(run, make_request):
    request = make_request(metrics={"a": "/a", "b": "/b"})

    found = run([request], [{"rows": [day(1, a=0, b=None), day(2, a=None, b=None)]}])

    assert shown(found) == [("01", {}, {"a": 0})]


def test_no_totals_are_kept_where_none_are_asked_for(run, make_request):
    request = make_request(dims={"query": "/query"}, totals=[])

    found = run([request], [{"rows": [day(1, query="shoes", sessions=1)]}])

    assert shown(found) == [("01", {"query": "shoes"}, {"sessions": 1})]


ORGANIC = DerivedMetric(metric="organic", sum="sessions", where={"channel": "Organic Search"})
RATE = DerivedMetric(metric="rate", ratio=("events", "sessions"), scale=100.0)


def test_a_sum_takes_the_rows_whose_dimensions_are_exactly_those(run, make_request):
    request = make_request(dims={"channel": "/channel", "device": "/device"})
    rows = [
        day(1, channel="Organic Search", device="a", sessions=1),
        day(1, channel="Organic Search", device="b", sessions=2),
        day(1, channel="Organic Social", device="a", sessions=4),
        day(2, channel="Direct", device="a", sessions=8),
    ]

    found = run([request], [{"rows": rows}], [ORGANIC])

    assert [metrics for _, dims, metrics in shown(found) if not dims] == [
        {"organic": 3, "sessions": 7},
        {"sessions": 8},
    ]


def test_a_sum_counts_rows_that_are_then_left_out_as_zero(run, make_request):
    request = make_request(dims={"channel": "/channel"}, skip_zero=True)

    found = run([request], [{"rows": [day(1, channel="Organic Search", sessions=0)]}], [ORGANIC])

    assert shown(found) == [("01", {}, {"organic": 0, "sessions": 0})]


def test_a_ratio_is_one_of_sums_and_nothing_over_nothing_is_no_value(run, make_request):
    request = make_request(metrics={"events": "/events", "sessions": "/sessions"})
    rows = [day(1, events=1, sessions=2), day(2, events=0, sessions=0), day(3, events=3, sessions=4), day(4, events=1)]
    source = Source(name="traffic", requests=(request,), derive=(RATE,))

    found = run([request], [{"rows": rows}], [RATE])

    assert [metrics.get("rate") for _, _, metrics in shown(found)] == [50, None, 75, None]
    assert derived_over(source, [row for row in found.rows if row.date < "2026-11-04"]) == {"rate": 66.66666666666667}


def test_a_ratio_over_days_without_any_is_no_value(make_request):
    source = Source(name="traffic", requests=(make_request(),), derive=(RATE,))

    assert derived_over(source, []) == {}


def test_a_metric_may_be_derived_from_one_derived_before(run, make_request):
    share = DerivedMetric(metric="share", ratio=("organic", "sessions"))
    request = make_request(dims={"channel": "/channel"})
    rows = [day(1, channel="Organic Search", sessions=1), day(1, channel="Direct", sessions=3)]
    source = Source(name="traffic", requests=(request,), derive=(ORGANIC, share))

    found = run([request], [{"rows": rows}], source.derive)

    assert shown(found)[0] == ("01", {}, {"organic": 1, "sessions": 4, "share": 0.25})
    assert derived_over(source, found.rows) == {"organic": 1, "share": 0.25}


def test_a_mean_is_a_figure_of_its_day_and_never_summed_over_days(run, make_request):
    request = make_request(metrics={"duration": "/metrics/0", "bounce_rate": "/metrics/1"})
    source = Source(name="traffic", requests=(request,))

    found = run([request], [{"rows": [day(1, metrics=[120, 61]), day(2, metrics=[180, 40])]}])

    assert shown(found) == [
        ("01", {}, {"bounce_rate": 61, "duration": 120}),
        ("02", {}, {"bounce_rate": 40, "duration": 180}),
    ]
    assert derived_over(source, found.rows) == {}


def test_what_was_left_out_is_told_for_every_request(run, make_request):
    found = run(
        [make_request(), make_request(metrics={"users": "/u"})], [{"rows": [day(1, sessions="x")]}, {"rows": [{}]}]
    )

    assert [str(dropped) for dropped in found.dropped] == [
        "1 row left out: no number at /sessions",
        "1 row left out: no day at /date",
    ]


def test_metrics_of_an_answer_without_a_list_are_absent_with_what_is_derived_from_them(run, make_request):
    sessions = make_request(metrics={"sessions": "/sessions"})
    events = make_request(metrics={"events": "/events"})

    found = run([sessions, events], [{"rows": [day(1, sessions=2)]}, {"kind": "empty"}], [RATE])

    assert found.absent == {"events", "rate"}
    assert found.notes == ("no list at /rows: taken as no rows, and what was stored stays",)
    assert shown(found) == [("01", {}, {"sessions": 2})]


def test_one_answer_that_is_an_error_fails_the_source(run, make_request):
    with pytest.raises(RowsInvalid):
        run([make_request(), make_request()], [{"rows": []}, {"error": {"code": 403}}])


def test_figures_beyond_a_float_are_left_out(run, make_request):
    request = make_request(scale={"sessions": 1e300})

    found = run([request], [{"rows": [day(1, sessions=1e300), day(2, sessions=1e-300)]}])

    assert shown(found) == [("02", {}, {"sessions": 1})]


def test_the_pages_of_one_list_are_one_answer(window, scope, make_request):
    reading = Reading(Source(name="traffic", requests=(make_request(),), derive=()), window=window, scope=scope)

    reading.take(0, {"rows": [day(1, sessions=1), day(2, sessions=5)]})
    reading.take(0, {"rows": [day(1, sessions=2)]})
    reading.take(0, {"total": 3})

    assert shown(reading.snapshot()) == [("01", {}, {"sessions": 3}), ("02", {}, {"sessions": 5})]
    assert reading.snapshot().notes == ("1 row repeated a day and its dimensions: summed",)
    assert reading.snapshot().absent == frozenset()


def test_requests_over_the_same_dimensions_fill_the_same_rows(run, make_request):
    channel = {"channel": "/channel"}
    visits = make_request(dims=channel, metrics={"visits": "/n", "users": "/u"}, breakdown=["visits"])
    spent = make_request(dims=channel, metrics={"cost": "/n", "visits": "/v"}, scale={"cost": 0.01}, skip_zero=True)
    answers = [
        {"rows": [day(1, channel="a", n=0, u=2), day(1, channel="b", n=0.1)]},
        {"rows": [day(1, channel="b", n=250, v=0.2), day(1, channel="c", n=0), day(1, channel="d", n=0, v=None)]},
    ]

    snapshot = run([visits, spent], answers)

    assert shown(snapshot) == [
        ("01", {}, {"cost": 2.5, "users": 2, "visits": 0.3}),
        ("01", {"channel": "a"}, {"visits": 0}),
        ("01", {"channel": "b"}, {"cost": 2.5, "visits": 0.3}),
    ]


def test_rows_of_some_figures_have_those_alone(run, make_request):
    request = make_request(dims={"page": "/p"}, metrics={"a": "/a", "b": "/b"})

    snapshot = run([request], [{"rows": [day(1, p="x", a="1.50"), day(1, p="y", b=""), day(2, p="z", b=2.0)]}])

    assert shown(snapshot) == [
        ("01", {}, {"a": 1.5}),
        ("01", {"page": "x"}, {"a": 1.5}),
        ("02", {}, {"b": 2}),
        ("02", {"page": "z"}, {"b": 2}),
    ]


def test_dimensions_of_which_nothing_is_kept_make_no_rows(run, make_request):
    request = make_request(dims={"page": "/p"}, breakdown=[])

    assert shown(run([request], [{"rows": [day(1, p="x", sessions=1)]}])) == [("01", {}, {"sessions": 1})]
