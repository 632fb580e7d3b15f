"""What may be written of keys, and of a mail server."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from habilis.manifest.shape.requests import RequestShape
from habilis.manifest.shape.words import Condition, Description, KeyText, Line, MaybeLine, Shape, fault

_Names = list[str]  # a field of the class below is called `list`


class ChoicesShape(Shape):
    """Where the values of a key can be read, once the account is signed in."""

    request: RequestShape
    """Sent through the account."""
    list: str
    """Pointer to the entries of the answer."""
    value: str
    """Pointer to the value, in an entry."""
    label: str | None = None
    """Pointer to its name for people, in an entry, or a template of the entry's fields; the value when left out."""
    strip: str = ""
    """What is taken off the front of a value."""
    where: Condition = None
    """Holds for the entries that are offered; its paths and pointers are those of an entry."""
    depends: _Names = []
    """Keys that have to be set first."""


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
    pattern: Line | None = None
    """A regular expression that the whole value matches."""
    format: Literal["url", "host", "email", "int"] | None = None
    """What the value is."""
    multiline: bool = False
    """Whether a form gives it several lines."""
    optional: bool = False
    """Whether an account is ready without it."""
    choices: ChoicesShape | None = None
    """Where its values can be read from the service, to be picked instead of typed."""
    secret: bool = True
    """Whether its value is masked wherever it would be shown; `false` for a site address or a user name."""


class VerifyShape(Shape):
    """How the keys of an account are proved."""

    request: RequestShape
    """Sent through the account; a good answer means that the service takes the keys."""


class IdentityShape(Shape):
    """Whose account it is."""

    request: RequestShape
    """Sent through the account."""
    id: str
    """Place in the answer of what never changes of the person or page."""
    label: str | None = None
    """Place of its name for people; the id when left out."""


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
