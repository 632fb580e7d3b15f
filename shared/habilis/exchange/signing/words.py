"""What a manifest says of a signature, filled for one request."""

import binascii
from base64 import b64decode, b64encode
from urllib.parse import urlsplit

from habilis.errors import SecretMalformed, SecretMissing
from habilis.exchange.placing import place
from habilis.manifest.model import SignRule
from habilis.messages import Json, Request
from habilis.redaction import current
from habilis.templating import MISSING, JsonTemplate, Missing, Scope

_URL_SAFE = str.maketrans("-_", "+/")


class Words:
    """The fields of a `sign`, each filled when it is asked for."""

    def __init__(self, rule: SignRule, scope: Scope) -> None:
        """Take them up; raises SecretMissing when a key that one of them needs is not set."""
        for template in rule.values.values():
            for name, has_default in template.keys.items():
                if not has_default and not scope.keys.get(name):
                    raise SecretMissing(f"the key {name} is not set", hint="set it on the account")
        self._values = rule.values
        self._scope = scope

    def template(self, name: str) -> JsonTemplate | None:
        """A field as the manifest writes it; None when it is not there."""
        return self._values.get(name)

    def value(self, name: str, **made: Json) -> Json | Missing:
        """The value of a field, filled also with what is `made`; MISSING when it is not there."""
        template = self._values.get(name)
        return MISSING if template is None else template.fill(self._scope.with_values(made) if made else self._scope)

    def text(self, name: str, default: str = "", **made: Json) -> str:
        """The text of a field, or the default."""
        value = self.value(name, **made)
        return value if isinstance(value, str) else default

    def secret(self, name: str) -> tuple[str, bytes]:
        """A key's id, "" when it has none, and its bytes, undone as `key_encoding` says and masked from here on.

        Raises:
            SecretMalformed: It is not in that encoding.
        """
        how, text, key_id = self.text("key_encoding", "text"), self.text(name), ""
        if how == "id:hex":
            key_id, _, text = text.partition(":")
        try:
            if how in {"hex", "id:hex"}:
                key = bytes.fromhex(text)
            elif how == "base64":
                plain = text.rstrip("=").translate(_URL_SAFE)
                key = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
            else:
                key = text.replace("\\n", "\n").encode() if "-----BEGIN" in text else text.encode()
        except (ValueError, binascii.Error):
            raise self.malformed(name, f"it is not {how}") from None
        ledger = current()
        ledger.add(name, text)
        if how != "text":
            ledger.add(name, b64encode(key).decode())
        return key_id, key

    def malformed(self, name: str, why: str) -> SecretMalformed:
        """The error of a key that is none."""
        template = self._values.get(name)
        keys = " or ".join(template.keys) if template is not None else ""
        return SecretMalformed(f"{keys or name} cannot sign: {why}", hint="set it again")

    def put(self, request: Request, value: str) -> Request:
        """The request with its signature in the query or the header that the manifest names, else in Authorization."""
        query = self.text("query")
        return place(request, f"query:{query}" if query else f"header:{self.text('header', 'Authorization')}", value)


def facts(request: Request) -> dict[str, str]:
    """The request itself as a template may name it: what is signed may be any of it."""
    url = urlsplit(request.url)
    body = request.body if isinstance(request.body, bytes) else b""
    return {
        "method": request.method,
        "url": request.url,
        "host": url.netloc,
        "path": url.path or "/",
        "query": url.query,
        # Bytes that are no text come out as they went in when they are encoded in the same way.
        "body": body.decode(errors="surrogateescape"),
    }
