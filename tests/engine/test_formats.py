import pytest

from habilis.engine.accounts.formats import misfit
from habilis.manifest.model import AuthKey


def expected(value, **said):
    return misfit(AuthKey(env="X", label="X", **said), value)


@pytest.mark.parametrize(
    ("format", "value"),
    [
        ("url", "https://example.com/a?b=c"),
        ("url", "http://localhost:8080"),
        ("host", "api.example.com"),
        ("host", "api.example.com:8443"),
        ("email", "ann+news@example.com"),
        ("int", "0042"),
        ("int", "-7"),
        ("", "anything at all"),
    ],
)
def test_what_fits_passes(format, value):  # noqa: A002 - the field's name
    assert expected(value, format=format) == ""


@pytest.mark.parametrize(
    ("format", "value", "wanted"),
    [
        ("url", "example.com", "an address that starts with https://"),
        ("url", "javascript:alert(1)", "an address that starts with https://"),
        ("url", "https://", "an address that starts with https://"),
        ("host", "https://example.com", "a host's name, as api.example.com"),
        ("host", "user@example.com", "a host's name, as api.example.com"),
        ("host", "exa mple.com", "a host's name, as api.example.com"),
        ("email", "ann", "a mail address, as ann@example.com"),
        ("email", "Ann <ann@example.com>", "a mail address, as ann@example.com"),
        ("int", "4.2", "a whole number"),
        ("int", "٤", "a whole number"),
        ("int", "4\n", "a whole number"),
    ],
)
def test_what_does_not_fit_is_told_without_the_value(format, value, wanted):  # noqa: A002 - the field's name
    assert expected(value, format=format) == wanted


def test_a_pattern_matches_the_whole_value():
    assert expected("pk_12", pattern="pk_[0-9]+") == ""
    assert expected("xpk_12", pattern="pk_[0-9]+") == "a value that matches pk_[0-9]+"
    assert expected("pk_12\n", pattern="pk_[0-9]+", placeholder="pk_99") == "a value such as pk_99"
