import statistics
import time

import pytest

from habilis.engine.tokens import Principal, find_principal, token_entry
from habilis.errors import BadInput, Forbidden, NotFound, Unauthenticated

ROLES = ("admin", "operator", "agent", "scheduler", "engine")
TOKEN = "0123456789abcdef0123456789abcdef"
CONFIGURED = " ".join([token_entry("agent", "another"), token_entry("operator", TOKEN, ("acme", "beta"))])


def test_a_token_is_found_with_its_role_and_its_projects():
    found = find_principal(CONFIGURED, f"Bearer {TOKEN}")

    assert found == Principal(role="operator", projects=frozenset({"acme", "beta"}))


def test_an_engine_has_origins_in_place_of_projects():
    entry = token_entry("engine", TOKEN, ("https://a.example", "https://b.example:8443"))

    found = find_principal(entry, f"Bearer {TOKEN}")

    assert found == Principal(role="engine", origins=frozenset({"https://a.example", "https://b.example:8443"}))


@pytest.mark.parametrize("header", [f"bearer {TOKEN}", f"BEARER {TOKEN}", f"Bearer   {TOKEN}  "])
def test_the_scheme_may_be_written_in_any_case(header):
    assert find_principal(CONFIGURED, header).role == "operator"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer{TOKEN}",
        f"Bearer {TOKEN} x",
        "Bearer é\udcff",
    ],
)
def test_anything_else_is_refused_alike(header):
    with pytest.raises(Unauthenticated, match="the request carries no valid token"):
        find_principal(CONFIGURED, header)


def test_an_empty_token_that_was_configured_opens_nothing():
    with pytest.raises(Unauthenticated):
        find_principal(token_entry("admin", ""), "Bearer ")


def test_only_hashes_are_configured():
    assert TOKEN not in CONFIGURED


@pytest.mark.parametrize(
    "entry",
    [
        TOKEN,
        f"admin:{TOKEN}",
        "root:" + "0" * 64,
        "admin:" + "A" * 64,
        "admin:" + "0" * 64 + ":",
        "admin:" + "0" * 64 + ":A",
        "admin:" + "0" * 64 + ":https://a.example",
        "engine:" + "0" * 64 + ":acme",
        "engine:" + "0" * 64 + ":http://a.example",
        "engine:" + "0" * 64 + ":https://a.example/path",
        "engine:" + "0" * 64 + ":https://A.example",
        "engine:" + "0" * 64 + ":https://a.example@evil.test",
    ],
)
def test_an_entry_that_cannot_be_read_is_named_by_its_place_and_not_by_its_text(entry):
    with pytest.raises(BadInput, match=r"^HABILIS_TOKENS: entry 2 ") as caught:
        find_principal(f"{token_entry('admin', 'x')} {entry}", "Bearer x")

    assert entry not in str(caught.value)


@pytest.mark.parametrize(
    ("role", "covered"),
    [
        ("admin", {"admin", "operator", "agent", "scheduler", "engine"}),
        ("operator", {"operator", "agent", "scheduler", "engine"}),
        ("agent", {"agent"}),
        ("scheduler", {"scheduler"}),
        ("engine", {"engine"}),
    ],
)
def test_a_role_covers_what_is_below_it(role, covered):
    def may(wanted):
        try:
            Principal(role=role).require(wanted)
        except Forbidden:
            return False
        return True

    assert {wanted for wanted in ROLES if may(wanted)} == covered


def test_a_limited_caller_hears_of_another_project_as_of_none():
    with pytest.raises(NotFound, match="there is no project 'beta'"):
        Principal(role="admin", projects=frozenset({"acme"})).require("agent", "beta")


def test_a_role_is_judged_before_the_project():
    with pytest.raises(Forbidden):
        Principal(role="agent", projects=frozenset({"acme"})).require("admin", "beta")


def test_a_limited_caller_may_not_act_in_all_projects():
    with pytest.raises(Forbidden, match="limited to some projects"):
        Principal(role="admin", projects=frozenset({"acme"})).require_all_projects("scheduler")


def test_looking_a_token_up_takes_as_long_however_much_of_it_is_right():
    def median_s(header):
        times = []
        for _ in range(300):
            started = time.perf_counter()
            with pytest.raises(Unauthenticated):
                find_principal(CONFIGURED, header)
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    medians = [median_s(f"Bearer {TOKEN[:right]}{'x' * (32 - right)}") for right in (0, 8, 16, 31)]

    assert max(medians) - min(medians) < 50e-6
