"""Whether a service takes an account's keys, and whose they are, in its own words."""

from collections.abc import Generator
from dataclasses import dataclass, replace

from habilis.errors import UpstreamProtocol
from habilis.exchange.asking import ask
from habilis.exchange.fill import Bounds
from habilis.exchange.sending import Course
from habilis.manifest.model import Identity, Manifest
from habilis.messages import Answer, Json, Pause, Request, SignedOut, StepDone
from habilis.templating import Missing, Scope, Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose keys they are.

    Attributes:
        id: What never changes of it.
        label: Its name for people; the id where the service says none.
    """

    id: str
    label: str


def prove(
    manifest: Manifest, scope: Scope, bounds: Bounds, *, where: str
) -> Generator[Request | Pause | StepDone | SignedOut, Answer | None, Who | None]:
    """Yield what the manifest proves keys with, take the answers; whose they are, None where it does not ask.

    Raises:
        UpstreamError: The service does not take the keys, or has a fault of its own.
        UpstreamProtocol: It does not say whose they are.
        HabilisError: As `ask`.
    """
    course = Course(replace(bounds, is_read=True), scope.made)
    if manifest.verify is not None:
        yield from ask(manifest.verify, scope, course, where=where)
    if manifest.identity is None:
        return None
    _, seen = yield from ask(manifest.identity.request, scope, course, where=where)
    return _who(manifest.identity, seen, where)


def _who(identity: Identity, seen: Seen, where: str) -> Who:
    name = _text(identity.id.pick(seen))
    if not name:
        raise UpstreamProtocol(
            f"the answer does not say whose account it is at {identity.id.source or 'its top'}",
            where=where,
            outcome="not_sent",
        )
    return Who(id=name, label=(_text(identity.label.pick(seen)) if identity.label else "") or name)


def _text(value: Json | Missing) -> str:
    is_named = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if is_named else ""
