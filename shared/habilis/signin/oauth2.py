"""The authorization code flow: where the browser goes, what its return says, and the values learned on the way.

Source: RFC 6749 section 4.1, RFC 7636, RFC 9207; RFC 7591 for registering.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from habilis.errors import SignInDenied, SignInFailed
from habilis.exchange.asking import ask
from habilis.exchange.fill import Bounds
from habilis.exchange.sending import Course
from habilis.exchange.words import one_line
from habilis.hosts import checked_url
from habilis.manifest.model import OAuth2Flow, RegisterRule
from habilis.messages import Json, Request
from habilis.names import KeyName
from habilis.redaction import current
from habilis.signin.client import Client, filled_all
from habilis.signin.redirect import one_value
from habilis.signin.talk import Talk
from habilis.signin.tokens import TokenSet, fields_of
from habilis.templating import MISSING, Place, Scope, Seen, text_of

_REGISTRATION = "the registration"
_OURS = ("code", "state", "iss", "error", "error_description")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOrder:
    """What is the provider's page of one sign-in given.

    Attributes:
        state: A new secret that the return has to bring back.
        challenge: Of the PKCE verifier, S256; "" where the provider takes none.
        redirect_uri: Where the browser comes back to.
    """

    state: str
    challenge: str
    redirect_uri: str


def page_address(flow: OAuth2Flow, order: PageOrder, *, scope: Scope, bounds: Bounds) -> str:
    """The provider's page that the browser opens.

    Args:
        flow: As the manifest writes it.
        order: What the page is given.
        scope: The account's keys.
        bounds: What the sign-in may reach.

    Raises:
        SecretMissing: The application's id, or a key that the address needs, is not set.
        HostNotAllowed: The page is not on one of the ability's hosts.
    """
    from authlib.common.urls import add_params_to_uri

    client = Client.of(flow, scope)
    params = {
        **filled_all(flow.authorize_params, scope),
        "response_type": "code",
        client.id_param: client.id,
        "redirect_uri": order.redirect_uri,
        "scope": flow.scope_separator.join(flow.scopes),
        "state": order.state,
    }
    if order.challenge:
        params |= {"code_challenge": order.challenge, "code_challenge_method": "S256"}
    sent = [(name, value) for name, value in params.items() if value]
    url: str = add_params_to_uri(flow.authorize_url.fill(scope), sent)
    return checked_url(url, bounds.hosts, where="the sign-in page", private_hosts=bounds.private_hosts)


def read_code(query: Mapping[str, Sequence[str]], *, issuer: str) -> str:
    """The authorization code that the browser came back with.

    Args:
        query: The callback's parameters, each with every value it came with; its state belongs to a sign-in that waits.
        issuer: Whom the sign-in was begun with, compared to the letter; "" where that is not known.

    Raises:
        SignInDenied: The person said no.
        SignInFailed: Another provider answers, a parameter comes twice, or there is no code.
    """
    for name in _OURS:
        if len(query.get(name, ())) > 1:
            raise SignInFailed(f"the service came back with {name!r} more than once", hint="start the sign-in again")
    if issuer and list(query.get("iss", ())) != [issuer]:
        raise SignInFailed("another provider answered than the one that was asked", hint="start the sign-in again")
    errors = query.get("error", ())
    if errors and query.get("code"):
        raise SignInFailed("the service came back with a code and an error", hint="start the sign-in again")
    if errors:
        raise _refusal(errors[0], query.get("error_description", ()))
    code = one_value(query.get("code", ()), "code")
    current().add("code", code)
    return code


def register(rule: RegisterRule, *, scope: Scope, bounds: Bounds) -> Talk[dict[KeyName, str]]:
    """Register the application and return the keys that keep its id and its secret.

    Args:
        rule: As the manifest writes it.
        scope: The account's keys, and `redirect_uri`, `scopes` and `app_name`.
        bounds: What the sign-in may reach.

    Raises:
        SignInFailed: The server refused, or its answer holds no id.
        HabilisError: Whatever the request itself failed with.
    """
    url = checked_url(rule.url.fill(scope), bounds.hosts, where=_REGISTRATION, private_hosts=bounds.private_hosts)
    answer = yield Request(
        where=_REGISTRATION,
        method="POST",
        url=url,
        headers=(("Accept", "application/json"), ("Content-Type", "application/json")),
        body=json.dumps(rule.body.fill(scope)).encode(),
        timeout_s=30.0,
        private_hosts=bounds.private_hosts,
        is_read=False,
        largest_bytes=1024 * 1024,
    )
    assert answer is not None  # noqa: S101 - who is sent a Request answers it
    body: Json = fields_of(answer)
    seen = Seen(status=answer.status, headers=answer.headers, body=body)
    own_id = _text(rule.client_id, seen)
    if answer.status >= HTTPStatus.BAD_REQUEST or not own_id:
        raise SignInFailed(
            f"answered {answer.status} without an id for this application",
            where=_REGISTRATION,
            hint="the server may let nobody register; register an application there by hand and set its id",
        )
    secret = _text(rule.client_secret, seen) if rule.client_secret else ""
    current().add("client_secret", secret)
    keys = {rule.client_id_env: own_id, rule.redirect_uri_env: str(scope.arguments["redirect_uri"])}
    return {**keys, **({KeyName(rule.client_secret_env): secret} if rule.client_secret_env else {})}


def learn(flow: OAuth2Flow, query: Mapping[str, Sequence[str]], tokens: TokenSet) -> dict[KeyName, str]:
    """The keys that the callback and the token answer bring beside the tokens; all of them or an error.

    Raises:
        SignInFailed: One of them did not come, or came twice.
    """
    found = {}
    for key, one in flow.returns.items():
        if one.token is None:
            found[key] = one_value(query.get(one.callback, ()), one.callback)
        else:
            found[key] = _learned(one.token, tokens.seen, "the token answer")
    return found


def learn_afterwards(flow: OAuth2Flow, *, scope: Scope, bounds: Bounds) -> Talk[dict[KeyName, str]]:
    """The keys that a request with the new token brings; none where the manifest names no such request.

    Raises:
        SignInFailed: One of them is not there.
        HabilisError: Whatever the request itself failed with.
    """
    if flow.afterwards is None:
        return {}
    where = "the request after the sign-in"
    _, seen = yield from ask(flow.afterwards.request, scope, Course(bounds, scope.made), where=where)
    return {key: _learned(place, seen, where) for key, place in flow.afterwards.returns.items()}


def _learned(place: Place, seen: Seen, where: str) -> str:
    text = _text(place, seen)
    if not text:
        raise SignInFailed(f"{where} brought nothing at {place.source}", hint="start the sign-in again")
    return text


def _text(place: Place, seen: Seen) -> str:
    """The one value at a place as text; "" for none, for a list and for an object."""
    value = place.pick(seen)
    return "" if value is MISSING or isinstance(value, list | dict | bool) else text_of(value, place.source)


def _refusal(code: str, described: Sequence[str]) -> SignInFailed:
    said = one_line(described[0]) if described else ""
    if code == "access_denied":
        words = f": {said}" if said else " on the service's page"
        return SignInDenied(f"the sign-in was refused{words}", hint="start again to try once more")
    told = one_line(": ".join(part for part in (code, said) if part))
    return SignInFailed(f"the service refused the sign-in: {told}", hint="check the application's settings there")
