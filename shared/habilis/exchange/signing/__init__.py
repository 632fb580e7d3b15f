"""Signatures that a request carries: made for this one request, after it is filled and before each time it is sent."""

from datetime import datetime

from habilis.errors import EngineFailed, HabilisError
from habilis.exchange.signing.words import Words
from habilis.manifest.model import SignRule
from habilis.messages import Request
from habilis.templating import Scope


def signed(request: Request, rule: SignRule, scope: Scope, *, now: datetime | None) -> Request:
    """The request with its signature.

    Args:
        request: Filled; nothing of it is changed after this but its cookies.
        rule: The manifest's `sign`.
        scope: The account's keys, and what the call makes.
        now: The time, with a zone.

    Raises:
        SecretMissing: A key that signs is not set.
        SecretMalformed: It is no key of its kind.
        EngineFailed: There is no time to sign with, or the signature covers a body that lies on disk.

    Source: docs/format.md "Signed requests".
    """
    try:
        if now is None or scope.made is None:
            raise EngineFailed("a request is signed inside a call only")
        words = Words(rule, scope)
        match rule.scheme:
            case "hmac":
                from habilis.exchange.signing.hmacs import with_hmac

                return with_hmac(request, words)
            case "oauth1":
                from habilis.exchange.signing.oauth1 import with_oauth1

                return with_oauth1(request, words, now=now, nonce=scope.made.uuid().replace("-", ""))
            case "jwt":
                from habilis.exchange.signing.tokens import with_token

                return with_token(request, words, now=now)
    except HabilisError as error:
        error.where = error.where or request.where
        raise
