"""What may be written of ways to sign in."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from habilis.manifest.shape.requests import RequestShape
from habilis.manifest.shape.words import (
    Condition,
    Dashed,
    KeyText,
    Line,
    MaybeLine,
    Parameter,
    Shape,
    Template,
    fault,
)

_LEARNED = re.compile(r"callback:[A-Za-z0-9_.~\[\]-]{1,64}|token:(/.*)?")
_SCOPE = re.compile(r"(?!.*(\{\{|\$\{))[!#-\[\]-~]{1,300}")
_SEPARATOR = re.compile(r"[ -~]{1,3}")


def _scope(text: str) -> str:
    if not _SCOPE.fullmatch(text):
        raise fault("expected one scope as it is, without blanks, quotes and placeholders; write each as an entry")
    return text


def _separator(text: str) -> str:
    if not _SEPARATOR.fullmatch(text):
        raise fault('expected what stands between two scopes, as " " or ","')
    return text


def _learned(text: str) -> str:
    if not _LEARNED.fullmatch(text):
        raise fault("expected callback:NAME, a parameter of the callback, or token:/POINTER, into the token answer")
    return text


Scope = Annotated[str, AfterValidator(_scope)]
Scopes = Annotated[list[Scope], Field(min_length=1)]
Separator = Annotated[str, AfterValidator(_separator)]
Learned = Annotated[str, AfterValidator(_learned)]
Returns = Annotated[dict[KeyText, str], Field(min_length=1)]
ClientAuth = Literal["basic", "post", "json"]
TokenBody = Literal["form", "json"]
ExpiryUnit = Literal["seconds", "milliseconds", "unix", "unix_ms", "date"]


class DeniedShape(Shape):
    """How the service says no."""

    param: Parameter
    """Query parameter of the callback."""
    equals: str
    """Its value when the person said no."""


class RedirectShape(Shape):
    """A sign-in by the browser: a page of the service that comes back with the values."""

    label: Line
    """Text of the button."""
    flow: Literal["redirect"]
    """The way to sign in."""
    needs: list[str] = []
    """Keys asked for first; the page lives on them."""
    url: str
    """The page; `{{app_id}}` is a UUID that names this application, `{{app_name}}` a name new for each sign-in."""
    callback_params: Annotated[list[Parameter], Field(min_length=1)]
    """Query parameters that take the callback's address."""
    callback: Literal["https"] | None = None
    """`https` when the service only calls back over https."""
    returns: Annotated[dict[str, Parameter], Field(min_length=1)]
    """Key to the query parameter that brings its value."""
    denied: DeniedShape | None = None
    """How the service says no."""


class RenewedShape(Shape):
    """What ways have in common whose token runs out."""

    token_env: KeyText
    """The key that takes the access token."""
    expired: Condition = None
    """Holds for an answer that means, beside a status of 401, that the token is no longer taken."""


class KeptShape(RenewedShape):
    """What ways have in common that a person goes in the browser, and that keep what they bring."""

    label: Line
    """Text of the button."""
    needs: list[str] = []
    """Keys asked for first."""
    refresh_env: KeyText | None = None
    """The key that takes the refresh token."""


class RegisterShape(Shape):
    """How the application is registered at a server that takes any (RFC 7591), once for each account."""

    url: str
    """Where."""
    body: Annotated[dict[str, Template], Field(min_length=1)] | None = None
    """What is sent; `{{redirect_uri}}`, `{{scopes}}` and `{{app_name}}` are known. As the RFC has it when left out."""
    client_id: str = "/client_id"
    """Where in the answer the application's id is."""
    client_secret: str | None = None
    """Where its secret is; `/client_secret` when left out."""
    client_id_env: KeyText
    """The key that keeps the id."""
    client_secret_env: KeyText | None = None
    """The key that keeps the secret."""


class AfterwardsShape(Shape):
    """A request right after the sign-in, with the new token, that learns keys."""

    request: RequestShape
    """The request."""
    returns: Returns
    """Key to the place in the answer where its value is."""


class OAuth2Shape(KeptShape):
    """A sign-in by the browser with an authorization code (RFC 6749) and PKCE (RFC 7636)."""

    flow: Literal["oauth2"]
    """The way to sign in."""
    authorize_url: str
    """The provider's page."""
    token_url: str
    """Where the code is exchanged for tokens."""
    refresh_url: str | None = None
    """Where a token is refreshed; `token_url` when left out."""
    client_id: str | None = None
    """The application's id; the key that `register` keeps it in when left out."""
    client_secret: str | None = None
    """The application's secret; nothing, or what fills to nothing, for a public client."""
    scopes: list[Scope] = []
    """What the person is asked to allow."""
    scope_separator: Separator = " "
    """What stands between two scopes."""
    client_auth: ClientAuth | None = None
    """How the application says who it is to `token_url`: `basic` when left out, by its id alone without a secret."""
    client_id_param: Parameter = "client_id"
    """What the provider calls `client_id`."""
    pkce: bool = True
    """`false` for a provider that refuses PKCE."""
    token_body: TokenBody | None = None
    """What the body is that `token_url` takes; `form` when left out."""
    params: dict[Parameter, str] = {}
    """The same as `authorize_params`."""
    authorize_params: dict[Parameter, str] = {}
    """More parameters of the page."""
    token_params: dict[Parameter, str] = {}
    """More fields of the exchange."""
    refresh_params: dict[Parameter, str] = {}
    """More fields of a refresh."""
    issuer: Line | None = None
    """The provider's name for itself; a callback that names another (`iss`, RFC 9207) is refused."""
    registration: Annotated[RegisterShape | None, Field(alias="register")] = None
    """How the application is registered where nobody did it by hand."""
    returns: dict[KeyText, Learned] = {}
    """Key to where its value is learned: `callback:NAME` or `token:/POINTER`."""
    afterwards: AfterwardsShape | None = None
    """A request that learns more keys."""


class CloudShape(KeptShape):
    """A sign-in at a provider whose application is held elsewhere, with its client secret."""

    flow: Literal["cloud"]
    """The way to sign in."""
    provider: Dashed
    """Name of the provider, as `google`."""
    scopes: Scopes
    """What the person is asked to allow."""


class DeviceShape(KeptShape):
    """A sign-in on another device, with a code that a person types there (RFC 8628)."""

    flow: Literal["device"]
    """The way to sign in."""
    device_url: str
    """Where the code is got."""
    token_url: str
    """Where is asked whether the person has agreed."""
    client_id: str
    """The application's id."""
    client_secret: str | None = None
    """The application's secret; nothing for a public client."""
    client_auth: ClientAuth | None = None
    """How the application says who it is; `basic` when left out, by its id alone without a secret."""
    scopes: list[Scope] = []
    """What the person is asked to allow."""


class ServiceAccountShape(RenewedShape):
    """A sign-in without a browser: a token for a signed statement that names a service account."""

    label: MaybeLine | None = None
    """How the way is named beside others."""
    flow: Literal["service_account"]
    """The way to sign in."""
    key_file: str
    """The key that holds the path of the service account's JSON file."""
    token_url: str
    """Where the statement is exchanged for a token."""
    scopes: Scopes
    """What the token allows."""


class ClientCredentialsShape(RenewedShape):
    """A sign-in without a person: a token for the application itself (RFC 6749 section 4.4)."""

    label: MaybeLine | None = None
    """How the way is named beside others."""
    flow: Literal["client_credentials"]
    """The way to sign in."""
    token_url: str
    """Where the token is got."""
    client_id: str
    """The application's id."""
    client_secret: str
    """The application's secret."""
    scopes: list[Scope] = []
    """What the token allows."""
    scope_separator: Separator = " "
    """What stands between two scopes."""
    client_auth: ClientAuth | None = None
    """How the application says who it is; `basic` when left out."""
    token_body: TokenBody | None = None
    """What the body is that `token_url` takes; `form` when left out."""
    token_params: dict[Parameter, str] = {}
    """More fields of the request."""


class SessionShape(RenewedShape):
    """A sign-in by a request, such as one with user name and password, whose answer's token is kept."""

    label: MaybeLine | None = None
    """How the way is named beside others."""
    flow: Literal["session"]
    """The way to sign in."""
    request: RequestShape
    """Signs in."""
    token: str
    """Where in the answer the token is."""
    expires: str | None = None
    """Where it says when the token runs out."""
    expires_unit: ExpiryUnit | None = None
    """What stands there: how long from now, or when; its size tells when left out."""
    refresh: str | None = None
    """Where the token is that renews it."""
    refresh_env: KeyText | None = None
    """The key that takes the renewing token."""
    refresh_request: RequestShape | None = None
    """Renews the token, its answer read as that of `request`; `request` is sent again when left out."""
    returns: dict[KeyText, str] = {}
    """Key to the place in the answer where its value is."""


FLOWS = ("redirect", "oauth2", "cloud", "device", "service_account", "client_credentials", "session")
TAGS = frozenset({"(one)", "(several)", *(f"({flow})" for flow in FLOWS)})
"""Parts of the places that pydantic tells which are not in the document."""


def _flow_of(value: Any) -> str | None:  # noqa: ANN401 -- whatever is written there
    flow = value.get("flow") if isinstance(value, dict) else "redirect"
    return f"({flow})" if flow in FLOWS else None


def _count_of(value: object) -> str:
    return "(several)" if isinstance(value, list) else "(one)"


WayShape = Annotated[
    Annotated[RedirectShape, Tag("(redirect)")]
    | Annotated[OAuth2Shape, Tag("(oauth2)")]
    | Annotated[CloudShape, Tag("(cloud)")]
    | Annotated[DeviceShape, Tag("(device)")]
    | Annotated[ServiceAccountShape, Tag("(service_account)")]
    | Annotated[ClientCredentialsShape, Tag("(client_credentials)")]
    | Annotated[SessionShape, Tag("(session)")],
    Discriminator(_flow_of),
]
ConnectShape = Annotated[
    Annotated[WayShape, Tag("(one)")] | Annotated[list[WayShape], Field(min_length=1), Tag("(several)")],
    Discriminator(_count_of),
]
