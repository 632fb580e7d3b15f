"""One request of a call: filled, made its own, sent, and sent again where that is right."""

from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import datetime, timedelta

from habilis.errors import HabilisError, UpstreamError, UpstreamTimeout
from habilis.exchange.checking import check_answer
from habilis.exchange.cookies import CookieJar
from habilis.exchange.fill import Bounds, SignOut
from habilis.exchange.journal import Journal
from habilis.exchange.retry import SAFE_METHODS, Tries
from habilis.exchange.seen import seen_of
from habilis.manifest.model import Idempotency, RequestTemplate
from habilis.messages import Answer, Asked, KeysRenewed, Pause, Request, SignedOut
from habilis.templating import MISSING, Made, Scope, Seen, fill_header

Talk = Generator[Asked, Answer | None, tuple[Answer, Seen]]
"""A part of a call's conversation that ends with a good answer."""


class Course:
    """What the requests of one call share.

    Attributes:
        bounds: What the call may reach.
        jar: Cookies that its answers set.
        journal: What it has done.
        gone_s: Seconds since it began, as far as answers and waits tell.
        seen: The answer to the last request, of any status; None when it had none.
        renewals: How often the account's token was renewed on the way.
    """

    __slots__ = ("_made", "_used", "bounds", "gone_s", "jar", "journal", "renewals", "seen")

    def __init__(self, bounds: Bounds, made: Made | None) -> None:
        self.bounds = bounds
        self.jar = CookieJar()
        self.journal = Journal()
        self.gone_s = 0.0
        self.seen: Seen | None = None
        self.renewals = 0
        self._made = made
        self._used: set[str] = set()

    @property
    def seed(self) -> str:
        """What makes this call's waits differ from another's."""
        return "" if self._made is None else self._made.call_id

    def now(self) -> datetime | None:
        """The time, with a zone; None where the call was given none."""
        return None if self._made is None else self._made.now + timedelta(seconds=self.gone_s)

    def is_read(self, template: RequestTemplate) -> bool:
        """Whether a request of this template changes nothing outside."""
        return self.bounds.is_read or template.method in SAFE_METHODS

    def pause(self, seconds: float, where: str) -> Pause:
        """A wait, counted."""
        self.gone_s += seconds
        return Pause(seconds=seconds, where=where)

    def ready(self, request: Request, template: RequestTemplate, scope: Scope) -> Request:
        """The request with what belongs to this one time that it is sent: its signature, and cookies."""
        if template.sign is not None:
            from habilis.exchange.signing import signed

            request = signed(request, template.sign, scope, now=self.now())
        return self.jar.onto(request)

    def named(self, request: Request, rule: Idempotency, scope: Scope) -> Request:
        """The request with the header by which the service knows it, another one for each request of the call."""
        value = fill_header(rule.value, scope, name=rule.header)
        if value is MISSING or not value:
            return request
        name, number = value, 1
        while name in self._used:
            number += 1
            name = f"{value}-{number}"
        self._used.add(name)
        others = tuple(pair for pair in request.headers if pair[0].lower() != rule.header.lower())
        return replace(request, headers=(*others, (rule.header, name)))


def send(
    request: Request,
    template: RequestTemplate,
    scope: Scope,
    course: Course,
    *,
    refill: Callable[[], Request] | None = None,
) -> Talk:
    """Send a filled request, again where that is right, and return its good answer.

    Args:
        request: What `refill` gives.
        template: What it was filled from.
        scope: What filled it.
        course: Of the call.
        refill: Fills it anew, for the one time that the service no longer takes the token in it; None for a request
            that holds none.

    Raises:
        UpstreamError: The service said no, in its own words.
        HabilisError: Whatever the request itself failed with.
    """
    if template.idempotency is not None:
        request = course.named(request, template.idempotency, scope)
    sign_out = course.bounds.sign_out
    if refill is None or sign_out is None:
        return (yield from _tried(request, template, scope, course))
    answer, seen = yield from _tried(request, template, scope, course, sign_out)
    if sign_out.is_shown_by(seen, scope) and (yield from _is_renewed(request.where)):
        course.renewals += 1
        request = _as_known(refill(), request, template)
        answer, seen = yield from _tried(request, template, scope, course, sign_out)
    if sign_out.is_shown_by(seen, scope):
        _check(seen, answer, template, scope=scope, request=request, told_s=None)
        raise UpstreamError("the service does not take the account's token", where=request.where, outcome="not_sent")
    return answer, seen


def _tried(
    request: Request, template: RequestTemplate, scope: Scope, course: Course, sign_out: SignOut | None = None
) -> Talk:
    """Send a request, again where that is right, and return its answer: a good one, or one that `sign_out` sees."""
    tries = Tries(template, request, seed=course.seed)
    began_s = course.gone_s
    while True:
        course.seen = None
        try:
            answer = yield course.ready(request, template, scope)
        except HabilisError as error:
            if isinstance(error, UpstreamTimeout):
                course.gone_s += request.timeout_s
            wait_s = tries.wait_after_error(error, gone_s=course.gone_s - began_s)
            if wait_s is None:
                raise
        else:
            assert answer is not None  # noqa: S101 - who is sent a Request answers it
            course.gone_s += answer.elapsed_s
            if "set-cookie" in answer.headers:
                course.jar.keep(answer.headers["set-cookie"], request.url, now=course.now())
            course.seen = seen = seen_of(answer, template)
            if sign_out is not None and sign_out.is_shown_by(seen, scope):
                return answer, seen
            wait_s = None
            if tries.may_follow(answer.status):
                wait_s = tries.wait_after_answer(answer, seen, now=course.now(), gone_s=course.gone_s - began_s)
            if wait_s is None:
                _check(seen, answer, template, scope=scope, request=request, told_s=tries.told_s)
                return answer, seen
        yield course.pause(wait_s, request.where)


def _is_renewed(where: str) -> Generator[SignedOut, Answer | None, bool]:
    """Ask for a new token, and tell whether there is one."""
    try:
        yield SignedOut(where=where)
    except KeysRenewed:
        return True
    return False


def _as_known(request: Request, before: Request, template: RequestTemplate) -> Request:
    """The request with the header by which the service knows the one before it, which is the same one."""
    if template.idempotency is None:
        return request
    header = template.idempotency.header.lower()
    others = tuple(pair for pair in request.headers if pair[0].lower() != header)
    return replace(request, headers=(*others, *(pair for pair in before.headers if pair[0].lower() == header)))


def _check(
    seen: Seen, answer: Answer, template: RequestTemplate, *, scope: Scope, request: Request, told_s: float | None
) -> None:
    try:
        check_answer(seen, answer, template, scope=scope, where=request.where, is_read=request.is_read)
    except UpstreamError as error:
        if told_s is not None and error.retryable:
            error.hint = f"the service asks for a pause of {told_s:,.0f} s; try again then"
        raise
