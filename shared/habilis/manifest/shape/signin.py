"""What may be written of keys, of ways to sign in, and of a mail server."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema

from habilis.manifest.shape.requests import RequestShape
from habilis.manifest.shape.words import Dashed, Description, KeyText, Line, MaybeLine, Parameter, Shape, fault


class ChoicesShape(Shape):
    """Where the values of a key can be read, once the account is signed in."""

    request: RequestShape
    """Sent through the account."""
    list: str
    """Pointer to the entries of the answer."""
    value: str
    """Pointer to the value, in an entry."""
    label: str | None = None
    """Pointer to its name for people, in an entry; the value when left out."""
    strip: str = ""
    """What is taken off the front of a value."""


class AuthShape(Shape):
    """A key that accounts of the ability hold."""

    env: KeyText
    """Name of the key, as `${NAME}` in templates."""
    label: MaybeLine | None = None
    """How a form names it; the key's name when left out."""
    placeholder: MaybeLine | None = None
    """What a value looks like, shown inside the empty field."""
    help: Description | None = None
    """Where to get the value."""
    options: list[Line] = []
    """The only values allowed."""
    optional: bool = False
    """Whether an account is ready without it."""
    choices: ChoicesShape | None = None
    """Where its values can be read from the service, to be picked instead of typed."""
    secret: bool = True
    """Whether its value is masked wherever it would be shown; `false` for a site address or a user name."""


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


Scopes = Annotated[list[Line], Field(min_length=1)]


class CloudShape(Shape):
    """A sign-in at a provider whose application is held elsewhere, with its client secret."""

    label: Line
    """Text of the button."""
    flow: Literal["cloud"]
    """The way to sign in."""
    provider: Dashed
    """Name of the provider, as `google`."""
    scopes: Scopes
    """What the person is asked to allow."""
    token_env: str
    """The key that takes the access token."""
    refresh_env: str | None = None
    """The key that takes the refresh token."""
    needs: list[str] = []
    """Keys asked for first."""


class ServiceAccountShape(Shape):
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
    token_env: str
    """The name under which requests find the token; it is never stored."""


FLOWS = ("redirect", "cloud", "service_account")
TAGS = frozenset({"(one)", "(several)", *(f"({flow})" for flow in FLOWS)})
"""Parts of the places that pydantic tells which are not in the document."""


def _flow_of(value: Any) -> str | None:  # noqa: ANN401 -- whatever is written there
    flow = value.get("flow") if isinstance(value, dict) else "redirect"
    return f"({flow})" if flow in FLOWS else None


def _count_of(value: object) -> str:
    return "(several)" if isinstance(value, list) else "(one)"


WayShape = Annotated[
    Annotated[RedirectShape, Tag("(redirect)")]
    | Annotated[CloudShape, Tag("(cloud)")]
    | Annotated[ServiceAccountShape, Tag("(service_account)")],
    Discriminator(_flow_of),
]
ConnectShape = Annotated[
    Annotated[WayShape, Tag("(one)")] | Annotated[list[WayShape], Field(min_length=1), Tag("(several)")],
    Discriminator(_count_of),
]


def _port(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise fault("expected a number from 1 to 65535, or a template")
    return str(value)


Port = Annotated[
    Any,
    AfterValidator(_port),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 65_535}, {"type": "string"}]}),
]


class SmtpShape(Shape):
    """A mail server; every text is a template."""

    host: str
    """Its name."""
    port: Port = ""
    """Its port; the usual one of the security when left out."""
    user: str = ""
    """User name."""
    password: str = ""
    """Password."""
    sender: Annotated[str, Field(alias="from")] = ""
    """The From address; the user name when left out."""
    security: str = "starttls"
    """`starttls`, `tls` or `none`."""
