"""A request repeated until the service is ready."""

from collections.abc import Callable
from dataclasses import replace

from habilis.errors import UpstreamTimeout
from habilis.exchange.checking import check_answer
from habilis.exchange.retry import seconds_at
from habilis.exchange.sending import Course, Talk, send
from habilis.manifest.model import RequestTemplate, UntilRule
from habilis.messages import Request
from habilis.templating import Scope

_SHORTEST_TOLD_S = 0.5
"""A service that says 0 is not asked without a pause."""


def poll(fill: Callable[[], Request], template: RequestTemplate, rule: UntilRule, scope: Scope, course: Course) -> Talk:
    """Send the request that `fill` gives until the service is ready, and return that answer.

    Raises:
        UpstreamTimeout: It was not ready in time.
        UpstreamError: It failed for good.
        HabilisError: As `send`.
    """
    failing = None if rule.fail is None else replace(template, ok=replace(template.ok, fail_when=rule.fail))
    began_s = course.gone_s
    request, renewals = fill(), course.renewals
    while True:
        if course.renewals > renewals:
            request, renewals = fill(), course.renewals
        answer, seen = yield from send(request, template, scope, course, refill=fill)
        if failing is not None:
            check_answer(seen, answer, failing, scope=scope, where=request.where, is_read=request.is_read)
        if rule.when.holds(scope, seen):
            return answer, seen
        told_s = None if rule.every is None else seconds_at(rule.every, seen)
        wait_s = rule.every_s if told_s is None else max(_SHORTEST_TOLD_S, told_s)
        if course.gone_s - began_s + wait_s > rule.most_s:
            raise UpstreamTimeout(
                f"the service was not ready within {rule.most_s:g} s",
                where=request.where,
                hint="it may still become ready; look there before doing it again",
                outcome="not_sent" if request.is_read else "unknown",
                retryable=request.is_read,
            )
        yield course.pause(wait_s, request.where)
