import pytest
from tests.exchange.conversations import BASE, answer, request, run, scope, step, tool

from habilis.redaction import clean, recording


def cookies(first, *then, at="/w/api.php", more=()):
    """The Cookie headers of the requests to `then`, after an answer at `at` set `first`."""
    of = tool(step("a", request("GET", at)), *(step(f"s{n}", request("GET", path)) for n, path in enumerate(then)))
    played = run(of, scope(), [answer(200, {}, set_cookie=first), *more, *[answer()] * (len(then) - len(more))])
    assert played.error is None
    return [dict(sent.headers).get("Cookie", "") for sent in played.requests[1:]]


def test_a_cookie_goes_back_to_the_host_that_set_it_and_to_no_other():
    assert cookies("sid=1; Path=/", "/x", "https://uploads.example.com/x") == ["sid=1", ""]


def test_a_cookie_is_not_sent_below_the_host_that_set_it_even_if_it_says_so():
    assert cookies("sid=1; Domain=example.com; Path=/", "https://eu.api.example.com/x") == [""]


def test_another_port_is_another_host():
    of = tool(step("a", request("GET")), step("b", request("GET", "https://api.example.com:443/")))

    played = run(of, scope(), [answer(200, {}, set_cookie="sid=1"), answer()])

    assert dict(played.requests[1].headers)["Cookie"] == "sid=1"


@pytest.mark.parametrize(
    ("rule", "path", "is_sent"),
    [
        ("", "/w/api.php", True),
        ("", "/w/other", True),
        ("", "/x", False),
        ("; Path=/", "/x", True),
        ("; Path=/w", "/w", True),
        ("; Path=/w", "/wiki", False),
        ("; Path=/w/", "/w/x?a=1", True),
        ("; path=elsewhere", "/w/x", True),
    ],
)
def test_a_cookie_keeps_to_its_path(rule, path, is_sent):
    assert cookies(f"sid=1{rule}", path) == ["sid=1" if is_sent else ""]


def test_several_cookies_in_one_header_are_told_apart_despite_the_comma_of_a_date():
    joined = "a=1; expires=Wed, 30 Dec 2026 10:00:00 GMT; Path=/, b=2; HttpOnly; Path=/w, c=; Path=/"

    assert cookies(joined, "/w/x") == ["b=2; a=1; c="]


@pytest.mark.parametrize(
    "end", ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01-Jan-1970 00:00:01 GMT", "expires=Sun, 29 Nov 2026 12:00:00 GMT"]
)
def test_a_cookie_that_is_over_is_dropped_and_a_new_value_replaces_the_old_one(end):
    assert cookies("a=1, b=1", "/w/x", "/w/x", more=[answer(200, {}, set_cookie=f"a=deleted; {end}, b=2")]) == [
        "a=1; b=1",
        "b=2",
    ]


def test_a_cookie_that_lasts_is_kept():
    assert cookies("a=1; Max-Age=3600; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "/w/x") == ["a=1"]


@pytest.mark.parametrize("odd", ["=1", "a b=1", "a=\x01", "a=ü", "a=" + "x" * 5000, "; Path=/"])
def test_what_is_no_cookie_is_passed_over(odd):
    assert cookies(odd, "/w/x") == [""]


@pytest.mark.parametrize("kept", ['a="x y"', "a=1,2", "a=b=c", "a=\\"])
def test_a_cookie_goes_back_as_it_came(kept):
    assert cookies(f"{kept}; HttpOnly, b=2", "/w/x") == [f"{kept}; b=2"]


def test_only_so_many_cookies_are_kept():
    assert cookies(", ".join(f"c{n}=1" for n in range(90)), "/w/x")[0].count("=") == 50


def test_a_cookie_of_the_manifest_stands_beside_them():
    of = tool(step("a", request("GET")), step("b", request("GET", headers={"Cookie": "lang=en"})))

    played = run(of, scope(), [answer(200, {}, set_cookie="sid=1"), answer()])

    assert [value for name, value in played.requests[1].headers if name == "Cookie"] == ["lang=en; sid=1"]


def test_cookies_are_set_by_failed_tries_too_and_end_with_the_call():
    of = tool(request("GET"))

    played = run(of, scope(), [answer(503, None, set_cookie="sid=1", retry_after="1"), answer()])
    again = run(of, scope(), [answer()])

    assert [dict(sent.headers).get("Cookie") for sent in (*played.requests, *again.requests)] == [None, "sid=1", None]


def test_a_session_is_masked_and_an_ordinary_word_is_not():
    with recording():
        cookies("sid=0123456789abcdef-session; HttpOnly, place=Copenhagen-Denmark-EU, lang=deutsch; HttpOnly", "/w/x")

        shown = clean("0123456789abcdef-session Copenhagen-Denmark-EU deutsch")

    assert shown == "[redacted cookie] Copenhagen-Denmark-EU deutsch"


def test_a_cookie_for_encrypted_requests_goes_over_https():
    assert cookies("sid=1; Secure; Path=/", f"{BASE}/x") == ["sid=1"]
