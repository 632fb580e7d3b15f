"""A token made for each request: to a server that checks it to the letter, and to a real Ghost where there is one."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.flows.strict_ghost import StrictGhost

from habilis.errors import UpstreamError


@pytest.fixture
def strict(studio):
    """A server that checks tokens, by the studio's clock."""
    with StrictGhost(studio.outside.now) as ghost:
        yield ghost


def test_each_request_carries_a_token_that_is_good_for_it(studio, strict):
    studio.add("ghost", {"GHOST_SITE": strict.url(""), "GHOST_KEY": strict.key}, private=strict.place)

    done = studio.call("publish_post", title="Hällo", html="<p>x</p>")
    studio.call("publish_post", title="Again", html="<p>x</p>")

    assert strict.posts == ["Hällo", "Again"]
    assert done.link == strict.url("/p/1/")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda key: f"{key[:24]}:{'00' * 32}", "invalid signature"),
        (lambda key: f"{'0' * 24}:{key[25:]}", "unknown key id"),
    ],
    ids=["secret", "id"],
)
def test_a_wrong_key_is_refused_in_the_services_words(studio, strict, change, said):
    studio.add("ghost", {"GHOST_SITE": strict.url(""), "GHOST_KEY": change(strict.key)}, private=strict.place)

    with pytest.raises(UpstreamError, match=said):
        studio.call("publish_post", title="Hello", html="<p>x</p>")

    assert strict.posts == []


def test_a_real_ghost_publishes_with_such_a_token(studio, ghost):
    on_time = replace(studio, outside=replace(studio.outside, now=lambda: datetime.now(UTC)))
    on_time.add("ghost", {"GHOST_SITE": ghost.url, "GHOST_KEY": ghost.key}, private=ghost.url)

    done = on_time.call("publish_post", title="Hällo", html="<p>For everybody.</p>")

    assert done.link.startswith(f"{ghost.url}/")
