import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import AddressNotAllowed, BadInput, HostNotAllowed, PlainHttpRefused, Refused, SecretMalformed
from habilis.hosts import AllowedHosts, checked_url, origin_of

API = AllowedHosts.of(["api.example.com"], {})


def checked(url, allowed=API, private_hosts=frozenset()):
    return checked_url(url, allowed, where="tool 'get'", private_hosts=frozenset(private_hosts))


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://eu.api.example.com/v1", "https://eu.api.example.com/v1"),
        ("https://API.Example.COM./v1", "https://api.example.com/v1"),
        ("HTTPS://api.example.com", "https://api.example.com/"),
        ("https://api.example.com:443/", "https://api.example.com/"),
        ("https://api.example.com?a=1", "https://api.example.com/?a=1"),
        ("https://api.example.com/a?b=c?d", "https://api.example.com/a?b=c?d"),
        ("https://api.example.com/a#part", "https://api.example.com/a"),
        ("https://api.example.com/a?", "https://api.example.com/a?"),
    ],
)
def test_a_listed_host_and_the_names_below_it_are_allowed(url, sent):
    assert checked(url) == sent


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com.evil.test/", "api.example.com.evil.test"),
        ("https://evilapi.example.com/", "evilapi.example.com"),
        ("https://example.com/", "example.com"),
        ("https://evil.test#@api.example.com/", "evil.test"),
        ("https://evil.test?@api.example.com/", "evil.test"),
        ("https://evil.test/@api.example.com/", "evil.test"),
        ("https://\u0430pi.example.com/", "xn--pi-6kc.example.com"),
    ],
)
def test_another_host_is_refused_by_the_name_it_really_has(url, host):
    with pytest.raises(HostNotAllowed) as caught:
        checked(url)

    assert caught.value.message == f"{host} is not in hosts (api.example.com)"
    assert caught.value.where == "tool 'get'"
    assert caught.value.outcome == "refused"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com../",
        "https://.api.example.com/",
        "https://api..example.com/",
        "https:///v1",
        "https://",
        "https://api.example.com\u3002evil.test/",
        "https://api\uff0eexample.com/",
        "https://api.example.com%2eevil.test/",
        "https://api.example.com%00.evil.test/",
        "https://api.example.com /",
        "https://api.example.com,evil.test/",
        "https://[::1/",
        "https://[::1]evil.test/",
        "https://[fe80::1%25eth0]/",
        "https://api.example.com]/",
        f"https://{'a' * 64}.example.com/",
        f"https://{'a.' * 130}example.com/",
        "https://\u200d.example.com/",
    ],
)
def test_a_malformed_host_is_refused(url):
    with pytest.raises(HostNotAllowed, match=r"host|interface"):
        checked(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com@evil.test/",
        "https://u:p4ssw0rd@api.example.com/",
        "https://evil.test\\@api.example.com/",
        "https://evil.test%23@api.example.com/",
    ],
)
def test_a_user_name_in_a_url_is_refused_and_not_repeated(url):
    with pytest.raises(HostNotAllowed, match="a URL may not carry a user name; use basic_auth") as caught:
        checked(url)

    assert "p4ssw0rd" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://evil.test\\.api.example.com/", "https://api.example.com\\/x"])
def test_a_backslash_never_ends_the_host(url):
    with pytest.raises(HostNotAllowed, match="the host is malformed"):
        checked(url)


@pytest.mark.parametrize(
    "url", ["https://b\u00fccher.example/", "https://xn--bcher-kva.example/", "https://B\u00dcCHER.example/"]
)
@pytest.mark.parametrize("entry", ["b\u00fccher.example", "xn--bcher-kva.example", "bu\u0308cher.example"])
def test_international_names_are_compared_in_their_ascii_form(url, entry):
    allowed = AllowedHosts.of([entry], {})

    assert checked(url, allowed) == "https://xn--bcher-kva.example/"


@pytest.mark.parametrize("port", ["0", "99999", "65536", "80:443", "", "-1", "+443", "0443", "\u0661", " 443"])
def test_a_port_that_is_no_port_is_refused(port):
    with pytest.raises(HostNotAllowed, match="the port is not a number from 1 to 65535"):
        checked(f"https://api.example.com:{port}/")


def test_another_port_is_another_service_unless_it_is_listed():
    with pytest.raises(HostNotAllowed, match=r"api\.example\.com:8443 is not in hosts") as caught:
        checked("https://api.example.com:8443/")

    assert caught.value.hint == "list api.example.com:8443 under hosts"
    listed = AllowedHosts.of(["api.example.com:8443"], {})
    assert checked("https://api.example.com:8443/", listed) == "https://api.example.com:8443/"


def test_plain_http_is_refused():
    with pytest.raises(PlainHttpRefused, match=r"api\.example\.com would be called without encryption"):
        checked("http://api.example.com/")


def test_plain_http_from_an_answer_is_refused_even_where_the_host_is_listed():
    uploads = AllowedHosts.of(["uploads.example.com"], {})

    with pytest.raises(PlainHttpRefused):
        checked("http://uploads.example.com/x", uploads)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://api.example.com/",
        "//api.example.com/x",
        "https:api.example.com",
        "https:/api.example.com",
        "/v1",
        "",
        " https://api.example.com/",
        "data:text/html;base64,eA==",
        "javascript:alert(1)",
        "ws://api.example.com/",
    ],
)
def test_only_absolute_https_urls_are_called(url):
    with pytest.raises(HostNotAllowed, match="only absolute https URLs are called"):
        checked(url)


@pytest.mark.parametrize("mark", ["\r", "\n", "\t", "\0", "\x7f", "\x85", "\ud800"])
@pytest.mark.parametrize(
    "place", ["https://api.exa{}mple.com/", "https://api.example.com/{}", "https://api.example.com/?q={}"]
)
def test_control_characters_are_refused_anywhere(place, mark):
    with pytest.raises(HostNotAllowed, match="the URL holds control characters"):
        checked(place.format(mark))


def test_an_endless_url_is_refused():
    with pytest.raises(HostNotAllowed, match="the URL is too long"):
        checked("https://api.example.com/" + "a" * 70_000)


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "0x7f.1", "1.2.3.4.5", "a.0x"]
)
def test_a_number_in_disguise_is_no_host(host):
    allowed = AllowedHosts(places=frozenset({(host, 443)}), listed=(host,))

    with pytest.raises(AddressNotAllowed, match="numeric host forms are not accepted"):
        checked(f"https://{host}/", allowed)


@pytest.mark.parametrize(
    "host",
    [
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "127.0.0.1",
        "10.0.0.5",
    ],
)
def test_a_spelt_out_address_that_is_not_public_is_refused_even_if_listed(host):
    allowed = AllowedHosts.of([host], {})

    with pytest.raises(AddressNotAllowed, match="address"):
        checked(f"https://{host}/", allowed)


def test_a_spelt_out_public_address_is_a_host_like_any_other():
    allowed = AllowedHosts.of(["93.184.216.34", "[2606:4700::1111]"], {})

    assert checked("https://93.184.216.34/", allowed) == "https://93.184.216.34/"
    assert checked("https://[2606:4700:0::1111]/", allowed) == "https://[2606:4700::1111]/"


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/a b", "/a%20b"),
        ("/\u00fc", "/%C3%BC"),
        ("/..%2Fadmin", "/..%2Fadmin"),
        ("/1%3Fx%3D2%23y", "/1%3Fx%3D2%23y"),
        ("/100%", "/100%25"),
        ("/a\\b", "/a%5Cb"),
        ('/<"`{|}^>', "/%3C%22%60%7B%7C%7D%5E%3E"),
        ("/a/../b", "/b"),
        ("/a/./b/..", "/a/"),
        ("/../../b", "/b"),
        ("/a//b", "/a//b"),
        ("?filter[x]=1&y=a+b", "/?filter[x]=1&y=a+b"),
        ("?q=\u00fc \U0001f4a9", "/?q=%C3%BC%20%F0%9F%92%A9"),
    ],
)
def test_path_and_query_are_written_in_ascii_and_not_decoded(target, sent):
    assert checked(f"https://api.example.com{target}") == f"https://api.example.com{sent}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60))
def test_the_library_that_sends_reads_the_checked_url_as_it_was_checked(target):
    url = checked(f"https://api.example.com/{target}")

    parsed = httpx.URL(url)
    assert (parsed.scheme, parsed.host, parsed.port, parsed.userinfo) == ("https", "api.example.com", None, b"")
    assert parsed.raw_path.decode() == url.removeprefix("https://api.example.com")


@given(st.text(max_size=40), st.text(max_size=20))
def test_no_text_leads_the_sending_library_to_another_host(before, after):
    try:
        url = checked(f"https://{before}api.example.com{after}")
    except Refused:
        return

    assert httpx.URL(url).host == "api.example.com" or httpx.URL(url).host.endswith(".api.example.com")


def test_an_opted_in_host_may_be_called_without_encryption():
    local = AllowedHosts.of(["localhost:8080"], {})

    assert checked("http://localhost:8080/x", local, {"localhost:8080"}) == "http://localhost:8080/x"


@pytest.mark.parametrize(
    "url", ["http://localhost:8081/", "http://nas.local:8081/", "http://nas:8081/", "http://10.0.0.5:8081/"]
)
def test_a_private_host_without_opt_in_is_refused_with_the_command_that_opts_in(url):
    local = AllowedHosts.of(["localhost:8080", "nas.local:8081"], {})

    with pytest.raises(AddressNotAllowed) as caught:
        checked(url, local, {"localhost:8080"})

    place = url.removeprefix("http://").removesuffix("/")
    assert caught.value.hint.endswith(f"habilis accounts allow-private <project> <account> {place}")


def test_no_opt_in_opens_a_spelt_out_address_that_is_never_called():
    allowed = AllowedHosts.of(["169.254.169.254:80"], {})

    with pytest.raises(AddressNotAllowed) as caught:
        checked("http://169.254.169.254/", allowed, {"169.254.169.254:80"})

    assert caught.value.hint == "addresses of this kind are never called"


def test_an_opt_in_does_not_list_a_host():
    with pytest.raises(HostNotAllowed):
        checked("http://localhost:8080/", API, {"localhost:8080"})


def test_a_key_gives_its_origin_and_the_names_below_it():
    allowed = AllowedHosts.of(["${WP_SITE}"], {"WP_SITE": "https://Blog.Example:8443/wp/"})

    assert checked("https://blog.example:8443/wp/x", allowed) == "https://blog.example:8443/wp/x"
    assert checked("https://a.blog.example:8443/", allowed) == "https://a.blog.example:8443/"
    with pytest.raises(HostNotAllowed):
        checked("https://blog.example/", allowed)


@pytest.mark.parametrize("keys", [{}, {"WP_SITE": ""}])
def test_a_key_that_is_not_set_allows_nothing(keys):
    allowed = AllowedHosts.of(["${WP_SITE}"], keys)

    with pytest.raises(HostNotAllowed, match=r"not in hosts \(\$\{WP_SITE\}\)"):
        checked("https://blog.example/", allowed)


def test_a_key_that_holds_no_site_is_named_and_its_value_is_not():
    with pytest.raises(SecretMalformed) as caught:
        AllowedHosts.of(["${WP_SITE}"], {"WP_SITE": "https://user:s3cret@blog.example"})

    assert caught.value.where == "WP_SITE"
    assert "s3cret" not in str(caught.value)


def test_an_entry_that_is_no_host_is_refused():
    with pytest.raises(BadInput, match="an entry is no host"):
        AllowedHosts.of(["a b"], {})


def test_the_origin_of_a_url_is_normalised():
    assert origin_of("https://API.example.com./x") == ("https", "api.example.com", 443)
    assert origin_of("http://[0:0::1]:8080") == ("http", "[::1]", 8080)
    with pytest.raises(HostNotAllowed):
        origin_of("api.example.com")
