import json
import traceback
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from habilis.errors import (
    ArgsInvalid,
    BadInput,
    HabilisError,
    HostNotAllowed,
    PlainHttpRefused,
    SecretMalformed,
    SecretMissing,
)
from habilis.exchange.fill import Bounds, fill_request
from habilis.hosts import AllowedHosts
from habilis.manifest.model import RequestTemplate
from habilis.redaction import recording
from habilis.templating import Scope, compile_json, compile_text, compile_url

SECRET = "canary-5e1f7a"


def template(*, method="POST", url="https://api.example.com/items", headers=None, basic_auth=None, body=None):
    return RequestTemplate(
        method=method,
        url=compile_url(url),
        headers=tuple((name, compile_text(text)) for name, text in (headers or {}).items()),
        basic_auth=None if basic_auth is None else tuple(map(compile_text, basic_auth)),
        json=None if body is None else compile_json(body),
        timeout_s=7,
    )


def bounds(keys, *, private_hosts=frozenset(), is_read=False):
    hosts = AllowedHosts.of(["api.example.com", "${SITE}"], keys)
    return Bounds(hosts=hosts, private_hosts=private_hosts, is_read=is_read)


def filled(of, arguments=None, keys=None):
    keys = keys or {}
    return fill_request(of, Scope(arguments=arguments or {}, keys=keys), bounds(keys), where="tool 'post'")


def refusal(error, of, arguments=None, keys=None):
    with pytest.raises(error) as caught:
        filled(of, arguments, keys)
    assert type(caught.value) is error
    assert caught.value.where == "tool 'post'"
    assert caught.value.outcome == "refused"
    return caught.value


def everything_said(error):
    """Return all text that hangs on an error: its own, and what it was raised from or amid."""
    hung = [error]
    for one in hung:
        hung += [other for other in (one.__cause__, one.__context__) if other is not None and other not in hung]
    return "".join([*traceback.format_exception(error), *(f"{one!r} {vars(one)} {one.args}" for one in hung)])


def test_a_request_carries_all_that_the_manifest_and_the_account_say():
    of = template(headers={"X-Kind": "post"}, body={"title": "{{title}}"})
    allowed = bounds({}, private_hosts=frozenset({"localhost:8080"}), is_read=True)

    request = fill_request(of, Scope(arguments={"title": "Hi"}, keys={}), allowed, where="tool 'post'")

    assert (request.where, request.method, request.url) == ("tool 'post'", "POST", "https://api.example.com/items")
    assert request.headers == (("X-Kind", "post"), ("Content-Type", "application/json"))
    assert request.body == b'{"title": "Hi"}'
    assert (request.timeout_s, request.is_read, request.basic_auth) == (7, True, None)
    assert request.private_hosts == {"localhost:8080"}


def test_a_request_without_a_body_says_nothing_of_its_type():
    request = filled(template(method="GET"))

    assert (request.body, request.headers) == (None, ())


@pytest.mark.parametrize("name", ["Content-Type", "content-type", "CONTENT-TYPE"])
def test_a_content_type_of_the_manifest_stands(name):
    request = filled(template(headers={name: "application/vnd.api+json"}, body={}))

    assert request.headers == ((name, "application/vnd.api+json"),)


def test_a_body_is_utf_8_json_with_what_was_given_and_nothing_for_what_was_not():
    of = template(body={"title": "{{title}}", "n": "{{n}}", "tags": ["{{a}}", "{{b}}"], "left": "{{none}}"})

    request = filled(of, {"title": "Žluťoučký 🙂", "n": 5, "b": True})

    assert request.body == '{"title": "Žluťoučký 🙂", "n": 5, "tags": [true]}'.encode()


def test_a_body_that_fills_to_nothing_is_an_empty_object():
    assert filled(template(body="{{payload}}")).body == b"{}"


@pytest.mark.parametrize("value", ["\ud800", ["\udfff"], {"a\udc00": 1}, {"deep": [{"x": SECRET + "\ud83d"}]}])
def test_a_body_with_half_a_character_is_refused_without_the_text(value):
    error = refusal(ArgsInvalid, template(body={"text": "{{text}}"}), {"text": value})

    assert error.message == "the body: a text holds half of a character (a lone surrogate)"
    assert SECRET not in everything_said(error)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_a_body_with_a_number_without_end_is_refused(value):
    assert refusal(ArgsInvalid, template(body={"n": "{{n}}"}), {"n": value}).message.startswith("the body: JSON cannot")


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("x\r\nX-Evil: 1", "title: line breaks are not allowed in a header"),
        ("x\n", "title: line breaks are not allowed in a header"),
        ("x\r", "title: line breaks are not allowed in a header"),
        ("x\0", "title: control characters are not allowed in a header"),
        ("x\x1b[2J", "title: control characters are not allowed in a header"),
        ("naïve 🙂", "title has characters a header cannot carry"),
        ("x\ud800", "title has characters a header cannot carry"),
    ],
)
def test_an_argument_that_a_header_cannot_carry_is_named_and_not_shown(title, fault):
    of = template(headers={"X-Title": "{{title}}", "X-Key": "${KEY}"})

    error = refusal(ArgsInvalid, of, {"title": SECRET + title}, {"KEY": "good"})

    assert error.message == fault
    assert SECRET not in everything_said(error)


def test_an_argument_in_latin_letters_goes_into_a_header_trimmed():
    request = filled(template(headers={"X-Title": "{{title}}"}), {"title": " \tcafé "})

    assert request.headers == (("X-Title", "café"),)


@pytest.mark.parametrize("value", ["{}\n", "{}\r\nX-Evil: 1", "{}é", "{}🙂", "{}\0", "{}\ud800", "\n{}"])
@pytest.mark.parametrize("text", ["${GA4_TOKEN}", "Bearer ${GA4_TOKEN}", "Bearer ${GA4_TOKEN|none}"])
def test_a_key_that_a_header_cannot_carry_is_named_and_shown_nowhere(text, value):
    error = refusal(SecretMalformed, template(headers={"Authorization": text}), {}, {"GA4_TOKEN": value.format(SECRET)})

    assert error.message == "GA4_TOKEN has characters a header cannot carry"
    assert SECRET not in everything_said(error)


def test_of_several_keys_in_a_header_the_faulty_one_is_named():
    of = template(headers={"X-Sign": "{{title}} ${FIRST} ${SECOND}"})

    error = refusal(SecretMalformed, of, {"title": "café"}, {"FIRST": "good", "SECOND": "b\nd"})

    assert error.message.startswith("SECOND has")


def test_a_header_that_is_one_optional_key_is_left_out_when_that_is_not_set():
    of = template(headers={"X-Team": "${TEAM}", "X-Page": "{{page}}", "X-Kind": "post"})

    request = filled(of, {}, {"TEAM": ""})

    assert request.headers == (("X-Kind", "post"),)


@pytest.mark.parametrize("text", ["Bearer ${TOKEN}", "${USER}:${TOKEN}", "${TOKEN} {{page}}"])
def test_a_header_with_a_hole_where_a_key_belongs_never_goes_out(text):
    error = refusal(SecretMissing, template(headers={"Authorization": text}), {"page": 1}, {"USER": "u", "TOKEN": ""})

    assert (error.message, error.hint) == ("the key TOKEN is not set", "set it on the account")


def test_a_key_with_a_default_is_never_missing():
    assert filled(template(headers={"X-Team": "team ${TEAM|none}"})).headers == (("X-Team", "team none"),)


def test_a_key_that_the_address_needs_and_lacks_is_named():
    error = refusal(SecretMissing, template(url="https://api.example.com/${SPACE}/items"))

    assert "SPACE" in error.message


def test_nothing_that_goes_out_ever_holds_a_placeholder():
    of = template(
        url="https://api.example.com/${SPACE|main}/?q={{q}}&t=${TEAM|none}",
        headers={"X-Team": "${TEAM}", "X-Note": "a {{note}} b"},
        body={"a": "${TEAM}", "b": "x {{note}}", "c": ["${TEAM|none}"]},
    )

    request = filled(of)

    assert "{" not in request.url + str(request.headers)
    assert json.loads(request.body) == {"b": "x ", "c": ["none"]}


def test_what_a_value_holds_is_never_filled_again():
    of = template(headers={"X-Title": "{{title}}"}, body={"title": "{{title}}", "note": "by {{title}}"})

    request = filled(of, {"title": "${TOKEN} {{html}}", "html": "<p>"}, {"TOKEN": SECRET})

    assert request.headers[0] == ("X-Title", "${TOKEN} {{html}}")
    assert json.loads(request.body) == {"title": "${TOKEN} {{html}}", "note": "by ${TOKEN} {{html}}"}


def test_basic_auth_keeps_the_spaces_of_an_application_password():
    of = template(basic_auth=["${USER}", "${PASSWORD}"])

    request = filled(of, {}, {"USER": "jürgen", "PASSWORD": "abcd EFGH 1234 ijkl MNOP 6789"})

    assert request.basic_auth == ("jürgen", "abcd EFGH 1234 ijkl MNOP 6789")


def test_a_password_that_goes_out_is_masked_from_then_on():
    of = template(basic_auth=["user", "${PASSWORD}"])
    with recording() as ledger:
        filled(of, {}, {"PASSWORD": SECRET})

        # base64 of user:canary-5e1f7a
        assert "dXNlcjpjYW5hcnktNWUxZjdh" not in ledger.clean("sent dXNlcjpjYW5hcnktNWUxZjdh")
        assert SECRET not in ledger.clean(f"sent {SECRET}")


@pytest.mark.parametrize(("user", "password"), [("", "x"), ("u", "")])
def test_basic_auth_with_a_hole_never_goes_out(user, password):
    of = template(basic_auth=["${USER}", "${PASSWORD}"])

    error = refusal(SecretMissing, of, {}, {"USER": user, "PASSWORD": password})

    assert error.message == f"the key {'PASSWORD' if user else 'USER'} is not set"


def test_basic_auth_may_do_without_a_password_where_the_manifest_says_so():
    assert filled(template(basic_auth=["${TOKEN}", ""]), {}, {"TOKEN": SECRET}).basic_auth == (SECRET, "")


def test_a_user_name_with_a_colon_is_refused_since_the_rest_would_become_the_password():
    error = refusal(SecretMalformed, template(basic_auth=["${USER}", "x"]), {}, {"USER": f"{SECRET}:b"})

    assert error.message == "USER is a user name for basic_auth and cannot hold a colon"
    assert SECRET not in everything_said(error)


@pytest.mark.parametrize("pair", [["${KEY}", "x"], ["x", "${KEY}"]])
def test_basic_auth_with_half_a_character_is_refused_by_the_keys_name(pair):
    error = refusal(SecretMalformed, template(basic_auth=pair), {}, {"KEY": f"{SECRET}\udc80"})

    assert error.message == "KEY has characters that basic_auth cannot carry"
    assert SECRET not in everything_said(error)


def test_a_password_of_any_letters_is_carried():
    request = filled(template(basic_auth=["u", "${KEY}"]), {}, {"KEY": "pä:ß🙂 \t"})

    assert request.basic_auth == ("u", "pä:ß🙂 \t")


@pytest.mark.parametrize(
    ("value", "path"),
    [("../admin", "..%2Fadmin"), ("1?x=2#y", "1%3Fx%3D2%23y"), ("a/b", "a%2Fb"), ("é", "%C3%A9"), (7, "7")],
)
def test_an_argument_fills_one_part_of_a_path_and_no_more(value, path):
    request = filled(template(url="https://api.example.com/items/{{id}}"), {"id": value})

    assert request.url == f"https://api.example.com/items/{path}"


@pytest.mark.parametrize("value", ["..", "1\r\nHost: evil"])
def test_an_argument_that_would_leave_its_part_of_a_path_is_refused(value):
    error = refusal(ArgsInvalid, template(url="https://api.example.com/items/{{id}}"), {"id": value})

    assert error.message.startswith("id")
    assert "evil" not in everything_said(error)


def test_an_argument_fills_one_value_of_a_query_and_no_more():
    request = filled(template(url="https://api.example.com/posts?search={{q}}"), {"q": "a&b=c#d ü"})

    assert request.url == "https://api.example.com/posts?search=a%26b%3Dc%23d%20%C3%BC"


def test_a_site_from_a_key_is_called_in_its_folder():
    request = filled(template(url="${SITE}/wp-json/posts"), {}, {"SITE": "https://blog.example/wp/"})

    assert request.url == "https://blog.example/wp/wp-json/posts"


def test_a_host_that_is_not_listed_is_refused():
    error = refusal(HostNotAllowed, template(url="https://evil.test/items"))

    assert error.message == "evil.test is not in hosts (api.example.com, ${SITE})"


def test_a_site_typed_as_plain_http_is_refused():
    refusal(PlainHttpRefused, template(url="${SITE}/x"), {}, {"SITE": "http://blog.example"})


def test_a_request_without_a_good_address_says_nothing_of_its_other_faults():
    of = template(url="https://evil.test/", headers={"X-Title": "{{title}}"}, basic_auth=["${USER}", ""])

    refusal(HostNotAllowed, of, {"title": "a\nb"})


def test_a_private_site_is_called_in_plain_http_where_the_operator_allowed_it():
    keys = {"SITE": "http://localhost:8080"}
    allowed = bounds(keys, private_hosts=frozenset({"localhost:8080"}))

    request = fill_request(template(url="${SITE}/x"), Scope(arguments={}, keys=keys), allowed, where="tool 'post'")

    assert request.url == "http://localhost:8080/x"


values = st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\0\ud800é🙂{}$"), max_size=12)


@given(value=values, key=values)
@example(value="\x85", key="")
@example(value="", key="\xa0")
def test_whatever_is_given_either_fits_the_wire_or_gets_our_error(value, key):
    of = template(
        headers={"X-Title": "a {{title}}", "X-Key": "${KEY}"},
        basic_auth=["${KEY|u}", "{{title}}"],
        body={"title": "{{title}}", "key": "${KEY}"},
    )

    try:
        request = filled(of, {"title": value}, {"KEY": key})
    except BadInput:
        return

    for name, text in request.headers:
        assert f"{name}: {text}".encode("latin-1")
        assert not set("\r\n\0") & set(text)
    assert json.loads(request.body)["title"] == value
    assert ":".join(request.basic_auth).encode().partition(b":")[2] == value.encode()


def test_a_template_is_the_same_after_it_was_filled():
    of = template(headers={"X-Title": "{{title}}"}, body={"tags": ["{{title}}"]})
    filled(of, {"title": "a"})

    assert filled(of, {"title": "b"}) == filled(replace(of), {"title": "b"})
    with pytest.raises(HabilisError):
        filled(of, {"title": "\n"})
    assert filled(of, {"title": "b"}).body == b'{"tags": ["b"]}'
