"""When a schedule is due: cron expressions in a time zone, once per wall-clock time."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from habilis.errors import BadInput

_LONGEST = 200

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAYS = "sun|mon|tue|wed|thu|fri|sat"
_FIELDS = (
    ("minute", r"\d{1,2}"),
    ("hour", r"\d{1,2}"),
    ("day of the month", r"\d{1,2}w?|l"),
    ("month", rf"\d{{1,2}}|{_MONTHS}"),
    ("day of the week", rf"(?:\d|{_DAYS})(?:#[1-5])?|l[0-7]"),
)


def checked_cron(expr: str) -> str:
    """Return a five-field cron expression with single spaces; BadInput when it is none or never comes due.

    Seconds, years, `@daily`, and the letters for a random or hashed time are refused: the same text must always mean
    the same times.
    """
    fields = expr.split() if len(expr) <= _LONGEST else []
    if len(fields) != len(_FIELDS):
        raise BadInput(
            "a schedule is five fields: minute, hour, day, month, day of the week", hint="write it as '30 6 * * *'"
        )
    for field, (name, value) in zip(fields, _FIELDS, strict=True):
        item = rf"(?:\*|\?|(?:{value})(?:-(?:{value}))?)(?:/[1-9]\d?)?"
        if not re.fullmatch(rf"{item}(?:,{item})*", field.lower(), re.ASCII):
            raise BadInput(f"{field[:20]!r} is no {name} of a schedule", hint="write it as '30 6 * * *'")
    text = " ".join(fields)
    _check_calendar(text)
    return text


def _check_calendar(text: str) -> None:
    from croniter import croniter

    if not croniter.is_valid(text):
        raise BadInput(f"{text!r} holds a number that is out of range", hint="write it as '30 6 * * *'")
    if not croniter.is_valid(text, strict=True):
        raise BadInput(f"{text!r} never happens", hint="name a day that the month has")


def checked_zone(name: str) -> ZoneInfo:
    """Return the time zone of that name, as `Europe/Paris`; BadInput when there is none."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise BadInput(f"{name[:40]!r} is no time zone", hint="name it as Europe/Paris or UTC") from None


def due(expr: str, zone: str, *, after: datetime, until: datetime) -> list[datetime]:
    """List the times at which a schedule is due, oldest first.

    A time that the clock change skips falls on the first moment after the gap. A time that it repeats counts once,
    the first time, unless the hour field starts with `*`: an hourly schedule goes by elapsed hours.

    Args:
        expr: As `checked_cron` returns it.
        zone: Time zone of the wall clock, as `Europe/Paris`.
        after: Exclusive, usually the last time it ran; with a time zone.
        until: Inclusive, usually now; with a time zone.

    Returns:
        Times in `zone`.
    """
    from croniter import croniter

    place = checked_zone(zone)
    text = checked_cron(expr)
    is_hourly = text.split()[1].startswith("*")
    times = croniter(text, after.astimezone(place))
    found: list[datetime] = []
    while (moment := times.get_next(datetime)) <= until:
        if moment.fold and not is_hourly:
            continue
        found.append(moment)
    return found
