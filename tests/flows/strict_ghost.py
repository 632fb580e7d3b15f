"""Ghost's Admin API as far as signing each request goes: a server that checks every token as Ghost does.

What is checked is what Ghost's documentation says of token authentication, and with the standard library alone:
`Authorization: Ghost <token>`; the token's header names HS256, JWT and the key's id; it is signed with the key's
secret, which is hexadecimal for the bytes to sign with; `aud` is /admin/; it is fresh and lives five minutes at most.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from datetime import datetime

from tests.upstream import Seen, Upstream, answer

_LONGEST_LIFE_S = 300
_JSON = (("Content-Type", "application/json; charset=utf-8"),)


class StrictGhost(Upstream):
    """A blog that takes posts from whoever signs well.

    Attributes:
        key: The integration's key, as Ghost shows it: the id, a colon, and the secret.
        posts: Titles of the posts that were taken.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(self._respond)
        self.key = f"{secrets.token_hex(12)}:{secrets.token_hex(32)}"
        self.posts: list[str] = []
        self._now = now

    def _respond(self, seen: Seen) -> bytes:
        fault = self._fault(seen.headers.get("authorization", ""))
        if fault:
            return _said(401, {"errors": [{"message": f"Invalid token: {fault}", "type": "UnauthorizedError"}]})
        (post,) = json.loads(seen.body)["posts"]
        self.posts.append(post["title"])
        return _said(201, {"posts": [{"id": str(len(self.posts)), "url": f"{self.url('/')}p/{len(self.posts)}/"}]})

    def _fault(self, authorization: str) -> str:
        """What is wrong with a token; "" when nothing is."""
        scheme, _, token = authorization.partition(" ")
        try:
            head, claims, signature = token.split(".")
            header, payload = json.loads(_decoded(head)), json.loads(_decoded(claims))
            given = _decoded(signature)
        except ValueError:
            return "jwt malformed"
        kid, _, secret = self.key.partition(":")
        signed = hmac.new(bytes.fromhex(secret), f"{head}.{claims}".encode(), hashlib.sha256).digest()
        now = self._now().timestamp()
        checks = {
            "unknown scheme": scheme == "Ghost",
            "invalid algorithm": (header.get("alg"), header.get("typ")) == ("HS256", "JWT"),
            "unknown key id": header.get("kid") == kid,
            "invalid signature": hmac.compare_digest(signed, given),
            "jwt audience invalid": payload.get("aud") == "/admin/",
            "times must be whole seconds": all(type(payload.get(name)) is int for name in ("iat", "exp")),
        }
        fault = next((name for name, holds in checks.items() if not holds), "")
        if not fault and not payload["iat"] <= now < payload["exp"]:
            fault = "jwt expired"
        if not fault and payload["exp"] - payload["iat"] > _LONGEST_LIFE_S:
            fault = "maxAge exceeded"
        return fault


def _decoded(text: str) -> bytes:
    """The bytes of unpadded base64url; ValueError for anything else. Source: RFC 7515, appendix C."""
    if "=" in text:
        raise binascii.Error
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _said(status: int, body: object) -> bytes:
    return answer(status, body=json.dumps(body).encode(), headers=_JSON)
