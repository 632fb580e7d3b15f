from datetime import timedelta

import pytest

from habilis.engine.relays import MOST_WAITING, RelayAddresses
from habilis.errors import Busy, NotFound, SignInExpired
from habilis.home.waiting import Waiting

TARGET = "http://127.0.0.1:8321/cb"
NOBODY = frozenset()


@pytest.fixture
def addresses(home):
    return RelayAddresses(home)


def files(home):
    return sorted(path.name for path in (home.private / ".state").rglob("*.json"))


def test_the_services_parameters_are_added_to_those_of_the_target(addresses, clock):
    for name, target in (("one", TARGET), ("two", f"{TARGET}?state=x")):
        addresses.register(target, relay_id=name, now=clock(), origins=NOBODY)

    assert addresses.take("one", b"", now=clock()) == TARGET
    assert addresses.take("two", b"token=a", now=clock()) == f"{TARGET}?state=x&token=a"


def test_an_address_that_was_used_is_told_from_one_that_never_was(addresses, clock):
    addresses.register(TARGET, relay_id="one", now=clock(), origins=NOBODY)
    addresses.take("one", b"", now=clock())

    with pytest.raises(SignInExpired, match="used before"):
        addresses.take("one", b"", now=clock())
    with pytest.raises(NotFound, match="there is no such address"):
        addresses.take("two", b"", now=clock())


def test_an_address_counts_for_ten_minutes_to_the_second(addresses, clock):
    for name in ("one", "two"):
        addresses.register(TARGET, relay_id=name, now=clock(), origins=NOBODY)

    clock.move(timedelta(minutes=10))
    assert addresses.take("one", b"", now=clock()) == TARGET
    clock.move(timedelta(seconds=1))
    with pytest.raises(SignInExpired, match="longer than ten minutes"):
        addresses.take("two", b"", now=clock())


def test_what_is_over_for_an_hour_is_swept_by_the_next_that_comes(addresses, home, clock):
    addresses.register(TARGET, relay_id="used", now=clock(), origins=NOBODY)
    addresses.register(TARGET, relay_id="never", now=clock(), origins=NOBODY)
    addresses.take("used", b"", now=clock())
    clock.move(timedelta(hours=1))

    addresses.register(TARGET, relay_id="next", now=clock(), origins=NOBODY)

    assert len(files(home)) == 1
    with pytest.raises(NotFound):
        addresses.take("used", b"", now=clock())


def test_only_so_many_addresses_wait_at_once(addresses, home, clock):
    waiting = Waiting(home.private / ".state" / "relay")
    for number in range(MOST_WAITING):
        waiting.put(str(number), {"target": TARGET, "until": "2026-11-30T12:10:00Z"}, clock() + timedelta(hours=1))

    with pytest.raises(Busy, match="too many sign-ins wait"):
        addresses.register(TARGET, relay_id="one more", now=clock(), origins=NOBODY)
    clock.move(timedelta(hours=1))
    addresses.register(TARGET, relay_id="one more", now=clock(), origins=NOBODY)
