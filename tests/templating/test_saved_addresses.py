import pytest

from habilis.errors import ArgsInvalid, BadInput, UpstreamProtocol
from habilis.templating import compile_url

SAVED = frozenset({"register", "item"})
ADDRESS = "https://up.example.com/x/%2F?sig=a%2Fb&n=1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{item.upload}}", ADDRESS),
        ("{{register.0.upload}}", ADDRESS),
        ("{{first(register).upload}}", ADDRESS),
        ("{{ item.upload }}&part={{index}}", f"{ADDRESS}&part=2%26"),
        ("{{item.gone|https://up.example.com/}}a/{{index}}?k=${KEY}", "https://up.example.com/a/2%26?k=k%2F"),
    ],
)
def test_a_url_may_begin_with_an_address_that_an_answer_gave(text, expected, scope):
    template = compile_url(text, saved=SAVED)

    values = scope(item={"upload": ADDRESS}, register=[{"upload": ADDRESS}], index="2&", KEY="k/")
    assert template.fill(values) == expected
    assert (template.is_saved, template.host, template.host_key) == (True, None, None)


@pytest.mark.parametrize("item", [{}, {"upload": None}, {"upload": ""}, {"upload": 5}, {"upload": ["https://h"]}, None])
def test_an_answer_without_the_address_is_the_service_s_fault(item, scope):
    with pytest.raises(UpstreamProtocol) as caught:
        compile_url("{{item.upload}}", saved=SAVED).fill(scope(item=item))

    assert caught.value.message == "item.upload: the answer gave no address"
    assert caught.value.outcome == "not_sent"


@pytest.mark.parametrize(
    "address", ["https://h/\r\nX: y", "https://h/a b", "https://a.test\\@b.test/", "https://h/\x00"]
)
def test_an_address_that_is_no_url_is_refused_and_not_shown(address, scope):
    with pytest.raises(UpstreamProtocol) as caught:
        compile_url("{{item.upload}}", saved=SAVED).fill(scope(item={"upload": address}))

    assert caught.value.message == "item.upload: the answer gave an address that is no URL"


@pytest.mark.parametrize(
    "text",
    [
        "{{url}}",
        "{{replace(url, 'a', 'b')}}",
        "{{replace(item.url, 'a', title)}}",
        "{{hmac(item.url, KEY)}}",
        "{{uuid()}}",
        "https://{{item.host}}/x",
        "https://{{first(register).host}}/x",
        "https://h.example{{lower(title)}}",
    ],
)
def test_nothing_else_that_fills_may_give_the_host(text):
    with pytest.raises(BadInput, match="arguments may not be part of the host"):
        compile_url(text, saved=SAVED)


def test_behind_the_address_an_argument_fills_its_place_and_nothing_more(scope):
    template = compile_url("{{item.url}}/parts/{{id}}", saved=SAVED)

    values = {"item": {"url": "https://h.example/u"}}
    assert template.fill(scope(id="a/../b", **values)) == "https://h.example/u/parts/a%2F..%2Fb"
    with pytest.raises(ArgsInvalid, match="id: missing"):
        template.fill(scope(**values))
    with pytest.raises(ArgsInvalid, match="id: cannot be empty"):
        template.fill(scope(id="..", **values))


def test_a_function_fills_a_place_in_a_url(scope):
    template = compile_url("https://h.example/{{last(split(uri, '/'))}}?q={{lower(q)}}")

    assert template.fill(scope(uri="at://did/post/3k", q="Ä B")) == "https://h.example/3k?q=%C3%A4%20b"
    with pytest.raises(ArgsInvalid, match=r"last\(\): missing, and the URL needs it"):
        template.fill(scope(q="x"))


def test_a_url_template_without_saved_names_is_as_before():
    assert compile_url("https://h.example/{{item.id}}") == compile_url("https://h.example/{{item.id}}", saved=SAVED)
    assert not compile_url("https://h.example/{{item.id}}", saved=SAVED).is_saved
