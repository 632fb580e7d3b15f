import json

import pytest

from habilis.engine.providers import find_provider
from habilis.errors import EngineFailed, NotFound

GOOD = {
    "authorize_url": "https://provider.example/auth",
    "token_url": "https://provider.example/token",
    "client_id": "habilis",
    "client_secret_env": "PROVIDER_SECRET",
    "scopes": ["read"],
}
SECRETS = {"PROVIDER_SECRET": "secret-0123456789"}
YAML = """\
# Who signs in for other engines, and where.
provider:
  authorize_url: https://Provider.example/auth
  token_url: https://provider.example:443/token
  client_id: habilis
  client_secret_env: PROVIDER_SECRET
  scopes: [read]
  params: { access_type: offline }
"""


def configured(**changed):
    return json.dumps({"provider": {**GOOD, **changed}})


def test_a_provider_is_read_from_json_or_from_a_file_of_either_kind(tmp_path):
    (tmp_path / "providers.yaml").write_text(YAML)
    (tmp_path / "providers.json").write_text(configured(params={"access_type": "offline"}))

    found = [
        find_provider(text, "provider", SECRETS)
        for text in (
            configured(params={"access_type": "offline"}),
            f" {configured(params={'access_type': 'offline'})}\n",
            str(tmp_path / "providers.yaml"),
            str(tmp_path / "providers.json"),
        )
    ]

    assert found == [found[0]] * 4
    assert (found[0].authorize_url, found[0].token_url) == (GOOD["authorize_url"], GOOD["token_url"])
    assert (found[0].client_secret, found[0].client_auth) == ("secret-0123456789", "post")
    assert "secret-0123456789" not in repr(found[0])


@pytest.mark.parametrize("text", ["", "{}", configured()])
def test_a_name_that_is_not_configured_is_not_found(text):
    with pytest.raises(NotFound, match="no provider is called 'other'"):
        find_provider(text, "other", SECRETS)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"token_url": "http://provider.example/token"}, "without encryption"),
        ({"token_url": "http://127.0.0.1:9000/token"}, "private address"),
        ({"token_url": "https://169.254.169.254/token", "private_hosts": []}, "reserved address"),
        ({"authorize_url": "javascript:alert(1)"}, "only absolute https URLs"),
        ({"authorize_url": "file:///etc/passwd"}, "only absolute https URLs"),
        ({"authorize_url": "https://user@provider.example/auth"}, "may not carry a user name"),
        ({"authorize_url": "https://provider.example/auth?prompt=consent"}, "under params"),
        ({"params": {"state": "fixed"}}, "set by the relay itself"),
        ({"params": {"redirect_uri": "https://evil.test/"}}, "set by the relay itself"),
        ({"params": {"code_challenge_method": "plain"}}, "set by the relay itself"),
        ({"params": {"response_type": "token"}}, "set by the relay itself"),
        ({"params": {"max_age": 5}}, "expected text; quote it"),
        ({"client_auth": "none"}, "expected post or basic"),
        ({"client_secret": "secret-0123456789"}, "no such field"),
        ({"client_secret_env": "OTHER_SECRET"}, "OTHER_SECRET is not set"),
        ({"client_id": None}, "expected text"),
        ({"scopes": "read"}, "expected a list"),
        ({"private_hosts": ["169.254.169.254:80"]}, "never"),
    ],
)
def test_what_is_wrong_with_a_provider_is_said_before_anything_is_sent(changed, words):
    with pytest.raises(EngineFailed, match=words) as caught:
        find_provider(configured(**changed), "provider", SECRETS)

    assert caught.value.where == "HABILIS_PROVIDERS"
    assert "secret-0123456789" not in str(caught.value)


@pytest.mark.parametrize(("text", "words"), [("{", "HABILIS_PROVIDERS"), ("no/such/file.yaml", "No such file")])
def test_a_configuration_that_cannot_be_read_is_named(text, words):
    with pytest.raises(EngineFailed, match=words):
        find_provider(text, "provider", SECRETS)


def test_a_private_provider_has_to_be_meant():
    local = {name: f"http://127.0.0.1:9000/{name}" for name in ("authorize_url", "token_url")}

    found = find_provider(configured(**local, private_hosts=["127.0.0.1:9000"]), "provider", SECRETS)

    assert (found.token_url, found.private_hosts) == (local["token_url"], frozenset({"127.0.0.1:9000"}))
