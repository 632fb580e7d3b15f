import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.exchange.conversations import READ, answer, play, request, run, scope, step, tool

from habilis.errors import (
    EngineFailed,
    HostNotAllowed,
    PlainHttpRefused,
    UpstreamError,
    UpstreamFailed,
    UpstreamProtocol,
)
from habilis.exchange.pages import read_pages
from habilis.manifest.model import PagesRule
from habilis.templating import compile_condition, compile_json, compile_place


def pages(by, into="", *, items="/items", method="GET", path="/list", body=None, **rule):
    """A request template that reads a list page by page."""
    places = {name: compile_place(rule.pop(name)) for name in ("next", "total") if name in rule}
    whole = None if items is None else compile_place(items)
    fields = {} if body is None else {"json": body}
    return request(method, path, pages=PagesRule(by=by, into=into, items=whole, **places, **rule), **fields)


def listed(template, answers, **arguments):
    """What a tool that reads these pages tells, and how it asked."""
    return run(tool(template), scope(**arguments), answers, READ)


def queries(played):
    return [parse_qs(urlsplit(asked.url).query) for asked in played.requests]


def of(*items, **more):
    return answer(200, {"items": list(items), **more})


def test_numbered_pages_are_read_until_one_is_empty_and_joined_to_one_list():
    played = listed(pages("page", "query:page", path="/list?per=2&page=9"), [of(1, 2), of(3, 4), of()])

    assert played.result.data == [1, 2, 3, 4]
    assert queries(played) == [
        {"per": ["2"], "page": ["1"]},
        {"per": ["2"], "page": ["2"]},
        {"per": ["2"], "page": ["3"]},
    ]
    assert played.result.notes == ()


def test_a_short_page_is_the_last_where_its_size_is_known():
    assert listed(pages("page", "query:page", size=2), [of(1, 2), of(3)]).result.data == [1, 2, 3]


def test_an_offset_counts_entries_and_may_go_into_the_body():
    template = pages(
        "offset", "/page/startRow", start=0, size=2, method="POST", body={"limit": "{{n}}", "page": {"x": 1}}
    )

    played = listed(template, [of(1, 2), of(3)], n=2)

    assert played.bodies == [
        {"limit": 2, "page": {"x": 1, "startRow": 0}},
        {"limit": 2, "page": {"x": 1, "startRow": 2}},
    ]
    assert played.result.data == [1, 2, 3]


def test_a_position_may_be_a_field_of_a_form_nested_or_not():
    form = compile_json({"q": "a b", "page": {"after": "old"}})
    template = replace(pages("cursor", "/page/after", next="/n", method="POST"), form=form)

    played = run(tool(template), scope(), [of(1, n="x y"), of(2)], READ)

    assert [asked.body for asked in played.requests] == [b"q=a+b&page%5Bafter%5D=old", b"q=a+b&page%5Bafter%5D=x+y"]


def test_a_place_that_is_not_there_yet_is_made_in_the_body():
    played = listed(pages("offset", "/a/b~1c", start=0, size=1, method="POST", body={}), [of()])

    assert played.bodies == [{"a": {"b/c": 0}}]


def test_a_body_that_has_no_such_place_is_a_fault_of_the_manifest():
    played = run(tool(pages("page", "/a/b", method="POST", body={"a": 1})), scope(), [], READ)

    assert isinstance(played.error, EngineFailed)
    assert str(played.error) == "tool 'post': the body has no place at /a/b"


def test_a_total_ends_the_list_without_asking_for_an_empty_page():
    rule = pages("page", "query:page", total="header:X-Total")

    played = run(tool(rule), scope(), [answer(200, {"items": [1, 2]}, x_total="3"), answer(200, {"items": [3]})], READ)

    assert (played.result.data, played.result.notes) == ([1, 2, 3], ())


def test_a_list_that_ends_before_its_total_is_called_truncated():
    played = listed(pages("page", "query:page", total="/count", size=2), [of(1, 2, count=9), of(3, count=9)])

    assert played.result.notes == ("tool 'post': truncated: 3 of 9 entries came",)


def test_a_cursor_is_followed_until_there_is_none_even_past_an_empty_page():
    rule = pages("cursor", "query:after", next="/next")

    played = listed(rule, [of(1, next="a&b"), of(next="c"), of(2, next="")])

    assert queries(played) == [{}, {"after": ["a&b"]}, {"after": ["c"]}]
    assert played.result.data == [1, 2]


def test_a_cursor_may_be_any_value_and_go_into_a_header_or_the_body():
    in_body = listed(pages("cursor", "/from", next="/last", method="POST", body={}), [of(1, last={"id": 7}), of(2)])
    in_header = listed(pages("cursor", "header:X-After", next="/last"), [of(1, last=7), of(2)])

    assert in_body.bodies == [{}, {"from": {"id": 7}}]
    assert [dict(asked.headers).get("X-After") for asked in in_header.requests] == [None, "7"]


def test_a_cursor_of_several_fields_goes_into_the_query_whole():
    rule = pages("cursor", "query", next="/continue", items="/query/pages")
    first = answer(200, {"query": {"pages": [1]}, "continue": {"gapcontinue": "B|1", "continue": "-||"}})

    played = run(tool(rule), scope(), [first, answer(200, {"query": {"pages": [2]}})], READ)

    assert queries(played)[1] == {"gapcontinue": ["B|1"], "continue": ["-||"]}
    assert played.result.data == [1, 2]


def test_a_cursor_of_one_value_cannot_fill_a_whole_query():
    played = listed(pages("cursor", "query", next="/next"), [of(1, next="x")])

    assert str(played.error) == "tool 'post': no fields to ask for the next page with"


def test_the_next_address_is_followed_relative_or_whole():
    rule = pages("next_url", next="/next", path="/v1/list?size=1")

    played = listed(rule, [of(1, next="?page=2"), of(2, next="https://api.example.com/p3"), of(3, next=None)])

    assert [asked.url for asked in played.requests] == [
        "https://api.example.com/v1/list?size=1",
        "https://api.example.com/v1/list?page=2",
        "https://api.example.com/p3",
    ]
    assert played.result.data == [1, 2, 3]


def test_a_next_address_on_a_host_that_is_not_listed_is_not_called():
    evil = listed(pages("next_url", next="/next"), [of(1, next="https://evil.test/2")])
    plain = listed(pages("next_url", next="/next"), [of(1, next="http://api.example.com/2")])

    assert isinstance(evil.error, HostNotAllowed)
    assert isinstance(plain.error, PlainHttpRefused)
    assert (len(evil.requests), len(plain.requests)) == (1, 1)


@pytest.mark.parametrize("told", ["https://uploads.example.com/2", "//uploads.example.com/2"])
def test_a_next_address_at_another_host_never_gets_the_keys_of_the_request(told):
    by_body = listed(pages("next_url", next="/next"), [of(1, next=told)])
    first = answer(200, [1], link=f'<{told}>; rel="next"')
    by_header = run(tool(pages("link_header", items=None)), scope(), [first], READ)

    for played in (by_body, by_header):
        assert isinstance(played.error, HostNotAllowed)
        assert str(played.error) == (
            "tool 'post': page 1 leads on to uploads.example.com, and what the request carries is for api.example.com"
        )
        assert played.error.outcome == "not_sent"
        assert len(played.requests) == 1


def test_a_next_address_that_is_no_text_is_called_none():
    error = listed(pages("next_url", next="/next"), [of(1, next=7)]).error

    assert str(error) == "tool 'post': page 1 gave no address for the next one"
    assert error.outcome == "not_sent"


@pytest.mark.parametrize("odd", [7, {"a": 1}, "https://[x", "\x00"])
def test_a_next_address_that_is_none_is_not_called(odd):
    assert isinstance(listed(pages("next_url", next="/next"), [of(1, next=odd)]).error, HostNotAllowed | UpstreamFailed)


def test_the_link_header_is_followed():
    first = answer(
        200, [1], link=['<https://api.example.com/list?page=2>; rel="next"', '<https://x.test/>; rel="last"']
    )

    played = run(tool(pages("link_header", items=None)), scope(), [first, answer(200, [2])], READ)

    assert played.sent == ["GET https://api.example.com/list", "GET https://api.example.com/list?page=2"]
    assert played.result.data == [1, 2]


@pytest.mark.parametrize(
    ("rule", "answers", "what"),
    [
        (pages("page", "query:page"), [of(1), of(1)], "page 2 gave the same page again"),
        (pages("offset", "query:o", start=0), [of(1), of(1)], "page 2 gave the same page again"),
        (pages("cursor", "query:c", next="/n"), [of(n="a"), of(n="b"), of(n="a")], "page 3 gave the same cursor again"),
        (pages("next_url", next="/n"), [of(1, n="/2"), of(2, n="/list")], "page 2 gave the same address again"),
        (pages("next_url", next="/n"), [of(1, n="/list")], "page 1 gave the same address again"),
    ],
)  # fmt: skip
def test_a_list_that_goes_round_in_circles_ends_with_an_error(rule, answers, what):
    played = listed(rule, answers)

    assert isinstance(played.error, UpstreamError)
    assert str(played.error).startswith(f"tool 'post': {what}, so that the list has no end")
    assert played.error.outcome == "not_sent"


def test_a_list_of_more_pages_than_are_read_is_called_truncated():
    played = listed(pages("cursor", "query:c", next="/n", most=2), [of(1, n="a"), of(2, n="b")])

    assert played.result.data == [1, 2]
    assert played.result.notes == ("tool 'post': truncated after 2 pages, 2 entries; there are more",)


def test_a_list_that_ends_with_the_last_page_that_is_read_is_whole():
    assert listed(pages("cursor", "query:c", next="/n", most=2), [of(1, n="a"), of(2)]).result.notes == ()


def test_a_condition_ends_the_list():
    stop = compile_condition({"field": "/more", "op": "eq", "value": False})

    played = listed(pages("page", "query:page", stop=stop), [of(1, more=True), of(2, more=False)])

    assert played.result.data == [1, 2]


def test_an_error_in_the_middle_ends_the_read():
    played = listed(pages("page", "query:page"), [of(1), answer(401, {"message": "expired"})])

    assert str(played.error).startswith("tool 'post': answered 401: expired")


def test_a_page_that_is_asked_to_wait_for_is_waited_for():
    played = listed(pages("page", "query:page"), [of(1), answer(429, None, retry_after="2"), of()])

    assert (played.pauses, played.result.data) == ([2.0], [1])


@pytest.mark.parametrize("body", [{"items": {"a": 1}}, {"items": "x"}, {"items": 0}])
def test_a_page_without_a_list_is_no_page(body):
    played = listed(pages("page", "query:page"), [of(1), answer(200, body)])

    assert isinstance(played.error, UpstreamProtocol)
    assert str(played.error) == "tool 'post': page 2 holds no list at /items"


def test_an_answer_without_the_list_is_an_empty_page():
    assert listed(pages("page", "query:page"), [answer(200, {})]).result.data == []


def test_a_list_too_large_to_be_joined_is_cut_and_called_truncated():
    much = "x" * 9_000_000

    played = listed(pages("cursor", "query:c", next="/n"), [of(much, n=str(n)) for n in range(4)])

    assert played.result.notes == ("tool 'post': truncated after 4 pages, 4 entries; there are more",)


def test_a_step_that_reads_pages_saves_from_the_joined_list():
    rows = step("rows", pages("page", "query:page"), save={"ids": "/*/id", "first": "/0/id"})
    after = step("post", request(json={"ids": "{{rows.ids}}", "first": "{{rows.first}}"}))

    played = run(tool(rows, after), scope(), [of({"id": 1}), of({"id": 2}), of(), answer()])

    assert json.loads(played.requests[3].body) == {"ids": [1, 2], "first": 1}


def test_a_reader_of_pages_hands_on_each_body_as_it_comes():
    taken = []
    template = pages("page", "query:page", most=2)

    played = play(read_pages(template, scope(), READ, where="source 'x'", take=taken.append), [of(1), of(2)])

    assert taken == [{"items": [1]}, {"items": [2]}]
    assert played.result == ("source 'x': truncated after 2 pages, 2 entries; there are more",)


def test_a_reader_of_a_request_without_pages_hands_on_its_one_body():
    taken = []

    played = play(read_pages(request("GET"), scope(), READ, where="source 'x'", take=taken.append), [answer(200, 7)])

    assert (taken, played.result) == ([7], ())


def test_cookies_and_the_values_of_the_call_go_with_every_page():
    template = request(
        "GET",
        "/list?q={{q}}",
        pages=PagesRule(by="page", into="query:page"),
        headers={"Authorization": "Bearer ${TOKEN}"},
        query=(("sort", compile_json("{{sort}}")),),
    )

    played = run(tool(template), scope(q="a b", sort="up"), [answer(200, [1], set_cookie="s=1"), answer(200, [])], READ)

    assert queries(played)[1] == {"q": ["a b"], "sort": ["up"], "page": ["2"]}
    assert dict(played.requests[1].headers) == {"Authorization": "Bearer secret-token", "Cookie": "s=1"}
