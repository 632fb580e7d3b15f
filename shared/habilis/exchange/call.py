"""One conversation with a service, as a generator: it yields Requests and takes Answers, and sends nothing itself.

So a dry run, an approval, a test and the real send are the same code with another driver.
"""

from collections.abc import Generator

from habilis.exchange.fill import Bounds, fill_request
from habilis.exchange.result import check_answer, pick_result
from habilis.exchange.seen import seen_of
from habilis.manifest.model import RequestTemplate, Tool
from habilis.messages import Answer, Exchange, Json, Request
from habilis.templating import Scope, apply_map


def run_tool(tool: Tool, scope: Scope, bounds: Bounds) -> Exchange:
    """Yield the tool's request, take its answer, return what the agent is told.

    Raises:
        ArgsInvalid, SecretMissing, SecretMalformed, HostNotAllowed: before anything is yielded.
        UpstreamError: The service answered with an error.
    """
    where = f"tool '{tool.name}'"
    mapped = Scope(arguments=apply_map(tool.map, scope.arguments), keys=scope.keys)
    template = tool.steps[0].request
    answer = _answered((yield fill_request(template, mapped, bounds, where=where)))
    check_answer(seen_of(answer, template), answer, template, scope=mapped, where=where, is_read=bounds.is_read)
    return pick_result(tool.result, answer)


def read_json(
    template: RequestTemplate, scope: Scope, bounds: Bounds, *, where: str
) -> Generator[Request, Answer | None, Json]:
    """Yield one request, take its answer, return its parsed body; raises as `run_tool`."""
    answer = _answered((yield fill_request(template, scope, bounds, where=where)))
    seen = seen_of(answer, template)
    check_answer(seen, answer, template, scope=scope, where=where, is_read=True)
    return seen.body


def _answered(answer: Answer | None) -> Answer:
    assert answer is not None  # noqa: S101 - whoever drives sends one for each Request
    return answer
