"""Template and scope in, a Request ready to send out: here a request is filled."""

import json
import re
from dataclasses import dataclass

from habilis.errors import ArgsInvalid, HabilisError, SecretMalformed, SecretMissing
from habilis.exchange.forms import form_body, with_query
from habilis.exchange.multipart import multipart_body
from habilis.exchange.uploads import file_body
from habilis.hosts import AllowedHosts, checked_url
from habilis.manifest.model import RequestTemplate
from habilis.messages import Request, Streamed
from habilis.redaction import current
from habilis.templating import MISSING, Condition, JsonTemplate, Scope, Seen, TextTemplate, fill_header

_JSON_TYPE = "application/json"
_FORM_TYPE = "application/x-www-form-urlencoded"
_TEXTS = frozenset({"json", "jsonl", "csv", "xml", "text"})
_READS = frozenset({"GET", "HEAD"})
_NOWHERE = AllowedHosts(places=frozenset(), listed=())
_UNAUTHORIZED = 401
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOut:
    """What shows that a service no longer takes a token: a status of 401, always.

    Attributes:
        expired: What shows it as well; None for nothing.
    """

    expired: Condition | None = None

    def is_shown_by(self, seen: Seen, scope: Scope) -> bool:
        """Whether an answer shows it."""
        return seen.status == _UNAUTHORIZED or (self.expired is not None and self.expired.holds(scope, seen))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one call may reach.

    Attributes:
        hosts: The hosts that the manifest lists, with the account's own filled in.
        private_hosts: `host:port` pairs on private addresses that the account's operator allowed.
        is_read: Whether the call changes nothing outside.
        result_hosts: Hosts that files of a result are fetched from, beside `hosts`.
        download_to: A folder for answers that are files; "" where the call expects none.
        largest_file_bytes: Most bytes of such a file.
        sign_out: What shows that the account's token is no longer taken; None where it has none that can be renewed.
    """

    hosts: AllowedHosts
    private_hosts: frozenset[str]
    is_read: bool
    result_hosts: AllowedHosts = _NOWHERE
    download_to: str = ""
    largest_file_bytes: int = 50 * 1024 * 1024
    sign_out: SignOut | None = None


def fill_request(
    template: RequestTemplate, scope: Scope, bounds: Bounds, *, where: str, url: str | None = None
) -> Request:
    """Fill a request and check where it would go.

    Args:
        template: As the manifest writes it.
        scope: The call's arguments and the account's keys.
        bounds: What the call may reach.
        where: What the request is for, for messages.
        url: An address that an answer gave, whole with its query, to be called in place of the template's.

    Raises:
        ArgsInvalid: An argument does not fit its place (a line break in a header, `..` in a path, no file for a body).
        SecretMissing: A key that the request needs is not set.
        SecretMalformed: A key's value does not fit its place.
        HostNotAllowed: The URL leads elsewhere, or is malformed.
    """
    try:
        return _filled(template, scope, bounds, where, url)
    except HabilisError as error:
        error.where = error.where or where
        raise


def _filled(template: RequestTemplate, scope: Scope, bounds: Bounds, where: str, url: str | None) -> Request:
    if url is None:
        url = with_query(template.url.fill(scope), template.query, scope)
    url = checked_url(url, bounds.hosts, where=where, private_hosts=bounds.private_hosts)
    headers = []
    for name, value in template.headers:
        filled = fill_header(value, scope, name=name)
        if filled is not MISSING:
            require_keys(value, scope)
            headers.append((name, filled))
    body, content_type = _body(template, scope)
    if template.multipart:
        # Only the body's own type names its boundary.
        headers = [pair for pair in headers if not _is_type(pair)]
    if content_type and not any(map(_is_type, headers)):
        headers.append(("Content-Type", content_type))
    return Request(
        where=where,
        method=template.method,
        url=url,
        headers=tuple(headers),
        body=body,
        basic_auth=None if template.basic_auth is None else _basic_auth(*template.basic_auth, scope),
        timeout_s=template.timeout_s,
        private_hosts=bounds.private_hosts,
        is_read=bounds.is_read or template.method in _READS,
        download_to="" if template.decode in _TEXTS else bounds.download_to,
        largest_file_bytes=bounds.largest_file_bytes,
    )


def _is_type(pair: tuple[str, str]) -> bool:
    return pair[0].lower() == "content-type"


def _body(template: RequestTemplate, scope: Scope) -> tuple[bytes | Streamed | None, str]:
    """The body and its type; None and "" for a request without one."""
    if template.json is not None:
        return _json_body(template.json, scope), _JSON_TYPE
    if template.form is not None:
        return form_body(template.form, scope), _FORM_TYPE
    if template.multipart:
        return multipart_body(template.multipart, scope)
    if template.body_file is not None:
        return file_body(template.body_file, scope)
    return None, ""


def _json_body(template: JsonTemplate, scope: Scope) -> bytes:
    filled = template.fill(scope)
    fault = ""
    try:
        return json.dumps({} if filled is MISSING else filled, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        fault = "a text holds half of a character (a lone surrogate)"
    except (ValueError, RecursionError):
        fault = "JSON cannot carry a number or the depth of what fills it"
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    raise ArgsInvalid(f"the body: {fault}")


def _basic_auth(user: TextTemplate, password: TextTemplate, scope: Scope) -> tuple[str, str]:
    """User and password; RFC 7617 parts them at the first colon and sends them as UTF-8."""
    pair = _sign_in_part(user, scope), _sign_in_part(password, scope)
    if ":" in pair[0]:
        raise SecretMalformed(f"{_names(user)} is a user name for basic_auth and cannot hold a colon")
    current().add_pair("basic_auth", *pair)
    return pair


def _sign_in_part(template: TextTemplate, scope: Scope) -> str:
    require_keys(template, scope)
    filled = template.fill(scope)
    text = "" if filled is MISSING else filled
    if _SURROGATE.search(text):
        raise SecretMalformed(f"{_names(template)} has characters that basic_auth cannot carry", hint="set it again")
    return text


def _names(template: TextTemplate) -> str:
    return " or ".join([*template.keys, *sorted(template.arguments)]) or "what the manifest writes"


def require_keys(template: TextTemplate, scope: Scope) -> None:
    """Raise SecretMissing where a key is not set and has no default: a sign-in with a hole in it never goes out."""
    for name, has_default in template.keys.items():
        if not has_default and not scope.keys.get(name):
            raise SecretMissing(f"the key {name} is not set", hint="set it on the account")
