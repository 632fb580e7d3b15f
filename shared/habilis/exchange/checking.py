"""Whether an answer is a good one, and what is told of one that is not."""

from collections.abc import Mapping
from http import HTTPStatus

from habilis.errors import UpstreamError, UpstreamProtocol
from habilis.exchange.bodies import read_strictly
from habilis.exchange.unreadable import Unreadable
from habilis.exchange.words import is_web_page, one_line, reason_of
from habilis.manifest.model import Decoding, RequestTemplate, missing_scopes_key
from habilis.messages import Answer
from habilis.names import KeyName
from habilis.templating import MISSING, Scope, Seen

_UNDECIDED = frozenset({408, 425, 499})
"""Statuses of 4xx after which the request may have been carried out all the same."""

_LACKING = missing_scopes_key(KeyName(""))
"""End of the names of keys that tell what a sign-in was not granted."""

_LATER = frozenset({408, 425, 429})
"""Statuses of 4xx that ask to come back later."""

_STRICT: Mapping[str, str] = {"json": "JSON", "jsonl": "JSON lines", "csv": "CSV", "xml": "XML"}
"""Ways to read a body that do not fit every body."""


def check_answer(
    seen: Seen, answer: Answer, template: RequestTemplate, *, scope: Scope, where: str, is_read: bool
) -> None:
    """Raise where an answer is no good one, in the words of the manifest or else of the service.

    It is a failure when its status is 400 or above and not among the template's `ok.statuses`, when `ok.fail_when`
    holds, or when it cannot be read as what `decode` names. A 4xx answer to an action proves that nothing happened, and
    so does an error inside a 2xx, which is the service's own no. A 5xx proves nothing, nor does an answer that cannot
    be read: the outcome is unknown.

    Args:
        seen: What `seen_of` made of the answer.
        template: Of the request that it answers.
        scope: What the words of `errors` are filled with.
        where: What the request was for, for messages.
        is_read: Whether it changes nothing outside.

    Raises:
        UpstreamError: It is a failure.
        UpstreamProtocol: It is not what `decode` names.
    """
    ok = template.ok
    is_error = answer.status >= HTTPStatus.BAD_REQUEST and answer.status not in ok.statuses
    if is_error or (ok.fail_when is not None and ok.fail_when.holds(scope, seen)):
        raise _failure(seen, answer, template, scope=scope, where=where, is_read=is_read)
    is_unread = seen.body is None or isinstance(seen.body, str)
    # A table of one column may begin with anything, a web page too.
    if template.decode in _STRICT and answer.body and (is_unread or (template.decode == "csv" and is_web_page(answer))):
        _require_readable(answer, template.decode, where=where, is_read=is_read)


def _failure(
    seen: Seen, answer: Answer, template: RequestTemplate, *, scope: Scope, where: str, is_read: bool
) -> UpstreamError:
    status = answer.status
    is_definite = is_read or status < HTTPStatus.BAD_REQUEST or proves_nothing_happened(status)
    reason = reason_of(seen, template.ok.message)
    said = _said(seen, template, scope)
    if said:
        words, hint = f": {said}", f"it said: {reason}" if reason else ""
    elif reason:
        words, hint = f": {reason}", _hint(status, scope)
    else:
        words, hint = " with a web page" if is_web_page(answer) else "", _hint(status, scope)
    return UpstreamError(
        f"answered {status}" + (" with an error" if status < HTTPStatus.BAD_REQUEST else "") + words,
        where=where,
        hint=hint,
        retryable=is_definite and (status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR),
        outcome="not_sent" if is_definite else "unknown",
    )


def _said(seen: Seen, template: RequestTemplate, scope: Scope) -> str:
    """What the manifest says of such a failure; "" when it says nothing."""
    for rule in template.errors:
        if rule.when.holds(scope, seen):
            said = rule.say.fill(scope)
            return "" if said is MISSING else one_line(said)
    return ""


def _require_readable(answer: Answer, decode: Decoding, *, where: str, is_read: bool) -> None:
    what = f"a file in place of {_STRICT[decode]}"
    if is_web_page(answer):
        what = f"a web page in place of {_STRICT[decode]}"
    elif answer.size <= len(answer.body):
        try:
            read_strictly(answer, decode)
            return
        except Unreadable as error:
            what = f"a body that is {error}"
    raise UpstreamProtocol(
        f"answered {answer.status} with {what}",
        where=where,
        hint="open the address in a browser: a login, a firewall or a plugin may stand before the service",
        outcome="not_sent" if is_read else "unknown",
    )


def proves_nothing_happened(status: int) -> bool:
    """Whether an error of this status says that the request was not carried out."""
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _UNDECIDED


def _hint(status: int, scope: Scope) -> str:
    match status:
        case 401:
            return "check the account's keys, or sign it in again"
        case 403:
            lacking = " ".join(scope.keys[name] for name in scope.keys if name.endswith(_LACKING))
            if lacking:
                return f"its sign-in lacks permissions ({one_line(lacking)}); sign in again and allow them"
            return "the account may not do this there"
        case 404:
            return "check the address and what the call names"
        case 429:
            return "the service asks for a pause; try again later"
        case _:
            return ""
