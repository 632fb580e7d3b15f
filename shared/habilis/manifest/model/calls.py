"""What a call is made of: tools, their steps, and each step's request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from habilis.messages import Json
from habilis.names import ToolName
from habilis.templating import Condition, JsonTemplate, Place, TextTemplate, UrlTemplate

Role = Literal["read", "publish", "reply", "manage"]
Decoding = Literal["", "json", "jsonl", "csv", "xml", "text", "bytes"]
PageWay = Literal["page", "offset", "cursor", "next_url", "link_header"]
SignScheme = Literal["hmac", "oauth1", "jwt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTemplate:
    """One part of a multipart body: a value, or a file.

    Attributes:
        name: Name of the field.
        value: Text as it is, all else as JSON; a list repeats the part. None for a file.
        file: One placeholder that leads to a file or a list of files, which repeats the part. None for a value.
        filename: The file's own name when None.
        mime: The file's own type when None; a value has none unless it says one.
    """

    name: str
    value: JsonTemplate | None = None
    file: JsonTemplate | None = None
    filename: TextTemplate | None = None
    mime: TextTemplate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OkRule:
    """What counts as a good answer.

    Attributes:
        statuses: Statuses that are good beside 2xx.
        fail_when: Holds when an answer is a failure whatever its status; None when the status decides.
        message: Where the service's own words are then; None to look in the usual places.
    """

    statuses: frozenset[int] = frozenset()
    fail_when: Condition | None = None
    message: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """What a person is told of a failed answer when `when` holds."""

    when: Condition
    say: TextTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """When a request is sent again.

    Attributes:
        tries: Times it is sent at most, 1 to 5.
        statuses: Statuses after which it is sent again.
        on_network: Whether it is sent again when the service was not reached.
        wait_s: Seconds between two tries; None for an exponential wait with full jitter.
        reset: Where the answer says when to come back; None for Retry-After alone.
        unit: What a number there means: seconds from now, or a moment in UNIX seconds or milliseconds, or a date. ""
            when its size tells.
    """

    tries: int = 3
    statuses: frozenset[int] = frozenset({429, 503})
    on_network: bool = True
    wait_s: float | None = None
    reset: Place | None = None
    unit: Literal["", "seconds", "unix", "unix_ms", "date"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A header by which the service knows a request that it has seen: such a request may be sent again."""

    header: str
    value: TextTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesRule:
    """How the rest of a list is read.

    Attributes:
        by: page: a number from 1; offset: entries read so far; cursor: a value of the last answer; next_url: an address
            of the last answer; link_header: the Link header's `rel="next"`.
        into: Where the next request carries it: `query:NAME`, `header:NAME`, a JSON pointer into the body, or `query`
            for a cursor whose every field is a parameter; "" for next_url and link_header.
        items: Where a page's entries are, to count them and to join them; None when the whole answer is the list.
        size: Entries of a full page; a shorter one is the last. 0 when not known.
        start: The first page's number or offset.
        next: Where the cursor or address is; None otherwise.
        stop: Holds on the last page; None when there is no such sign.
        most: Pages read at most, 1 to 1,000.
        total: Where the answer says how many entries there are in all; None when it does not.
    """

    by: PageWay
    into: str = ""
    items: Place | None = None
    size: int = 0
    start: int = 1
    next: Place | None = None
    stop: Condition | None = None
    most: int = 100
    total: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UntilRule:
    """A request that is repeated until the service is ready.

    Attributes:
        when: Ready.
        fail: It will never be; None when the service has no such sign.
        every_s: Seconds between two requests.
        every: Where the answer says how many; None to keep to `every_s`.
        most_s: Seconds waited in all.
    """

    when: Condition
    fail: Condition | None = None
    every_s: float = 2.0
    every: Place | None = None
    most_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignRule:
    """A signature that each request carries.

    Attributes:
        scheme: hmac: of the body or a template; oauth1: RFC 5849; jwt: a token signed for this one request.
        values: What the scheme needs, by name, each a template; see docs/format.md "Signed requests".
    """

    scheme: SignScheme
    values: Mapping[str, JsonTemplate]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTemplate:
    """A request as the manifest writes it; at most one of `json`, `form`, `multipart` and `body_file` is there.

    Attributes:
        method: Upper case.
        url: Its host is one of the manifest's `hosts`, or comes from a key or an earlier answer.
        query: Names and values; a list repeats the name.
        headers: Names as written.
        basic_auth: User and password.
        json: The body as JSON.
        form: An object: the body as a URL-encoded form.
        multipart: The parts of a multipart/form-data body; () for none.
        body_file: One placeholder that leads to a file: its bytes are the body.
        timeout_s: Wall clock for the whole exchange, 1 to 300.
        decode: How the answer is read; "" when its content type says it.
        ok: What counts as a good answer.
        errors: What a person is told of a bad one; the first that holds counts.
        retry: None for the engine's own rule.
    """

    method: str
    url: UrlTemplate
    query: tuple[tuple[str, JsonTemplate], ...] = ()
    headers: tuple[tuple[str, TextTemplate], ...] = ()
    basic_auth: tuple[TextTemplate, TextTemplate] | None = None
    json: JsonTemplate | None = None
    form: JsonTemplate | None = None
    multipart: tuple[PartTemplate, ...] = ()
    body_file: JsonTemplate | None = None
    timeout_s: float = 60.0
    decode: Decoding = ""
    ok: OkRule = field(default_factory=OkRule)
    errors: tuple[ErrorRule, ...] = ()
    retry: RetryRule | None = None
    idempotency: Idempotency | None = None
    pages: PagesRule | None = None
    until: UntilRule | None = None
    sign: SignRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What a step runs over, once for each entry.

    Attributes:
        over: `files`, the name of an earlier step, or "" for `each`.
        each: One placeholder that leads to a list; None for the two others.
    """

    over: str = ""
    each: JsonTemplate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of a call, or one for each entry of a list.

    Attributes:
        name: What later steps call it; "" where a call is one request.
        loop: None when it runs once.
        when: It is passed over where this does not hold.
        save: Names and where in the answer each value is; empty to save the whole answer.
        skips_errors: Whether the call goes on when this step fails.
        save_error: Name under which what a failed answer said is saved; "" for nowhere.
    """

    name: str
    request: RequestTemplate
    loop: Loop | None = None
    when: Condition | None = None
    save: tuple[tuple[str, Place], ...] = ()
    skips_errors: bool = False
    save_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTemplate:
    """Where in the answer lies what the agent is told, and what is kept.

    Attributes:
        text: JSON pointer (RFC 6901, with `*`) into the last answer; None when the whole answer is told.
        said: A template over everything saved, instead of `text`; None when there is none.
        file_url: Where in the last answer the address of a file is, or of a list of files; None for no such file.
        file_b64: Where a file's bytes are, as base64 or a data: URI; None for no such file.
        mime: The files' type as written, or a pointer to it; "" when the bytes tell.
        name: A name for the files; None to make one of the call.
    """

    text: str | None = None
    said: TextTemplate | None = None
    file_url: Place | None = None
    file_b64: Place | None = None
    mime: str = ""
    name: TextTemplate | None = None

    @property
    def is_file(self) -> bool:
        """Whether the call brings files back."""
        return self.file_url is not None or self.file_b64 is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something an agent may call.

    Attributes:
        input: JSON Schema of its arguments, an object.
        steps: What is sent, in order; a call of one request is one step without a name. Empty where another transport
            than http carries it.
        role: What a call does outside; never empty here: the manifest's, else publish for a kind's publish tool, else
            read.
        target: What is acted on; the same role on the same target is refused the second time. None for no such check.
        map: Argument name to {value: replacement}, "*" for any other value.
        most_runs: Most runs of one step, 1 to 200.
        contract: The contract that it carries out; "" for a tool of the ability's own.
        cost: What a call costs, in words; "" when not said.
    """

    name: ToolName
    label: str
    description: str
    input: Mapping[str, Json]
    steps: tuple[Step, ...]
    result: ResultTemplate = field(default_factory=ResultTemplate)
    role: Role = "read"
    target: TextTemplate | None = None
    map: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    most_runs: int = 20
    contract: str = ""
    cost: str = ""
