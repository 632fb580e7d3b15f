"""An ability's own cassettes, run: each case through the exchange that real calls go through, and nothing is sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NoReturn

from habilis.cassettes import (
    Cassette,
    Exchanged,
    Expected,
    Fault,
    Paused,
    Player,
    UnexpectedRequest,
    differing,
    differing_values,
    read_cassette,
)
from habilis.engine.files import file_value, wanted_facts
from habilis.engine.outside import Outside
from habilis.engine.resolve import missing_keys
from habilis.engine.snapshots import DAYS, read_source
from habilis.errors import ArgsInvalid, BadInput, EngineFailed, HabilisError, NotFound
from habilis.exchange.arguments import check_arguments
from habilis.exchange.call import run_tool
from habilis.exchange.fill import Bounds
from habilis.fetch import read_folder
from habilis.home.store import Home
from habilis.hosts import AllowedHosts
from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest, Tool
from habilis.marketplace import shipped
from habilis.messages import Json, Result
from habilis.names import ability_id, project_slug
from habilis.numbers.snapshot import Snapshot
from habilis.numbers.window import last_days
from habilis.records import AssetFile
from habilis.templating import Made, Scope
from habilis.transports.recorded import RecordedTransport

PLACEHOLDER = "placeholder"
"""What a secret key is in a case that does not say."""

CALL_ID = "case"
"""The id of every case's call: what is made of it is the same in every run."""

_FOLDER = "cassettes/"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport:
    """How one case went.

    Attributes:
        file: The cassette, as `cassettes/post.yaml`.
        runs: What was run, as messages name it: `tool 'post_status'`.
        events: Every request and how it was answered, and every pause that a real call would have made.
        ended: "done", or the code of the error that it ended in; "" when it did not come to its end.
        told: What the agent would be told: the result, or the error.
        outcome: What the error means for the order; "" when there was none.
        problems: What is not as the cassette has it; empty when the case passed.
        fault: Whether a fault was played; "" when none was asked for.
    """

    file: str
    runs: str
    events: tuple[Exchanged | Paused, ...] = ()
    ended: str = ""
    told: str = ""
    outcome: str = ""
    problems: tuple[str, ...] = ()
    fault: Literal["", "played", "no place"] = ""


def run_cassettes(
    spec: str, *, home: Callable[[], Home], project: str = "", fault: Fault | None = None
) -> list[CaseReport]:
    """Run every cassette of an ability, in the order of their names.

    Args:
        spec: A folder, or the id of an ability that is installed or ships.
        home: Opens the home that it may be installed in; not called for a folder.
        project: Whose own abilities count as well; "" for none.
        fault: Played at its place in each conversation; None for none.

    Raises:
        NotFound: There is no such ability, or it has no cassettes.
        ManifestInvalid: Its extension.yaml or one of the cassettes is wrong.
    """
    name, files = _files(spec, home, project)
    names = [file for file in files if file.startswith(_FOLDER) and file.endswith((".yaml", ".yml"))]
    if not names or "extension.yaml" not in files:
        raise NotFound(f"the ability {name!r} has no cassettes", hint="docs/cassettes.md says how to write one")
    manifest = load_manifest(files["extension.yaml"], folder=name)
    return [_run(manifest, read_cassette(files[file], file), fault) for file in sorted(names)]


def _files(spec: str, home: Callable[[], Home], project: str) -> tuple[str, Mapping[str, bytes]]:
    """An ability's name and its files, as far as they are needed here."""
    place = Path(spec).expanduser()
    if len(place.parts) > 1 or spec in {"", ".", ".."}:
        return place.resolve().name, read_folder(place)
    installed = _installed(spec, home, project)
    if installed:
        return spec, installed
    place = shipped(spec) or place
    if not place.is_dir():
        raise NotFound(f"there is no ability {spec!r}", hint="see: habilis abilities ls, and ls --shipped")
    return place.resolve().name, read_folder(place)


def _installed(spec: str, home: Callable[[], Home], project: str) -> dict[str, bytes]:
    """The files of an installed ability; none where there is no such one, or no home."""
    try:
        ability = ability_id(spec)
        revision = home().open()
    except (BadInput, NotFound):
        return {}  # a person who writes an ability need not have a home
    folders = [f"projects/{project_slug(project)}/abilities/{ability}"] if project else []
    for folder in (*folders, f"abilities/{ability}"):
        names = ["extension.yaml", *(f"{_FOLDER}{name}" for name in revision.list(f"{folder}/{_FOLDER[:-1]}"))]
        found = {name: revision.read(f"{folder}/{name}") for name in names if not name.endswith("/")}
        if found["extension.yaml"] is not None:
            return {name: content for name, content in found.items() if content is not None}
    return {}


def _run(manifest: Manifest, cassette: Cassette, fault: Fault | None) -> CaseReport:
    with TemporaryDirectory(prefix="habilis-case-") as folder:
        return _Run(manifest, cassette, fault, Path(folder)).report()


class _Run:
    """One case on its way to its end."""

    def __init__(self, manifest: Manifest, cassette: Cassette, fault: Fault | None, folder: Path) -> None:
        self._manifest = manifest
        self._cassette = cassette
        self._case = cassette.case
        self._fault = fault
        self._folder = folder
        self._player = Player(cassette, fault=fault, idempotency=frozenset(_idempotency(manifest)))
        self._outside = Outside(
            transport=RecordedTransport(self._player),
            now=lambda: self._case.now,
            sleep=self._player.pause,
            token=lambda: CALL_ID,
        )

    def report(self) -> CaseReport:
        """Run it, and say how it went."""
        case, expected = self._case, self._case.expected
        report = CaseReport(
            file=self._cassette.file,
            runs=f"source '{case.source}'" if case.source else f"tool '{case.tool}'",
            fault=self._fault_played(),
        )
        try:
            ended = self._read() if case.source else self._call()
        except UnexpectedRequest as error:
            report = replace(report, problems=tuple(error.lines))
        except HabilisError as error:
            is_to_be = report.fault == "played" and not isinstance(error, EngineFailed)
            problems = () if is_to_be else tuple(_failed(expected, error))
            report = replace(report, ended=error.code, told=str(error), outcome=error.outcome, problems=problems)
        else:
            told = f"{len(ended.rows)} rows" if isinstance(ended, Snapshot) else ended.text
            problems = (*self._player.missing, *_went_well(expected, ended))
            report = replace(report, ended="done", told=told, problems=problems)
        events = tuple(self._player.events)
        if report.fault != "played":
            report = replace(report, problems=(*report.problems, *_paused(expected, events)))
        return replace(report, events=events)

    def _fault_played(self) -> Literal["", "played", "no place"]:
        if self._fault is None:
            return ""
        return "no place" if self._fault.place(self._cassette) is None else "played"

    def _read(self) -> Snapshot:
        source = self._manifest.source(self._case.source)
        if source is None:
            self._unknown("source", self._case.source)
        keys = self._keys()
        return read_source(
            source, keys, self._bounds(keys, is_read=True), last_days(self._case.now, DAYS), self._outside
        )

    def _call(self) -> Result:
        tool = self._manifest.tool(self._case.tool)
        if tool is None:
            self._unknown("tool", self._case.tool)
        keys = self._keys()
        arguments = check_arguments(tool, dict(self._case.arguments))
        made = Made(now=self._case.now, call_id=CALL_ID)
        scope = Scope({**arguments, "files": self._files(tool)}, keys, made)
        return self._outside.drive(run_tool(tool, scope, self._bounds(keys, is_read=tool.role == "read")))

    def _unknown(self, what: str, name: str) -> NoReturn:
        raise NotFound(f"the ability has no {what} {name!r}", where=f"{self._cassette.file}: case.{what}")

    def _keys(self) -> dict[str, str]:
        """The account's keys: as the case gives them, a secret one that it leaves out made up."""
        known = {key.env for key in self._manifest.auth}
        if foreign := sorted(set(self._case.keys) - known):
            raise ArgsInvalid(f"the ability has no key {foreign[0]!r}", where=f"{self._cassette.file}: case.keys")
        secret = map(str, set(self._manifest.required_keys) - self._manifest.public_keys)
        keys = dict.fromkeys(secret, PLACEHOLDER) | dict(self._case.keys)
        if missing := missing_keys(self._manifest, keys):
            raise ArgsInvalid(f"the case gives no value for {missing[0]}", where=f"{self._cassette.file}: case.keys")
        return keys

    def _bounds(self, keys: Mapping[str, str], *, is_read: bool) -> Bounds:
        return Bounds(
            hosts=AllowedHosts.of(self._manifest.hosts, keys),
            private_hosts=frozenset(),
            is_read=is_read,
            download_to=str(self._folder),
        )

    def _files(self, tool: Tool) -> list[Json]:
        files: list[Json] = []
        for number, file in enumerate(self._case.files):
            place = self._folder / f"file-{number}"
            place.write_bytes(file.content)
            record = AssetFile(name=file.name, file=place.name, mime=file.mime, alt=file.alt)
            files.append(file_value(place, record, wanted_facts(tool), where=file.name))
        return files


def _idempotency(manifest: Manifest) -> Iterator[str]:
    """Headers, in lower case, by which the service knows a request that it has seen."""
    for tool in (*manifest.tools, *manifest.provides):
        for step in tool.steps:
            if step.request.idempotency is not None:
                yield step.request.idempotency.header.lower()


def _failed(expected: Expected, error: HabilisError) -> Iterator[str]:
    if not expected.error:
        yield f"it ended in {error.code}: {error}"
        return
    yield from differing("error", expected.error, error.code)
    if expected.says not in str(error):
        yield f"error: expected words with {expected.says!r}, got {error}"


def _went_well(expected: Expected, ended: Result | Snapshot) -> Iterator[str]:
    if expected.error:
        yield f"error: expected {expected.error}, and it went well"
        return
    if isinstance(ended, Snapshot):
        rows: list[Json] = [
            {"date": row.date, "dims": dict(row.dims), "metrics": dict(row.metrics)} for row in ended.rows
        ]
        if expected.rows is not None:
            yield from differing_values("rows", [*expected.rows], rows)
        return
    for what, wanted, got in (("text", expected.text, ended.text), ("link", expected.link, ended.link)):
        if wanted is not None:
            yield from differing(what, wanted, got)
    if expected.files is not None:
        wanted_files: list[Json] = [{"name": name, "mime": mime} for name, mime in expected.files]
        files: list[Json] = [{"name": file.name, "mime": file.mime} for file in ended.files]
        yield from differing_values("files", wanted_files, files)


def _paused(expected: Expected, events: Sequence[Exchanged | Paused]) -> Iterator[str]:
    if expected.pauses_s is not None:
        pauses: list[Json] = [event.pause_s for event in events if isinstance(event, Paused)]
        yield from differing_values("pauses", [*expected.pauses_s], pauses)
