"""The records of a home, as data: what project.yaml, connection.yaml and asset.md say, and how they are written back.

A record is checked when it is read: people edit these files by hand, and a wrong one must say where it is wrong and
leave the others alone.

Source: docs/home.md "Files"; seed format section "Accounts" (`connection.yaml`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from habilis.errors import BadInput, ManifestInvalid, Problem
from habilis.messages import Json
from habilis.names import AccountId, ProjectSlug, account_id
from habilis.reading import Document, read_yaml, write_yaml

_FRONTMATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)(?:^)---[ \t]*\r?\n?", re.DOTALL | re.MULTILINE)
_T = TypeVar("_T")
_ISO = "YYYY-MM-DDTHH:MM:SSZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One workspace of a home.

    Attributes:
        name: How people call it.
        abilities_off: Ids of abilities that are switched off here.
    """

    slug: ProjectSlug
    name: str
    abilities_off: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One publish through a channel: which asset, where it can be seen, when."""

    asset: str
    link: str
    at: datetime


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
        publications: Oldest first.
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
    publications: tuple[Publication, ...] = ()

    @property
    def folder(self) -> str:
        """Where it lies in the home."""
        return account_folder(self.project, self.id)

    @property
    def path(self) -> str:
        """Where its record lies in the home."""
        return f"{self.folder}/connection.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A piece of content.

    Attributes:
        ref: `<type>/<id>`.
        text: The body, Markdown.
    """

    ref: str
    title: str
    text: str
    summary: str = ""
    tags: tuple[str, ...] = ()


def account_folder(project: str, account: str) -> str:
    """The folder of an account, relative to the home."""
    return f"projects/{project}/connections/{account}"


def stamp(moment: datetime) -> str:
    """A moment as records write it: UTC, whole seconds, `2026-11-30T19:37:26Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_project(data: Json, *, slug: ProjectSlug, file: str) -> Project:
    """Check what a project.yaml says; ManifestInvalid with `file` and the field otherwise."""
    record = _Record(data, file)
    return Project(
        slug=slug,
        name=record.text("name", default=slug),
        abilities_off=frozenset(record.texts("abilities_off")),
    )


def write_project(project: Project) -> bytes:
    """The project.yaml of a project."""
    record: dict[str, Json] = {"name": project.name}
    if project.abilities_off:
        record["abilities_off"] = [*sorted(project.abilities_off)]
    return write_yaml(record)


def read_account(data: Json, *, project: ProjectSlug, file: str) -> Account:
    """Check what a connection.yaml says; ManifestInvalid with `file` and the field otherwise."""
    record = _Record(data, file)
    ability = record.text("ability")
    return Account(
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
        private_hosts=frozenset(record.texts("private_hosts")),
        publications=tuple(
            Publication(asset=entry.text("asset"), link=entry.text("link", default=""), at=entry.moment("at"))
            for entry in record.records("publications")
        ),
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
    if account.private_hosts:
        record["private_hosts"] = [*sorted(account.private_hosts)]
    if account.kind:
        record["kind"] = account.kind
        record["destination"] = dict(account.destination)
        record["asks_first"] = account.asks_first
        record["publications"] = [
            {"asset": entry.asset, "link": entry.link, "at": stamp(entry.at)} for entry in account.publications
        ]
        if account.publications:
            record["last_published"] = stamp(account.publications[-1].at)
    return write_yaml(record)


def read_asset(text: bytes, *, ref: str, file: str = "asset.md") -> Asset:
    """Read an asset: frontmatter (title, summary, tags) and a Markdown body; ManifestInvalid otherwise."""
    match = _FRONTMATTER.match(text)
    if match is None:
        raise ManifestInvalid(
            [_problem(file, "", "starts with no frontmatter: write --- , title: …, --- and the text")]
        )
    document: Document = read_yaml(match.group(1), file)
    record = _Record(document.data, file)
    return Asset(
        ref=ref,
        title=record.text("title"),
        summary=record.text("summary", default=""),
        tags=tuple(record.texts("tags")),
        text=text[match.end() :].decode("utf-8", errors="replace").replace("\r\n", "\n").strip("\n") + "\n",
    )


def write_asset(asset: Asset) -> bytes:
    """The asset.md of an asset."""
    record: dict[str, Json] = {"title": asset.title}
    if asset.summary:
        record["summary"] = asset.summary
    if asset.tags:
        record["tags"] = list(asset.tags)
    return b"---\n" + write_yaml(record) + b"---\n\n" + asset.text.encode()


class _Record:
    """Typed reading of one parsed record; every miss names the file and the field."""

    def __init__(self, data: Json, file: str, path: str = "") -> None:
        if not isinstance(data, dict):
            raise ManifestInvalid([_problem(file, path, f"expected fields, found {_kind(data)}")])
        self._data, self._file, self._path = data, file, path

    def _wrong(self, field_name: str, message: str) -> ManifestInvalid:
        return ManifestInvalid([_problem(self._file, self._path + field_name, message)])

    def text(self, name: str, *, default: str | None = None) -> str:
        value = self._data.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._wrong(name, f"expected text, found {_kind(value)}")
        return value

    def checked(self, name: str, checker: Callable[[str], _T]) -> _T:
        try:
            return checker(self.text(name))
        except BadInput as error:
            raise self._wrong(name, error.message) from None

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._data.get(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, f"expected true or false, found {_kind(value)}")
        return value

    def texts(self, name: str) -> list[str]:
        value = self._data.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self._wrong(name, f"expected a list of texts, found {_kind(value)}")
        return [str(entry) for entry in value]

    def mapping(self, name: str) -> dict[str, Json]:
        value = self._data.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(name, f"expected fields, found {_kind(value)}")
        return value

    def records(self, name: str) -> list["_Record"]:
        value = self._data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._wrong(name, f"expected a list, found {_kind(value)}")
        return [_Record(entry, self._file, f"{name}[{number}].") for number, entry in enumerate(value)]

    def moment(self, name: str) -> datetime:
        text = self.text(name)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self._wrong(name, f"expected a moment such as {_ISO}") from None
        if moment.tzinfo is None:
            raise self._wrong(name, f"expected a moment with its zone, such as {_ISO}")
        return moment


def _problem(file: str, path: str, message: str) -> Problem:
    return Problem(file=file, line=1, column=1, path=path, message=message)


def _kind(value: Json) -> str:
    if value is None:
        return "nothing"
    return {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "fields"}[
        type(value)
    ]
