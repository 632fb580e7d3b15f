import hashlib
import hmac
from base64 import b64encode, urlsafe_b64encode
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth1.rfc5849.signature import verify_hmac_sha1, verify_plaintext, verify_rsa_sha1
from authlib.oauth1.rfc5849.wrapper import OAuth1Request
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from tests.exchange.conversations import NOW, answer, files, request, run, scope, step, tool

from habilis.errors import EngineFailed, SecretMalformed, SecretMissing
from habilis.manifest.model import SignRule
from habilis.redaction import clean, recording
from habilis.templating import compile_json

SECRET = "f0" * 32
RSA = RSAKey.generate_key(2048, private=True).as_pem(private=True).decode()
EC = ECKey.generate_key("P-256", private=True).as_pem(private=True).decode()


def sign(scheme, **values):
    return SignRule(scheme=scheme, values={name: compile_json(value) for name, value in values.items()})


def given(**keys):
    return replace(scope(), keys=keys)


def sent(rule, keys, method="POST", path="/items", **fields):
    """The one request of a call, signed."""
    return run(tool(request(method, path, sign=rule, **fields)), given(**keys), [answer()]).requests[0]


def header(of, name):
    return dict(of.headers)[name]


def test_an_hmac_covers_the_very_body_that_is_sent():
    rule = sign("hmac", key="${SECRET}", header="X-Signature", value="sha256={{signature}}")

    asked = sent(rule, {"SECRET": "top-secret"}, json={"text": "ü"})

    expected = hmac.new(b"top-secret", asked.body, hashlib.sha256).hexdigest()
    assert header(asked, "X-Signature") == f"sha256={expected}"


def test_an_hmac_covers_what_the_manifest_writes_of_the_request_and_the_time():
    rule = sign(
        "hmac",
        key="${SECRET}",
        text="v0:{{unix(now())}}:{{method}} {{host}}{{path}}?{{query}}:{{body}}",
        header="X-Signature",
        encoding="base64",
        alg="sha512",
    )

    asked = sent(rule, {"SECRET": "top-secret"}, path="/items?a=1", json={"a": 1})

    covered = f'v0:{int(NOW.timestamp())}:POST api.example.com/items?a=1:{{"a": 1}}'.encode()
    assert header(asked, "X-Signature") == b64encode(hmac.digest(b"top-secret", covered, "sha512")).decode()


def test_an_hmac_may_go_into_the_query_and_cover_it():
    rule = sign("hmac", key="${SECRET}", text="{{query}}", query="signature")

    asked = sent(rule, {"SECRET": "top-secret"}, "GET", "/items?symbol=A&timestamp=1")

    expected = hmac.new(b"top-secret", b"symbol=A&timestamp=1", hashlib.sha256).hexdigest()
    assert asked.url == f"https://api.example.com/items?symbol=A&timestamp=1&signature={expected}"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("hex", "00ff10" * 6), ("base64", b64encode(bytes.fromhex("00ff10" * 6)).decode()),
     ("base64", urlsafe_b64encode(bytes.fromhex("00ff10" * 6)).decode().rstrip("="))],
)  # fmt: skip
def test_a_key_may_be_written_in_hex_or_base64(encoding, written):
    rule = sign("hmac", key="${SECRET}", key_encoding=encoding, header="X", encoding="base64url")

    asked = sent(rule, {"SECRET": written}, json={})

    digest = hmac.digest(bytes.fromhex("00ff10" * 6), b"{}", "sha256")
    assert header(asked, "X") == urlsafe_b64encode(digest).decode().rstrip("=")


def test_a_request_without_a_body_is_signed_as_empty():
    asked = sent(sign("hmac", key="${SECRET}", header="X"), {"SECRET": "top-secret"}, "GET")

    assert header(asked, "X") == hmac.new(b"top-secret", b"", hashlib.sha256).hexdigest()


@pytest.mark.parametrize("fields", [{}, {"text": "{{body}}"}, {"text": "{{hash(body, 'sha256')}}"}])
def test_a_body_on_disk_cannot_be_signed_and_is_not_sent_unsigned(fields):
    rule = sign("hmac", key="${SECRET}", header="X", **fields)
    upload = request("PUT", sign=rule, body_file=compile_json("{{files.0}}"))

    played = run(tool(upload), replace(given(SECRET="top-secret"), arguments={"files": files(1)}), [])

    assert isinstance(played.error, EngineFailed)
    assert "sent from disk cannot be" in str(played.error)


def test_a_body_on_disk_may_be_sent_with_a_signature_of_something_else():
    rule = sign("hmac", key="${SECRET}", header="X", text="{{path}}")
    upload = request("PUT", "/up", sign=rule, body_file=compile_json("{{files.0}}"))

    played = run(tool(upload), replace(given(SECRET="top-secret"), arguments={"files": files(1)}), [answer()])

    assert header(played.requests[0], "X") == hmac.new(b"top-secret", b"/up", hashlib.sha256).hexdigest()


@pytest.mark.parametrize("scheme", ["hmac", "jwt"])
def test_a_key_that_is_not_set_is_asked_for_before_anything_is_sent(scheme):
    played = run(tool(request(sign=sign(scheme, key="${SECRET}", header="X"))), given(), [])

    assert isinstance(played.error, SecretMissing)
    assert str(played.error) == "tool 'post': the key SECRET is not set (set it on the account)"


@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_a_key_that_is_not_in_its_encoding_is_named_and_not_shown(encoding):
    rule = sign("hmac", key="${SECRET}", key_encoding=encoding, header="X")

    played = run(tool(request(sign=rule)), given(SECRET="x!y-is-no-key"), [])

    assert isinstance(played.error, SecretMalformed)
    assert str(played.error) == f"tool 'post': SECRET cannot sign: it is not {encoding} (set it again)"


OAUTH1 = {"consumer_key": "${KEY}", "consumer_secret": "${SECRET}", "token": "${TOKEN}", "token_secret": "${HUSH}"}
OAUTH1_KEYS = {"KEY": "consumer", "SECRET": "s&1", "TOKEN": "token-1", "HUSH": "h=2"}


class Verified(OAuth1Request):
    """What the service's side knows beside the request."""

    client_secret, token_secret, rsa_public_key = "s&1", "h=2", ""


def received(asked):
    body = asked.body.decode() if asked.body else None
    return Verified(asked.method, asked.url, body=body, headers=dict(asked.headers))


def test_an_oauth1_signature_covers_query_and_form_and_is_what_the_service_works_out():
    form = {"form": compile_json({"status": "Hello + 1", "n": 2})}

    asked = sent(sign("oauth1", **OAUTH1, realm="Photos"), OAUTH1_KEYS, path="/up?a=b%20c&a=a", **form)

    value = header(asked, "Authorization")
    assert value.startswith('OAuth realm="Photos", oauth_consumer_key="consumer", oauth_nonce="')
    assert f'oauth_timestamp="{int(NOW.timestamp())}"' in value
    assert verify_hmac_sha1(received(asked))
    assert not verify_hmac_sha1(received(replace(asked, body=b"status=Bye")))


def test_an_oauth1_body_of_json_is_no_part_of_the_signature():
    asked = sent(sign("oauth1", **OAUTH1), OAUTH1_KEYS, json={"a": 1})

    assert verify_hmac_sha1(received(replace(asked, body=None)))


def test_oauth1_in_plain_text_and_with_a_private_key():
    plain = sent(sign("oauth1", **OAUTH1, alg="PLAINTEXT"), OAUTH1_KEYS)
    by_key = sent(sign("oauth1", **OAUTH1, alg="RSA-SHA1", key="${PEM}"), {**OAUTH1_KEYS, "PEM": RSA})

    seen = received(by_key)
    public = load_pem_private_key(RSA.encode(), None).public_key()
    seen.rsa_public_key = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert verify_plaintext(received(plain))
    assert verify_rsa_sha1(seen)


def test_oauth1_with_sha256_uses_the_same_base_and_key():
    asked = sent(sign("oauth1", **OAUTH1, alg="HMAC-SHA256"), OAUTH1_KEYS, "GET", "/x")

    from authlib.oauth1.rfc5849.signature import generate_signature_base_string

    seen = received(asked)
    expected = hmac.digest(b"s%261&h%3D2", generate_signature_base_string(seen).encode(), "sha256")
    assert seen.signature == b64encode(expected).decode()


def test_each_try_of_a_request_is_signed_anew():
    rule = sign("oauth1", **OAUTH1)
    of = tool(request("GET", sign=rule))

    first, second = run(of, given(**OAUTH1_KEYS), [answer(429, None, retry_after="2"), answer()]).requests

    assert header(first, "Authorization") != header(second, "Authorization")
    assert f'oauth_timestamp="{int(NOW.timestamp()) + 2}"' in header(second, "Authorization")
    assert verify_hmac_sha1(received(second))


def test_a_private_key_that_is_none_is_named_and_not_shown():
    rule = sign("oauth1", **OAUTH1, alg="RSA-SHA1", key="${PEM}")

    played = run(tool(request(sign=rule)), given(**OAUTH1_KEYS, PEM="hush-hush-hush"), [])

    assert str(played.error) == "tool 'post': PEM cannot sign: it is no private RSA key in PEM (set it again)"
    assert played.error.__cause__ is played.error.__context__ is None


GHOST = {
    "key": "${ADMIN_KEY}",
    "key_encoding": "id:hex",
    "claims": {"aud": "/admin/"},
    "value": "Ghost {{token}}",
}


def test_a_token_of_an_id_and_a_hex_secret_is_what_the_service_checks():
    asked = sent(sign("jwt", **GHOST), {"ADMIN_KEY": f"6489abc:{SECRET}"}, "GET", "/ghost/api/admin/site/")

    scheme, _, token = header(asked, "Authorization").partition(" ")
    read = jwt.decode(token, OctKey.import_key(bytes.fromhex(SECRET)), algorithms=["HS256"])
    assert scheme == "Ghost"
    assert read.header == {"alg": "HS256", "typ": "JWT", "kid": "6489abc"}
    assert read.claims == {"aud": "/admin/", "iat": int(NOW.timestamp()), "exp": int(NOW.timestamp()) + 300}


@pytest.mark.parametrize(("alg", "pem", "kind"), [("RS256", RSA, RSAKey), ("PS256", RSA, RSAKey), ("ES256", EC, ECKey)])
def test_a_token_is_signed_with_a_private_key_written_over_lines_or_on_one(alg, pem, kind):
    rule = sign(
        "jwt", alg=alg, key="${PEM}", kid="${ID}", claims={"iss": "${ID}", "scope": ["${ID}:read"]}, lifetime_s=60
    )

    for written in (pem, pem.replace("\n", "\\n")):
        asked = sent(rule, {"PEM": written, "ID": "app-1"}, "GET", "/x")
        read = jwt.decode(
            header(asked, "Authorization").removeprefix("Bearer "), kind.import_key(pem), algorithms=[alg]
        )
        issued = int(NOW.timestamp())
        assert read.claims == {"iss": "app-1", "scope": ["app-1:read"], "iat": issued, "exp": issued + 60}
        assert read.header["kid"] == "app-1"


def test_a_token_may_go_into_the_query_and_have_times_of_its_own():
    rule = sign("jwt", key="${SECRET}", query="jwt", value="{{token}}", claims={"exp": 1})

    asked = sent(rule, {"SECRET": "top-secret-of-32-characters-here"}, "GET")

    (token,) = parse_qs(urlsplit(asked.url).query)["jwt"]
    read = jwt.decode(token, OctKey.import_key("top-secret-of-32-characters-here"), algorithms=["HS256"])
    assert read.claims["exp"] == 1


@pytest.mark.parametrize(
    ("alg", "key"), [("RS256", "hush-hush-hush-hush"), ("ES256", RSA), ("HS256", "short"), ("HS256", RSA)]
)
def test_a_key_that_does_not_fit_its_algorithm_is_named_and_not_shown(alg, key):
    played = run(tool(request(sign=sign("jwt", alg=alg, key="${PEM}"))), given(PEM=key), [])

    assert isinstance(played.error, SecretMalformed)
    assert str(played.error) == f"tool 'post': PEM cannot sign: it is no key for {alg} (set it again)"
    assert played.error.__cause__ is played.error.__context__ is None


def test_what_a_signature_is_made_of_and_what_is_made_of_it_are_masked_from_then_on():
    with recording():
        asked = sent(sign("jwt", **GHOST), {"ADMIN_KEY": f"6489abc:{SECRET}"})
        token = header(asked, "Authorization")

        shown = clean(f"{token} {SECRET} {b64encode(bytes.fromhex(SECRET)).decode()}")

    assert shown == "Ghost [redacted token] [redacted key] [redacted key]"


def test_each_request_of_a_call_has_a_token_of_its_own_time():
    of = tool(
        step("a", request("GET", sign=sign("jwt", **GHOST))), step("b", request("GET", sign=sign("jwt", **GHOST)))
    )

    played = run(of, given(ADMIN_KEY=f"i:{SECRET}"), [answer(200, {}, elapsed_s=9.0), answer()])

    key = OctKey.import_key(bytes.fromhex(SECRET))
    tokens = [header(asked, "Authorization").removeprefix("Ghost ") for asked in played.requests]
    issued = [jwt.decode(token, key, algorithms=["HS256"]).claims["iat"] for token in tokens]
    assert issued == [int(NOW.timestamp()), int((NOW + timedelta(seconds=9)).timestamp())]


def test_a_request_outside_a_call_is_not_signed():
    played = run(tool(request(sign=sign("jwt", **GHOST))), replace(given(ADMIN_KEY=f"i:{SECRET}"), made=None), [])

    assert isinstance(played.error, EngineFailed)
