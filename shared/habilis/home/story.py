"""What a commit tells `git log`: one line of subject, and who did what in trailers."""

import re
from datetime import UTC, datetime

from habilis.home.git.objects import Story
from habilis.redaction import clean

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_LONGEST_LINE = 120


def utc_now() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


def tell(subject: str, *, action: str, actor: str, at: datetime) -> Story:
    """Return the story of a commit; each part is one line, whatever it is made of.

    Args:
        subject: What happened.
        action: For `Habilis-Action`, as "account.add".
        actor: For `Habilis-Actor`: who asked for it.
        at: When, with a time zone.
    """
    lines = [
        _line(subject) or "Change the home",
        "",
        f"Habilis-Action: {_line(action)}",
        f"Habilis-Actor: {_line(actor)}",
    ]
    return Story(message="\n".join(lines) + "\n", at=at)


def _line(text: str) -> str:
    line = " ".join(_UNPRINTABLE.sub(" ", clean(text)).split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
