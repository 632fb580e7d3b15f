import re
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.templating import strategies

from habilis.errors import ArgsInvalid, BadInput, HabilisError, SecretMalformed
from habilis.templating import MISSING, Scope, compile_header, compile_text, fill_header

U = "filename=\"u.png\"; filename*=UTF-8''%C3%BC.png"
ATTACHMENT = 'attachment; filename="{{file.name}}"'


def filled(text, **values):
    keys = {name: value for name, value in values.items() if name.isupper()}
    return fill_header(compile_header(text), Scope(values, keys), name="Content-Disposition")


def named(name, text=ATTACHMENT):
    return filled(text, file={"name": name})


@pytest.mark.parametrize("name", ["photo.png", "two words (1).png", "100%.png", "a=b,c.png", "it's.png"])
def test_a_plain_name_stands_as_it_is(name):
    assert named(name) == f'attachment; filename="{name}"'


@pytest.mark.parametrize(
    ("name", "ascii_name", "encoded"),
    [
        ("çiçek ş.png", "cicek s.png", "%C3%A7i%C3%A7ek%20%C5%9F.png"),
        ("Größe ıØæ.png", "Grosse iOae.png", "Gr%C3%B6%C3%9Fe%20%C4%B1%C3%98%C3%A6.png"),
        ("e\u0301.png", "e.png", "e%CC%81.png"),
        ("🎉🎉.png", "_.png", "%F0%9F%8E%89%F0%9F%8E%89.png"),
        ("ключ.png", "_.png", "%D0%BA%D0%BB%D1%8E%D1%87.png"),
        ("日本", "_", "%E6%97%A5%E6%9C%AC"),
        ("a;b;.png", "a_b_.png", "a%3Bb%3B.png"),
        ('a"; x="b.png', "a'_ x='b.png", "a%22%3B%20x%3D%22b.png"),
        ("a\\b.png", "a_b.png", "a%5Cb.png"),
        ("\u2028.png", "_.png", "%E2%80%A8.png"),
        ("ﬁ½.png", "fi1_2.png", "%EF%AC%81%C2%BD.png"),
        ("(ü)'*.png", "(u)'*.png", "%28%C3%BC%29%27%2A.png"),
    ],
)
def test_any_other_name_has_an_ascii_likeness_and_is_encoded_beside_it(name, ascii_name, encoded):
    assert named(name) == f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{encoded}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("attachment; filename={{file.name}}", f"attachment; {U}"),
        ("attachment;FileName = {{file.name}};size=3", f"attachment;{U};size=3"),
        ('filename="{{replace(file.name, "ü", "u")}}"', 'filename="u.png"'),
        ('a; filename="{{lower(file.name)|none}}"; b="{{ext}}"', f'a; {U}; b="x"'),
        ('filename="a-{{file.name}}.{{ext}}"', "filename=\"a-u.png.x\"; filename*=UTF-8''a-%C3%BC.png.x"),
        ('x-filename="{{ext}}"', 'x-filename="x"'),
        ('a; filename="fixed.png"; b={{ext}}', 'a; filename="fixed.png"; b=x'),
        ("filename*=UTF-8''{{ext}}", "filename*=UTF-8''x"),
        ("{{ext}}", "x"),
        ("{{gone}}", MISSING),
    ],
)  # fmt: skip
def test_a_file_name_is_found_wherever_a_header_has_one(text, expected):
    assert filled(text, file={"name": "ü.png"}, ext="x") == expected


def test_the_encoded_name_is_not_taken_for_a_fault_of_the_header():
    text = 'form-data; filename="{{file.name}}"; title="{{title}}"'

    assert filled(text, file={"name": "🎉"}, title="é").endswith('; title="é"')
    with pytest.raises(ArgsInvalid, match="title has characters a header cannot carry"):
        filled(text, file={"name": "🎉"}, title="🎉")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a\r\nX-Evil: 1", "file.name: line breaks are not allowed in a header"),
        ("a\n", "file.name: line breaks are not allowed in a header"),
        ("a\0b", "file.name: control characters are not allowed in a header"),
        ("\ud800", "file.name has half of a character (a lone surrogate)"),
    ],
)
def test_a_name_that_no_header_carries_is_refused_and_not_shown(name, message):
    with pytest.raises(ArgsInvalid) as caught:
        named(name)

    assert str(caught.value) == message
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_key_elsewhere_in_such_a_header_is_still_checked():
    with pytest.raises(SecretMalformed, match="TOKEN has characters a header cannot carry"):
        filled(ATTACHMENT + "; t=${TOKEN}", file={"name": "🎉"}, TOKEN="sk-\n")


def test_a_quote_that_is_not_closed_is_refused_when_compiled():
    with pytest.raises(BadInput, match="the quote after filename= is not closed"):
        compile_header('attachment; filename="{{file.name}}')


def test_a_header_template_knows_what_it_uses_and_equals_another_of_its_source():
    template = compile_header(ATTACHMENT + "; t=${TOKEN}")

    assert template == compile_header(template.source)
    assert template.paths == {("file", "name")}
    assert template.keys == {"TOKEN": False}
    assert compile_header("about {{title}}") == compile_text("about {{title}}")


@given(st.text() | strategies.odd_texts, st.sampled_from(['"{{n}}"', "{{n}}", '"a {{n}}.{{n}}"']))
@example('";\\"\r\n', '"{{n}}"')
def test_no_name_leaves_its_quotes(name, written):
    try:
        sent = filled(f"attachment; filename={written}; size=1", n=name)
    except HabilisError:
        assert re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", name)
        return

    whole = re.fullmatch(
        r"attachment; filename=\"([ !#-:<-\[\]-~]*)\"(; filename\*=UTF-8''([\w!#$&+.^`|~%-]+))?; size=1", sent
    )
    expected = written.strip('"').replace("{{n}}", name)
    assert whole, sent
    assert (unquote(whole[3]) if whole[3] else whole[1]) == expected
