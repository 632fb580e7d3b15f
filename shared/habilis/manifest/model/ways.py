"""Ways to sign an account in.

Each has a `label`, the text of its button ("" where it has none), `kept_keys`, the keys that it writes by itself, and,
where its token can be renewed, `expired`: what tells, beside a status of 401, that the service no longer takes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from habilis.manifest.model.calls import RequestTemplate
from habilis.names import KeyName
from habilis.templating import Condition, JsonTemplate, Place, TextTemplate, UrlTemplate

ClientAuth = Literal["", "basic", "post", "json"]
"""How a client says who it is at a token address: HTTP Basic, fields of the form, or of JSON. "": basic with a secret,
its id alone without one."""

TokenBody = Literal["form", "json"]
ExpiryUnit = Literal["", "seconds", "milliseconds", "unix", "unix_ms", "date"]
"""What a place says of the end of a token: how long from now, or when; "" where its size tells."""


def expiry_key(token_env: KeyName) -> KeyName:
    """The key that holds when a token runs out, as RFC 3339 in UTC; not set where nobody knows."""
    return KeyName(f"{token_env}_EXPIRES_AT")


def missing_scopes_key(token_env: KeyName) -> KeyName:
    """The key that holds which scopes were asked for and not granted, parted by blanks; not set where all were."""
    return KeyName(f"{token_env}_MISSING_SCOPES")


def redirect_uri_key(client_id_env: KeyName) -> KeyName:
    """The key that holds which callback an application was registered for."""
    return KeyName(f"{client_id_env}_REDIRECT_URI")


def _token_keys(token_env: KeyName, refresh_env: str) -> tuple[KeyName, ...]:
    kept = (token_env, expiry_key(token_env), missing_scopes_key(token_env))
    return (*kept, KeyName(refresh_env)) if refresh_env else kept


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectFlow:
    """A sign-in by the browser: a page of the service that comes back with the values.

    Attributes:
        label: Text of the button.
        needs: Keys asked for first; the page lives on them.
        url: The page; `{{app_id}}` is a UUID naming this application, `{{app_name}}` a name new for each sign-in.
        callback_params: Query parameters that take the callback's address.
        needs_https: Whether the service calls back over https only.
        returns: Key to the query parameter that brings it.
        denied: Query parameter and value that mean "no"; None when the service does not say.
    """

    label: str
    url: UrlTemplate
    needs: tuple[KeyName, ...] = ()
    callback_params: tuple[str, ...] = ()
    needs_https: bool = False
    returns: Mapping[KeyName, str] = field(default_factory=dict)
    denied: tuple[str, str] | None = None
    flow: Literal["redirect"] = "redirect"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """None: what it brings can as well be typed."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRule:
    """How an application is registered at a server that takes any (RFC 7591), once for each account.

    Attributes:
        url: Where.
        body: What is sent, an object; `{{redirect_uri}}`, `{{scopes}}` and `{{app_name}}` are known.
        client_id: Where in the answer the client's id is.
        client_secret: Where its secret is; None where there is none.
        client_id_env: The key that keeps the id.
        client_secret_env: The key that keeps the secret; "" for none.
    """

    url: UrlTemplate
    body: JsonTemplate
    client_id: Place
    client_id_env: KeyName
    client_secret: Place | None = None
    client_secret_env: KeyName | Literal[""] = ""

    @property
    def redirect_uri_env(self) -> KeyName:
        """The key that keeps which callback it was registered for."""
        return redirect_uri_key(self.client_id_env)

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The keys that keep the registration."""
        names = (self.client_id_env, self.redirect_uri_env, self.client_secret_env)
        return tuple(KeyName(name) for name in names if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """Where a value is learned at sign-in: a parameter of the callback, or a place in the token answer.

    Attributes:
        callback: Name of the parameter; "" for the other.
        token: The place; None for the other.
    """

    callback: str = ""
    token: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """A request right after sign-in that learns values; the new token is known to it."""

    request: RequestTemplate
    returns: Mapping[KeyName, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2Flow:
    """A sign-in by the browser with an authorization code (RFC 6749) and PKCE (RFC 7636).

    Attributes:
        label: Text of the button.
        authorize_url: The provider's page.
        token_url: Where the code is exchanged.
        refresh_url: Where a token is refreshed; None for `token_url`.
        client_id: The application's id; it fills to nothing where `register` has yet to get one.
        client_secret: Its secret; None, or filled to nothing, for a public client.
        scopes: What the person is asked to allow.
        scope_separator: What stands between two scopes.
        token_env: The key that takes the access token.
        refresh_env: The key that takes the refresh token; "" for none.
        needs: Keys asked for first.
        pkce: False for a provider that refuses PKCE.
        token_body: What the body of token requests is.
        authorize_params: More parameters of the page.
        token_params: More fields of the exchange.
        refresh_params: More fields of a refresh.
        client_id_param: What the provider calls `client_id`.
        issuer: The provider's name for itself, compared exactly with `iss` (RFC 9207); "" where not known.
        register: How the application is registered; None where it is by hand.
        returns: Keys that are learned.
        afterwards: A request that learns more of them; None for none.
    """

    label: str
    authorize_url: UrlTemplate
    token_url: UrlTemplate
    client_id: TextTemplate
    token_env: KeyName
    refresh_url: UrlTemplate | None = None
    client_secret: TextTemplate | None = None
    scopes: tuple[str, ...] = ()
    scope_separator: str = " "
    refresh_env: KeyName | Literal[""] = ""
    needs: tuple[KeyName, ...] = ()
    client_auth: ClientAuth = ""
    pkce: bool = True
    token_body: TokenBody = "form"  # noqa: S105 - no password
    authorize_params: Mapping[str, TextTemplate] = field(default_factory=dict)
    token_params: Mapping[str, TextTemplate] = field(default_factory=dict)
    refresh_params: Mapping[str, TextTemplate] = field(default_factory=dict)
    client_id_param: str = "client_id"
    issuer: str = ""
    register: RegisterRule | None = None
    returns: Mapping[KeyName, Return] = field(default_factory=dict)
    afterwards: Afterwards | None = None
    expired: Condition | None = None
    flow: Literal["oauth2"] = "oauth2"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The tokens, when they run out, what they lack, and the registration."""
        return (*_token_keys(self.token_env, self.refresh_env), *(self.register.kept_keys if self.register else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFlow:
    """A sign-in at a provider whose application is held elsewhere, with its client secret.

    Attributes:
        label: Text of the button.
        provider: Name of the provider, as `google`.
        scopes: What the person is asked to allow.
        token_env: The key that takes the access token.
        refresh_env: The key that takes the refresh token; "" for none.
        needs: Keys asked for first.
    """

    label: str
    provider: str
    scopes: tuple[str, ...]
    token_env: KeyName
    refresh_env: KeyName | Literal[""] = ""
    needs: tuple[KeyName, ...] = ()
    expired: Condition | None = None
    flow: Literal["cloud"] = "cloud"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The tokens, when they run out, and what they lack."""
        return _token_keys(self.token_env, self.refresh_env)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFlow:
    """A sign-in on another device, with a code that a person types there (RFC 8628).

    Attributes:
        label: Text of the button.
        device_url: Where the code is got.
        token_url: Where is asked whether the person has agreed.
        client_secret: None, or filled to nothing, for a public client.
        scopes: What the person is asked to allow.
        token_env: The key that takes the access token.
        refresh_env: The key that takes the refresh token; "" for none.
        needs: Keys asked for first.
    """

    label: str
    device_url: UrlTemplate
    token_url: UrlTemplate
    client_id: TextTemplate
    token_env: KeyName
    client_secret: TextTemplate | None = None
    scopes: tuple[str, ...] = ()
    refresh_env: KeyName | Literal[""] = ""
    needs: tuple[KeyName, ...] = ()
    client_auth: ClientAuth = ""
    expired: Condition | None = None
    flow: Literal["device"] = "device"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The tokens, when they run out, and what they lack."""
        return _token_keys(self.token_env, self.refresh_env)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountFlow:
    """A sign-in without a browser: a token for a signed statement that names a service account.

    Attributes:
        label: How the way is named beside others.
        key_file: The key that holds the path of the service account's JSON file.
        token_url: Where the statement is exchanged for a token.
        scopes: What the token allows.
        token_env: The name under which requests find the token; it is never stored.
    """

    label: str
    key_file: KeyName
    token_url: UrlTemplate
    scopes: tuple[str, ...]
    token_env: KeyName
    expired: Condition | None = None
    flow: Literal["service_account"] = "service_account"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The token."""
        return (self.token_env,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentialsFlow:
    """A sign-in without a person: a token for the application itself (RFC 6749 section 4.4).

    Attributes:
        label: How the way is named beside others.
        scopes: What the token allows.
        token_params: More fields of the request.
        token_env: The name under which requests find the token; it is never stored.
    """

    label: str
    token_url: UrlTemplate
    client_id: TextTemplate
    client_secret: TextTemplate
    token_env: KeyName
    scopes: tuple[str, ...] = ()
    scope_separator: str = " "
    client_auth: ClientAuth = ""
    token_body: TokenBody = "form"  # noqa: S105 - no password
    token_params: Mapping[str, TextTemplate] = field(default_factory=dict)
    expired: Condition | None = None
    flow: Literal["client_credentials"] = "client_credentials"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The token."""
        return (self.token_env,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFlow:
    """A sign-in by a request, such as one with user name and password, whose answer's token is kept until it runs out.

    Attributes:
        label: How the way is named beside others.
        request: Signs in.
        token: Where in the answer the token is.
        refresh: Where the token is that renews it; None for none.
        expires: Where it says when the token runs out; None when it does not.
        expires_unit: What stands there.
        token_env: The key that takes the token.
        refresh_env: The key that takes the renewing token; "" for none.
        refresh_request: Renews the token, its answer read as that of `request`; None to sign in again.
        returns: Keys that are learned from the answer.
    """

    label: str
    request: RequestTemplate
    token: Place
    token_env: KeyName
    refresh: Place | None = None
    expires: Place | None = None
    expires_unit: ExpiryUnit = ""
    refresh_env: KeyName | Literal[""] = ""
    refresh_request: RequestTemplate | None = None
    returns: Mapping[KeyName, Place] = field(default_factory=dict)
    expired: Condition | None = None
    flow: Literal["session"] = "session"

    @property
    def kept_keys(self) -> tuple[KeyName, ...]:
        """The tokens, when they run out, and what they lack."""
        return _token_keys(self.token_env, self.refresh_env)


Way = RedirectFlow | OAuth2Flow | CloudFlow | DeviceFlow | ServiceAccountFlow | ClientCredentialsFlow | SessionFlow
"""A way to sign an account in."""
