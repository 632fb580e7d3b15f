import json
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.signin.talks import answer, converse, scope

from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.load import load_manifest
from habilis.manifest.model import OAuth2Flow
from habilis.marketplace import shipped
from habilis.signin.oauth2 import PageOrder, page_address, register
from habilis.signin.tokens import exchange_code

HERE = "http://127.0.0.1:4000/api/connect/callback"
SITE = {"MASTODON_URL": "https://social.example"}


def mastodon():
    folder = shipped("mastodon")
    assert folder is not None
    manifest = load_manifest((folder / "extension.yaml").read_bytes(), folder="mastodon")
    (way,) = manifest.ways
    assert isinstance(way, OAuth2Flow)
    hosts = AllowedHosts.of(manifest.hosts, SITE)
    return way, Bounds(hosts=hosts, private_hosts=frozenset(), is_read=False)


def test_mastodon_is_signed_in_to_by_an_application_of_its_instance():
    way, bounds = mastodon()
    assert way.register is not None
    arguments = {"redirect_uri": HERE, "scopes": " ".join(way.scopes), "app_name": "Habilis: acme"}

    given = answer({"id": "1", "client_id": "own-id", "client_secret": "own-secret"})
    keys, (asked,) = converse(register(way.register, scope=scope(SITE, **arguments), bounds=bounds), given)

    assert asked.url == "https://social.example/api/v1/apps"
    assert json.loads(asked.body) == {
        "client_name": "Habilis: acme",
        "redirect_uris": HERE,
        "scopes": "read:accounts read:statuses write:media write:statuses",
    }
    known = scope({**SITE, **keys})
    page = page_address(way, PageOrder(state="S", challenge="C", redirect_uri=HERE), scope=known, bounds=bounds)
    assert page.startswith("https://social.example/oauth/authorize?")
    assert dict(parse_qsl(urlsplit(page).query))["client_id"] == "own-id"
    talk = exchange_code(way, "code-1", verifier="V", redirect_uri=HERE, scope=known, bounds=bounds)
    tokens, (exchange,) = converse(talk, answer({"access_token": "token-1", "token_type": "Bearer"}))
    assert (exchange.url, exchange.basic_auth) == ("https://social.example/oauth/token", None)
    assert parse_qs(exchange.body.decode())["client_secret"] == ["own-secret"]
    assert (tokens.access, tokens.refresh, tokens.expires_at) == ("token-1", "", None)
