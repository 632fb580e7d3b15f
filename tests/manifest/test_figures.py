import pytest
from tests.manifest.samples import changed, fault, loaded

METRICS = "        metrics: { sessions: /sessions, key_events: /events }\n"
DERIVE = "      - { metric: organic_sessions, sum: sessions, where: { channel: Organic Search } }\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rows: /rows", "rows: rows", "a pointer is empty or starts with '/'"),
        ("rows: /rows", 'rows: "{{rows}}"', "expected a JSON pointer into the answer"),
        ("date: /day", "date: day", "a pointer is empty or starts with '/'"),
        ("date: /day", 'date: ""', "expected a JSON pointer into a row, as /date, or a template, as {{to}}"),
        ("date: /day", 'date: "{{too}}"', "nothing fills {{too}}; did you mean 'to'?"),
        ("channel: /channel", "channel: channel", "a pointer is empty or starts with '/'"),
        ("sessions: /sessions", "sessions: 3", 'quote it: "3"'),
        ("{{from}}", "{{form}}", "nothing fills {{form}}; did you mean 'from'?"),
        (METRICS, "        metrics: {}\n", "found none; expected at least 1"),
        (METRICS, f"{METRICS}        totals: [sesions]\n", "no metric of this request has this name; did you mean"),
        (METRICS, f"{METRICS}        breakdown: [users]\n", "no metric of this request has this name"),
        (METRICS, f"{METRICS}        scale: {{ ctr: 100 }}\n", "no metric of this request has this name"),
        (METRICS, f"{METRICS}        scale: {{ sessions: .5x }}\n", "found text; expected a number"),
        (METRICS, f"{METRICS}        skip_zero: 1\n", "expected true or false"),
        (METRICS, f"{METRICS}        pages: {{}}\n", "unknown field here; it belongs in `request`"),
        ("sum: sessions", "sum: session", "no metric kept per dimension has this name; did you mean 'sessions'?"),
        (
            "{ channel: Organic",
            "{ chanel: Organic",
            "no dimension of this source has this name; did you mean 'channel'?",
        ),
        ("sum: sessions, ", "", "expected either `sum` or `ratio`"),
        ("sum: sessions, ", "sum: sessions, ratio: [key_events, sessions], ", "expected either `sum` or `ratio`"),
        ("sum: sessions, ", "ratio: [key_events, sessions], ", "`where` chooses rows for `sum`"),
        ("metric: organic_sessions", "metric: sessions", "the metric exists already; choose another name"),
        ("channel: Organic Search", "channel: on", 'YAML reads on as true; quote it: "on"'),
        ("  traffic:\n", "  trafic:\n", "no source is called that; did you mean 'traffic'?"),
        ("  traffic:\n", "  Web Traffic:\n", "^[a-z][a-z0-9_]{0,63}$"),
    ],
)
def test_a_source_that_cannot_be_read_is_a_fault_at_install(old, new, expected):
    assert expected in fault(changed(old, new))


def test_a_breakdown_needs_dimensions():
    text = changed("        dims: { channel: /channel }\n", "        breakdown: [sessions]\n").replace(DERIVE, "")

    assert fault(text.replace("    derive:\n", "")).endswith("a breakdown needs `dims`")


def test_a_ratio_takes_totals_and_what_was_derived_before():
    ratio = "      - { metric: conversion_rate, ratio: [key_events, organic_sessions], scale: 100 }\n"

    derived = loaded(changed(DERIVE, DERIVE + ratio)).sources[0].derive

    assert (derived[0].sum, derived[0].where) == ("sessions", {"channel": "Organic Search"})
    assert (derived[1].ratio, derived[1].scale) == (("key_events", "organic_sessions"), 100.0)
    assert "no total of this source has this name" in fault(changed(DERIVE, ratio + DERIVE))
    assert "found 1; expected at least 2" in fault(changed(DERIVE, DERIVE + ratio.replace("key_events, ", "")))


def test_a_metric_kept_from_the_totals_is_no_part_of_a_ratio():
    ratio = "      - { metric: conversion_rate, ratio: [key_events, sessions] }\n"
    text = changed(DERIVE, DERIVE + ratio)

    found = fault(text.replace(METRICS, f"{METRICS}        totals: [key_events]\n"))

    assert "ratio[1]: no total of this source has this name" in found


def test_another_set_of_numbers_may_have_a_name_of_its_own():
    assert loaded(changed("  traffic:\n", "  newsletter:\n")).source("newsletter") is not None


def test_scale_and_skip_zero_are_carried():
    text = changed(METRICS, f"{METRICS}        scale: {{ sessions: 100 }}\n        skip_zero: true\n")

    request = loaded(text).sources[0].requests[0]

    assert (request.scale, request.skip_zero) == ({"sessions": 100.0}, True)
