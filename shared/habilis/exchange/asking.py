"""One request of a manifest, carried through: sent once, until the service is ready, or page by page."""

from functools import partial

from habilis.exchange.fill import fill_request
from habilis.exchange.pages import join_pages
from habilis.exchange.sending import Course, Talk, send
from habilis.exchange.until import poll
from habilis.manifest.model import RequestTemplate
from habilis.templating import Scope


def ask(template: RequestTemplate, scope: Scope, course: Course, *, where: str) -> Talk:
    """Fill a request, carry it through and return its good answer.

    Raises:
        HabilisError: As `fill_request`, `send`, `poll` and `join_pages`.
    """
    if template.pages is not None:
        return (yield from join_pages(template, scope, course, where=where))
    fill = partial(fill_request, template, scope, course.bounds, where=where)
    if template.until is not None:
        return (yield from poll(fill, template, template.until, scope, course))
    return (yield from send(fill(), template, scope, course, refill=fill))
