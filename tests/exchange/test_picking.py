import pytest

from habilis.errors import UpstreamProtocol
from habilis.exchange.picking import Picking
from habilis.manifest.model import Choices, RequestTemplate
from habilis.templating import Scope, compile_condition, compile_place, compile_text, compile_url


def picked(*bodies, keys=None, at="/items", value="/id", label="/name", **rule):
    choices = Choices(
        request=RequestTemplate(method="GET", url=compile_url("https://api.example.com/items")),
        list=compile_place(at),
        value=compile_place(value),
        label=compile_place(label),
        **rule,
    )
    picking = Picking(choices, Scope({}, keys or {}), "the choices of ITEM")
    for body in bodies:
        picking.take(body)
    return [(choice.value, choice.label) for choice in picking.found.values()]


def test_an_entry_without_its_name_is_listed_by_its_value():
    elements = [{"organization": "urn:li:organization:1"}, {"organization": "urn:li:organization:2", "name": "B"}]

    found = picked({"elements": elements}, at="/elements", value="/organization")

    assert found == [("urn:li:organization:1", "urn:li:organization:1"), ("urn:li:organization:2", "B")]


def test_a_prefix_is_taken_off_the_values_and_stars_reach_into_lists():
    accounts = [
        {"properties": [{"property": "properties/1", "displayName": "One"}]},
        {"displayName": "Empty"},
        {"properties": [{"property": "properties/2", "displayName": "Two"}]},
    ]

    found = picked(
        {"accounts": accounts},
        at="/accounts/*/properties/*",
        value="/property",
        label="/displayName",
        strip="properties/",
    )

    assert found == [("1", "One"), ("2", "Two")]


def test_a_name_is_composed_of_the_entry_s_fields():
    found = picked(
        {"items": [{"id": 7, "name": "Shop", "owner": {"name": "Anna"}}]},
        label_text=compile_text("{{name}} of {{owner.name|nobody}} ({{id}})"),
    )

    assert found == [("7", "Shop of Anna (7)")]


def test_only_entries_that_meet_the_condition_are_offered():
    sites = [
        {"id": "a", "level": "siteOwner"},
        {"id": "b", "level": "siteUnverifiedUser"},
        {"id": "c"},
    ]

    by_pointer = compile_condition({"field": "/level", "op": "ne", "value": "siteUnverifiedUser"})
    by_name = compile_condition({"field": "level", "op": "eq", "value": "siteOwner"})

    assert [value for value, _ in picked({"items": sites}, where=by_pointer)] == ["a", "c"]
    assert [value for value, _ in picked({"items": sites}, where=by_name)] == ["a"]


@pytest.mark.parametrize("body", [{}, {"items": None}, {"items": []}])
def test_a_list_with_nothing_in_it_offers_nothing(body):
    assert picked(body) == []


@pytest.mark.parametrize("body", [{"items": {"id": 1}}, {"items": "x"}, {"items": 5}])
def test_what_is_no_list_is_told(body):
    with pytest.raises(UpstreamProtocol, match="holds no list at /items"):
        picked(body)


@pytest.mark.parametrize("entry", [None, 5, "x", [], {}, {"id": None}, {"id": ""}, {"id": True}, {"id": {"x": 1}}])
def test_an_entry_without_a_value_is_passed_over(entry):
    assert picked({"items": [entry, {"id": "a", "name": ["odd"]}]}) == [("a", "a")]


def test_plain_texts_can_be_the_entries():
    assert picked(["daily", "weekly"], at="", value="", label="") == [("daily", "daily"), ("weekly", "weekly")]


def test_pages_are_joined_and_a_value_that_comes_twice_counts_once():
    pages = [{"items": [{"id": 1, "name": "A"}]}, {"items": [{"id": 1, "name": "A again"}, {"id": 2, "name": "B"}]}]

    assert picked(*pages) == [("1", "A"), ("2", "B")]
