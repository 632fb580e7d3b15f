"""A token for a service account: a statement signed with its key, exchanged at the token address.

Source: RFC 7523 section 2.1; the claims as Google documents them for server applications.
"""

from contextlib import suppress
from datetime import datetime

from habilis.errors import ArgsInvalid, NeedsReconnect, SecretMalformed, SignInFailed, TooLarge
from habilis.exchange.fill import Bounds
from habilis.hosts import checked_url
from habilis.manifest.model import ServiceAccountFlow
from habilis.messages import Request
from habilis.reading import read_json
from habilis.redaction import current
from habilis.signin.client import TOKEN_ADDRESS
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet, read_tokens, skew_hint
from habilis.templating import Scope

_GRANT = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
_LIFETIME_S = 3600
_LARGEST_FILE = 64 * 1024


def mint(flow: ServiceAccountFlow, key_file: bytes, *, scope: Scope, bounds: Bounds) -> Talk[TokenSet]:
    """Get a token for a service account.

    Args:
        flow: As the manifest writes it.
        key_file: Content of the account's JSON file, with `client_email` and `private_key`.
        scope: The account's keys, and the time.
        bounds: What the sign-in may reach.

    Raises:
        SecretMalformed: The file is no service account's.
        SignInFailed: The provider refused, or answered with no token; the hint tells a clock that is off.
        UpstreamUnavailable: It has an outage.
        HabilisError: Whatever the request itself failed with.
    """
    now = scope.call().now
    address = checked_url(
        flow.token_url.fill(scope), bounds.hosts, where=TOKEN_ADDRESS, private_hosts=bounds.private_hosts
    )
    statement = _statement(flow, key_file, address, now)
    answer = yield Request(
        where=TOKEN_ADDRESS,
        method="POST",
        url=address,
        headers=(("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")),
        body=f"{_GRANT}{statement}".encode(),
        timeout_s=30.0,
        private_hosts=bounds.private_hosts,
        is_read=False,
        largest_bytes=1024 * 1024,
    )
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    try:
        return read_tokens(answer, now=now)
    except NeedsReconnect as error:
        # Nobody signs in here: it is the key, what it may do, or this machine's clock.
        hint = skew_hint(answer.headers, now) or "see whether the service account still has this key"
        raise SignInFailed(error.message, where=error.where, hint=hint) from None


def _statement(flow: ServiceAccountFlow, key_file: bytes, audience: str, now: datetime) -> str:
    """The signed statement, a JSON Web Token."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey

    email, pem, key_id = _account(flow, key_file)
    issued = int(now.timestamp())
    header = {"alg": "RS256", "typ": "JWT", **({"kid": key_id} if key_id else {})}
    claims = {
        "iss": email,
        "scope": " ".join(flow.scopes),
        "aud": audience,
        "iat": issued,
        "exp": issued + _LIFETIME_S,
    }
    statement = ""
    with suppress(JoseError, ValueError, TypeError):
        statement = jwt.encode(header, claims, RSAKey.import_key(pem), algorithms=["RS256"])
    if not statement:
        # Raised out here, so that no library error, which may quote the key, hangs on ours.
        raise _malformed(flow, "its private_key is no RSA key")
    current().add("assertion", statement)
    return statement


def _account(flow: ServiceAccountFlow, key_file: bytes) -> tuple[str, str, str]:
    """The account's address, its private key, and the key's id or ""."""
    try:
        told = read_json(key_file, what="the key file", largest=_LARGEST_FILE)
    except (ArgsInvalid, TooLarge):
        raise _malformed(flow, "it is no JSON file of a service account") from None
    told = told if isinstance(told, dict) else {}
    email, pem, key_id = told.get("client_email"), told.get("private_key"), told.get("private_key_id")
    if isinstance(pem, str):
        current().add("private_key", pem)
    if not isinstance(email, str) or not isinstance(pem, str) or not email or not pem:
        raise _malformed(flow, "it holds no client_email and private_key")
    return email, pem, key_id if isinstance(key_id, str) else ""


def _malformed(flow: ServiceAccountFlow, fault: str) -> SecretMalformed:
    return SecretMalformed(
        f"the file that {flow.key_file} names is no service account's: {fault}",
        hint="make a new JSON key for the service account, and set the path of its file",
    )
