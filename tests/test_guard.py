import itertools
import socket
import threading

import pytest

from habilis.errors import AddressNotAllowed, PlainHttpRefused, UpstreamUnavailable
from habilis.guard import AddressPolicy


def resolving(*addresses):
    """A resolver that says the same for every name, and counts how often it is asked."""

    def resolve(host, port, **_):
        resolve.asked.append((host, port))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    resolve.asked = []
    return resolve


def test_every_address_of_a_public_host_is_dialled_in_order_after_one_lookup():
    resolver = resolving("93.184.216.34", "2606:4700::1111", "93.184.216.34")

    found = AddressPolicy(resolver=resolver).addresses("api.example.com", 443)

    assert found == ["93.184.216.34", "2606:4700::1111"]
    assert resolver.asked == [("api.example.com", 443)]


def test_a_host_of_very_many_addresses_is_tried_at_six():
    resolver = resolving(*(f"93.184.216.{n}" for n in range(50)))

    assert len(AddressPolicy(resolver=resolver).addresses("api.example.com", 443)) == 6


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.5"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["100.64.0.1"],
        ["::1"],
        ["fd00::1"],
        ["169.254.169.254"],
        ["fe80::1%eth0"],
        ["::ffff:93.184.216.34"],
        ["64:ff9b::5db8:d822"],
        [*(f"93.184.216.{n}" for n in range(10)), "10.0.0.5"],
    ],
)
def test_one_address_that_is_not_public_refuses_the_host(addresses):
    policy = AddressPolicy(resolver=resolving(*addresses))

    with pytest.raises(AddressNotAllowed, match=r"api\.example\.com leads to a private address") as caught:
        policy.addresses("api.example.com", 443)

    assert caught.value.outcome == "refused"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "169.254.169.254", "[::ffff:127.0.0.1]"])
def test_a_spelt_out_address_is_classified_without_a_lookup(host):
    resolver = resolving("93.184.216.34")

    with pytest.raises(AddressNotAllowed):
        AddressPolicy(resolver=resolver).addresses(host, 443)
    assert resolver.asked == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"])
def test_a_number_in_disguise_is_judged_by_what_the_system_makes_of_it(host):
    with pytest.raises(AddressNotAllowed):
        AddressPolicy().addresses(host, 443)


def test_an_allowed_private_host_is_dialled_on_its_port_alone():
    policy = AddressPolicy(private_hosts=frozenset({"nas.local:5000"}), resolver=resolving("192.168.1.9"))

    assert policy.addresses("nas.local", 5000) == ["192.168.1.9"]
    with pytest.raises(AddressNotAllowed) as caught:
        policy.addresses("nas.local", 5001)
    assert caught.value.hint.endswith("habilis accounts allow-private <project> <account> nas.local:5001")
    with pytest.raises(AddressNotAllowed):
        policy.addresses("other.local", 5000)


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_allowed_address_is_found_with_and_without_brackets(host):
    policy = AddressPolicy(private_hosts=frozenset({"[::1]:8080"}))

    assert policy.addresses(host, 8080) == ["::1"]


def test_the_hint_says_when_nobody_can_opt_in():
    policy = AddressPolicy(may_opt_in=False, resolver=resolving("10.0.0.5"))

    with pytest.raises(AddressNotAllowed) as caught:
        policy.addresses("nas.local", 5000)

    assert caught.value.hint == "private hosts are switched off here (network.private: never)"


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "fe80::1"])
def test_no_opt_in_opens_a_reserved_address(address):
    policy = AddressPolicy(private_hosts=frozenset({"trap.local:80"}), resolver=resolving(address))

    with pytest.raises(AddressNotAllowed, match="never called"):
        policy.addresses("trap.local", 80)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_no_opt_in_opens_the_engine_itself(address):
    policy = AddressPolicy(
        private_hosts=frozenset({"me.local:8787"}), own_ports=frozenset({8787}), resolver=resolving(address)
    )

    with pytest.raises(AddressNotAllowed, match=r"me\.local:8787 is this engine itself"):
        policy.addresses("me.local", 8787)


def test_another_machine_may_use_the_port_that_is_the_engines_here():
    policy = AddressPolicy(
        private_hosts=frozenset({"nas.local:8787"}), own_ports=frozenset({8787}), resolver=resolving("192.168.255.254")
    )

    assert policy.addresses("nas.local", 8787) == ["192.168.255.254"]


def test_without_encryption_a_public_address_is_refused_even_to_an_allowed_host():
    policy = AddressPolicy(
        private_hosts=frozenset({"nas.local:80"}), private_only=True, resolver=resolving("93.184.216.34")
    )

    with pytest.raises(PlainHttpRefused, match=r"nas\.local leads to a public address without encryption"):
        policy.addresses("nas.local", 80)


def test_a_name_that_changes_its_mind_is_judged_at_each_lookup():
    answers = itertools.cycle([["93.184.216.34"], ["127.0.0.1"]])

    def changing(host, port, **kind):
        return resolving(*next(answers))(host, port, **kind)

    policy = AddressPolicy(resolver=changing)
    found, refused = set(), 0

    for _ in range(1000):
        try:
            found.update(policy.addresses("rebinding.test", 443))
        except AddressNotAllowed:
            refused += 1

    assert found == {"93.184.216.34"}
    assert refused == 500


@pytest.mark.parametrize("error", [socket.gaierror(-2, "s3cret"), UnicodeError("s3cret")])
def test_a_name_that_does_not_resolve_was_not_sent_to(error):
    def failing(*_, **__):
        raise error

    with pytest.raises(UpstreamUnavailable, match=r"gone\.test does not resolve") as caught:
        AddressPolicy(resolver=failing).addresses("gone.test", 443)

    assert caught.value.outcome == "not_sent"
    assert caught.value.retryable
    assert "s3cret" not in str(caught.value)


def test_a_name_without_addresses_does_not_resolve():
    with pytest.raises(UpstreamUnavailable, match="does not resolve"):
        AddressPolicy(resolver=resolving()).addresses("empty.test", 443)


def test_a_lookup_that_hangs_is_given_up_at_the_limit():
    released = threading.Event()

    def hanging(*_, **__):
        released.wait(10)
        return []

    try:
        with pytest.raises(UpstreamUnavailable, match=r"slow\.test was not looked up in time"):
            AddressPolicy(resolver=hanging).addresses("slow.test", 443, limit_s=0.05)
    finally:
        released.set()
