import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.signin.talks import BOUNDS, KEYS, NOW, answer, converse, oauth2, scope

from habilis.errors import HostNotAllowed, PlainHttpRefused, SecretMissing, SignInDenied, SignInFailed
from habilis.manifest.model import Afterwards, RegisterRule, RequestTemplate, Return
from habilis.names import KeyName
from habilis.signin.oauth2 import PageOrder, learn, learn_afterwards, page_address, read_code, register
from habilis.signin.tokens import read_tokens
from habilis.templating import compile_json, compile_place, compile_text, compile_url

HERE = "https://here.example/api/connect/callback"
ORDER = PageOrder(state="S" * 43, challenge="C" * 43, redirect_uri=HERE)
SITE = KeyName("X_SITE")


def page(order=ORDER, keys=KEYS, **fields):
    return page_address(oauth2(**fields), order, scope=scope(keys), bounds=BOUNDS)


def query_of(url):
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))


def code(issuer="", **query):
    return read_code(query, issuer=issuer)


def test_the_page_is_given_all_that_the_flow_says():
    url = page()

    assert url.startswith("https://auth.example/authorize?")
    assert query_of(url) == {
        "response_type": "code",
        "client_id": "client-1",
        "redirect_uri": HERE,
        "scope": "a b",
        "state": "S" * 43,
        "code_challenge": "C" * 43,
        "code_challenge_method": "S256",
    }


def test_the_page_speaks_the_providers_dialect():
    url = page(
        order=PageOrder(state="S", challenge="", redirect_uri=HERE),
        authorize_url=compile_url("https://auth.example/authorize?v=2"),
        scope_separator=",",
        client_id_param="client_key",
        authorize_params={"prompt": compile_text("consent"), "owner": compile_text("${X_OWNER}")},
    )

    assert query_of(url) == {
        "v": "2",
        "response_type": "code",
        "client_key": "client-1",
        "redirect_uri": HERE,
        "scope": "a,b",
        "state": "S",
        "prompt": "consent",
    }


def test_more_parameters_do_not_take_the_place_of_ours():
    fixed = {
        name: compile_text("fixed") for name in ("state", "redirect_uri", "response_type", "code_challenge_method")
    }

    assert query_of(page(authorize_params=fixed)) == query_of(page())


def test_a_page_is_on_a_listed_host_over_https_only():
    with pytest.raises(HostNotAllowed):
        page(authorize_url=compile_url("https://evil.test/authorize"))
    with pytest.raises(PlainHttpRefused):
        page(authorize_url=compile_url("http://auth.example/authorize"))


@pytest.mark.parametrize("site", ["javascript:alert(1)", "file:///etc/passwd", "ftp://auth.example"])
def test_a_key_does_not_make_another_kind_of_page(site):
    with pytest.raises(Exception) as caught:
        page(keys={**KEYS, "X_SITE": site}, authorize_url=compile_url("${X_SITE}/authorize"))

    assert caught.value.code in {"host_not_allowed", "secret_malformed", "plain_http_refused", "bad_input"}


def test_an_application_without_an_id_has_no_page():
    with pytest.raises(SecretMissing, match="X_CLIENT_ID"):
        page(keys={})


def test_the_code_is_the_one_that_came():
    assert code(code=["c-1"], state=["S"], scope=["a"], session_state=["x", "y"]) == "c-1"


@pytest.mark.parametrize(
    "query",
    [
        {"code": ["c-1", "c-2"]}, {"code": ["c-1"], "state": ["S", "X"]}, {"code": ["c-1"], "iss": ["a", "a"]},
        {"error": ["a", "b"]}, {"code": [""]}, {}, {"code": ["x" * 100_000]},
        {"code": ["c-1"], "error": ["access_denied"]},
    ],
)  # fmt: skip
def test_a_return_that_can_be_read_in_two_ways_or_brings_no_code_is_none(query):
    with pytest.raises(SignInFailed) as caught:
        code(**query)

    assert type(caught.value) is SignInFailed
    assert caught.value.status == 400


ISSUER = "https://h.example"


def test_the_issuer_is_compared_to_the_letter():
    assert code(ISSUER, code=["c-1"], iss=[ISSUER]) == "c-1"


@pytest.mark.parametrize("iss", [["https://a.test"], ["https://h.example/"], ["https://H.example"], [], [""]])
@pytest.mark.parametrize("rest", [{"code": ["c-1"]}, {"error": ["access_denied"]}])
def test_another_issuer_or_none_is_a_mix_up(iss, rest):
    with pytest.raises(SignInFailed, match="another provider") as caught:
        code(ISSUER, iss=iss, **rest)

    assert type(caught.value) is SignInFailed


def test_a_no_is_told_in_one_short_line():
    said = "<script>\r\nSet-Cookie:x" + "y" * 500

    with pytest.raises(SignInDenied) as caught:
        code(error=["access_denied"], error_description=[said])

    assert "\r" not in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message.removeprefix("the sign-in was refused: ")) <= 200


def test_any_other_error_is_no_refusal_by_the_person():
    with pytest.raises(SignInFailed, match="invalid_scope: no such scope") as caught:
        code(error=["invalid_scope"], error_description=["no such scope"])

    assert type(caught.value) is SignInFailed


def tokens(**more):
    return read_tokens(answer({"access_token": "tok-1", **more}), now=NOW)


RETURNS = {SITE: Return(token=compile_place("/instance")), KeyName("X_SHOP"): Return(callback="shop")}


def test_values_are_learned_from_the_callback_and_from_the_token_answer():
    found = learn(oauth2(returns=RETURNS), {"shop": ["acme"]}, tokens(instance="https://eu.auth.example"))

    assert found == {"X_SITE": "https://eu.auth.example", "X_SHOP": "acme"}


def test_a_number_is_learned_as_text():
    found = learn(oauth2(returns={SITE: Return(token=compile_place("/id"))}), {}, tokens(id=17))

    assert found == {"X_SITE": "17"}


@pytest.mark.parametrize("query", [{}, {"shop": [""]}, {"shop": ["a", "b"]}])
def test_a_value_that_is_not_there_exactly_once_fails_the_whole(query):
    with pytest.raises(SignInFailed, match="'shop'"):
        learn(oauth2(returns=RETURNS), query, tokens(instance="x"))


@pytest.mark.parametrize("instance", [None, "", [], {}, True])
def test_a_place_that_holds_no_value_fails_the_whole(instance):
    with pytest.raises(SignInFailed, match="nothing at /instance"):
        learn(oauth2(returns=RETURNS), {"shop": ["acme"]}, tokens(instance=instance))


def test_values_are_learned_from_a_request_with_the_new_token():
    request = RequestTemplate(
        method="GET",
        url=compile_url("https://auth.example/me"),
        headers=(("Authorization", compile_text("Bearer ${X_TOKEN}")),),
    )
    flow = oauth2(afterwards=Afterwards(request=request, returns={KeyName("X_CLOUD"): compile_place("/0/id")}))

    found, (asked,) = converse(
        learn_afterwards(flow, scope=scope({"X_TOKEN": "tok-1"}), bounds=BOUNDS), answer([{"id": "cloud-1"}])
    )

    assert asked.headers == (("Authorization", "Bearer tok-1"),)
    assert found == {"X_CLOUD": "cloud-1"}


RULE = RegisterRule(
    url=compile_url("https://auth.example/register"),
    body=compile_json({"client_name": "{{app_name}}", "redirect_uris": ["{{redirect_uri}}"], "scope": "{{scopes}}"}),
    client_id=compile_place("/client_id"),
    client_id_env=KeyName("X_CLIENT_ID"),
    client_secret=compile_place("/client_secret"),
    client_secret_env=KeyName("X_CLIENT_SECRET"),
)


def registered(*answers):
    arguments = {"app_name": "Habilis: a", "redirect_uri": HERE, "scopes": "a b"}
    return converse(register(RULE, scope=scope({}, **arguments), bounds=BOUNDS), *answers)


def test_an_application_registers_itself_and_keeps_what_it_was_given():
    found, (asked,) = registered(answer({"client_id": "new-1", "client_secret": "sec-1"}, 201))

    assert json.loads(asked.body) == {"client_name": "Habilis: a", "redirect_uris": [HERE], "scope": "a b"}
    assert found == {"X_CLIENT_ID": "new-1", "X_CLIENT_SECRET": "sec-1", "X_CLIENT_ID_REDIRECT_URI": HERE}


def test_an_application_without_a_secret_keeps_none():
    found, _ = registered(answer({"client_id": "new-1"}, 201))

    assert found["X_CLIENT_SECRET"] == ""


@pytest.mark.parametrize(
    "refusal", [answer({"error": "access_denied"}, 403), answer({}, 201), answer("<html>"), answer({"client_id": []})]
)
def test_a_server_that_registers_nobody_is_told(refusal):
    with pytest.raises(SignInFailed, match="without an id for this application"):
        registered(refusal)
