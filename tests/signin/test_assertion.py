import json
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.signin.talks import BOUNDS, NOW, TOKEN, answer, converse, first, scope

from habilis.errors import HostNotAllowed, SecretMalformed, SignInFailed
from habilis.manifest.model import ServiceAccountFlow
from habilis.names import KeyName
from habilis.redaction import clean, recording
from habilis.signin.assertion import mint
from habilis.templating import compile_url


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ACCOUNT = {"client_email": "svc@x.example", "private_key": pem(KEY), "private_key_id": "k1"}


def flow(**fields):
    known = {
        "label": "Service account",
        "key_file": KeyName("X_FILE"),
        "token_url": compile_url("https://auth.example/token"),
        "scopes": ("a", "b"),
        "token_env": TOKEN,
    }
    return ServiceAccountFlow(**{**known, **fields})


def minted(account=ACCOUNT, *answers, of=None):
    raw = account if isinstance(account, bytes) else json.dumps(account).encode()
    talk = mint(of or flow(), raw, scope=scope(), bounds=BOUNDS)
    return converse(talk, *answers) if answers else first(talk)


def test_the_statement_says_who_asks_for_what_for_an_hour_and_is_signed_with_the_accounts_key():
    request = minted()
    fields = parse_qs(request.body.decode())
    public = KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )  # fmt: skip

    token = jwt.decode(fields["assertion"][0], RSAKey.import_key(public))

    assert (request.method, request.url) == ("POST", "https://auth.example/token")
    assert fields["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    assert token.header == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    assert token.claims == {
        "iss": "svc@x.example",
        "scope": "a b",
        "aud": "https://auth.example/token",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 3600,
    }


def test_the_token_is_what_the_provider_gives():
    tokens, _ = minted(ACCOUNT, answer({"access_token": "tok-1", "expires_in": 3599}))

    assert tokens.access == "tok-1"


@pytest.mark.parametrize(
    "account",
    [
        b"", b"no json", b"[]", b"{}", b"\xff\xfe", b"x" * 70_000, {"client_email": "a"}, {"private_key": pem(KEY)},
        {**ACCOUNT, "private_key": "canary-key-123"}, {**ACCOUNT, "private_key": ["x"]},
        {**ACCOUNT, "client_email": ""},
        {**ACCOUNT, "private_key": pem(ec.generate_private_key(ec.SECP256R1()))},
    ],
)  # fmt: skip
def test_a_file_that_is_no_service_accounts_is_told_without_its_content(account):
    with pytest.raises(SecretMalformed, match="the file that X_FILE names is no service account's") as caught:
        minted(account)

    assert "canary" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_clock_that_is_off_is_told_with_how_far():
    refusal = answer(
        {"error": "invalid_request", "error_description": "Token used too early"}, 400,
        date="Sun, 01 Mar 2026 11:55:00 GMT",
    )  # fmt: skip

    with pytest.raises(SignInFailed, match="Token used too early") as caught:
        minted(ACCOUNT, refusal)

    assert caught.value.hint == "this machine's clock is 300 s ahead of the service's; set it"


def test_a_statement_goes_to_a_listed_host_only():
    with pytest.raises(HostNotAllowed):
        minted(of=flow(token_url=compile_url("https://evil.test/token")))


def test_a_line_of_the_key_is_masked_where_a_service_echoes_it():
    with recording():
        minted()

        assert ACCOUNT["private_key"].splitlines()[3] not in clean(f"bad: {ACCOUNT['private_key'].splitlines()[3]}")
