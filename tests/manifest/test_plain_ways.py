import json

from habilis.manifest.model import (
    Afterwards,
    ClientCredentialsFlow,
    CloudFlow,
    DeviceFlow,
    Identity,
    Manifest,
    OAuth2Flow,
    RedirectFlow,
    RegisterRule,
    RequestTemplate,
    Return,
    ServiceAccountFlow,
    SessionFlow,
)
from habilis.manifest.plain import from_plain, to_plain
from habilis.names import AbilityId, KeyName
from habilis.templating import compile_condition, compile_json, compile_place, compile_text, compile_url

TOKEN, REFRESH, SITE = KeyName("X_TOKEN"), KeyName("X_REFRESH"), KeyName("X_SITE")
URL = compile_url("https://api.example.com/oauth")
EXPIRED = compile_condition({"field": "/errcode", "op": "eq", "value": 40001})
REQUEST = RequestTemplate(method="POST", url=URL, json=compile_json({"user": "${X_USER}"}))


def manifest(*ways, **fields):
    return Manifest(
        id=AbilityId("x"),
        name="X",
        version="1",
        summary="",
        service="x",
        hosts=("api.example.com",),
        content_hash="",
        ways=ways,
        **fields,
    )


def kept(of):
    return from_plain(json.loads(json.dumps(to_plain(of))))


def test_every_way_comes_back_as_it_was():
    of = manifest(
        RedirectFlow(label="R", url=URL, callback_params=("cb",), returns={SITE: "site"}, denied=("ok", "no")),
        OAuth2Flow(
            label="O",
            authorize_url=URL,
            token_url=URL,
            refresh_url=URL,
            client_id=compile_text("${X_ID}"),
            client_secret=compile_text("${X_SECRET}"),
            scopes=("a", "b"),
            scope_separator=",",
            token_env=TOKEN,
            refresh_env=REFRESH,
            needs=(SITE,),
            client_auth="post",
            pkce=False,
            token_body="json",
            authorize_params={"prompt": compile_text("consent")},
            token_params={"audience": compile_text("${X_SITE}")},
            refresh_params={"x": compile_text("1")},
            client_id_param="client_key",
            issuer="https://x.example",
            register=RegisterRule(
                url=URL,
                body=compile_json({"redirect_uris": ["{{redirect_uri}}"]}),
                client_id=compile_place("/client_id"),
                client_id_env=KeyName("X_ID"),
                client_secret=compile_place("/client_secret"),
                client_secret_env=KeyName("X_SECRET"),
            ),
            returns={SITE: Return(callback="shop"), KeyName("X_DC"): Return(token=compile_place("/dc"))},
            afterwards=Afterwards(request=REQUEST, returns={KeyName("X_CLOUD"): compile_place("/0/id")}),
            expired=EXPIRED,
        ),
        CloudFlow(label="C", provider="google", scopes=("a",), token_env=TOKEN, refresh_env=REFRESH, expired=EXPIRED),
        DeviceFlow(label="D", device_url=URL, token_url=URL, client_id=compile_text("id"), token_env=TOKEN),
        ServiceAccountFlow(label="S", key_file=KeyName("X_FILE"), token_url=URL, scopes=("a",), token_env=TOKEN),
        ClientCredentialsFlow(
            label="K",
            token_url=URL,
            client_id=compile_text("${X_ID}"),
            client_secret=compile_text("${X_SECRET}"),
            token_env=TOKEN,
        ),
        SessionFlow(
            label="L",
            request=REQUEST,
            token=compile_place("/jwt"),
            token_env=TOKEN,
            refresh=compile_place("/refresh"),
            expires=compile_place("/expires"),
            expires_unit="milliseconds",
            refresh_env=REFRESH,
            refresh_request=REQUEST,
            returns={SITE: compile_place("/host")},
        ),
        verify=REQUEST,
        identity=Identity(request=REQUEST, id=compile_place("/id"), label=compile_place("/name")),
    )

    assert kept(of) == of


def test_what_is_not_there_stays_away():
    of = manifest(
        OAuth2Flow(label="O", authorize_url=URL, token_url=URL, client_id=compile_text("id"), token_env=TOKEN),
        SessionFlow(label="L", request=REQUEST, token=compile_place("/jwt"), token_env=TOKEN),
    )

    assert kept(of) == of


def test_keys_that_signing_in_writes_are_told_once_each():
    of = manifest(
        CloudFlow(label="C", provider="google", scopes=("a",), token_env=TOKEN, refresh_env=REFRESH),
        ServiceAccountFlow(label="S", key_file=KeyName("X_FILE"), token_url=URL, scopes=("a",), token_env=TOKEN),
    )

    assert of.kept_keys == ("X_TOKEN", "X_TOKEN_EXPIRES_AT", "X_TOKEN_MISSING_SCOPES", "X_REFRESH")
