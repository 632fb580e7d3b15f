from urllib.parse import parse_qsl, urlsplit

import pytest

from habilis.errors import HostNotAllowed, SecretMissing, SignInDenied, SignInFailed
from habilis.manifest.model import Manifest, RedirectFlow
from habilis.names import AbilityId, KeyName
from habilis.signin.redirect import page_address, read_return
from habilis.templating import compile_url

CALLBACK = "https://habilis.example/api/connect/callback?state=S1&x=é y"
SITE, USER, PASSWORD = KeyName("WP_SITE"), KeyName("WP_USER"), KeyName("WP_APP_PASSWORD")
PAGE = "${WP_SITE}/wp-admin/authorize-application.php"
RETURNED = {"site_url": ["https://blog.example"], "user_login": ["anna"], "password": ["abcd EFGH 1234"]}


def flow(*, url=PAGE, callback_params=("success_url", "reject_url"), denied=("success", "false")):
    return RedirectFlow(
        label="Connect",
        url=compile_url(url),
        needs=(SITE,),
        callback_params=callback_params,
        returns={SITE: "site_url", USER: "user_login", PASSWORD: "password"},
        denied=denied,
    )


def manifest(*hosts):
    return Manifest(
        id=AbilityId("wordpress"),
        name="WordPress",
        version="1",
        summary="Publish.",
        service="wordpress",
        hosts=hosts or ("${WP_SITE}",),
        content_hash="",
    )


def address(of, *, callback=CALLBACK, site="https://blog.example", hosts=(), private_hosts=frozenset()):
    keys = {"WP_SITE": site} if site else {}
    return page_address(
        of, manifest(*hosts), keys, application={"app_id": "a-uuid"}, callback=callback, private_hosts=private_hosts
    )


def returned(changes=None, *, of=None, asked="https://blog.example"):
    query = {name: values for name, values in (RETURNED | (changes or {})).items() if values is not None}
    return read_return(of or flow(), manifest(), query, {"WP_SITE": asked} if asked else {})


def failure(changes, **options):
    with pytest.raises(SignInFailed) as caught:
        returned(changes, **options)
    assert type(caught.value) is SignInFailed
    return caught.value


def test_the_page_takes_the_callback_in_each_of_its_parameters():
    parts = urlsplit(address(flow()))

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "blog.example", "/wp-admin/authorize-application.php")
    assert parse_qsl(parts.query, strict_parsing=True) == [("success_url", CALLBACK), ("reject_url", CALLBACK)]


def test_the_callback_is_encoded_so_that_its_own_query_stays_its_own():
    url = address(flow(callback_params=("success_url",)))

    assert url.endswith(
        "?success_url=https%3A%2F%2Fhabilis.example%2Fapi%2Fconnect%2Fcallback%3Fstate%3DS1%26x%3D%C3%A9%20y"
    )


@pytest.mark.parametrize(
    ("ending", "query"),
    [
        ("?app_id={{app_id}}", "app_id=a-uuid&success_url=cb"),
        ("?a=1&b=2", "a=1&b=2&success_url=cb"),
        ("?", "success_url=cb"),
        ("?a=1&", "a=1&success_url=cb"),
        ("", "success_url=cb"),
        ("#part", "success_url=cb"),
        ("#part?b=2", "success_url=cb"),
        ("?a=1#part?b=2", "a=1&success_url=cb"),
    ],
)
def test_the_callback_joins_a_query_that_is_already_there(ending, query):
    url = address(flow(url=PAGE + ending, callback_params=("success_url",)), callback="cb")

    assert url == f"https://blog.example/wp-admin/authorize-application.php?{query}"


def test_a_parameters_own_name_is_encoded():
    url = address(flow(callback_params=("return[url]", "a&b/c")), callback="cb")

    assert urlsplit(url).query == "return%5Burl%5D=cb&a%26b%2Fc=cb"


@pytest.mark.parametrize("of", [flow(), flow(callback_params=())])
def test_without_a_callback_or_a_place_for_it_the_page_stays_as_it_is(of):
    callback = "" if of.callback_params else CALLBACK

    assert address(of, callback=callback) == "https://blog.example/wp-admin/authorize-application.php"


@pytest.mark.parametrize("site", ["https://blog.example/wp", "https://blog.example/wp/", "https://Blog.Example./wp"])
def test_a_site_in_a_folder_has_its_page_there(site):
    assert address(flow(), callback="", site=site) == "https://blog.example/wp/wp-admin/authorize-application.php"


def test_a_page_without_its_site_is_not_made():
    with pytest.raises(SecretMissing, match="WP_SITE"):
        address(flow(), site="")


def test_a_page_on_a_host_that_is_not_listed_is_not_opened():
    with pytest.raises(HostNotAllowed, match=r"the sign-in page: evil\.test is not in hosts"):
        address(flow(url="https://evil.test/authorize"), hosts=("api.example.com",))


def test_a_page_on_this_machine_is_opened_where_the_operator_allowed_it():
    url = address(flow(), callback="cb", site="http://localhost:8080", private_hosts=frozenset({"localhost:8080"}))

    assert url.startswith("http://localhost:8080/wp-admin/")


def test_a_return_brings_every_key():
    assert returned() == {SITE: "https://blog.example", USER: "anna", PASSWORD: "abcd EFGH 1234"}


def test_parameters_that_no_key_asks_for_are_ignored():
    extra = {"connection": ["other"], "project": ["b"], "redirect": ["https://evil.test"], "WP_USER": ["eve"]}

    assert returned(extra) == returned()


@pytest.mark.parametrize("values", [["false"], ["true", "false"], ["false", "true"]])
def test_a_no_is_a_no_and_nothing_of_the_rest_is_taken(values):
    with pytest.raises(SignInDenied, match="refused on the service's page"):
        returned({"success": values})


def test_a_no_counts_even_where_nothing_else_came():
    with pytest.raises(SignInDenied):
        read_return(flow(), manifest(), {"success": ["false"], "password": ["p"]}, {"WP_SITE": "https://blog.example"})


@pytest.mark.parametrize("values", [["true"], ["False"], [""], ["false "]])
def test_only_the_exact_word_is_a_no(values):
    assert returned({"success": values}) == returned()


def test_a_flow_that_knows_no_no_takes_what_came():
    assert returned({"success": ["false"]}, of=flow(denied=None)) == returned()


@pytest.mark.parametrize("name", RETURNED)
@pytest.mark.parametrize(
    ("values", "fault"),
    [
        (None, "without '{}'"),
        ([], "without '{}'"),
        ([""], "without '{}'"),
        (["", "b"], "without '{}'"),
        (["a", "b"], "with '{}' more than once"),
        (["a", "a"], "with '{}' more than once"),
        (["a", ""], "with '{}' more than once"),
        (["x" * 8193], "with more than 8,192 characters in '{}'"),
    ],
)
def test_a_value_that_is_not_there_exactly_once_fails_the_whole(name, values, fault):
    error = failure({name: values})

    assert error.message == f"the service came back {fault.format(name)}"
    assert error.hint == "start the sign-in again"


def test_a_value_of_8192_characters_is_taken():
    assert returned({"password": ["x" * 8192]})[PASSWORD] == "x" * 8192


def test_values_are_in_no_message():
    error = failure({"password": ["canary-5e1f7a", "canary-5e1f7a"]})

    assert "canary" not in f"{error} {error!r}"


@pytest.mark.parametrize(
    "answered",
    [
        "https://evil.test",
        "https://blog.example.evil.test",
        "https://sub.blog.example",
        "https://blog.example:8443",
        "http://blog.example",
        "evil.test",
    ],
)
def test_a_service_that_answers_for_another_site_is_refused(answered):
    error = failure({"site_url": [answered]})

    assert error.message.startswith("the service answered for another site, ")


def test_the_other_site_is_named_so_that_one_can_start_with_it():
    error = failure({"site_url": ["https://www.blog.example/"]})

    assert error.message == "the service answered for another site, www.blog.example"
    assert error.hint == "start again with the address that the site itself shows"


@pytest.mark.parametrize(
    "answered",
    [
        "javascript:alert(1)", "https://blog.example@evil.test", "https://u:p@blog.example", "https://2130706433/",
        "https://169.254.169.254/", "https://blog.example/?x=1", "ftp://blog.example", "https://", "a b",
    ],
)  # fmt: skip
@pytest.mark.parametrize("asked", ["https://blog.example", ""])
def test_a_service_that_answers_with_no_address_is_refused(answered, asked):
    error = failure({"site_url": [answered]}, asked=asked)

    assert error.message == "the service came back with a site that is no address"
    assert answered not in str(error)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("https://blog.example", "https://blog.example/"),
        ("https://blog.example", "https://BLOG.example./"),
        ("https://blog.example", "https://blog.example:443"),
        ("https://blog.example", "https://blog.example/core"),
        ("https://blog.example/wp", "https://blog.example/wp"),
        ("https://blog.example/wp", "https://blog.example"),
        ("http://localhost:8080", "http://localhost:8080/"),
    ],
)
def test_a_site_stays_as_it_was_asked_for(asked, answered):
    assert returned({"site_url": [answered]}, asked=asked)[SITE] == asked


def test_a_site_that_was_not_asked_for_is_taken_in_its_plain_form():
    assert returned({"site_url": ["HTTPS://Blog.Example:443/wp/"]}, asked="")[SITE] == "https://blog.example/wp"


def test_a_key_that_gives_no_host_is_taken_as_it_came():
    query = {name: ["https://evil.test/"] if name == "site_url" else values for name, values in RETURNED.items()}

    found = read_return(flow(), manifest("api.example.com"), query, {"WP_SITE": "https://blog.example"})

    assert found[SITE] == "https://evil.test/"
