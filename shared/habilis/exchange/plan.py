"""What a call would send, told before anything is: in full as far as no answer is needed for it.

What an answer will fill in is not invented: it stands as the placeholder that the manifest writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from habilis.errors import ArgsInvalid, HabilisError
from habilis.exchange.asking import ask
from habilis.exchange.drafts import Draft, as_written, draft_request, needs_of, written
from habilis.exchange.fill import Bounds
from habilis.exchange.sending import Course
from habilis.exchange.steps import Run, Steps, runs_over
from habilis.manifest.model import RequestTemplate, Step, Tool
from habilis.messages import Json, Request
from habilis.templating import FileValue, Made, Scope, apply_map

_OF_A_RUN = frozenset({"item", "index", "file"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One request that a call would send.

    Attributes:
        step: What it is for: `step 'put' (file 2)`; "" where the call is one request.
        request: As it would go, or a draft of it where it waits for an answer.
        notes: On what it depends, and how often it goes out.
    """

    step: str
    request: Request | Draft
    notes: tuple[str, ...] = ()


def plan_tool(tool: Tool, scope: Scope, bounds: Bounds) -> list[Planned]:
    """The requests of a call, in their order; the ids that the call makes are still the same afterwards.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: As `run_tool`, for what is known already.
    """
    made = scope.made and Made(now=scope.made.now, call_id=scope.made.call_id)
    scope = Scope(apply_map(tool.map, scope.arguments) if tool.map else scope.arguments, scope.keys, made)
    plan = _Plan(tool, scope, Course(bounds, scope.made))
    planned = [one for step in tool.steps for one in plan.step(step)]
    if not planned:
        raise ArgsInvalid("none of its steps has anything to do", where=f"tool '{tool.name}'")
    return planned


class _Plan:
    """The steps of one call, as far as they can be told.

    Attributes:
        unknown: Names whose values come from answers.
    """

    def __init__(self, tool: Tool, scope: Scope, course: Course) -> None:
        self._where = f"tool '{tool.name}'"
        self._scope = scope
        self._course = course
        self._unknown: frozenset[str] = frozenset()
        # The files of each run of a step that is sure to run so often.
        self._sure: dict[str, list[FileValue | None]] = {}
        Steps(tool, scope, course)  # refuses what the arguments alone make too much

    def step(self, step: Step) -> Iterator[Planned]:
        """The requests of the next step."""
        runs, unknown, notes = self._runs(step)
        sure = not notes and not step.skips_errors
        files: list[FileValue | None] = []
        for run in runs:
            open_names = unknown | self._unknown
            if step.when is not None and step.when.arguments & open_names:
                sure = False
                yield self._uncertain(step, run, open_names, (*notes, f"only when {written(step.when.source)}"))
            elif step.when is None or step.when.holds(run.scope):
                files.append(run.file)
                yield self._planned(step, run, open_names, notes)
        if sure and step.loop is not None:
            self._sure[step.name] = files
        self._unknown |= frozenset(filter(None, [step.name, step.save_error]))

    def _runs(self, step: Step) -> tuple[list[Run], frozenset[str], tuple[str, ...]]:
        """The runs of a step, which names of a run are not known yet, and what to say of that."""
        loop, where = step.loop, f"step '{step.name}'" if step.name else self._where
        if loop is None:
            return [Run(where=where, scope=self._scope)], frozenset(), ()
        if loop.over in self._sure:
            files = self._sure[loop.over]
            nothing: list[Json] = [None] * len(files)
            runs = list(runs_over(nothing, files, where=where, scope=self._scope))
            return runs, frozenset({"item"} if all(files) else {"item", "file"}), ()
        needed = {loop.over} if loop.each is None else loop.each.arguments
        if self._unknown.isdisjoint(needed):
            value = self._scope.arguments.get(loop.over) if loop.each is None else loop.each.fill(self._scope)
            entries = value if isinstance(value, list) else []
            return list(runs_over(entries, None, where=where, scope=self._scope)), frozenset(), ()
        named = loop.over if loop.each is None else written(loop.each.source)
        return [Run(where=where, scope=self._scope)], _OF_A_RUN, (f"once for each entry of {named}",)

    def _uncertain(self, step: Step, run: Run, unknown: frozenset[str], notes: tuple[str, ...]) -> Planned:
        """As `_planned`, but what is wrong with a request that may never go out is a note."""
        try:
            return self._planned(step, run, unknown, notes)
        except HabilisError as error:
            return Planned(
                step=run.where,
                request=as_written(step.request),
                notes=(*notes, f"and then it could not be sent: {error.message}"),
            )

    def _planned(self, step: Step, run: Run, unknown: frozenset[str], notes: tuple[str, ...]) -> Planned:
        try:
            request = self._request(step.request, run, unknown)
        except HabilisError as error:
            error.where = error.where or run.where
            raise
        added = _added_later(step.request) if isinstance(request, Draft) else ()
        return Planned(
            step=run.where if step.name else "", request=request, notes=(*notes, *added, *_repeats(step.request))
        )

    def _request(self, template: RequestTemplate, run: Run, unknown: frozenset[str]) -> Request | Draft:
        if not unknown.isdisjoint(needs_of(template)):
            return draft_request(template, run.scope, self._course.bounds, unknown, where=run.where)
        first = next(ask(template, run.scope, self._course, where=run.where))
        assert isinstance(first, Request)  # noqa: S101 - nothing comes before it
        return first


def _added_later(template: RequestTemplate) -> Iterator[str]:
    """What a request gets only once it is whole."""
    if template.idempotency is not None:
        yield f"with the header {template.idempotency.header} then"
    if template.sign is not None:
        yield f"with its signature ({template.sign.scheme}) then"


def _repeats(template: RequestTemplate) -> Iterator[str]:
    if template.pages is not None:
        yield f"and the pages after it, {template.pages.most} at most"
    if template.until is not None:
        pace = f"every {template.until.every_s:g} s" if template.until.every is None else "as often as it says"
        yield f"again {pace} until it is ready, for {template.until.most_s:g} s at most"
