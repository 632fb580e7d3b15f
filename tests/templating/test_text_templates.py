import pytest
from hypothesis import given
from tests.templating import strategies

from habilis.errors import ArgsInvalid, HabilisError, SecretMalformed
from habilis.templating import MISSING, Scope, compile_text, fill_header, header_value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("é ${X}", "é ${X}"),
        (5, "5"),
        (5.0, "5"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (1e21, "1e+21"),
        (2**70, str(2**70)),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ([1, "é", None], '[1,"é",null]'),
        ({"a": 1.0}, '{"a":1.0}'),
    ],
)
def test_a_value_inside_text_is_text_or_json(value, expected, scope):
    assert compile_text("<{{a}}>").fill(scope(a=value)) == f"<{expected}>"
    assert compile_text("<{{a.0}}>").fill(scope(a=[value])) == f"<{expected}>"


@pytest.mark.parametrize("value", [5, True, ["x"], {}])
def test_a_whole_placeholder_is_written_as_text_too(value, scope):
    assert isinstance(compile_text("{{a}}").fill(scope(a=value)), str)


def test_only_a_whole_placeholder_can_be_missing(scope):
    assert compile_text("{{a}}").fill(scope()) is MISSING
    assert compile_text("{{a}}").fill(scope(a=None)) is MISSING
    assert compile_text("{{a}}").fill(scope(a="")) == ""
    assert compile_text("${A}").fill(scope()) is MISSING
    assert compile_text("${A|urlencode}").fill(scope()) is MISSING
    assert compile_text("Bearer ${A}").fill(scope()) == "Bearer "
    assert compile_text("{{a}}{{b}}").fill(scope()) == ""


def test_null_inside_text_takes_the_default(scope):
    assert compile_text("{{a|d}}").fill(scope(a=None)) == "d"
    assert compile_text("x {{a|d}}").fill(scope(a=None)) == "x d"


def test_a_text_template_equals_another_of_the_same_source():
    assert compile_text("a {{b}}") == compile_text("a {{b}}")
    assert compile_text("a {{b}}") != compile_text("a {{c}}")
    assert {compile_text("a"), compile_text("a")} == {compile_text("a")}


def test_neither_a_template_nor_a_scope_shows_values(scope):
    values = scope(TOKEN="sk-secret", title="private")

    assert "sk-secret" not in repr(values)
    assert "private" not in repr(values)


def header(text: str, values: Scope) -> str:
    return fill_header(compile_text(text), values, name="X-Title")


@pytest.mark.parametrize("value", ["x\r\nX-Evil: 1", "x\n", "\rx"])
def test_a_line_break_in_a_header_is_blamed_on_its_argument(value, scope):
    with pytest.raises(ArgsInvalid) as caught:
        header("about {{title}}", scope(title=value))

    assert str(caught.value) == "title: line breaks are not allowed in a header"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a\0b", "title: control characters are not allowed in a header"),
        ("a\x7fb", "title: control characters are not allowed in a header"),
        ("a\x85b", "title: control characters are not allowed in a header"),
        ("ключ", "title has characters a header cannot carry"),
        ("🎉", "title has characters a header cannot carry"),
        ("\ud800", "title has characters a header cannot carry"),
    ],
)
def test_what_a_header_cannot_carry_is_blamed_on_its_argument(value, message, scope):
    with pytest.raises(ArgsInvalid) as caught:
        header("{{ok}} {{title}}", scope(ok="é", title=value))

    assert str(caught.value) == message


@pytest.mark.parametrize("value", ["sk-secret\n", "sk-secr\u00e9t", "sk-🎉secret", "sk-\0secret"])
def test_a_key_that_a_header_cannot_carry_is_named_and_never_shown(value, scope):
    with pytest.raises(SecretMalformed) as caught:
        header("Bearer ${GA4_TOKEN}", scope(GA4_TOKEN=value))

    assert caught.value.message == "GA4_TOKEN has characters a header cannot carry"
    assert "sk-" not in repr(caught.value) + str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_header_s_own_fault_is_blamed_on_its_name(scope):
    with pytest.raises(ArgsInvalid, match="X-Title has characters a header cannot carry"):
        header("🎉 {{title}}", scope(title="x"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Bearer ${TOKEN}", "Bearer sk"), (" {{title}}\t", "é\tx"), ("${NONE}", MISSING), ("a {{none}}", "a")],
)
def test_a_good_header_is_filled_and_its_ends_are_trimmed(text, expected, scope):
    assert header(text, scope(TOKEN="sk", title="é\tx")) == expected


def test_a_header_value_can_be_checked_by_itself():
    assert header_value(" é ", name="X-A") == "é"
    with pytest.raises(ArgsInvalid, match="X-A: line breaks are not allowed in a header"):
        header_value("a\nb", name="X-A")


@given(strategies.template_texts, strategies.arguments, strategies.keys)
def test_a_filled_header_can_always_be_sent(text, arguments, keys):
    try:
        filled = fill_header(compile_text(text), Scope(arguments, keys), name="X-A")
    except HabilisError:
        return

    if filled is not MISSING:
        sent = filled.encode("latin-1")
        assert not {0, 10, 13} & set(sent)
        assert filled == filled.strip(" \t")
