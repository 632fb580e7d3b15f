"""An HMAC over the body of a request, or over whatever the manifest writes."""

import hmac
from base64 import b64encode, urlsafe_b64encode

from habilis.errors import EngineFailed
from habilis.exchange.signing.words import Words, facts
from habilis.messages import Request
from habilis.redaction import current


def with_hmac(request: Request, words: Words) -> Request:
    """The request with its HMAC.

    Raises:
        SecretMalformed: The key is not written as it should be.
        EngineFailed: The signature covers a body that lies on disk.

    Source: RFC 2104; the fields in docs/format.md "Signed requests".
    """
    digest = hmac.digest(words.secret("key")[1], _covered(request, words), words.text("alg", "sha256"))
    match words.text("encoding", "hex"):
        case "base64":
            signature = b64encode(digest).decode()
        case "base64url":
            signature = urlsafe_b64encode(digest).decode().rstrip("=")
        case _:
            signature = digest.hex()
    current().add("signature", signature)
    return words.put(request, words.text("value", signature, signature=signature))


def _covered(request: Request, words: Words) -> bytes:
    template = words.template("text")
    covers_body = template is None or any(path[0] == "body" for path in template.paths)
    if covers_body and not isinstance(request.body, bytes | None):
        raise EngineFailed("a body that is sent from disk cannot be signed", hint="sign something else with `text`")
    if template is None:
        return request.body if isinstance(request.body, bytes) else b""
    return words.text("text", **facts(request)).encode(errors="surrogateescape")
