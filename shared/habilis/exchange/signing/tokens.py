"""A JSON Web Token made for one request."""

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from habilis.exchange.signing.words import Words
from habilis.messages import Request
from habilis.redaction import current

if TYPE_CHECKING:
    from joserfc.jwk import Key

_LIFETIME_S = 300
_SHORTEST_KEY_BYTES = 14


def with_token(request: Request, words: Words, *, now: datetime) -> Request:
    """The request with its token.

    Raises:
        SecretMalformed: The key is not one for the algorithm.

    Source: RFC 7519; the fields in docs/format.md "Signed requests".
    """
    from joserfc import jwt
    from joserfc.errors import JoseError

    key_id, secret = words.secret("key")
    alg, issued = words.text("alg", "HS256"), int(now.timestamp())
    key_id = words.text("kid", key_id)
    lifetime, claimed = words.value("lifetime_s"), words.value("claims")
    header = {"alg": alg, "kid": key_id} if key_id else {"alg": alg}
    ends = issued + (int(lifetime) if isinstance(lifetime, int | float) else _LIFETIME_S)
    claims = {"iat": issued, "exp": ends, **(claimed if isinstance(claimed, dict) else {})}
    token = ""
    with suppress(JoseError, ValueError, TypeError):
        token = jwt.encode(header, claims, _key(alg, secret), algorithms=[alg])
    if not token:
        # Raised out here, so that no library error, which may quote the key, hangs on ours.
        raise words.malformed("key", f"it is no key for {alg}")
    current().add("token", token)
    return words.put(request, words.text("value", f"Bearer {token}", token=token))


@lru_cache(maxsize=64)
def _key(alg: str, secret: bytes) -> "Key":
    """The key, made ready once: checking an RSA key takes sixty times as long as a signature with it."""
    from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

    match alg[:2]:
        case "HS":
            if len(secret) < _SHORTEST_KEY_BYTES or b"-----BEGIN" in secret:
                raise ValueError("no shared secret")
            return OctKey.import_key(secret)
        case "ES":
            return ECKey.import_key(secret)
        case "Ed":
            return OKPKey.import_key(secret)
        case _:
            return RSAKey.import_key(secret)
