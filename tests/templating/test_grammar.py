import pytest

from habilis.errors import BadInput
from habilis.templating import compile_json, compile_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{title", "the placeholder is not closed with }}"),
        ("{{title}", "the placeholder is not closed with }}"),
        ("x ${NAME", "the placeholder is not closed with }"),
        ("{{}}", "a placeholder holds names joined by dots"),
        ("{{ }}", "a placeholder holds names joined by dots"),
        ("{{a b}}", "a placeholder holds names joined by dots"),
        ("{{a..b}}", "a placeholder holds names joined by dots"),
        ("{{a.}}", "a placeholder holds names joined by dots"),
        ("{{.a}}", "a placeholder holds names joined by dots"),
        ("{{a[0]}}", "a placeholder holds names joined by dots"),
        ("{{0.a}}", "a placeholder holds names joined by dots"),
        ("{{*.a}}", "a placeholder holds names joined by dots"),
        ("{{now()}}", "functions are not available in placeholders"),
        ("{{first(files).name}}", "functions are not available in placeholders"),
        ("{{q|urlencode}}", "|urlencode is for keys"),
        ("{{a|{}}}", "a default cannot hold braces"),
        ("{{a|${B}}}", "a default cannot hold braces"),
        ("${A|${B}}", "a default cannot hold braces"),
        ("${A|{{b}}}", "a default cannot hold braces"),
        ("${}", "a key's name is upper case"),
        ("${name}", "a key's name is upper case"),
        ("${A B}", "a key's name is upper case"),
        ("${1A}", "a key's name is upper case"),
    ],
)
def test_a_malformed_placeholder_is_refused_and_shown(text, message):
    with pytest.raises(BadInput) as caught:
        compile_text(text)

    assert caught.value.message.startswith(message)
    assert caught.value.where in text


def test_a_long_malformed_placeholder_is_shown_shortened():
    with pytest.raises(BadInput) as caught:
        compile_text("{{" + "a b" * 1000 + "}}")

    assert len(caught.value.where) == 60


@pytest.mark.parametrize("text", ["", "plain", "}}", "{ }", "$A", "$", "{a}", "a } b", "100 %", "{% if %}"])
def test_text_without_placeholders_stays(text, scope):
    assert compile_text(text).fill(scope()) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("costs ${{price}}", "costs $5"),
        ("{{{price}}}", "{5}"),
        ('{"p":{{price}}}', '{"p":5}'),
        ("{{price}}{{price}}", "55"),
        ("{{ price }}", "5"),
        ("{{nothing| some text }}", "some text"),
        ("${NOTHING| a|b }", "a|b"),
        ("{{nothing|a|b}}", "a|b"),
        ("{{nothing|}}!", "!"),
    ],
)
def test_placeholders_are_told_from_the_text_around_them(text, expected, scope):
    assert compile_text(text).fill(scope(price=5)) == expected


def test_a_template_knows_its_arguments_and_which_keys_have_defaults():
    template = compile_json({"a": "{{item.id}} {{title|x}}", "b": ["${A}", "${B|b} ${C|c}", "${C}", 5]})

    assert template.arguments == {"item", "title"}
    assert template.keys == {"A": False, "B": True, "C": False}


def test_a_placeholder_in_a_field_s_name_is_refused():
    with pytest.raises(BadInput, match="may not stand in a field's name"):
        compile_json({"a": {"{{name}}": 1}})


@pytest.mark.parametrize("name", ["$each", "$do", "$if"])
def test_words_of_the_format_that_come_later_are_refused(name):
    with pytest.raises(BadInput, match="is not available in templates yet"):
        compile_json({"a": [{name: "x"}]})
