"""The days that a reading of numbers covers."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from habilis.messages import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Consecutive days, both ends included.

    Attributes:
        first: YYYY-MM-DD.
        last: YYYY-MM-DD.
        days: How many.
    """

    first: str
    last: str
    days: int

    def __contains__(self, day: str) -> bool:
        return self.first <= day <= self.last

    def arguments(self) -> dict[str, Json]:
        """Return what the templates of a source are filled with: `from`, `to` and `days`."""
        return {"from": self.first, "to": self.last, "days": self.days}


def last_days(now: datetime, days: int) -> Window:
    """Return exactly `days` days, the last of them the UTC day of `now`, whatever the machine's time zone.

    That day is not over, so its figures are too low; the next reading replaces them, as it does the whole window.

    Args:
        now: Time of the reading, with a time zone.
        days: At least 1.
    """
    last = now.astimezone(UTC).date()
    return Window(first=(last - timedelta(days=days - 1)).isoformat(), last=last.isoformat(), days=days)
