"""One case of an ability: run against its recorded conversation, and held against what it has to come to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

from habilis.cassettes import (
    Case,
    Cassette,
    Exchanged,
    Expected,
    Fault,
    Paused,
    Player,
    UnexpectedRequest,
    differing,
    differing_values,
)
from habilis.engine.calls import send_call
from habilis.engine.files import file_value, wanted_facts
from habilis.engine.fresh import LiveKeys
from habilis.engine.mails import mail_as_data
from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared
from habilis.engine.resolve import Found, missing_keys
from habilis.engine.snapshots import DAYS, read_source
from habilis.errors import ArgsInvalid, EngineFailed, HabilisError, NotFound
from habilis.exchange.arguments import check_arguments
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.contracts import PUBLISH_ARGUMENTS
from habilis.manifest.model import Manifest, Tool
from habilis.messages import Json, Mail, Result, Sent
from habilis.numbers.snapshot import Snapshot
from habilis.numbers.window import last_days
from habilis.records import AssetFile
from habilis.templating import FileValue, Made
from habilis.transports.recorded import RecordedTransport

PLACEHOLDER = "placeholder"
"""What a secret key is in a case that does not say."""

CALL_ID = "case"
"""The id of every case's call: what is made of it is the same in every run."""


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
        fault: Whether the run came to a fault; "" when none was asked for.
    """

    file: str
    runs: str
    events: tuple[Exchanged | Paused, ...] = ()
    ended: str = ""
    told: str = ""
    outcome: str = ""
    problems: tuple[str, ...] = ()
    fault: Literal["", "played", "no place"] = ""


def run_case(manifest: Manifest, cassette: Cassette, folder: Path, *, fault: Fault | None = None) -> CaseReport:
    """Run one case, and say how it went.

    Args:
        manifest: Of the ability.
        cassette: The case and its conversation.
        folder: An empty one for the case's files and those that come back; whoever made it removes it.
        fault: Played at its place; None for none.
    """
    case, expected = cassette.case, cassette.case.expected
    run = _Run(manifest, cassette, folder, fault if fault and _may_meet(manifest, case, fault) else None)
    report = CaseReport(file=cassette.file, runs=f"source '{case.source}'" if case.source else f"tool '{case.tool}'")
    try:
        ended = run.read() if case.source else run.call()
    except UnexpectedRequest as error:
        report = replace(report, problems=tuple(error.lines))
    except HabilisError as error:
        is_to_be = run.player.has_met_fault and not isinstance(error, EngineFailed)
        unsent = run.player.missing if expected.error else []
        problems = () if is_to_be else (*_failed(expected, error), *unsent)
        report = replace(report, ended=error.code, told=str(error), outcome=error.outcome, problems=problems)
    else:
        told = f"{len(ended.rows)} rows" if isinstance(ended, Snapshot) else ended.text
        problems = (*run.player.missing, *_went_well(expected, ended), *_mailed(expected, run.mails))
        report = replace(report, ended="done", told=told, problems=problems)
    events = tuple(run.player.events)
    if run.player.has_met_fault:
        return replace(report, events=events, fault="played")
    problems = (*report.problems, *_paused(expected, events))
    return replace(report, events=events, problems=problems, fault="no place" if fault else "")


def _may_meet(manifest: Manifest, case: Case, fault: Fault) -> bool:
    """Whether what is run can meet the fault: a page comes twice only where a list is read page by page."""
    if fault.kind != "repeated-cursor":
        return True
    tool, source = manifest.tool(case.tool), manifest.source(case.source)
    requests = [step.request for step in tool.steps] if tool else []
    requests += [one.request for one in source.requests] if source else []
    return any(request.pages for request in requests)


class _Run:
    """One case on its way to its end.

    Attributes:
        player: Plays its conversation.
        mails: What would have been mailed.
    """

    def __init__(self, manifest: Manifest, cassette: Cassette, folder: Path, fault: Fault | None) -> None:
        self._manifest = manifest
        self._file = cassette.file
        self._case: Case = cassette.case
        self._folder = folder
        self.player = Player(cassette, fault=fault, idempotency=frozenset(_idempotency(manifest)))
        self.mails: list[Mail] = []
        self._outside = Outside(
            transport=RecordedTransport(self.player),
            now=lambda: self._case.now,
            sleep=self.player.pause,
            token=lambda: CALL_ID,
            mailer=self,
        )

    def send(self, mail: Mail, *, before_first_byte: Callable[[], None] | None = None) -> Sent:
        """Keep a mail as if a server had taken it for everybody."""
        if before_first_byte is not None:
            before_first_byte()
        self.mails.append(mail)
        return Sent(taken=mail.recipients)

    def read(self) -> Snapshot:
        """What the case's source says."""
        source = self._manifest.source(self._case.source)
        if source is None:
            self._unknown("source", self._case.source)
        keys = self._keys()
        hosts = AllowedHosts.of(self._manifest.hosts, keys)
        bounds = Bounds(hosts=hosts, private_hosts=frozenset(), is_read=True)
        return read_source(source, LiveKeys(keys=keys), bounds, last_days(self._case.now, DAYS), self._outside)

    def call(self) -> Result:
        """What the case's tool comes to."""
        tool = self._manifest.tool(self._case.tool)
        if tool is None:
            self._unknown("tool", self._case.tool)
        call = Prepared(
            project="",
            found=Found(manifest=self._manifest, tool=tool, account=None, keys=self._keys()),
            arguments=check_arguments(tool, self._case.arguments, also=_given(self._manifest, tool)),
            made=Made(now=self._case.now, call_id=CALL_ID),
            asset="case/files" if self._case.files else "",
            files=tuple(self._files(tool)),
        )
        return send_call(call, self._outside, str(self._folder))

    def _unknown(self, what: str, name: str) -> NoReturn:
        raise NotFound(f"the ability has no {what} {name!r}", where=f"{self._file}: case.{what}")

    def _keys(self) -> dict[str, str]:
        """The account's keys: as the case gives them, a secret one that it leaves out made up."""
        known = {key.env for key in self._manifest.auth}
        if foreign := sorted(set(self._case.keys) - known):
            raise ArgsInvalid(f"the ability has no key {foreign[0]!r}", where=f"{self._file}: case.keys")
        needed = {*self._manifest.required_keys, *(known & set(self._manifest.kept_keys))}
        secret = map(str, needed - self._manifest.public_keys)
        keys = dict.fromkeys(secret, PLACEHOLDER) | dict(self._case.keys)
        if missing := missing_keys(self._manifest, keys):
            raise ArgsInvalid(f"the case gives no value for {missing[0]}", where=f"{self._file}: case.keys")
        return keys

    def _files(self, tool: Tool) -> Iterator[FileValue]:
        for number, file in enumerate(self._case.files):
            place = self._folder / f"file-{number}"
            place.write_bytes(file.content)
            record = AssetFile(name=file.name, file=place.name, mime=file.mime, alt=file.alt)
            yield file_value(place, record, wanted_facts(tool), where=file.name)


def _given(manifest: Manifest, tool: Tool) -> frozenset[str]:
    """Arguments that the engine adds by itself where the tool publishes to a channel."""
    kinds = [kind for kind in manifest.channels if kind.publish == tool.name]
    destination = {field.name for kind in kinds for field in kind.destination}
    return PUBLISH_ARGUMENTS | destination if kinds else frozenset()


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
        rows: list[Json] = [{"date": row.date, "dims": {**row.dims}, "metrics": {**row.metrics}} for row in ended.rows]
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


def _mailed(expected: Expected, mails: Sequence[Mail]) -> Iterator[str]:
    """Where the mail differs in what the case says of it; how it is sent, and its time, are not its business."""
    if expected.mail is None:
        return
    shown = mail_as_data(mails[0]) if mails else {"headers": {}}
    headers = shown["headers"]
    said = {**headers, "Text": shown.get("body")} if isinstance(headers, dict) else {}
    yield from differing_values("mail", dict(expected.mail), {name: said.get(name) for name in expected.mail})
