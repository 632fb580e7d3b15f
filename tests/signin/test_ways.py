import pytest
from tests.signin.talks import REFRESH, TOKEN, oauth2

from habilis.manifest.model import (
    AuthKey,
    ClientCredentialsFlow,
    CloudFlow,
    Manifest,
    RedirectFlow,
    RequestTemplate,
    ServiceAccountFlow,
    SessionFlow,
)
from habilis.names import AbilityId, KeyName
from habilis.signin.ways import asked_keys, is_ready, way_in_use
from habilis.templating import compile_json, compile_place, compile_text, compile_url

SITE, FILE = KeyName("X_SITE"), KeyName("X_FILE")
URL = compile_url("https://auth.example/token")

REDIRECT = RedirectFlow(label="R", url=URL, needs=(SITE,), returns={SITE: "site", KeyName("X_PASSWORD"): "password"})
CLOUD = CloudFlow(label="C", provider="google", scopes=("a",), token_env=TOKEN, refresh_env=REFRESH)
SERVICE_ACCOUNT = ServiceAccountFlow(label="S", key_file=FILE, token_url=URL, scopes=("a",), token_env=TOKEN)
CREDENTIALS = ClientCredentialsFlow(
    label="K",
    token_url=URL,
    client_id=compile_text("${X_ID}"),
    client_secret=compile_text("${X_SECRET}"),
    token_params={"zone": compile_text("${X_ZONE|eu}")},
    token_env=TOKEN,
)
SESSION = SessionFlow(
    label="L",
    request=RequestTemplate(
        method="POST",
        url=compile_url("${X_SITE}/session"),
        headers=(("X-Team", compile_text("${X_TEAM|none}")),),
        json=compile_json({"user": "${X_USER}", "password": "${X_PASSWORD}", "old": "${X_TOKEN}"}),
    ),
    token=compile_place("/jwt"),
    token_env=TOKEN,
)


def manifest(*ways, required=(), optional=()):
    auth = [AuthKey(env=KeyName(name), label=name, optional=name in optional) for name in (*required, *optional)]
    return Manifest(
        id=AbilityId("x"),
        name="X",
        version="1",
        summary="",
        service="x",
        hosts=("auth.example",),
        content_hash="",
        ways=ways,
        auth=tuple(auth),
    )


@pytest.mark.parametrize(
    ("way", "names"),
    [
        (REDIRECT, ("X_SITE",)),
        (CLOUD, ()),
        (SERVICE_ACCOUNT, ("X_FILE",)),
        (CREDENTIALS, ("X_ID", "X_SECRET")),
        (SESSION, ("X_SITE", "X_USER", "X_PASSWORD")),
        (oauth2(needs=(SITE,)), ("X_SITE", "X_CLIENT_ID")),
    ],
)
def test_each_way_knows_what_a_person_gives_first(way, names):
    assert asked_keys(way) == names


@pytest.mark.parametrize(
    ("way", "keys"),
    [
        (REDIRECT, {"X_SITE": "s", "X_PASSWORD": "p"}),
        (CLOUD, {"X_TOKEN": "t"}),
        (SERVICE_ACCOUNT, {"X_FILE": "f"}),
        (CREDENTIALS, {"X_ID": "i", "X_SECRET": "s"}),
        (SESSION, {"X_SITE": "s", "X_USER": "u", "X_PASSWORD": "p"}),
        (oauth2(), {"X_TOKEN": "t"}),
    ],
)
def test_a_way_is_in_use_when_all_of_its_keys_are_set(way, keys):
    assert way_in_use(manifest(way), keys) == way
    for name in keys:
        assert way_in_use(manifest(way), {**keys, name: ""}) is None


def test_of_two_that_are_set_up_the_first_is_in_use():
    both = manifest(CLOUD, SERVICE_ACCOUNT)

    assert way_in_use(both, {"X_TOKEN": "t", "X_FILE": "f"}) == CLOUD
    assert way_in_use(both, {"X_FILE": "f"}) == SERVICE_ACCOUNT


def test_a_redirect_whose_keys_were_typed_is_in_use_without_the_optional_ones():
    of = manifest(REDIRECT, required=("X_SITE",), optional=("X_PASSWORD",))

    assert way_in_use(of, {"X_SITE": "s"}) == REDIRECT


def test_an_account_is_ready_with_its_required_keys_and_any_one_way():
    of = manifest(CLOUD, SERVICE_ACCOUNT, required=("X_SITE",), optional=("X_TOKEN", "X_FILE"))

    assert is_ready(of, {"X_SITE": "s", "X_FILE": "f"})
    assert is_ready(of, {"X_SITE": "s", "X_TOKEN": "t"})
    assert not is_ready(of, {"X_SITE": "s"})
    assert not is_ready(of, {"X_FILE": "f"})


def test_an_account_of_typed_keys_alone_is_ready_with_them():
    assert is_ready(manifest(required=("X_SITE",)), {"X_SITE": "s"})
    assert is_ready(manifest(), {})
