"""What may be written of one request."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from habilis.manifest.shape.words import (
    Condition,
    HeaderText,
    Line,
    QueryText,
    Seconds,
    Shape,
    Template,
    fault,
)

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Status = Annotated[int, Field(ge=100, le=599)]
_SOON = {"type": "integer", "minimum": 400, "maximum": 599}


def _retried(value: object) -> object:
    is_status = isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599
    if value != "network" and not is_status:
        raise fault("expected a status from 400 to 599, or network")
    return value


def _wait(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 300
    if value != "exponential" and not is_number:
        raise fault("expected exponential, or seconds from 0 to 300")
    return value


Retried = Annotated[Any, AfterValidator(_retried), WithJsonSchema({"anyOf": [{"const": "network"}, _SOON]})]
Wait = Annotated[
    Any,
    AfterValidator(_wait),
    WithJsonSchema({"anyOf": [{"const": "exponential"}, {"type": "number", "minimum": 0, "maximum": 300}]}),
]


class PartShape(Shape):
    """One part of a multipart body: a `value`, or a `file`."""

    name: Line
    """Name of the field."""
    value: Template = None
    """What it holds: text as it is, all else as JSON; a list repeats the part."""
    file: str | None = None
    """One placeholder that leads to a file, or to several, which repeat the part."""
    filename: str | None = None
    """The file's name; its own when left out."""
    mime: str | None = None
    """The part's type; the file's own when left out."""


class OkShape(Shape):
    """What counts as a good answer."""

    status: list[Status] = []
    """Statuses that are good beside 200 to 299."""
    fail_when: Condition = None
    """The answer is a failure where this holds, whatever its status."""
    message: str | None = None
    """Where the service's own words are then; the usual places when left out."""


class ErrorShape(Shape):
    """What a person is told of a failed answer."""

    when: Condition
    """Holds for the answers that are meant."""
    say: str
    """What is told."""


class RetryShape(Shape):
    """When the request is sent again. An action is only where the service knows it again, or did nothing."""

    tries: Annotated[int, Field(ge=1, le=5)] = 3
    """Times it is sent at most."""
    on: list[Retried] = [429, 503, "network"]
    """Statuses after which it is sent again; `network` when the service was not reached."""
    wait: Wait = "exponential"
    """Seconds between two tries, or `exponential`."""
    reset: str | None = None
    """Where the answer says when to come back, beside Retry-After."""
    unit: Literal["seconds", "unix", "unix_ms", "date"] | None = None
    """What stands there: seconds from now, a moment in UNIX seconds or milliseconds, or a date; its size tells else."""


class IdempotencyShape(Shape):
    """A header by which the service knows a request that it has seen."""

    header: HeaderText
    """Name of the header."""
    value: str = "{{call_id()}}"
    """What makes the request known again."""


class PagesShape(Shape):
    """How the rest of a list is read."""

    by: Literal["page", "offset", "cursor", "next_url", "link_header"]
    """How the next page is named: a number, entries read, a value or an address of the answer, or its Link header."""
    into: str | None = None
    """Where the next request carries it: `query:NAME`, `header:NAME`, a pointer into the body, or `query` alone."""
    items: str | None = None
    """Pointer to a page's entries; a source's `rows`, else the whole answer, when left out."""
    size: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Entries of a full page: a shorter one is the last."""
    start: Annotated[int, Field(ge=0)] | None = None
    """The first page's number or offset; 1 and 0 when left out."""
    next: Annotated[str | None, Field(alias="from")] = None
    """Where the answer holds the cursor or the address of the next page."""
    stop: Condition = None
    """Holds on the last page."""
    most: Annotated[int, Field(alias="max", ge=1, le=1000)] = 100
    """Pages read at most."""
    total: str | None = None
    """Where the answer says how many entries there are in all."""


class UntilShape(Shape):
    """The request is sent again until the service is ready."""

    when: Condition
    """Ready."""
    fail: Condition = None
    """It will never be."""
    every_s: Annotated[float, Field(ge=0.1, le=60)] | None = None
    """Seconds between two requests; 2 when left out."""
    every: str | None = None
    """Where the answer says how many."""
    most_s: Annotated[float, Field(alias="max_s", ge=1, le=900)] = 120.0
    """Seconds waited in all."""


class SignShape(Shape):
    """A signature that the request carries; which fields there are depends on the scheme."""

    scheme: Literal["hmac", "oauth1", "jwt"]
    """hmac: of the body, or of a text; oauth1: RFC 5849; jwt: a token made for this one request."""
    key: str | None = None
    """The secret, or the private key as PEM, that signs."""
    key_encoding: Literal["text", "hex", "base64", "id:hex"] | None = None
    """How the secret is written, `text` when left out; with `id:hex` what stands before the colon is the `kid`."""
    alg: str | None = None
    """The algorithm: sha256, sha1 or sha512 for hmac; HS256, RS256, ES256, … for jwt; HMAC-SHA1, … for oauth1."""
    text: str | None = None
    """What hmac signs; the body as it is sent when left out."""
    encoding: Literal["hex", "base64", "base64url"] | None = None
    """How hmac's signature is written; `hex` when left out."""
    header: HeaderText | None = None
    """The header that carries it; `Authorization` for jwt when left out."""
    query: QueryText | None = None
    """The parameter of the address that carries it, instead of a header."""
    value: str | None = None
    """What it holds: `{{signature}}` for hmac, `Bearer {{token}}` for jwt, when left out."""
    kid: str | None = None
    """Id of the key, for the head of a jwt."""
    claims: Template = None
    """What a jwt says, beside its times."""
    lifetime_s: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds that a jwt is good for; 300 when left out."""
    consumer_key: str | None = None
    """The application, for oauth1."""
    consumer_secret: str | None = None
    """Its secret."""
    token: str | None = None
    """The person's token, for oauth1."""
    token_secret: str | None = None
    """Its secret."""
    realm: str | None = None
    """The realm of oauth1's header."""


class SharedShape(Shape):
    """What requests and `defaults` have in common."""

    headers: dict[HeaderText, str | None] = {}
    """Header names to values; nothing leaves a default out."""
    query: dict[QueryText, Template] = {}
    """Names to values for the address, a list repeats its name; nothing leaves a default out."""
    basic_auth: Pair | None = None
    """User and password for HTTP Basic; nothing leaves a default out."""
    timeout_s: Seconds | None = None
    """Seconds the whole exchange may take; 60 when left out."""
    retry: RetryShape | None = None
    """When it is sent again."""
    ok: OkShape | None = None
    """What counts as a good answer."""


class DefaultsShape(SharedShape):
    """What every request has in common, where it says nothing else."""

    base: str | None = None
    """What a `url` that begins with `/` or `?` is put behind."""


class RequestShape(SharedShape):
    """One HTTP request; every text is a template."""

    method: Method
    """The HTTP method."""
    url: str
    """Absolute address; its host is among `hosts` or comes from a key or an earlier answer. Or relative to `base`."""
    body: Annotated[Template, Field(alias="json")] = None
    """The JSON body."""
    form: dict[str, Template] | None = None
    """The body as a URL-encoded form."""
    multipart: Annotated[list[PartShape], Field(min_length=1)] | None = None
    """The parts of a multipart/form-data body."""
    body_file: str | None = None
    """One placeholder that leads to a file: its bytes are the body."""
    decode: Literal["json", "jsonl", "csv", "xml", "text", "bytes"] | None = None
    """How the answer is read where its content type does not say it."""
    errors: list[ErrorShape] = []
    """What a person is told of failed answers; the first that holds counts."""
    idempotency: IdempotencyShape | None = None
    """A header by which the service knows a request that it has seen."""
    pages: PagesShape | None = None
    """How the rest of a list is read."""
    until: UntilShape | None = None
    """The request is sent again until the service is ready."""
    sign: SignShape | None = None
    """A signature that the request carries."""
