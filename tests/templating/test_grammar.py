import pytest

from habilis.errors import BadInput
from habilis.templating import compile_json, compile_text, compile_url


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
        ("{{now()", "a call is followed by a path"),
        ("{{now() x}}", "a call is followed by a path"),
        ("{{now().}}", "a call is followed by a path"),
        ("{{first(files)name}}", "a call is followed by a path"),
        ("{{first(files}}", "a call is closed with )"),
        ("{{join(tags ',')}}", "a call is closed with )"),
        ("{{join(tags, ',}}", "a text in a call is not closed with its quote"),
        ("{{join(tags,)}}", "a function is given paths"),
        ("{{join(,tags)}}", "a function is given paths"),
        ("{{join(tags, ${SEP})}}", "a function is given paths"),
        ("{{cut(text, 10px)}}", "a function is given paths"),
        (r"{{join(tags, '\d')}}", "after a backslash in a text comes"),
        ("{{nwo()}}", "there is no function nwo()"),
        ("{{strip(text)}}", "there is no function strip()"),
        ("{{lower(nothing(text))}}", "there is no function nothing()"),
        ("{{now(1)}}", "now() is given 1 values; it is written now()"),
        ("{{join(tags)}}", "join() is given 1 values; it is written join(list, sep)"),
        ("{{cut(text, 1, 'chars', 2)}}", "cut() is given 4 values; it is written cut(text, max, unit)"),
        ("{{cut(text, 1, 'pixels')}}", "cut(): expected one of graphemes, chars, utf16, bytes"),
        ("{{cut(text, -1)}}", "cut(): expected how much may stay"),
        ("{{cut(text, 1.5)}}", "cut(): expected how much may stay"),
        ("{{date(day, '%Q')}}", "date(): a format knows no %Q"),
        ("{{date(day, '%Y', 'Europe/Nowhere')}}", "date(): expected a time zone"),
        ("{{date(day, '%Y', '../../etc/passwd')}}", "date(): expected a time zone"),
        ("{{date(day, '%Y', 'Europe')}}", "date(): expected a time zone"),
        ("{{hash(text, 'crc32')}}", "hash(): expected one of sha256"),
        ("{{hmac(text, secret)}}", "hmac() takes the bare name of a key second"),
        ("{{hmac(text, 'SECRET')}}", "hmac() takes the bare name of a key second"),
        ("{{pick(files, 'pictures')}}", "pick(): expected types"),
        ("{{chunks(file, 0)}}", "chunks(): expected a number of bytes"),
        ("{{replace(text, '', 'x')}}", "replace(): expected a text that is not empty"),
        ("{{split(text, '')}}", "split(): expected a text that is not empty"),
        ("{{" + "a(" * 14 + "b" + ")" * 14 + "}}", "functions stand in each other at most 12 deep"),
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


def test_a_misspelt_function_is_answered_with_the_right_one():
    with pytest.raises(BadInput) as caught:
        compile_text("x {{ strip_htm(text) | none }} y")

    assert caught.value.where == "{{ strip_htm(text) | none }}"
    assert caught.value.hint == "did you mean strip_html()?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ upper( title ) }}", "A}} B"),
        ("<{{upper(title)}}{{lower(title)}}>", "<A}} Ba}} b>"),
        ("{{replace(title, '}}', '{{x}}')}}", "a{{x}} b"),
        ('{{replace(title, "}}", "|")}}', "a| b"),
        (r"{{replace(title, ' ', '\n\t\\\'\"')}}", "a}}\n\t\\'\"b"),
        ("{{join(split(title, ' '), '-')}}", "a}}-b"),
        ("{{first(files).name}}", "one.png"),
        ("{{first(files).nothing|none}}", "none"),
        ("{{join(files.*.name, ', ')}}", "one.png, two.png"),
        ("{{first(nothing) | a default, as usual }}", "a default, as usual"),
        ("{{cut(title, 1)}}", "a"),
        ("{{lower(first(split(upper(title), ' ')))}}", "a}}"),
        ("{{nothing|Don't}} {{title}}", "Don't a}} b"),
    ],
)
def test_functions_are_called_with_paths_texts_numbers_and_calls(text, expected, scope):
    values = scope(title="a}} b", files=[{"name": "one.png"}, {"name": "two.png"}])

    assert compile_text(text).fill(values) == expected


def test_a_template_knows_every_path_and_key_that_its_functions_use():
    template = compile_json({"a": "{{join(register.*.id, glue)}} {{item.url}}", "b": "{{hmac(text, SECRET)}} ${A|x}"})

    assert template.paths == {("register", "*", "id"), ("glue",), ("item", "url"), ("text",)}
    assert template.arguments == {"register", "glue", "item", "text"}
    assert template.keys == {"SECRET": False, "A": True}
    assert compile_text("{{last(a.b)}}").paths == {("a", "b")}
    assert compile_url("https://h/{{last(a.b)}}").paths == {("a", "b")}
