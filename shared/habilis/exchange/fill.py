"""Template and scope in, a Request ready to send out: here a request is filled."""

import json
from dataclasses import dataclass

from habilis.errors import SecretMissing
from habilis.hosts import AllowedHosts, checked_url
from habilis.manifest.model import RequestTemplate
from habilis.messages import Request
from habilis.redaction import current
from habilis.templating import MISSING, Scope, TextTemplate, header_value

_JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one call may reach.

    Attributes:
        hosts: The hosts that the manifest lists, with the account's own filled in.
        private_hosts: `host:port` pairs on private addresses that the account's operator allowed.
        is_read: Whether the call changes nothing outside.
    """

    hosts: AllowedHosts
    private_hosts: frozenset[str]
    is_read: bool


def fill_request(template: RequestTemplate, scope: Scope, bounds: Bounds, *, where: str) -> Request:
    """Fill a request and check where it would go.

    Args:
        template: As the manifest writes it.
        scope: The call's arguments and the account's keys.
        bounds: What the call may reach.
        where: What the request is for, for messages.

    Raises:
        ArgsInvalid: An argument does not fit its place (a line break in a header, `..` in a path).
        SecretMissing: A key that the request needs is not set.
        SecretMalformed: A key's value does not fit its place.
        HostNotAllowed: The URL leads elsewhere, or is malformed.
    """
    url = checked_url(template.url.fill(scope), bounds.hosts, where=where, private_hosts=bounds.private_hosts)
    headers = []
    for name, value in template.headers:
        filled = value.fill(scope)
        if filled is not MISSING:
            _require_keys(value, scope, where)
            headers.append((name, header_value(filled, name=name)))
    body = None
    if template.json is not None:
        filled_body = template.json.fill(scope)
        body = json.dumps({} if filled_body is MISSING else filled_body, ensure_ascii=False).encode()
        if not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", _JSON_TYPE))
    return Request(
        where=where,
        method=template.method,
        url=url,
        headers=tuple(headers),
        body=body,
        basic_auth=_basic_auth(template, scope, where),
        timeout_s=template.timeout_s,
        private_hosts=bounds.private_hosts,
        is_read=bounds.is_read,
    )


def _basic_auth(template: RequestTemplate, scope: Scope, where: str) -> tuple[str, str] | None:
    if template.basic_auth is None:
        return None
    parts = []
    for part in template.basic_auth:
        _require_keys(part, scope, where)
        filled = part.fill(scope)
        parts.append("" if filled is MISSING else str(filled))
    user, password = parts
    current().add_pair("basic_auth", user, password)
    return user, password


def _require_keys(template: TextTemplate, scope: Scope, where: str) -> None:
    """A sign-in with a hole in it never goes out."""
    for name, has_default in template.keys.items():
        if not has_default and not scope.keys.get(name):
            raise SecretMissing(f"the key {name} is not set", where=where, hint="set it on the account")
