"""Projects and accounts, as data: what project.yaml and connection.yaml say, and how they are written back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from habilis.hosts import opt_in_host
from habilis.messages import Json
from habilis.names import AccountId, ProjectSlug, account_id
from habilis.reading import Document, write_yaml
from habilis.records.reading import Record, stamp, with_extra

_DERIVED = frozenset({"last_published"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One workspace of a home.

    Attributes:
        name: How people call it.
        abilities_off: Ids of abilities that are switched off here.
        extra: Fields of other makers, as they were read.
    """

    slug: ProjectSlug
    name: str
    abilities_off: frozenset[str] = frozenset()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One publish through a channel: which asset, where it can be seen, when."""

    asset: str
    link: str
    at: datetime
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One sign-in of a project to a service; a channel when it has a `kind`.

    Attributes:
        ability: The ability it was made with.
        service: What it is an account of.
        is_default: Whether a call that names no account uses it.
        kind: The channel kind it publishes to; "" for a plain account.
        destination: The channel's destination fields.
        asks_first: Whether publishing waits for a person's yes.
        private_hosts: `host:port` pairs on private addresses that an operator allowed.
        identity_id: Whose it is at its service, by what never changes of them; "" while nobody asked.
        identity_label: The same for people.
        publications: Oldest first.
        extra: Fields of other makers, as they were read.
    """

    id: AccountId
    project: ProjectSlug
    label: str
    ability: str
    service: str
    created_by: str
    created_at: datetime
    is_default: bool = False
    kind: str = ""
    destination: Mapping[str, Json] = field(default_factory=dict)
    asks_first: bool = True
    private_hosts: frozenset[str] = frozenset()
    identity_id: str = ""
    identity_label: str = ""
    publications: tuple[Publication, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where it lies in the home."""
        return account_folder(self.project, self.id)

    @property
    def path(self) -> str:
        """Where its record lies in the home."""
        return f"{self.folder}/connection.yaml"


def account_folder(project: str, account: str) -> str:
    """The folder of an account, relative to the home."""
    return f"projects/{project}/connections/{account}"


def read_project(data: Json | Document, *, slug: ProjectSlug, file: str) -> Project:
    """Check what a project.yaml says; ManifestInvalid with `file` and the field otherwise."""
    record = Record(data, file)
    return Project(
        slug=slug,
        name=record.text("name", default=slug),
        abilities_off=frozenset(record.texts("abilities_off")),
        extra=record.rest(),
    )


def write_project(project: Project) -> bytes:
    """The project.yaml of a project."""
    record: dict[str, Json] = {"name": project.name}
    if project.abilities_off:
        record["abilities_off"] = [*sorted(project.abilities_off)]
    return write_yaml(with_extra(record, project.extra))


def read_account(data: Json | Document, *, project: ProjectSlug, file: str) -> Account:
    """Check what a connection.yaml says; ManifestInvalid with `file` and the field otherwise.

    Args:
        data: The parsed file; a Document where faults shall name their line.
        project: Whose account it is.
        file: Where it lies in the home. Its folder is the account's id: an account that calls itself otherwise would
            use another one's keys.
    """
    record = Record(data, file)
    ability = record.text("ability")
    publications = tuple(map(_publication, record.records("publications")))
    identity = record.inside("identity")
    account = Account(
        id=record.checked("id", account_id),
        project=project,
        label=record.text("label"),
        ability=ability,
        service=record.text("service", default=ability),
        created_by=record.text("created_by", default="user"),
        created_at=record.moment("created_at"),
        is_default=record.flag("default", default=False),
        kind=record.text("kind", default=""),
        destination=record.mapping("destination"),
        asks_first=record.flag("asks_first", default=True),
        private_hosts=frozenset(record.each("private_hosts", opt_in_host)),
        identity_id=identity.text("id") if identity else "",
        identity_label=identity.text("label") if identity else "",
        publications=publications,
        extra=record.rest(but=_DERIVED if publications else frozenset()),
    )
    if account.path != file:
        raise record.wrong(f"expected the name of its folder, found {account.id!r}", "id")
    return account


def _publication(entry: Record) -> Publication:
    return Publication(
        asset=entry.text("asset"), link=entry.text("link", default=""), at=entry.moment("at"), extra=entry.rest()
    )


def write_account(account: Account) -> bytes:
    """The connection.yaml of an account, fields in a fixed order."""
    record: dict[str, Json] = {
        "id": account.id,
        "label": account.label,
        "ability": account.ability,
        "service": account.service,
        "default": account.is_default,
        "created_by": account.created_by,
        "created_at": stamp(account.created_at),
    }
    if account.identity_id:
        record["identity"] = {"id": account.identity_id, "label": account.identity_label}
    if account.private_hosts:
        record["private_hosts"] = [*sorted(account.private_hosts)]
    if account.kind:
        record["kind"] = account.kind
    if account.kind or account.destination:
        record["destination"] = dict(account.destination)
    if account.kind or not account.asks_first:
        record["asks_first"] = account.asks_first
    if account.kind or account.publications:
        record["publications"] = [
            with_extra({"asset": entry.asset, "link": entry.link, "at": stamp(entry.at)}, entry.extra)
            for entry in account.publications
        ]
    if account.publications:
        record["last_published"] = stamp(account.publications[-1].at)
    return write_yaml(with_extra(record, account.extra))
