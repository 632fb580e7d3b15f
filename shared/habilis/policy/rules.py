"""What a project's rules say of a call: allow it, ask a person first, or deny it.

A rule names tools and a decision. Where several rules fit, the strictest counts, whatever their order. What a rule says
beyond that (a narrower scope, a condition on arguments) this version does not weigh, so such a rule may make a call
stricter but never looser.

Source: docs/format.md "Rules" (`actauth.yml`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from habilis.errors import ManifestInvalid, Problem
from habilis.manifest.model import Role
from habilis.messages import Json
from habilis.reading import Document, path_text, read_yaml

Verdict = Literal["allow", "ask", "deny"]
Path = tuple[str | int, ...]
Place = Callable[[Path], tuple[int, int]]

_VERDICTS: dict[Json, Verdict] = {"allow": "allow", "ask": "ask", "deny": "deny"}
_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}
_FILE_FIELDS = ("default_decision", "rules")
_RULE_FIELDS = ("name", "scope", "tool", "decision", "when", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: As messages name it.
        tool: A tool's name, in which `*` and `?` stand for anything.
        is_narrow: It is meant for less than every call of the tool, in a way that is not weighed.
    """

    name: str
    tool: str
    decision: Verdict
    is_narrow: bool = False

    def fits(self, tool: str) -> bool:
        """Whether the rule has a say on a call of this tool: a narrow one only where it is strict."""
        return fnmatchcase(tool, self.tool) and not (self.is_narrow and self.decision == "allow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a project; `default` counts where none fits."""

    rules: tuple[Rule, ...] = ()
    default: Verdict = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the rules say of one call, and why."""

    verdict: Verdict
    reason: str


NO_RULES = Rules()


def decide(role: Role, tool: str, rules: Rules) -> Decision:
    """Return the strictest of what fits: deny before ask before allow. A publish always asks, whatever a rule allows.

    Args:
        role: What the call does outside.
        tool: The tool's name.
        rules: The project's.
    """
    found = Decision(verdict=rules.default, reason=f"no rule of the project names the tool {tool!r}")
    fitting = [rule for rule in rules.rules if rule.fits(tool)]
    if fitting:
        strictest = max(fitting, key=lambda rule: _STRICTNESS[rule.decision])
        found = Decision(verdict=strictest.decision, reason=f"the rule {strictest.name!r} says {strictest.decision}")
    if role == "publish" and found.verdict == "allow":
        return Decision(verdict="ask", reason="publishing always asks first")
    return found


def load_rules(text: bytes, file: str) -> Rules:
    """Read an actauth.yml: a list of rules, or `default_decision` and `rules`; a file that says nothing has no rules.

    Args:
        text: As it is in the home.
        file: The file's name as the person knows it.

    Raises:
        ManifestInvalid: Every fault, with its place.
    """
    return read_rules(read_yaml(text, file, list_as="rules"), file)


def read_rules(data: Json | Document, file: str) -> Rules:
    """Read what an actauth.yml says, parsed already; as `load_rules`, with places where a Document has them."""
    if isinstance(data, Document):
        reading = _Reading(file, data.place)
        return reading.rules(data.data)
    return _Reading(file, lambda _: (1, 1)).rules({"rules": data} if isinstance(data, list) else data)


class _Reading:
    """One pass over a file's data, which collects every fault."""

    def __init__(self, file: str, place: Place) -> None:
        self._file = file
        self._place = place
        self._problems: list[Problem] = []

    def rules(self, data: Json) -> Rules:
        if not isinstance(data, dict):
            self._note((), "expected a list of rules, or default_decision and rules")
            raise ManifestInvalid(self._problems)
        self._check_fields((), data, _FILE_FIELDS)
        entries = data.get("rules") or []
        if not isinstance(entries, list):
            self._note(("rules",), "expected a list of rules")
            entries = []
        rules = tuple(self._rule(("rules", number), entry) for number, entry in enumerate(entries))
        default = self._verdict(("default_decision",), data.get("default_decision", "allow"))
        if self._problems:
            raise ManifestInvalid(sorted(self._problems, key=lambda problem: (problem.line, problem.column)))
        return Rules(rules=rules, default=default)

    def _rule(self, path: Path, entry: Json) -> Rule:
        if not isinstance(entry, dict):
            self._note(path, "expected a rule: tool and decision, and a name")
            return Rule(name="", tool="", decision="deny")
        self._check_fields(path, entry, _RULE_FIELDS)
        tool = self._text(path, entry, "tool", "")
        if not tool:
            self._note((*path, "tool"), "expected a tool's name; * stands for anything")
        scope = self._text(path, entry, "scope", "*")
        return Rule(
            name=self._text(path, entry, "name", f"rule {int(path[-1]) + 1}"),
            tool=tool,
            decision=self._verdict((*path, "decision"), entry.get("decision")),
            is_narrow=entry.get("when") is not None or any(part != "*" for part in scope.split("/")),
        )

    def _text(self, path: Path, entry: dict[str, Json], name: str, otherwise: str) -> str:
        value = entry.get(name, otherwise)
        if isinstance(value, str):
            return value
        self._note((*path, name), "expected text; quote it")
        return otherwise or "*"

    def _verdict(self, path: Path, value: Json) -> Verdict:
        found = _VERDICTS.get(value) if isinstance(value, str) else None
        if found is None:
            self._note(path, "expected allow, ask or deny")
        return found or "deny"

    def _check_fields(self, path: Path, entry: dict[str, Json], known: Iterable[str]) -> None:
        for name in entry:
            if name not in known:
                import difflib

                near = difflib.get_close_matches(name, known, n=1)
                meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                self._note((*path, name), f"unknown field; {meant}")

    def _note(self, path: Path, message: str) -> None:
        line, column = self._place(path)
        self._problems.append(Problem(file=self._file, line=line, column=column, path=path_text(path), message=message))
