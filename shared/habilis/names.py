"""Identifiers: one type and one checker each, so that a name is checked once and trusted after.

A name becomes a path, a word of a command line, a key in a document or a namespace: each checker allows only what is
safe in all of them.
"""

import re
from typing import NewType

from habilis.errors import BadInput

AbilityId = NewType("AbilityId", str)
ProjectSlug = NewType("ProjectSlug", str)
AccountId = NewType("AccountId", str)
ToolName = NewType("ToolName", str)
SourceName = NewType("SourceName", str)
KeyName = NewType("KeyName", str)

_DASHED = re.compile(r"[a-z][a-z0-9-]{0,62}")
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}")
_KEY = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_DASHED_RULE = "use a-z, 0-9 and dashes, from a letter: ^[a-z][a-z0-9-]{0,62}$"
_TOOL_RULE = "use a-z, 0-9 and _, from a letter: ^[a-z][a-z0-9_]{0,63}$"
_KEY_RULE = "use A-Z, 0-9 and _, from a letter: ^[A-Z][A-Z0-9_]{0,63}$"
_LONGEST_SHOWN = 60
_ASSET_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

RESERVED_IDS = frozenset({
    "con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10)),
    "git", "kiqr-render", "habilis-render",
})  # fmt: skip
"""Device names of one operating system, and ids that belong to the engine."""

RESERVED_KEYS = frozenset({
    "PATH", "HOME", "SHELL", "USER", "LOGNAME", "TMPDIR", "IFS", "ENV", "LANG", "PYTHONPATH", "PYTHONHOME",
    "PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "RUBYOPT", "BASH_ENV", "KIQR_ACCOUNT_DIR",
})  # fmt: skip
"""Variables that change how a program starts: a key may not take their place."""


def ability_id(text: str) -> AbilityId:
    """Check an ability id: a-z, 0-9 and dashes, from a letter, at most 63, not reserved; BadInput otherwise."""
    return AbilityId(_dashed(text, "ability id"))


def project_slug(text: str) -> ProjectSlug:
    """Check a project's slug: as an ability id; BadInput otherwise."""
    return ProjectSlug(_dashed(text, "project slug"))


def account_id(text: str) -> AccountId:
    """Check an account's id: as an ability id; BadInput otherwise."""
    return AccountId(_dashed(text, "account id"))


def _dashed(text: str, what: str) -> str:
    if text in RESERVED_IDS:
        raise BadInput(f"{text!r} is a reserved name and can be no {what}", hint="choose another name")
    if not _DASHED.fullmatch(text):
        raise BadInput(f"{_shown(text)} is no {what}", hint=_DASHED_RULE)
    return text


def tool_name(text: str) -> ToolName:
    """Check a tool's name: a-z, 0-9 and underscores, from a letter, at most 64; BadInput otherwise."""
    if not _TOOL.fullmatch(text):
        raise BadInput(f"{_shown(text)} is no tool name", hint=_TOOL_RULE)
    return ToolName(text)


def source_name(text: str) -> SourceName:
    """Check a source's name: as a tool's; BadInput otherwise."""
    if not _TOOL.fullmatch(text):
        raise BadInput(f"{_shown(text)} is no source name", hint=_TOOL_RULE)
    return SourceName(text)


def key_name(text: str) -> KeyName:
    """Check the name of a key: A-Z, 0-9 and underscores, from a letter, none that steers a program; BadInput."""
    if text in RESERVED_KEYS or text.startswith(("LD_", "DYLD_", "GIT_", "HABILIS_")):
        raise BadInput(f"{_shown(text)} changes how programs start and cannot be a key", hint="choose another name")
    if not _KEY.fullmatch(text):
        raise BadInput(f"{_shown(text)} is no key name", hint=_KEY_RULE)
    return KeyName(text)


def asset_ref(text: str) -> tuple[str, str]:
    """Check `<type>/<id>` and return both parts; BadInput otherwise."""
    kind, slash, name = text.partition("/")
    if not slash or not (_is_asset_part(kind) and _is_asset_part(name)):
        raise BadInput(f"{_shown(text)} is no asset", hint="name it <type>/<id>, as article/hello-world")
    return kind, name


def _is_asset_part(text: str) -> bool:
    return _ASSET_PART.fullmatch(text) is not None and text not in RESERVED_IDS


def _shown(text: str) -> str:
    """Text as messages show it: letters that only look like a-z are seen for what they are."""
    return ascii(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")
