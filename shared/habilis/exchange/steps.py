"""The steps of a call: what each runs over, what it saves, and when it is passed over."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from habilis.errors import ArgsInvalid, HabilisError, ResponseTooLarge, UpstreamFailed, UpstreamProtocol
from habilis.exchange.asking import ask
from habilis.exchange.sending import Course
from habilis.manifest.model import Loop, Step, Tool
from habilis.messages import Answer, Asked, Json, StepDone
from habilis.templating import MISSING, FileValue, Missing, Scope, Seen

_FILES = "files"
_OF_A_RUN = frozenset({"item", "index", "file"})

StepTalk = Generator[Asked, Answer | None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a step.

    Attributes:
        where: The step and the run, for messages: `step 'put' (file 2)`.
        name: The run alone: `file 2`, or `2` where no file of the call belongs to it; "" where the step runs once.
        index: Position in what the step runs over; None where it runs once.
        scope: What fills it.
        file: The file that belongs to it, if one does.
    """

    where: str
    scope: Scope
    name: str = ""
    index: int | None = None
    file: FileValue | None = None


@dataclass(slots=True)
class _Taken:
    """What the runs of one step came to.

    Attributes:
        saved: What each run that came back well saved.
        files: The files that belong to these runs.
        faults: What the failed ones said.
    """

    saved: list[Json] = field(default_factory=list)
    files: list[FileValue | None] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)


class Steps:
    """The steps of one call, as far as they have come.

    Attributes:
        last: The last good answer, and the same as places see it.
    """

    last: tuple[Answer, Seen]

    def __init__(self, tool: Tool, scope: Scope, course: Course) -> None:
        """Take the steps up; raises ArgsInvalid when the arguments alone make one of them run too often."""
        self._tool = tool
        self._given = scope
        self._course = course
        self._saved: dict[str, Json] = {}
        self._files: dict[str, list[FileValue | None]] = {}
        self._fault: HabilisError | None = None
        made = {name for step in tool.steps for name in (step.name, step.save_error) if name}
        self._of_answers = [step.name for step in tool.steps if not _needs(step).isdisjoint(made)]
        for step in tool.steps:
            if step.loop is not None and step.name not in self._of_answers:
                self._runs(step)

    @property
    def scope(self) -> Scope:
        """The call's values, with everything saved so far."""
        return self._given.with_values(self._saved)

    def run(self) -> StepTalk:
        """Carry the steps out, one after the other."""
        for step in self._tool.steps:
            taken = _Taken()
            for run in self._runs(step):
                yield from self._carry_out(step, run, taken)
            self._save(step, taken)
        if not hasattr(self, "last"):
            raise self._fault or ArgsInvalid("none of its steps has anything to do", where=f"tool '{self._tool.name}'")

    def _carry_out(self, step: Step, run: Run, taken: _Taken) -> StepTalk:
        course = self._course
        course.seen = None
        try:
            answer, seen = yield from ask(step.request, run.scope, course, where=run.where)
        except UpstreamFailed as error:
            if not step.skips_errors:
                raise
            self._fault = error
            taken.faults.append(error.message if course.seen is None else course.seen.body)
            in_doubt = error.outcome == "unknown"
            doubt = "; it may have happened all the same" if in_doubt else ""
            course.journal.notes.append(f"{run.where} was passed over: {error.message}{doubt}")
            if in_doubt:
                course.journal.did(step.name, run.name, is_sure=False)
            return
        self.last = answer, seen
        value = _picked(step, seen)
        taken.saved.append(value)
        taken.files.append(run.file)
        if not course.is_read(step.request):
            course.journal.did(step.name, run.name)
            yield StepDone(step=step.name, run=run.index, saved=value)

    def _save(self, step: Step, taken: _Taken) -> None:
        if step.loop is not None:
            self._saved[step.name] = taken.saved
            self._files[step.name] = taken.files
            if step.save_error:
                self._saved[step.save_error] = taken.faults
            return
        if taken.saved:
            self._saved[step.name] = taken.saved[0]
        if step.save_error and taken.faults:
            self._saved[step.save_error] = taken.faults[0]

    def _runs(self, step: Step) -> list[Run]:
        """The runs of a step for which its `when` holds; raises when there are too many."""
        where, scope = f"step '{step.name}'", self.scope
        if step.loop is None:
            runs = [Run(where=where, scope=scope)]
        else:
            entries = self._entries(step, step.loop, where, scope)
            runs = list(runs_over(entries, self._files.get(step.loop.over), where=where, scope=scope))
        chosen = [run for run in runs if step.when is None or step.when.holds(run.scope)]
        most = self._tool.most_runs
        if len(chosen) > most:
            message = f"it would run {len(chosen)} times, and at most {most} are allowed"
            if step.name in self._of_answers:
                raise ResponseTooLarge(message, where=where, outcome="not_sent")
            raise ArgsInvalid(message, where=where, hint="do it in several calls")
        return chosen

    def _entries(self, step: Step, loop: Loop, where: str, scope: Scope) -> list[Json]:
        value: Json | Missing = MISSING
        value = scope.arguments.get(loop.over, MISSING) if loop.each is None else loop.each.fill(scope)
        if isinstance(value, list):
            return value
        if value is MISSING or value is None:
            return []
        if step.name in self._of_answers:
            raise UpstreamProtocol("the answer gave no list to run over", where=where, outcome="not_sent")
        raise ArgsInvalid("it runs over a list, and got something else", where=where)


def runs_over(
    entries: Sequence[Json], files: Sequence[FileValue | None] | None, *, where: str, scope: Scope
) -> Iterator[Run]:
    """The runs of a step over a list.

    Args:
        entries: What it runs over, each the `item` of a run.
        files: The files that belong to these; None where an entry is a file itself, or none belongs to it.
        where: The step, for messages.
        scope: The values that all runs share.
    """
    every = scope.arguments.get(_FILES)
    numbers = {id(file): number for number, file in enumerate(every, 1)} if isinstance(every, list) else {}
    for index, item in enumerate(entries):
        file = files[index] if files is not None else item if isinstance(item, FileValue) else None
        number = numbers.get(id(file))
        name = str(index + 1) if number is None else f"file {number}"
        values: dict[str, Json] = {"item": item, "index": index}
        if file is not None:
            values["file"] = file
        yield Run(where=f"{where} ({name})", scope=scope.with_values(values), name=name, index=index, file=file)


def _needs(step: Step) -> frozenset[str]:
    """The names that say how often a step runs."""
    loop = frozenset[str]() if step.loop is None else step.loop.each.arguments if step.loop.each else {step.loop.over}
    when = frozenset[str]() if step.when is None else step.when.arguments
    return (frozenset(loop) | when) - _OF_A_RUN


def _picked(step: Step, seen: Seen) -> Json:
    if not step.save:
        return seen.body
    return {name: value for name, place in step.save if (value := place.pick(seen)) is not MISSING}
