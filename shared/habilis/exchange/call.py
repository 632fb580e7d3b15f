"""One conversation with a service, as a generator: it yields what is to be done and takes answers, and does nothing.

So a dry run, an approval, a test and the real send are the same code with another driver. It has no clock either: the
time is that of the call, moved on by the waits it asks for and by what answers say they took.
"""

from collections.abc import Generator
from dataclasses import replace

from habilis.errors import HabilisError
from habilis.exchange.asking import ask
from habilis.exchange.fill import Bounds
from habilis.exchange.result import pick_result
from habilis.exchange.sending import Course
from habilis.exchange.steps import Steps
from habilis.manifest.model import RequestTemplate, Tool
from habilis.messages import Answer, Exchange, Json, Pause, Request, Result, StepDone
from habilis.templating import Scope, apply_map


def run_tool(tool: Tool, scope: Scope, bounds: Bounds) -> Exchange:
    """Yield what the tool is to do, step by step, take the answers, return what the agent is told.

    A `StepDone` follows each request of a step that changed something; a call of one request has none, since nothing
    of it is sent after that.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: Before anything is yielded, or `partial` where only
            an answer showed it.
        UpstreamFailed: The service did not answer well; the message says what was done before.
    """
    if tool.map:
        scope = scope.with_values(apply_map(tool.map, scope.arguments))
    course = Course(bounds, scope.made)
    first = tool.steps[0]
    if not first.name:
        answer, _ = yield from ask(first.request, scope, course, where=f"tool '{tool.name}'")
        return _told(tool, answer, course)
    try:
        steps = Steps(tool, scope, course)
        yield from steps.run()
    except HabilisError as error:
        course.journal.settle(error)
        raise
    return _told(tool, steps.last[0], course)


def _told(tool: Tool, answer: Answer, course: Course) -> Result:
    result = pick_result(tool.result, answer)
    return replace(result, notes=(*result.notes, *course.journal.notes)) if course.journal.notes else result


def read_json(
    template: RequestTemplate, scope: Scope, bounds: Bounds, *, where: str
) -> Generator[Request | Pause | StepDone, Answer | None, Json]:
    """Yield one request, take its answer, return its parsed body; raises as `run_tool`."""
    _, seen = yield from ask(template, scope, Course(replace(bounds, is_read=True), scope.made), where=where)
    return seen.body
