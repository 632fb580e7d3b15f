import pytest

from habilis.errors import AddressNotAllowed, BadInput
from habilis.hosts import host_entry_problem, host_name, opt_in_host, site_address


@pytest.mark.parametrize(
    "entry",
    [
        "api.example.com", "api.example.com:8443", "example.com", "b\u00fccher.example", "${WP_SITE}", "localhost:8080",
        "nas.local", "wordpress", "myblog.github.io", "a.co.uk", "192.168.1.9:5000", "[::1]:8080", "93.184.216.34",
    ],
)  # fmt: skip
def test_an_entry_that_names_one_host_is_good(entry):
    assert host_entry_problem(entry) is None


@pytest.mark.parametrize(
    "entry", ["com", "co.uk", "github.io", "GitHub.io.", "github.io:443", "xn--p1ai", "local", "internal", "home.arpa"]
)
def test_an_entry_under_which_anyone_can_have_a_name_is_too_wide(entry):
    assert "too wide: anyone can have a name under " in host_entry_problem(entry)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("*", "wildcards are not used"),
        ("*.example.com", "wildcards are not used"),
        ("https://api.example.com", "name the host alone"),
        ("api.example.com/v1", "name the host alone"),
        ("u@api.example.com", "name the host alone"),
        ("", "malformed"),
        ("a b.example", "malformed"),
        ("a..example", "malformed"),
        ("api.example.com:0", "port"),
        ("api.example.com:70000", "port"),
        ("api.example.com:https", "port"),
        ("::1", "malformed|port"),
        ("127.1", "numeric host forms"),
        ("169.254.169.254", "never called"),
        ("metadata.google.internal", "never called"),
        ("[::ffff:127.0.0.1]", "never called"),
        ("${wp_site}", "a key is written"),
        ("${WP_SITE}:80", "a key is written"),
        ("${", "a key is written"),
    ],
)
def test_an_entry_that_is_no_host_says_why(entry, reason):
    problem = host_entry_problem(entry)

    assert any(word in problem for word in reason.split("|"))


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("blog.example", "https://blog.example"),
        ("https://blog.example/wp/", "https://blog.example/wp"),
        ("  https://Blog.Example./  ", "https://blog.example"),
        ("HTTP://nas.local:5000", "http://nas.local:5000"),
        ("localhost:8080", "https://localhost:8080"),
        ("https://blog.example:443", "https://blog.example"),
        ("http://blog.example:80/", "http://blog.example"),
        ("b\u00fccher.example/caf\u00e9", "https://xn--bcher-kva.example/caf%C3%A9"),
        ("blog.example/a/../b//", "https://blog.example/b"),
        ("http://192.168.1.9:5000/", "http://192.168.1.9:5000"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_a_site_address_is_kept_as_origin_and_path(typed, kept):
    assert site_address(typed) == kept


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("https://blog.example@evil.test", "user name"),
        ("javascript:alert(1)", "starts with https://"),
        ("mailto:a@b.example", "starts with https://"),
        ("https:blog.example", "starts with https://"),
        ("//blog.example", "starts with https://"),
        ("ftp://blog.example", "only absolute https"),
        ("https://blog.example/?x=", "no '\\?' or '#'"),
        ("https://blog.example/?", "no '\\?' or '#'"),
        ("https://blog.example/#top", "no '\\?' or '#'"),
        ("", "host is malformed"),
        ("https://", "host is malformed"),
        ("my blog", "host is malformed"),
        ("https://blog.example:0", "port"),
        ("https://blog.example\r\nx", "control"),
    ],
)
def test_what_is_no_site_address_is_refused_with_the_reason(typed, reason):
    with pytest.raises(BadInput, match=reason):
        site_address(typed)


@pytest.mark.parametrize(
    "typed",
    ["http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://0/", "127.1"],
)
def test_numeric_host_forms_are_refused_when_a_site_is_saved(typed):
    with pytest.raises(AddressNotAllowed, match="numeric host forms are not accepted"):
        site_address(typed)


@pytest.mark.parametrize(
    "typed", ["http://169.254.169.254/", "https://metadata.google.internal", "http://[::ffff:7f00:1]/"]
)
def test_an_address_that_is_never_called_is_no_site(typed):
    with pytest.raises(AddressNotAllowed, match="never called"):
        site_address(typed)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("localhost:8080", "localhost:8080"),
        (" NAS.local.:5000 ", "nas.local:5000"),
        ("192.168.1.9:80", "192.168.1.9:80"),
        ("[0::1]:8080", "[::1]:8080"),
    ],
)
def test_a_private_host_is_kept_as_host_and_port(typed, kept):
    assert opt_in_host(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "169.254.169.254:80", "metadata.google.internal:80", "0.0.0.0:80", "[::]:80", "[fe80::1]:80", "224.0.0.1:80",
        "255.255.255.255:80", "[::ffff:127.0.0.1]:80", "0:80", "127.1:80", "2852039166:80",
    ],
)  # fmt: skip
def test_what_is_never_legitimate_cannot_be_opted_in(typed):
    with pytest.raises(AddressNotAllowed):
        opt_in_host(typed)


@pytest.mark.parametrize("host", ["localhost", "api.localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_the_engines_own_port_cannot_be_opted_in(host):
    own = frozenset({8787})

    with pytest.raises(AddressNotAllowed, match="port 8787 is this engine's own"):
        opt_in_host(f"{host}:8787", own_ports=own)
    assert opt_in_host(f"{host}:8788", own_ports=own) == f"{host}:8788"


@pytest.mark.parametrize("typed", ["localhost", "http://localhost:8080", "localhost:8080/x", "localhost:0", "", ":80"])
def test_an_opt_in_needs_host_and_port(typed):
    with pytest.raises(BadInput):
        opt_in_host(typed)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" SMTP.Example.com. ", "smtp.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("192.168.1.9", "192.168.1.9"),
        ("[0::1]", "[::1]"),
    ],
)
def test_a_host_alone_is_kept_as_its_normal_name(typed, kept):
    assert host_name(typed) == kept


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("smtp.example.com:587", "without a port"),
        ("smtps://smtp.example.com", "without https:// and without a path"),
        ("smtp.example.com/x", "without a path"),
        ("smtp.example.com\r\nX", "malformed"),
        ("smtp..example.com", "malformed"),
        ("", "malformed"),
    ],
)
def test_what_is_more_or_less_than_a_host_is_no_host_alone(typed, why):
    with pytest.raises(BadInput, match=why):
        host_name(typed)


@pytest.mark.parametrize("typed", ["169.254.169.254", "metadata.google.internal", "0x7f000001", "127.1"])
def test_a_host_that_is_never_called_is_refused(typed):
    with pytest.raises(AddressNotAllowed):
        host_name(typed)
