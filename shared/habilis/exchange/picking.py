"""The values that a key can take, read out of a service's answers."""

from dataclasses import dataclass, field

from habilis.errors import UpstreamProtocol
from habilis.manifest.model import Choices
from habilis.messages import Json
from habilis.templating import MISSING, Missing, Place, Scope, Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A value that a person can pick, and its name for people."""

    value: str
    label: str


@dataclass(slots=True)
class Picking:
    """Takes a list's answers, page by page, and keeps what can be picked, in the order in which it came.

    Attributes:
        where: What it is read for, for messages.
        found: By value: one that comes twice counts once.
    """

    rule: Choices
    scope: Scope
    where: str
    found: dict[str, Choice] = field(default_factory=dict)

    def take(self, body: Json) -> None:
        """Keep the choices of one answer; UpstreamProtocol when it holds no list where the rule says."""
        entries = _at(self.rule.list, body)
        if entries is MISSING or entries is None:
            return
        if not isinstance(entries, list):
            raise UpstreamProtocol(
                f"the answer holds no list at {self.rule.list.source or 'its top'}",
                where=self.where,
                outcome="not_sent",
            )
        for entry in entries:
            choice = self._choice(entry)
            if choice is not None:
                self.found.setdefault(choice.value, choice)

    def _choice(self, entry: Json) -> Choice | None:
        """What an entry offers; None for one that is not offered, or has no value."""
        scope = self.scope.with_values(entry) if isinstance(entry, dict) else self.scope
        if self.rule.where is not None and not self.rule.where.holds(scope, _seen(entry)):
            return None
        value = _text(_at(self.rule.value, entry)).removeprefix(self.rule.strip)
        return Choice(value=value, label=self._label(entry, scope) or value) if value else None

    def _label(self, entry: Json, scope: Scope) -> str:
        if self.rule.label_text is not None:
            return _text(self.rule.label_text.fill(scope)).strip()
        if self.rule.label == self.rule.value:
            return ""
        return _text(_at(self.rule.label, entry)).strip()


def _seen(body: Json) -> Seen:
    return Seen(status=200, headers={}, body=body)


def _at(place: Place, body: Json) -> Json | Missing:
    return place.pick(_seen(body))


def _text(value: Json | Missing) -> str:
    """A text or number as text; "" for what is neither: it names nothing."""
    is_named = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_named else ""
