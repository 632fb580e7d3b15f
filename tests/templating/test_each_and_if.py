import pytest

from habilis.errors import ArgsInvalid, BadInput
from habilis.templating import MISSING, compile_json


@pytest.mark.parametrize("each", ["files", "{{files}}", " files ", "{{ files }}", "{{nothing.*.x|}}"])
def test_a_list_is_built_of_a_list(each, scope):
    files = [{"name": "a", "alt": "A"}, {"name": "b"}]
    template = compile_json({"images": {"$each": each, "$do": {"n": "{{item.name}}", "alt": "{{item.alt}}"}}})

    if "nothing" in each:
        with pytest.raises(ArgsInvalid, match="\\$each goes through a list"):
            template.fill(scope(files=files))
    else:
        assert template.fill(scope(files=files)) == {"images": [{"n": "a", "alt": "A"}, {"n": "b"}]}


def test_an_entry_knows_its_place_and_the_other_arguments(scope):
    template = compile_json({"$each": "split(tags, ' ')", "$do": "{{index}} {{item}} {{title}}"})

    assert template.fill(scope(tags="a b", title="T")) == ["0 a T", "1 b T"]


def test_lists_may_stand_in_lists(scope):
    template = compile_json({"$each": "rows", "$do": {"$each": "item", "$do": ["{{index}}", "{{item}}", "{{x}}"]}})

    assert template.fill(scope(rows=[[1], [2, 3]], x="x")) == [[[0, 1, "x"]], [[0, 2, "x"], [1, 3, "x"]]]


def test_entries_that_fill_to_nothing_are_left_out_and_an_empty_list_stays(scope):
    template = compile_json({"ids": {"$each": "rows", "$do": "{{item.id}}"}})

    assert template.fill(scope(rows=[{"id": 1}, {}, {"id": None}])) == {"ids": [1, None]}
    assert template.fill(scope(rows=[])) == {"ids": []}


@pytest.mark.parametrize("values", [{}, {"rows": None}])
def test_a_missing_list_leaves_its_field_out(values, scope):
    assert compile_json({"ids": {"$each": "rows", "$do": "{{item}}"}}).fill(scope(**values)) == {}


def test_what_is_no_list_is_refused(scope):
    with pytest.raises(ArgsInvalid, match="goes through a list"):
        compile_json({"$each": "rows", "$do": "{{item}}"}).fill(scope(rows={"a": 1}))


@pytest.mark.parametrize(
    "condition",
    ["files", "{{files}}", "count(files)", {"field": "count(files)", "op": "gt", "value": 0}, {"not": "{{gone}}"}],
)
def test_an_object_stays_where_its_condition_holds(condition, scope):
    template = compile_json({"text": "T", "media": {"$if": condition, "ids": "{{files.*.id}}"}})

    assert template.fill(scope(files=[{"id": 1}])) == {"text": "T", "media": {"ids": [1]}}


@pytest.mark.parametrize(
    "condition", ["files", "{{files}}", "first(files)", {"field": "files", "op": "exists"}, {"not": "{{title}}"}]
)
def test_an_object_is_left_out_where_its_condition_does_not_hold(condition, scope):
    template = compile_json([{"$if": condition, "ids": "{{files.*.id}}"}, 1])

    values = scope(title="T", **({} if isinstance(condition, dict) else {"files": []}))
    assert template.fill(values) == [1]
    assert compile_json({"$if": condition}).fill(values) is MISSING


def test_a_body_of_objects_by_kind_is_built(scope):
    template = compile_json({
        "facets": {
            "$each": "facets(text)",
            "$do": {
                "index": {"byteStart": "{{item.start}}", "byteEnd": "{{item.end}}"},
                "features": [
                    {"$if": "item.uri", "$type": "link", "uri": "{{item.uri}}"},
                    {"$if": "item.handle", "$type": "mention", "did": "{{item.handle}}"},
                ],
            },
        }
    })  # fmt: skip

    filled = template.fill(scope(text="This is a test 🇬🇧 https://www.example.com @a.example"))

    assert filled["facets"] == [
        {
            "index": {"byteStart": 24, "byteEnd": 47},
            "features": [{"$type": "link", "uri": "https://www.example.com"}],
        },
        {"index": {"byteStart": 48, "byteEnd": 58}, "features": [{"$type": "mention", "did": "a.example"}]},
    ]


def test_what_a_list_brings_itself_is_no_argument_of_the_template():
    template = compile_json({
        "a": {"$each": "item.rows", "$do": ["{{item.x}} {{index}} {{title}} ${KEY}", {"$if": "item.y", "z": "{{q.r}}"}]}
    })  # fmt: skip

    assert template.paths == {("item", "rows"), ("title",), ("q", "r")}
    assert template.keys == {"KEY": False}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"$each": "files"}, "$each and $do stand together, and alone"),
        ({"$do": "files"}, "$each and $do stand together, and alone"),
        ({"$each": "files", "$do": 1, "more": 2}, "$each and $do stand together, and alone"),
        ({"$each": ["a"], "$do": 1}, "$each is a path or a call that leads to a list"),
        ({"$each": "a b", "$do": 1}, "a path such as item.id, or a call such as first(files), is expected"),
        ({"$each": "{{a}} {{b}}", "$do": 1}, "one path or call is expected"),
        ({"$each": "x {{a}}", "$do": 1}, "one path or call is expected"),
        ({"$each": "", "$do": 1}, "a path such as item.id"),
        ({"$each": "firts(files)", "$do": 1}, "there is no function firts()"),
        ({"$if": 1, "a": 2}, "a condition is"),
        ({"$if": "not this", "a": 2}, "a path such as item.id"),
        ({"$if": {"field": "/ok", "op": "exists"}, "a": 2}, "$if cannot look into an answer"),
    ],
)
def test_misused_words_are_refused_when_compiled(template, message):
    with pytest.raises(BadInput) as caught:
        compile_json({"a": [template]})

    assert caught.value.message.startswith(message)
