"""The application as a provider knows it, and the requests it sends to the provider's token address."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from habilis.errors import SecretMissing
from habilis.exchange.fill import Bounds
from habilis.hosts import checked_url
from habilis.manifest.model import ClientAuth, ClientCredentialsFlow, DeviceFlow, OAuth2Flow, TokenBody
from habilis.messages import Request
from habilis.redaction import current
from habilis.templating import MISSING, Scope, TextTemplate, UrlTemplate

TOKEN_ADDRESS = "the token address"  # noqa: S105 - no password
_LARGEST_BYTES = 1024 * 1024
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An application at a provider.

    Attributes:
        secret: "" for a public client.
        auth: How it says who it is.
        id_param: What the provider calls `client_id`.
        body: What the body of its requests is.
    """

    id: str
    secret: str = field(default="", repr=False)
    auth: ClientAuth = ""
    id_param: str = "client_id"
    body: TokenBody = "form"

    @classmethod
    def of(cls, flow: OAuth2Flow | DeviceFlow | ClientCredentialsFlow, scope: Scope) -> "Client":
        """The client of a way to sign in; SecretMissing where nothing says its id."""
        own_id = filled(flow.client_id, scope)
        if not own_id:
            names = ", ".join(flow.client_id.keys) or "client_id"
            raise SecretMissing(f"the sign-in needs {names} first", hint="set it on the account")
        body = "form" if isinstance(flow, DeviceFlow) else flow.token_body
        return cls(
            id=own_id,
            secret=filled(flow.client_secret, scope),
            auth=flow.client_auth,
            id_param=flow.client_id_param if isinstance(flow, OAuth2Flow) else "client_id",
            body="json" if flow.client_auth == "json" else body,
        )

    @property
    def is_basic(self) -> bool:
        """Whether it says who it is by HTTP Basic: never without a secret, which a strict provider refuses."""
        return bool(self.secret) and self.auth in {"", "basic"}

    def fields(self) -> dict[str, str]:
        """What says who it is in the body; nothing where HTTP Basic says it."""
        if self.is_basic:
            return {}
        return {self.id_param: self.id, **({"client_secret": self.secret} if self.secret else {})}


def token_request(client: Client, url: UrlTemplate, fields: Mapping[str, str], scope: Scope, bounds: Bounds) -> Request:
    """A request to a token address, ready to send.

    Args:
        client: Who asks.
        url: Where; checked against the ability's hosts.
        fields: `grant_type` and what goes with it; empty ones are left out.
        scope: The account's keys.
        bounds: What the sign-in may reach.

    Raises:
        HostNotAllowed: The address is on none of the ability's hosts.
        SecretMissing: Its address needs a key that is not set.

    Source: RFC 6749 sections 2.3.1 and 4.
    """
    address = checked_url(url.fill(scope), bounds.hosts, where=TOKEN_ADDRESS, private_hosts=bounds.private_hosts)
    sent = {name: value for name, value in {**fields, **client.fields()}.items() if value}
    basic = None
    if client.is_basic:
        # Encoded before they are joined, as the RFC says: a colon in the id would part them in the wrong place.
        basic = quote(client.id, safe=""), quote(client.secret, safe="")
        current().add_pair("client_secret", *basic)
    is_json = client.body == "json"
    kind = "application/json" if is_json else "application/x-www-form-urlencoded"
    return Request(
        where=TOKEN_ADDRESS,
        method="POST",
        url=address,
        headers=(("Accept", "application/json"), ("Content-Type", kind)),
        body=(json.dumps(sent) if is_json else urlencode(sent)).encode(),
        basic_auth=basic,
        timeout_s=_TIMEOUT_S,
        private_hosts=bounds.private_hosts,
        is_read=False,
        largest_bytes=_LARGEST_BYTES,
    )


def filled(template: TextTemplate | None, scope: Scope) -> str:
    """The text of a template; "" where there is none, or nothing fills it."""
    if template is None:
        return ""
    text = template.fill(scope)
    return "" if text is MISSING else text


def filled_all(templates: Mapping[str, TextTemplate], scope: Scope) -> dict[str, str]:
    """The texts of templates by name, without those that nothing fills."""
    return {name: text for name, template in templates.items() if (text := filled(template, scope))}
