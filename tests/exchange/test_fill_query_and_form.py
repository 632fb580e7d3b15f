"""Names and values: in the query of an address, and as a URL-encoded form."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ArgsInvalid, HostNotAllowed
from habilis.exchange.forms import form_body
from habilis.templating import Scope, compile_json

FORM = "application/x-www-form-urlencoded"


def test_a_value_of_the_query_cannot_change_the_rest_of_the_request(filling):
    request = filling({"q": "a&b=c#d ü"}, query={"search": "{{q}}"})

    assert request.url == "https://api.example.com/items?search=a%26b%3Dc%23d%20%C3%BC"


def test_a_list_repeats_its_name_in_the_query_and_what_is_not_given_is_left_out(filling):
    fields = {"id": "{{ids}}", "n": "{{n}}", "draft": "{{draft}}", "none": "{{none}}", "null": "{{null}}", "e": ""}
    request = filling({"ids": [1, "b"], "n": 5.0, "draft": False, "null": None}, query=fields)

    assert request.url.partition("?")[2] == "id=1&id=b&n=5&draft=false&e="


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("/items?", "/items?a=1"),
        ("/items?x=2", "/items?x=2&a=1"),
        ("/items?x=2&", "/items?x=2&a=1"),
        ("/items#part", "/items?a=1"),
        ("/items?x=2#part", "/items?x=2&a=1"),
        ("/items?x=%2F{{n}}", "/items?x=%2F1&a=1"),
    ],
)
def test_the_query_is_added_to_that_of_the_address(filling, url, whole):
    request = filling({"n": 1}, url=f"https://api.example.com{url}", query={"a": "{{n}}"})

    assert request.url == f"https://api.example.com{whole}"


def test_an_address_is_as_it_was_when_its_query_fills_to_nothing(filling):
    request = filling(url="https://api.example.com/items", query={"a": "{{a}}", "b": "${B}", "c": ["{{c}}"]})

    assert request.url == "https://api.example.com/items"


def test_names_of_a_query_may_hold_brackets_and_other_signs(filling):
    fields = {"filter[status]": "open", "tags[]": ["a", "b"], "$top": 5, "where": {"n": 1, "of": ["x"]}}
    request = filling(query=fields)

    assert parse_qsl(urlsplit(request.url).query) == [
        ("filter[status]", "open"),
        ("tags[]", "a"),
        ("tags[]", "b"),
        ("$top", "5"),
        ("where[n]", "1"),
        ("where[of]", "x"),
    ]


def test_an_address_that_an_answer_gave_is_called_whole_and_checked_all_the_same(filling):
    template = {"query": {"limit": 10}, "method": "GET"}
    request = filling(instead="https://api.example.com/items?cursor=b%2F1", **template)

    assert request.url == "https://api.example.com/items?cursor=b%2F1"
    with pytest.raises(HostNotAllowed) as caught:
        filling(instead="https://evil.test/items?cursor=b", **template)
    assert caught.value.where == "tool 'post'"


def test_a_form_repeats_lists_and_nests_objects_in_brackets(filling):
    request = filling(
        {"text": "a b&c=ü+~", "ids": [7, 8], "on": True, "null": None, "n": 1.5},
        form={
            "status": "{{text}}",
            "media_ids[]": "{{ids}}",
            "id": "{{ids}}",
            "on": "{{on}}",
            "n": "{{n}}",
            "left": "{{none}}",
            "null": "{{null}}",
            "post": {"title": "x", "tags": ["a", "b"], "tags[]": ["c"], "meta": {"deep": 1}},
            "items": [{"price": 1, "sizes": ["s"]}, {"price": 2}],
            "rows[]": [{"a": 1}, {"a": 2}],
            "empty": "",
            "nothing": {},
        },
    )

    assert dict(request.headers) == {"Content-Type": FORM}
    assert request.body.startswith(b"status=a+b%26c%3D%C3%BC%2B~&media_ids%5B%5D=7&")
    assert parse_qsl(request.body.decode(), keep_blank_values=True)[1:] == [
        ("media_ids[]", "7"),
        ("media_ids[]", "8"),
        ("id", "7"),
        ("id", "8"),
        ("on", "true"),
        ("n", "1.5"),
        ("post[title]", "x"),
        ("post[tags]", "a"),
        ("post[tags]", "b"),
        ("post[tags][]", "c"),
        ("post[meta][deep]", "1"),
        ("items[0][price]", "1"),
        ("items[0][sizes]", "s"),
        ("items[1][price]", "2"),
        ("rows[][a]", "1"),
        ("rows[][a]", "2"),
        ("empty", ""),
    ]


def test_a_key_that_is_not_set_leaves_no_empty_field_in_a_form(filling):
    request = filling({}, {"ID": "me", "SECRET": ""}, form={"client_id": "${ID}", "client_secret": "${SECRET}"})

    assert request.body == b"client_id=me"


def test_a_type_of_the_manifest_stands_for_a_form(filling):
    request = filling(headers={"content-type": f"{FORM}; charset=utf-8"}, form={"a": 1})

    assert request.headers == (("content-type", f"{FORM}; charset=utf-8"),)


def test_a_form_may_be_one_placeholder_that_holds_names_and_values(filling):
    assert filling({"fields": {"a": 1}}, form="{{fields}}").body == b"a=1"
    assert filling({}, form="{{fields}}").body == b""
    with pytest.raises(ArgsInvalid, match="the form has to be filled with names and values"):
        filling({"fields": "a=1"}, form="{{fields}}")


@pytest.mark.parametrize("kind", ["form", "query"])
@pytest.mark.parametrize("value", ["s3cret\ud800", {"s3cret\udfff": 1}, [["s3cret\udc00"]]])
def test_half_of_a_character_is_refused_without_the_text(filling, kind, value):
    with pytest.raises(ArgsInvalid) as caught:
        filling({"text": value}, **{kind: {"a": "{{text}}"}})

    assert caught.value.message == f"the {kind}: a text holds half of a character (a lone surrogate)"
    assert caught.value.where == "tool 'post'"
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["form", "query"])
def test_what_no_text_can_carry_is_refused(filling, kind):
    with pytest.raises(ArgsInvalid, match="a: JSON cannot carry this value"):
        filling({"n": float("inf")}, **{kind: {"a": "{{n}}"}})


def test_a_form_nested_beyond_all_bounds_is_refused(filling):
    deep = {}
    for _ in range(5000):
        deep = {"a": deep, "b": 1}

    with pytest.raises(ArgsInvalid, match="the form: what fills it is nested too deep"):
        filling({"deep": deep}, form={"x": "{{deep}}"})


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.text(st.characters(codec="utf-8"), max_size=9), max_size=4))
def test_whatever_text_a_form_holds_is_read_back_as_it_was(fields):
    body = form_body(compile_json("{{fields}}"), Scope(arguments={"fields": fields}, keys={}))

    assert dict(parse_qsl(body.decode(), keep_blank_values=True)) == fields
