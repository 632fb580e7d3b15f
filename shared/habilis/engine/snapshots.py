"""The daily reading of numbers: every source of a project, each through its account, all of it in one commit."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from habilis.engine.fresh import LiveKeys, fresh_keys
from habilis.engine.outside import Outside
from habilis.engine.resolve import load_keys, pointing_at, wanting
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import HabilisError, NotFound
from habilis.exchange.fill import Bounds
from habilis.exchange.pages import read_pages
from habilis.home.store import Home, Revision
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Manifest, Source
from habilis.numbers.snapshot import Reading, Snapshot
from habilis.numbers.store import merge
from habilis.numbers.window import Window, last_days
from habilis.records import Account
from habilis.templating import Made, Scope

DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """How the reading of one source went.

    Attributes:
        rows: Rows kept.
        notes: Why rows were left out, each with its count, and what else a person should know of the answers.
        fault: Why nothing was read; "" when it was. What was stored before is kept.
    """

    project: str
    account: str
    ability: str
    source: str
    rows: int = 0
    notes: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotReport:
    """How a project's reading went.

    Attributes:
        commit: Id of the commit that holds the rows; "" when nothing changed.
    """

    project: str
    first_day: str
    last_day: str
    sources: tuple[SourceReport, ...]
    commit: str = ""

    @property
    def is_partial(self) -> bool:
        """Whether a source could not be read."""
        return any(source.fault for source in self.sources)


def snapshot_project(home: Home, project: str, outside: Outside, *, actor: str, source: str = "") -> SnapshotReport:
    """Read the last 30 days of a project's sources and store the rows; one source's failure stops no other.

    Args:
        source: Name of the only source to read; "" for all.

    Raises:
        NotFound: No such project, or it has no such source.
        HomeLocked, HomeConflict: The rows were read and could not be stored.
    """
    workspace = open_workspace(home, home.open(), project)
    window = last_days(outside.now(), DAYS)
    jobs = _jobs(workspace, source)
    with home.hold(f"snapshot-{project}"), _no_search_for_cycles():
        reports, taken = [], {}
        for manifest, entry, account in jobs:
            report, rows = _read_source(home, manifest, entry, account, window, outside)
            reports.append(report)
            if rows is not None:
                taken[f"projects/{project}/snapshots/{account.id}/{entry.name}"] = rows
        commit = _store(home, project, taken, window, actor=actor) if taken else ""
    return SnapshotReport(
        project=project, first_day=window.first, last_day=window.last, sources=tuple(reports), commit=commit
    )


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Keep the garbage collector from looking through tens of thousands of rows, which hold no cycles, on and on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def snapshot_all(home: Home, outside: Outside, *, actor: str) -> list[SnapshotReport]:
    """Read every project's sources; a project that cannot be read is reported and stops no other."""
    reports = []
    for name in home.open().list("projects"):
        project = name.rstrip("/")
        try:
            reports.append(snapshot_project(home, project, outside, actor=actor))
        except HabilisError as error:
            fault = SourceReport(project=project, account="", ability="", source="", fault=str(error))
            reports.append(SnapshotReport(project=project, first_day="", last_day="", sources=(fault,)))
    return reports


def read_source(source: Source, live: LiveKeys, bounds: Bounds, window: Window, outside: Outside) -> Snapshot:
    """What a source says of the days; HabilisError when one of its requests does not come back well."""
    made = Made(now=outside.now(), call_id=outside.token())
    scope = Scope(arguments=window.arguments(), keys=live.keys, made=made)
    where = f"source '{source.name}'"
    reading = Reading(source, window=window, scope=scope)
    notes: list[str] = []
    for number, request in enumerate(source.requests):
        exchange = read_pages(request.request, scope, bounds, where=where, take=partial(reading.take, number))
        notes += outside.drive(exchange, renew=live.renew)
    snapshot = reading.snapshot()
    return replace(snapshot, notes=(*snapshot.notes, *notes))


def _jobs(workspace: Workspace, name: str) -> list[tuple[Manifest, Source, Account]]:
    found = [
        (ability.manifest, source, account)
        for ability in workspace.abilities.values()
        if ability.is_on and ability.manifest is not None
        for source in ability.manifest.sources
        if not name or source.name == name
        for account in workspace.accounts_of(ability.manifest.service)
    ]
    if name and not found:
        raise NotFound(
            f"the project reads no source {name!r}", hint="add an account of an ability that has it, or leave it out"
        )
    return found


def _read_source(
    home: Home, manifest: Manifest, source: Source, account: Account, window: Window, outside: Outside
) -> tuple[SourceReport, Snapshot | None]:
    report = SourceReport(project=account.project, account=account.id, ability=manifest.id, source=source.name)
    try:
        keys = load_keys(home, manifest, account)
        lacks = wanting(manifest, keys)
        if lacks:
            return replace(report, fault=f"the account lacks {lacks}"), None
        with pointing_at(account):
            live = fresh_keys(home, manifest, account, outside)
            bounds = Bounds(
                hosts=AllowedHosts.of(manifest.hosts, live.keys),
                private_hosts=account.private_hosts,
                is_read=True,
                sign_out=live.sign_out,
            )
            snapshot = read_source(source, live, bounds, window, outside)
    except HabilisError as error:
        return replace(report, fault=str(error)), None
    return replace(report, rows=len(snapshot.rows), notes=(*map(str, snapshot.dropped), *snapshot.notes)), snapshot


def _store(home: Home, project: str, taken: Mapping[str, Snapshot], window: Window, *, actor: str) -> str:
    def change(revision: Revision) -> dict[str, bytes | None]:
        changed: dict[str, bytes | None] = {}
        for folder, snapshot in taken.items():
            names = [name for name in revision.list(folder) if name.endswith(".jsonl")]
            existing = {name: revision.require(f"{folder}/{name}") for name in names}
            for name, data in merge(existing, snapshot.rows, window, absent=snapshot.absent).items():
                changed[f"{folder}/{name}"] = data
        return changed

    subject = f"Read {len(taken)} source{'s' if len(taken) > 1 else ''} of {project} up to {window.last}"
    return home.commit(change, subject=subject, action="snapshot", actor=actor)
