from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from habilis.engine.outside import Relay
from habilis.engine.settings import (
    VARIABLES,
    Settings,
    clock,
    current_settings,
    live_outside,
    open_home,
    read_settings,
)
from habilis.errors import BadInput, NotFound
from habilis.home.worktree import init_home


def test_an_empty_environment_means_the_home_of_this_user_and_no_private_network():
    settings = read_settings({})

    assert settings == Settings(home=Path("~/.habilis").expanduser(), private_network="never")


def test_every_variable_is_read():
    settings = read_settings({
        "HABILIS_HOME": "/homes/one",
        "HABILIS_REMOTE": "https://git.example/home.git",
        "HABILIS_REMOTE_PRIVATE": "git.example:3000",
        "HABILIS_TOKENS": "admin:0",
        "HABILIS_PUBLIC_URL": "https://habilis.example/",
        "HABILIS_RELAY_URL": "https://relay.example/",
        "HABILIS_RELAY_TOKEN": "relay-token",
        "HABILIS_PROVIDERS": "providers.yaml",
        "HABILIS_PRIVATE_NETWORK": "per_account",
        "HABILIS_CA_FILE": "/etc/ca.pem",
        "HABILIS_CLOCK_OFFSET_S": "-3600.5",
        "HABILIS_LARGEST_FILE_MIB": "512",
        "PORT": "8080",
    })  # fmt: skip

    assert settings == Settings(
        home=Path("/homes/one"),
        remote="https://git.example/home.git",
        remote_private="git.example:3000",
        tokens="admin:0",
        public_url="https://habilis.example",
        relay=Relay(url="https://relay.example", token="relay-token"),
        providers="providers.yaml",
        private_network="per_account",
        ca_file="/etc/ca.pem",
        clock_offset_s=-3600.5,
        largest_file_mib=512,
        own_port=8080,
    )


def test_empty_variables_are_as_good_as_none():
    names = (
        "HOME",
        "REMOTE",
        "TOKENS",
        "PUBLIC_URL",
        "RELAY_URL",
        "PRIVATE_NETWORK",
        "CA_FILE",
        "CLOCK_OFFSET_S",
        "LARGEST_FILE_MIB",
    )

    assert read_settings({f"HABILIS_{name}": "" for name in names} | {"PORT": ""}) == read_settings({})


def test_keys_are_not_part_of_what_settings_show():
    settings = read_settings({
        "HABILIS_TOKENS": "admin:secret-1",
        "HABILIS_RELAY_URL": "https://relay.example",
        "HABILIS_RELAY_TOKEN": "secret-2",
        "HABILIS_REMOTE": "https://user:secret-3@git.example/home.git",
    })  # fmt: skip

    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HABILIS_PRIVATE_NETWORK", "always"),
        ("HABILIS_PUBLIC_URL", "habilis.example"),
        ("HABILIS_RELAY_URL", "ftp://relay.example"),
        ("HABILIS_CLOCK_OFFSET_S", "soon"),
        ("HABILIS_CLOCK_OFFSET_S", "nan"),
        ("HABILIS_CLOCK_OFFSET_S", "inf"),
        ("HABILIS_CLOCK_OFFSET_S", "1e12"),
        ("HABILIS_LARGEST_FILE_MIB", "0"),
        ("HABILIS_LARGEST_FILE_MIB", "-1"),
        ("HABILIS_LARGEST_FILE_MIB", "50 MiB"),
        ("HABILIS_LARGEST_FILE_MIB", "10001"),
        ("HABILIS_HOME", "~nobody-of-that-name/home"),
    ],
)
def test_a_wrong_variable_is_named(name, value):
    with pytest.raises(BadInput, match=f"^{name}: "):
        read_settings({name: value})


@pytest.mark.parametrize("port", ["", "http", "-1", "8080x", "²"])
def test_a_port_that_is_none_is_nowhere(port):
    assert read_settings({"PORT": port}).own_port == 0


def test_a_home_is_opened_once_for_the_life_of_the_process(tmp_path):
    init_home(tmp_path / "home").close()

    first, second = (open_home(Settings(home=tmp_path / "home", public_url=url)) for url in ("", "https://a.example"))

    assert first is second


@pytest.mark.parametrize("made", ["nothing", "an empty folder", "a file", "a repository's subfolder"])
def test_a_home_that_was_not_made_is_not_found_and_says_how_to_make_it(tmp_path, made):
    path = tmp_path / "home"
    if made == "an empty folder":
        path.mkdir()
    elif made == "a file":
        path.write_text("x")
    elif made == "a repository's subfolder":
        init_home(tmp_path).close()
        path.mkdir()

    with pytest.raises(NotFound) as caught:
        open_home(Settings(home=path))

    assert "habilis init" in caught.value.hint
    assert str(path) in str(caught.value)


def test_a_home_that_is_made_after_the_first_look_is_found(tmp_path):
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(NotFound):
        open_home(settings)
    init_home(tmp_path / "home").close()

    assert open_home(settings).private == tmp_path / "home"


def test_the_clock_may_run_ahead():
    ahead = clock(3600.0)() - datetime.now(UTC)

    assert timedelta(minutes=59) < ahead < timedelta(minutes=61)


def test_the_largest_file_is_told_to_the_world_in_bytes():
    assert live_outside(read_settings({})).largest_file_bytes == 50 * 1024 * 1024
    assert live_outside(read_settings({"HABILIS_LARGEST_FILE_MIB": "1"})).largest_file_bytes == 1024 * 1024


def test_tokens_are_long_and_never_the_same():
    outside = live_outside(Settings(home=Path("/homes/one")))

    tokens = {outside.token() for _ in range(1000)}

    assert len(tokens) == 1000
    assert min(map(len, tokens)) >= 43


def test_settings_are_read_anew_when_a_variable_changes():
    first = current_settings({"HABILIS_HOME": "/srv/one", "PORT": "8080"})

    assert current_settings({"HABILIS_HOME": "/srv/one", "PORT": "8080"}) is first
    assert current_settings({"HABILIS_HOME": "/srv/two", "PORT": "8080"}).home == Path("/srv/two")
    assert current_settings({"HABILIS_HOME": "/srv/one"}).own_port == 0


def test_every_variable_that_is_read_tells_settings_apart():
    seen = set()

    class Asked(dict):
        def get(self, name, default=None):
            seen.add(name)
            return default

    read_settings(Asked())

    assert seen <= set(VARIABLES)
