"""What a project's rules say of a call: allow, ask a person first, or deny.

Source: seed bundles, `actauth.yml` (name, scope, tool, decision); docs/format.md "Rules".
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from habilis.errors import ManifestInvalid, Problem
from habilis.manifest.model import Role
from habilis.messages import Json

Verdict = Literal["allow", "ask", "deny"]
_STRICTNESS: dict[str, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: `tool` is a tool's name, in which `*` and `?` stand for anything."""

    name: str
    tool: str
    decision: Verdict


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
    """The strictest of what fits: deny before ask before allow. A publish always asks, whatever a rule allows."""
    found = Decision(verdict=rules.default, reason="no rule of the project names it")
    fitting = [rule for rule in rules.rules if fnmatchcase(tool, rule.tool)]
    if fitting:
        strictest = max(fitting, key=lambda rule: _STRICTNESS[rule.decision])
        found = Decision(verdict=strictest.decision, reason=f"the rule {strictest.name!r} says {strictest.decision}")
    if role == "publish" and found.verdict == "allow":
        return Decision(verdict="ask", reason="publishing always asks first")
    return found


def read_rules(data: Json, file: str) -> Rules:
    """Check what an actauth.yml says: a list of rules, or {default_decision, rules}; ManifestInvalid otherwise."""
    if isinstance(data, list):
        return Rules(rules=tuple(_rule(entry, number, file) for number, entry in enumerate(data)))
    if not isinstance(data, dict):
        raise _wrong(file, "", "expected a list of rules, or default_decision and rules")
    entries = data.get("rules") or []
    if not isinstance(entries, list):
        raise _wrong(file, "rules", "expected a list of rules")
    return Rules(
        rules=tuple(_rule(entry, number, file) for number, entry in enumerate(entries)),
        default=_verdict(data.get("default_decision", "allow"), "default_decision", file),
    )


def _rule(entry: Json, number: int, file: str) -> Rule:
    path = f"rules[{number}]"
    if not isinstance(entry, dict):
        raise _wrong(file, path, "expected name, tool and decision")
    name, tool = entry.get("name"), entry.get("tool")
    if not isinstance(name, str) or not isinstance(tool, str):
        raise _wrong(file, path, "expected a name and a tool, both text")
    return Rule(name=name, tool=tool, decision=_verdict(entry.get("decision"), f"{path}.decision", file))


def _verdict(value: Json, path: str, file: str) -> Verdict:
    if value == "allow":
        return "allow"
    if value == "ask":
        return "ask"
    if value == "deny":
        return "deny"
    raise _wrong(file, path, "expected allow, ask or deny")


def _wrong(file: str, path: str, message: str) -> ManifestInvalid:
    return ManifestInvalid([Problem(file=file, line=1, column=1, path=path, message=message)])
