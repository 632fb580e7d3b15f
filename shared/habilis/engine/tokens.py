"""Who calls: bearer tokens with a role and, if limited, projects.

Tokens are kept as hashes, so a stolen configuration is no stolen token. An entry is `role:sha256[:project,project]`, or
`engine:sha256[:origin,origin]` for another engine, which signs in through the relay here; entries are parted by space.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from habilis.errors import BadInput, Forbidden, NotFound, Unauthenticated

TokenRole = Literal["admin", "operator", "agent", "scheduler", "engine"]

_COVERS: dict[str, frozenset[str]] = {
    "admin": frozenset({"admin", "operator", "agent", "scheduler", "engine"}),
    "operator": frozenset({"operator", "agent", "scheduler", "engine"}),
    "agent": frozenset({"agent"}),
    "scheduler": frozenset({"scheduler"}),
    "engine": frozenset({"engine"}),
}
_HASH = r"([0-9a-f]{64})"
_ENTRY = re.compile(rf"(admin|operator|agent|scheduler):{_HASH}(?::([a-z0-9-]+(?:,[a-z0-9-]+)*))?")
_ORIGIN = re.compile(r"https://[a-z0-9.-]+(?::\d{1,5})?")
_ENGINE = re.compile(rf"(engine):{_HASH}(?::({_ORIGIN.pattern}(?:,{_ORIGIN.pattern})*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who calls.

    Attributes:
        role: What it may do.
        projects: Slugs it is limited to; None for all.
        origins: The https origins under which an engine is reached, `https://name[:port]`.
    """

    role: TokenRole
    projects: frozenset[str] | None = None
    origins: frozenset[str] = frozenset()

    def require(self, role: TokenRole, project: str = "") -> None:
        """Refuse what this caller may not do.

        Raises:
            Forbidden: The role does not cover it.
            NotFound: The project is not the caller's; said as if it did not exist.
        """
        if role not in _COVERS[self.role]:
            raise Forbidden(f"a token of the role {self.role} may not do this", hint=f"use one of the role {role}")
        if project and self.projects is not None and project not in self.projects:
            raise NotFound(f"there is no project {project!r}", hint=f"make it with: habilis projects add {project}")

    def require_all_projects(self, role: TokenRole) -> None:
        """Refuse a caller whose role, or whose limit to some projects, does not cover all of them; Forbidden."""
        self.require(role)
        if self.projects is not None:
            raise Forbidden("this token is limited to some projects", hint="name one of them in the order")


def find_principal(configured: str, header: str) -> Principal:
    """The caller that an Authorization header names.

    Args:
        configured: What `HABILIS_TOKENS` says.
        header: As it came; "" when there is none.

    Raises:
        Unauthenticated: No token, or none of those that are known; said alike.
        BadInput: `HABILIS_TOKENS` cannot be read.
    """
    scheme, _, token = header.partition(" ")
    given = hashlib.sha256(token.strip().encode("utf-8", errors="replace")).hexdigest()
    found = None
    for digest, principal in _known(configured):
        if hmac.compare_digest(digest, given):
            found = principal
    if found is None or scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the request carries no valid token", hint="send Authorization: Bearer TOKEN")
    return found


def token_entry(role: TokenRole, token: str, limits: tuple[str, ...] = ()) -> str:
    """How a token stands in `HABILIS_TOKENS`, with its projects, or an engine's origins."""
    entry = f"{role}:{hashlib.sha256(token.encode()).hexdigest()}"
    return f"{entry}:{','.join(limits)}" if limits else entry


def checked_origin(text: str) -> str:
    """An https origin as browsers write it, `https://name[:port]`; BadInput when it is none."""
    if not _ORIGIN.fullmatch(text):
        raise BadInput("expected an https origin in lower case, without a path", where=text[:80])
    return text


@lru_cache(maxsize=8)
def _known(configured: str) -> tuple[tuple[str, Principal], ...]:
    known = []
    for number, entry in enumerate(configured.split(), start=1):
        match = _ENTRY.fullmatch(entry) or _ENGINE.fullmatch(entry)
        if match is None:
            raise BadInput(f"entry {number} is not role:sha256 or role:sha256:project,project", where="HABILIS_TOKENS")
        role, digest, limits = match.groups()
        limited = frozenset(limits.split(",")) if limits else None
        if role == "engine":
            known.append((digest, Principal(role="engine", origins=limited or frozenset())))
        else:
            known.append((digest, Principal(role=role, projects=limited)))  # type: ignore[arg-type]  # the pattern's
    return tuple(known)
