"""OAuth 1.0: a signature over method, address and parameters, made of an application's keys and an account's."""

import hmac
from base64 import b64encode
from datetime import datetime
from hashlib import sha256
from urllib.parse import parse_qsl

from habilis.exchange.placing import with_header
from habilis.exchange.signing.words import Words
from habilis.messages import Request
from habilis.redaction import current

_FORM = "application/x-www-form-urlencoded"


def with_oauth1(request: Request, words: Words, *, now: datetime, nonce: str) -> Request:
    """The request with its Authorization header.

    Raises:
        SecretMalformed: The private key is none.

    Source: RFC 5849 sections 3.1, 3.4 and 3.5.1; HMAC-SHA256 as services extend it.
    """
    from authlib.oauth1.rfc5849.parameters import prepare_headers
    from authlib.oauth1.rfc5849.signature import construct_base_string

    parameters = [
        ("oauth_consumer_key", words.text("consumer_key")),
        ("oauth_nonce", nonce),
        ("oauth_signature_method", words.text("alg", "HMAC-SHA1")),
        ("oauth_timestamp", str(int(now.timestamp()))),
        ("oauth_version", "1.0"),
    ]
    if token := words.text("token"):
        parameters.append(("oauth_token", token))
    base = construct_base_string(request.method, request.url, [*parameters, *_sent(request)])
    signature = _signature(base, words)
    current().add("signature", signature)
    headers = prepare_headers([*parameters, ("oauth_signature", signature)], realm=words.text("realm") or None)
    return with_header(request, "Authorization", headers["Authorization"])


def _sent(request: Request) -> list[tuple[str, str]]:
    """The parameters of the query and of a form, as the signature covers them."""
    found = parse_qsl(request.url.partition("?")[2], keep_blank_values=True)
    types = [value for name, value in request.headers if name.lower() == "content-type"]
    if types and types[0].partition(";")[0].strip().lower() == _FORM and isinstance(request.body, bytes):
        found += parse_qsl(request.body.decode(), keep_blank_values=True)
    return found


def _signature(base: str, words: Words) -> str:
    from authlib.oauth1.rfc5849.signature import hmac_sha1_signature, plaintext_signature, rsa_sha1_signature

    secrets = words.text("consumer_secret"), words.text("token_secret")
    match words.text("alg", "HMAC-SHA1"):
        case "PLAINTEXT":
            return str(plaintext_signature(*secrets))
        case "HMAC-SHA256":
            key = str(plaintext_signature(*secrets))
            return b64encode(hmac.digest(key.encode(), base.encode(), sha256)).decode()
        case "RSA-SHA1":
            try:
                return str(rsa_sha1_signature(base, words.secret("key")[1]))
            except (ValueError, TypeError, AttributeError):
                pass
            # Raised out here, so that no library error, which may quote the key, hangs on ours.
            raise words.malformed("key", "it is no private RSA key in PEM")
        case _:
            return str(hmac_sha1_signature(base, *secrets))
