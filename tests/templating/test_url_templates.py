from urllib.parse import urlsplit

import pytest
from hypothesis import given
from tests.templating import strategies

from habilis.errors import ArgsInvalid, BadInput, HabilisError, SecretMalformed, SecretMissing
from habilis.templating import Scope, compile_url


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("../admin", "/items/..%2Fadmin"),
        ("1?x=2#y", "/items/1%3Fx%3D2%23y"),
        ("a/b", "/items/a%2Fb"),
        ("%2e%2e", "/items/%252e%252e"),
        ("a\\b;c@d:e", "/items/a%5Cb%3Bc%40d%3Ae"),
        ("é ü", "/items/%C3%A9%20%C3%BC"),
        ("...", "/items/..."),
        (7, "/items/7"),
        (7.0, "/items/7"),
        (True, "/items/true"),
        (["a"], "/items/%5B%22a%22%5D"),
    ],
)
def test_an_argument_fills_one_path_segment(value, expected, scope):
    url = compile_url("https://api.example.com/items/{{id}}").fill(scope(id=value))

    assert url == f"https://api.example.com{expected}"


@pytest.mark.parametrize("value", ["1\r\nHost: evil", "..", ".", "", None, "a\0", "a\u2028b", "\x85", "\ud800"])
def test_an_argument_that_would_leave_its_segment_is_refused_by_name(value, scope):
    template = compile_url("https://api.example.com/items/{{id}}")

    with pytest.raises(ArgsInvalid) as caught:
        template.fill(scope(id=value))

    assert caught.value.message.startswith("id: ")
    assert "evil" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("text", ["/x{{a}}{{b}}/y", "/x/{{a}}{{b}}?z", "/x/.{{b}}", "/x/%2e{{b}}"])
def test_arguments_cannot_make_a_climbing_segment_together(text, scope):
    template = compile_url(f"https://api.example.com{text}")

    if "x{{" in text:
        assert template.fill(scope(a=".", b=".")).endswith("/x../y")
    else:
        with pytest.raises(ArgsInvalid):
            template.fill(scope(a=".", b="."))


def test_a_missing_argument_is_an_error_in_the_path_and_empty_in_the_query(scope):
    template = compile_url("https://h.example/a/{{id|all}}/{{x.y}}?q={{q}}&n={{n|1}}#{{f}}")

    assert template.fill(scope(x={"y": "z"})) == "https://h.example/a/all/z?q=&n=1#"
    with pytest.raises(ArgsInvalid, match=r"x\.y: missing, and the URL needs it"):
        template.fill(scope(id="1"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a&b=c#d ü", "a%26b%3Dc%23d%20%C3%BC"),
        ("a+b", "a%2Bb"),
        ("../x", "..%2Fx"),
        ("..", ".."),
        ("http://x/?y", "http%3A%2F%2Fx%2F%3Fy"),
        ("two\r\nlines\tand \0", "two%0D%0Alines%09and%20%00"),
    ],
)
def test_an_argument_fills_one_query_value(value, expected, scope):
    assert compile_url("https://h/posts?search={{q}}").fill(scope(q=value)) == f"https://h/posts?search={expected}"


def test_a_line_break_in_a_path_is_refused(scope):
    with pytest.raises(ArgsInvalid, match="q: control characters and line breaks are not allowed in a URL"):
        compile_url("https://h/{{q}}?q={{q}}").fill(scope(q="a\r\nb"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https://{{host}}/x", "arguments may not be part of the host"),
        ("https://{{sub}}.example.com/x", "arguments may not be part of the host"),
        ("https://example.com:{{port}}/x", "arguments may not be part of the host"),
        ("https://example.com{{tail}}", "arguments may not be part of the host"),
        ("{{url}}", "arguments may not be part of the host"),
        ("{{scheme}}://example.com/", "arguments may not be part of the host"),
        ("${SITE}{{tail}}/x", "arguments may not be part of the host"),
        ("${SITE}.evil.test/x", "after a key that gives the site comes / or ?"),
        ("${SITE}@evil.test/x", "after a key that gives the site comes / or ?"),
        ("${SITE}:8080/x", "after a key that gives the site comes / or ?"),
        ("${SITE}${MORE}/x", "after a key that gives the site comes / or ?"),
        ("${SITE|urlencode}/x", "|urlencode has no place in a host"),
        ("https://u:p@example.com/", "a URL may not carry a user name; use basic_auth"),
        ("https://${USER}@example.com/", "a URL may not carry a user name; use basic_auth"),
        ("https:///x", "only absolute https URLs, or a key at the start"),
        ("https://", "only absolute https URLs, or a key at the start"),
        ("https:/example.com", "only absolute https URLs, or a key at the start"),
        ("//example.com/x", "only absolute https URLs, or a key at the start"),
        ("/x/{{id}}", "only absolute https URLs, or a key at the start"),
        ("ftp://example.com/", "only absolute https URLs, or a key at the start"),
        ("javascript:alert(1)", "only absolute https URLs, or a key at the start"),
        ("", "only absolute https URLs, or a key at the start"),
        ("https://a.test\\@b.test/", "a URL has no blanks, control characters or backslashes"),
        ("https://a.test/x y", "a URL has no blanks, control characters or backslashes"),
        ("https://a.test/\r\n", "a URL has no blanks, control characters or backslashes"),
    ],
)
def test_what_cannot_be_a_url_is_refused_when_compiled(text, message):
    with pytest.raises(BadInput) as caught:
        compile_url(text)

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "host_key", "host"),
    [
        ("https://api.example.com/x", None, "api.example.com"),
        ("HTTPS://API.example.com:8443?x", None, "API.example.com:8443"),
        ("https://h.example", None, "h.example"),
        ("https://h.example#top", None, "h.example"),
        ("${SITE}/x", "SITE", None),
        ("${SITE}", "SITE", None),
        ("${SITE|https://d.example}?x", "SITE", None),
        ("https://${SITE}/x", "SITE", None),
        ("https://${SHOP}.example.com/x/${KEY}", None, "${SHOP}.example.com"),
    ],
)
def test_a_template_knows_where_its_host_comes_from(text, host_key, host):
    template = compile_url(text)

    assert (template.host_key, template.host) == (host_key, host)


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ("https://blog.example", "https://blog.example/wp-json"),
        ("https://blog.example/", "https://blog.example/wp-json"),
        ("https://blog.example/sub//", "https://blog.example/sub/wp-json"),
        ("http://localhost:8080", "http://localhost:8080/wp-json"),
    ],
)
def test_a_key_at_the_start_is_the_site_as_it_is(site, expected, scope):
    assert compile_url("${SITE}/wp-json").fill(scope(SITE=site)) == expected


@pytest.mark.parametrize("site", ["https://blog.example/", "blog.example", "http://blog.example"])
def test_a_key_after_the_scheme_gives_only_the_host(site, scope):
    assert compile_url("https://${SITE}/x").fill(scope(SITE=site)) == "https://blog.example/x"


@pytest.mark.parametrize(
    "site",
    [
        "https://a.test/?x=",
        "https://a.test#",
        "https://a@b.test",
        "https://a.test\\@b.test",
        "https://a\r\n",
        "a b",
        "/",
        "//",
    ],
)
def test_a_site_that_would_change_the_url_is_malformed(site, scope):
    for text in ("${SITE}/x", "https://${SITE}/x"):
        with pytest.raises(SecretMalformed) as caught:
            compile_url(text).fill(scope(SITE=site))
        assert caught.value.message == "SITE is no site address"


@pytest.mark.parametrize("value", ["evil.test/", "a@b", "a:1", "a#", "a?b", "a b", "\u0430pi"])
def test_a_key_within_the_host_holds_only_what_names_hold(value, scope):
    template = compile_url("https://${SHOP}.example.com/x")

    assert template.fill(scope(SHOP="my-shop")) == "https://my-shop.example.com/x"
    with pytest.raises(SecretMalformed) as caught:
        template.fill(scope(SHOP=value))
    assert caught.value.message == "SHOP has characters that a host name cannot carry"


@pytest.mark.parametrize(
    ("value", "in_path", "encoded", "in_query"),
    [
        ("https://www.example.com/", "https://www.example.com/", *["https%3A%2F%2Fwww.example.com%2F"] * 2),
        ("sc-domain:example.com", "sc-domain:example.com", *["sc-domain%3Aexample.com"] * 2),
        ("properties/12", "properties/12", "properties%2F12", "properties%2F12"),
        ("a?b#c&d%e", "a%3Fb%23c&d%25e", "a%3Fb%23c%26d%25e", "a%3Fb%23c%26d%25e"),
    ],
)
def test_a_key_elsewhere_stays_in_its_part_of_the_url(value, in_path, encoded, in_query, scope):
    keys = scope(K=value)

    assert compile_url("https://h/v1/${K}:run").fill(keys) == f"https://h/v1/{in_path}:run"
    assert compile_url("https://h/v1/${K|urlencode}/q").fill(keys) == f"https://h/v1/{encoded}/q"
    assert compile_url("https://h/v1?k=${K}").fill(keys) == f"https://h/v1?k={in_query}"


@pytest.mark.parametrize("value", ["..", "a/../b", "./a", "a\nb", "a/.."])
def test_a_key_that_climbs_or_breaks_the_path_is_malformed(value, scope):
    with pytest.raises(SecretMalformed) as caught:
        compile_url("https://h/v1/${K}/x").fill(scope(K=value))

    assert caught.value.message.startswith("K: ")


@pytest.mark.parametrize(
    "text", ["${K}/x", "https://${K}/x", "https://${K}.h/x", "https://h/${K}", "https://h/?k=${K}"]
)
def test_a_key_that_is_not_set_is_named(text, scope):
    for keys in (scope(), scope(K="")):
        with pytest.raises(SecretMissing) as caught:
            compile_url(text).fill(keys)
        assert caught.value.message == "K is not set"


def test_a_key_s_default_takes_its_place(scope):
    template = compile_url("${HOST|https://plausible.io}/${V|v 2}/x")

    assert template.fill(scope()) == "https://plausible.io/v%202/x"


def test_a_value_in_a_url_is_never_filled_again(scope):
    template = compile_url("https://h/{{a}}?k=${K}")

    assert template.fill(scope(a="${K}", K="{{a}}")) == "https://h/%24%7BK%7D?k=%7B%7Ba%7D%7D"


@given(strategies.arguments, strategies.keys)
def test_no_argument_or_key_changes_the_shape_of_a_url(arguments, keys):
    template = compile_url("https://h.example/p/{{a}}/x${A|k}/{{b.0|z}}?q={{item}}&r=${B|v}#{{a}}")
    try:
        url = template.fill(Scope(arguments, keys))
    except HabilisError:
        return

    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc) == ("https", "h.example")
    assert not {".", ".."} & set(parts.path.split("/"))
    assert parts.path.count("/") == 4 + keys.get("A", "").count("/")
    assert parts.query.count("&") == 1
    assert url.isascii()
    assert url.isprintable()


@given(strategies.template_texts, strategies.arguments, strategies.keys)
def test_compiling_and_filling_urls_raise_nothing_but_our_errors(text, arguments, keys):
    for start in ("", "https://h", "${A}"):
        try:
            url = compile_url(start + text).fill(Scope(arguments, keys))
        except HabilisError:
            continue
        assert "\n" not in url
