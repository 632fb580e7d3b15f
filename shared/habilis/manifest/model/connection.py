"""What an ability's connection is: its keys, channels, numbers, and the manifest that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from habilis.manifest.model.calls import RequestTemplate, Role, Tool
from habilis.manifest.model.ways import OAuth2Flow, RedirectFlow, Way, expiry_key, missing_scopes_key
from habilis.messages import Json
from habilis.names import AbilityId, KeyName, SourceName, ToolName
from habilis.templating import Condition, Place, TextTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Where the values of a key can be read from the service, so that a person picks instead of typing.

    Attributes:
        request: Sent through the account.
        list: Where the answer's entries are.
        value: Where in an entry the key's value is.
        label: Where in an entry its name for people is; the value stands in where there is none.
        label_text: A name composed of an entry's fields, in place of `label`; None for none.
        where: Holds for the entries that are offered, its paths those of an entry; None for all.
        depends: Keys that have to be chosen first.
        strip: What is taken off the front of a value.
    """

    request: RequestTemplate
    list: Place
    value: Place
    label: Place
    label_text: TextTemplate | None = None
    where: Condition | None = None
    depends: tuple[KeyName, ...] = ()
    strip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthKey:
    """A key that accounts of the ability hold.

    Attributes:
        env: Its name, as `${NAME}` in templates.
        label: How a form names it.
        placeholder: What a value looks like, shown inside the empty field.
        help: Where to get it.
        options: The only values allowed; empty for any.
        optional: Whether an account is ready without it.
        secret: Whether its value is masked wherever it would be shown.
        pattern: A regular expression that the whole value matches; "" for any.
        format: What the value is; "" for any text.
        multiline: Whether a form gives it several lines.
        choices: Where its values can be read; None where it is typed.
    """

    env: KeyName
    label: str
    placeholder: str = ""
    help: str = ""
    options: tuple[str, ...] = ()
    optional: bool = False
    secret: bool = True
    pattern: str = ""
    format: Literal["", "url", "host", "email", "int"] = ""
    multiline: bool = False
    choices: Choices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an account is at its service.

    Attributes:
        request: Sent through the account.
        id: Where in the answer what never changes of it is.
        label: Where its name for people is; None when the service does not say.
    """

    request: RequestTemplate
    id: Place
    label: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationField:
    """One field of a channel's destination: it fills the tool's argument of the same name."""

    name: str
    label: str
    type: str = "string"
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelKind:
    """A kind of channel that the ability works on.

    Attributes:
        publish: The tool that publishes; None when the ability only reads or replies there.
        destination: What a new channel asks for.
        facts: What the rest needs to know of a network: name, icon, profile_hosts, text_limit, image, preview, writing.
    """

    kind: str
    label: str
    publish: ToolName | None = None
    destination: tuple[DestinationField, ...] = ()
    does: tuple[Role, ...] = ("publish",)
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRequest:
    """One request of a source and where its rows are.

    Attributes:
        request: Filled with `from`, `to` (YYYY-MM-DD) and `days`.
        rows: JSON pointer to the list of rows.
        date_pointer: JSON pointer into a row; "" when `date_template` says the day.
        date_template: A day for every row, such as "{{to}}"; None when `date_pointer` is used.
        dims: Dimension name to JSON pointer into a row.
        metrics: Metric name to JSON pointer into a row.
        totals: Metrics summed per day.
        breakdown: Metrics kept per dimension.
        skip_zero: Leave out breakdown rows whose every metric is 0.
        scale: Metric name to the factor it is multiplied with, once, after summing.
    """

    request: RequestTemplate
    rows: str
    date_pointer: str
    date_template: TextTemplate | None
    dims: Mapping[str, str]
    metrics: Mapping[str, str]
    totals: tuple[str, ...]
    breakdown: tuple[str, ...]
    skip_zero: bool = False
    scale: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedMetric:
    """A metric made from others, per day: a sum over matching breakdown rows, or a ratio of two totals.

    Attributes:
        sum: Metric to sum; "" for a ratio.
        where: Dimension name to the exact value a row must have.
        ratio: Numerator and denominator; None for a sum.
    """

    metric: str
    sum: str = ""
    where: Mapping[str, str] = field(default_factory=dict)
    ratio: tuple[str, str] | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A set of numbers that the ability reads: traffic, search, conversions, ranks, mentions."""

    name: SourceName
    requests: tuple[SourceRequest, ...]
    derive: tuple[DerivedMetric, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpTemplate:
    """A mail server, each value a template.

    Attributes:
        sender: The From address; nothing where it fills to nothing: the user name then.
        security: Fills to `starttls`, `tls` or `none`.
    """

    host: TextTemplate
    port: TextTemplate
    user: TextTemplate
    password: TextTemplate
    sender: TextTemplate
    security: TextTemplate

    @property
    def told_keys(self) -> frozenset[str]:
        """The keys that say where mails go and whom they come from: all but the password's."""
        told = (self.host, self.port, self.user, self.sender, self.security)
        return frozenset(name for template in told for name in template.keys) - self.password.keys.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One ability's connection.

    Attributes:
        service: Whose accounts it uses; abilities naming the same service share them.
        hosts: What the manifest lists, as written: host names, `host:port`, or `${KEY}`. Empty for `transport: smtp`,
            where the server is the one host.
        result_hosts: Hosts, beside those, from which files that a result points to are fetched.
        ways: Ways to sign in, the best first; empty where keys are typed.
        daily_cap: Most actions per account and UTC day; None for no cap.
        exclusive: One call at a time per account.
        content_hash: SHA-256 of the text this was read from, hex.
        provides: The contracts that it carries out, each a tool named after its contract.
        smtp: The mail server of `transport: smtp`; None otherwise.
        cost: What its calls cost, in words; "" when not said.
        verify: A request that tells whether the keys of an account are good; None for none.
        identity: How the account's name at the service is read; None where it is not.
        public_keys: Keys that are no secrets: declared so, or picked from a list, or a site's address, which every link
            of it shows, or what a mail server and a sender are called.
        required_keys: Keys without which an account is not ready, beside those of a way to sign in.
        kept_keys: Keys that signing in writes: never shown as fields, and not all of them are in `auth`.
    """

    id: AbilityId
    name: str
    version: str
    summary: str
    service: str
    hosts: tuple[str, ...]
    content_hash: str
    transport: str = "http"
    homepage: str = ""
    author: str = ""
    icon: str = ""
    categories: tuple[str, ...] = ()
    avatar: str = ""
    auth: tuple[AuthKey, ...] = ()
    ways: tuple[Way, ...] = ()
    tools: tuple[Tool, ...] = ()
    channels: tuple[ChannelKind, ...] = ()
    provides: tuple[Tool, ...] = ()
    sources: tuple[Source, ...] = ()
    smtp: SmtpTemplate | None = None
    result_hosts: tuple[str, ...] = ()
    cost: str = ""
    daily_cap: int | None = None
    exclusive: bool = False
    verify: RequestTemplate | None = None
    identity: Identity | None = None
    public_keys: frozenset[KeyName] = field(init=False, compare=False)
    required_keys: tuple[KeyName, ...] = field(init=False, compare=False)
    kept_keys: tuple[KeyName, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Asked for on every call, so worked out once.
        hosts = frozenset(self.hosts)
        told = self.smtp.told_keys if self.smtp else frozenset()
        public = frozenset(
            key.env
            for key in self.auth
            if not key.secret or key.options or key.choices or f"${{{key.env}}}" in hosts or key.env in told
        )
        tokens = [way.token_env for way in self.ways if not isinstance(way, RedirectFlow)]
        told_of_tokens = {make(token) for token in tokens for make in (expiry_key, missing_scopes_key)}
        registered = [way.register for way in self.ways if isinstance(way, OAuth2Flow) and way.register]
        callbacks = {one.redirect_uri_env for one in registered}
        object.__setattr__(self, "public_keys", public | told_of_tokens | callbacks)
        kept = dict.fromkeys(name for way in self.ways for name in way.kept_keys)
        required = (key.env for key in self.auth if not key.optional and key.env not in kept)
        object.__setattr__(self, "required_keys", tuple(required))
        object.__setattr__(self, "kept_keys", tuple(kept))

    @property
    def connect(self) -> RedirectFlow | None:
        """The first way that opens a page of the service; None when there is none."""
        return next((way for way in self.ways if isinstance(way, RedirectFlow)), None)

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, or the contract that it provides; None when there is neither."""
        return next((tool for tool in (*self.tools, *self.provides) if tool.name == name), None)

    def kind(self, name: str) -> ChannelKind | None:
        """The channel kind of that name, or None."""
        return next((kind for kind in self.channels if kind.kind == name), None)

    def source(self, name: str) -> Source | None:
        """The source of that name, or None."""
        return next((source for source in self.sources if source.name == name), None)
