"""One conversation with a service, as a generator: it yields what is to be done and takes answers, and does nothing.

So a dry run, an approval, a test and the real send are the same code with another driver. It has no clock either: the
time is that of the call, moved on by the waits it asks for and by what answers say they took.
"""

from dataclasses import replace

from habilis.errors import HabilisError
from habilis.exchange.asking import ask
from habilis.exchange.fill import Bounds
from habilis.exchange.result import make_result
from habilis.exchange.sending import Course, Talk, send
from habilis.exchange.steps import Steps
from habilis.manifest.model import RequestTemplate, Tool
from habilis.messages import Answer, Exchange, Request
from habilis.templating import Scope, Seen, apply_map


def run_tool(tool: Tool, scope: Scope, bounds: Bounds) -> Exchange:
    """Yield what the tool is to do, step by step, take the answers, return what the agent is told.

    A `StepDone` follows each request of a step that changed something; a call of one request has none, since nothing
    of it is sent after that.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: Before anything is yielded, or `partial` where only
            an answer showed it.
        UpstreamFailed: The service did not answer well; the message says what was done before.
    """
    if len(tool.steps) > 1 and not bounds.is_read:
        from habilis.exchange.plan import plan_tool  # most calls are one request

        # A call must not stop half-way for what was known before it began.
        plan_tool(tool, scope, bounds)
    if tool.map:
        scope = scope.with_values(apply_map(tool.map, scope.arguments))
    course = Course(bounds, scope.made)
    first = tool.steps[0]
    if not first.name:
        last = yield from ask(first.request, scope, course, where=f"tool '{tool.name}'")
        return (yield from _result(tool, last, scope, course))
    try:
        steps = Steps(tool, scope, course)
        yield from steps.run()
    except HabilisError as error:
        course.journal.settle(error)
        raise
    return (yield from _result(tool, steps.last, steps.scope, course))


def _result(tool: Tool, last: tuple[Answer, Seen], scope: Scope, course: Course) -> Exchange:
    def fetch(request: Request) -> Talk:
        # A file is asked for as it is: what the manifest says of the answer that led to it is not said of the file.
        return send(request, RequestTemplate(method="GET", url=tool.steps[-1].request.url), scope, course)

    answer, seen = last
    result = yield from make_result(tool, seen, answer, scope, course.bounds, fetch)
    return replace(result, notes=(*result.notes, *course.journal.notes)) if course.journal.notes else result
