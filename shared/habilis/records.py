"""The records of a home, as data: what project.yaml, connection.yaml and asset.md say, and how they are written back.

A record is checked when it is read: people edit these files by hand, and a wrong one must say where it is wrong and
leave the others alone. Fields that Habilis does not know are a person's own, or another version's: they are kept in
`extra` and written back behind the known ones.

Source: docs/home.md "Files".
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from habilis.errors import BadInput, ManifestInvalid, Problem, Refused
from habilis.hosts import opt_in_host
from habilis.messages import Json
from habilis.names import AccountId, ProjectSlug, account_id
from habilis.reading import Document, path_text, read_yaml, write_yaml
from habilis.reading.document import Path

_FRONTMATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_BOM = b"\xef\xbb\xbf"
_DERIVED = frozenset({"last_published"})
_T = TypeVar("_T")
_ISO = "YYYY-MM-DDTHH:MM:SSZ"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A piece of content.

    Attributes:
        ref: `<type>/<id>`.
        text: The body, Markdown: lines end in a line feed, none is empty at its beginning or end.
        extra: Fields of other makers, as they were read.
    """

    ref: str
    title: str
    text: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


def account_folder(project: str, account: str) -> str:
    """The folder of an account, relative to the home."""
    return f"projects/{project}/connections/{account}"


def stamp(moment: datetime) -> str:
    """A moment as records write it: UTC, whole seconds, `2026-11-30T19:37:26Z`."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def read_project(data: Json | Document, *, slug: ProjectSlug, file: str) -> Project:
    """Check what a project.yaml says; ManifestInvalid with `file` and the field otherwise."""
    record = _Record(data, file)
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
    return write_yaml(_with_extra(record, project.extra))


def read_account(data: Json | Document, *, project: ProjectSlug, file: str) -> Account:
    """Check what a connection.yaml says; ManifestInvalid with `file` and the field otherwise.

    Args:
        data: The parsed file; a Document where faults shall name their line.
        project: Whose account it is.
        file: Where it lies in the home. Its folder is the account's id: an account that calls itself otherwise would
            use another one's keys.
    """
    record = _Record(data, file)
    ability = record.text("ability")
    publications = tuple(map(_publication, record.records("publications")))
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
        publications=publications,
        extra=record.rest(but=_DERIVED if publications else frozenset()),
    )
    if account.path != file:
        raise record.wrong(f"expected the name of its folder, found {account.id!r}", "id")
    return account


def _publication(entry: "_Record") -> Publication:
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
            _with_extra({"asset": entry.asset, "link": entry.link, "at": stamp(entry.at)}, entry.extra)
            for entry in account.publications
        ]
    if account.publications:
        record["last_published"] = stamp(account.publications[-1].at)
    return write_yaml(_with_extra(record, account.extra))


def read_asset(text: bytes, *, ref: str, file: str = "asset.md") -> Asset:
    """Read an asset: frontmatter (title, summary, tags) and a Markdown body; ManifestInvalid otherwise."""
    content = text.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if content.encode() != text.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n"):
        line = content.count("\n", 0, content.find("\ufffd")) + 1
        raise ManifestInvalid([_problem(file, "", "the file is not UTF-8; save it as UTF-8", line=line)])
    match = _FRONTMATTER.match(content)
    if match is None:
        raise ManifestInvalid(
            [_problem(file, "", "starts with no frontmatter: write --- , title: …, --- and the text")]
        )
    # An empty line stands for the opening fence, so that faults have the lines of the file.
    record = _Record(read_yaml(b"\n" + match[1].encode(), file), file)
    body = content[match.end() :].strip("\n")
    return Asset(
        ref=ref,
        title=record.text("title"),
        summary=record.text("summary", default=""),
        tags=tuple(record.texts("tags")),
        text=f"{body}\n" if body else "",
        extra=record.rest(),
    )


def write_asset(asset: Asset) -> bytes:
    """The asset.md of an asset; BadInput when its text holds half of a character."""
    record: dict[str, Json] = {"title": asset.title}
    if asset.summary:
        record["summary"] = asset.summary
    if asset.tags:
        record["tags"] = list(asset.tags)
    fields = write_yaml(_with_extra(record, asset.extra))
    try:
        return b"---\n" + fields + b"---\n\n" + asset.text.encode()
    except UnicodeEncodeError:
        pass
    raise BadInput("the text holds half of a character (a lone surrogate)", where=asset.ref)


def _with_extra(record: dict[str, Json], extra: Mapping[str, Json]) -> dict[str, Json]:
    return record | {name: value for name, value in extra.items() if name not in record}


class _Record:
    """Typed reading of one parsed record; every miss names the file and the field, and remembers which were read."""

    def __init__(self, data: Json | Document, file: str) -> None:
        self._document = data if isinstance(data, Document) else None
        self._data = data.data if isinstance(data, Document) else data
        self._file = file
        self._path: Path = ()
        self._read: set[str] = set()

    def _inside(self, path: Path, data: Json) -> "_Record":
        record = _Record(data, self._file)
        record._document, record._path = self._document, path
        return record

    def wrong(self, message: str, *path: str | int) -> ManifestInvalid:
        """The fault of a field, at its place where the record knows it."""
        full = (*self._path, *path)
        line, column = self._document.place(full) if self._document else (1, 1)
        return ManifestInvalid([_problem(self._file, path_text(full), message, line=line, column=column)])

    def _value(self, name: str) -> Json:
        if not isinstance(self._data, dict):
            raise self.wrong(f"expected fields, found {_kind(self._data)}")
        self._read.add(name)
        return self._data.get(name)

    def text(self, name: str, *, default: str | None = None) -> str:
        value = self._value(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            quote = "; quote it" if isinstance(value, bool | int | float) else ""
            raise self.wrong(f"expected text, found {_kind(value)}{quote}", name)
        return value

    def checked(self, name: str, checker: Callable[[str], _T]) -> _T:
        return self._checked(self.text(name), checker, name)

    def each(self, name: str, checker: Callable[[str], _T]) -> list[_T]:
        return [self._checked(text, checker, name, number) for number, text in enumerate(self.texts(name))]

    def _checked(self, text: str, checker: Callable[[str], _T], *path: str | int) -> _T:
        try:
            return checker(text)
        except (BadInput, Refused) as error:
            raise self.wrong(error.message, *path) from None

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(f"expected true or false, found {_kind(value)}", name)
        return value

    def texts(self, name: str) -> list[str]:
        entries = self._list(name)
        odd = next((number for number, entry in enumerate(entries) if not isinstance(entry, str)), None)
        if odd is not None:
            raise self.wrong(f"expected text, found {_kind(entries[odd])}", name, odd)
        return [str(entry) for entry in entries]

    def mapping(self, name: str) -> dict[str, Json]:
        value = self._value(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(f"expected fields, found {_kind(value)}", name)
        return value

    def records(self, name: str) -> "list[_Record]":
        return [self._inside((*self._path, name, number), entry) for number, entry in enumerate(self._list(name))]

    def moment(self, name: str) -> datetime:
        text = self.text(name)
        try:
            moment = datetime.fromisoformat(text)
            in_utc = moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.wrong(f"expected a moment such as {_ISO}", name) from None
        if moment.tzinfo is None:
            raise self.wrong(f"expected a moment with its zone, such as {_ISO}", name)
        return in_utc

    def rest(self, *, but: frozenset[str] = frozenset()) -> dict[str, Json]:
        """The fields that were not asked for."""
        fields = self._data if isinstance(self._data, dict) else {}
        return {name: value for name, value in fields.items() if name not in self._read | but}

    def _list(self, name: str) -> list[Json]:
        value = self._value(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(f"expected a list, found {_kind(value)}", name)
        return value


def _problem(file: str, path: str, message: str, *, line: int = 1, column: int = 1) -> Problem:
    return Problem(file=file, line=line, column=column, path=path, message=message)


def _kind(value: Json) -> str:
    if value is None:
        return "nothing"
    return {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "fields"}[
        type(value)
    ]
