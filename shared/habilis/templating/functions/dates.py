"""Functions of dates and times."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from math import isfinite

from habilis.errors import ArgsInvalid
from habilis.reading import Json
from habilis.templating.functions.function import Function

_DIRECTIVE = re.compile(r"%(:z|.|$)", re.DOTALL)
_DIGITS = re.compile(r"-?\d{1,17}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MOST_SECONDS, _MOST_MILLISECONDS = 10**11, 10**14


def rfc3339(moment: datetime) -> str:
    """A moment in UTC, to the second: `2026-11-30T09:00:00Z`.

    Source: RFC 3339 section 5.6.
    """
    return _written(moment.astimezone(UTC), "%Y-%m-%dT%H:%M:%SZ")


def _offset(moment: datetime, between: str) -> str:
    minutes = round((moment.utcoffset() or timedelta()).total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{between}{abs(minutes) % 60:02}"


# Our own table, because what strftime gives differs between machines and languages.
_WRITERS: Mapping[str, Callable[[datetime], str]] = {
    "Y": lambda moment: f"{moment.year:04}",
    "y": lambda moment: f"{moment.year % 100:02}",
    "m": lambda moment: f"{moment.month:02}",
    "d": lambda moment: f"{moment.day:02}",
    "j": lambda moment: f"{moment.timetuple().tm_yday:03}",
    "H": lambda moment: f"{moment.hour:02}",
    "I": lambda moment: f"{moment.hour % 12 or 12:02}",
    "p": lambda moment: "AM" if moment.hour < 12 else "PM",
    "M": lambda moment: f"{moment.minute:02}",
    "S": lambda moment: f"{moment.second:02}",
    "L": lambda moment: f"{moment.microsecond // 1000:03}",
    "f": lambda moment: f"{moment.microsecond:06}",
    "s": lambda moment: str(_seconds(moment)),
    "z": lambda moment: _offset(moment, ""),
    ":z": lambda moment: _offset(moment, ":"),
    "a": lambda moment: _DAYS[moment.weekday()][:3],
    "A": lambda moment: _DAYS[moment.weekday()],
    "b": lambda moment: _MONTHS[moment.month - 1][:3],
    "B": lambda moment: _MONTHS[moment.month - 1],
    "%": lambda moment: "%",
}


def _written(moment: datetime, form: str) -> str:
    return _DIRECTIVE.sub(lambda found: _WRITERS[found[1]](moment), form)


def _seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


def _date(value: Json, form: str = "%Y-%m-%d", zone: str = "UTC") -> str:
    try:
        place = _zone(zone)
        moment = _moment(value, "date")
        moment = moment.replace(tzinfo=place) if moment.tzinfo is None else moment.astimezone(place)
        return _written(moment, form)
    except OverflowError:
        raise _no_date("date") from None


def _unix(value: Json) -> int:
    moment = _moment(value, "unix")
    return _seconds(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)


def _moment(value: Json, function: str) -> datetime:
    """What a value says; without a zone where it says none."""
    if isinstance(value, float) and isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _no_date(function)
    text = str(value).strip()
    try:
        if _DIGITS.fullmatch(text) and len(text) != len("20261130"):
            return _from_number(int(text))
        return datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        pass
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        pass
    raise _no_date(function)


def _from_number(number: int) -> datetime:
    """A moment in UNIX seconds, milliseconds or microseconds: its size tells which."""
    size = abs(number)
    if size < _MOST_SECONDS:
        return _EPOCH + timedelta(seconds=number)
    if size < _MOST_MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    return _EPOCH + timedelta(microseconds=number)


def _no_date(function: str) -> ArgsInvalid:
    return ArgsInvalid(f"{function}(): expected a date, such as 2026-11-30, 2026-11-30T09:00:00Z or UNIX seconds")


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def _zone_fault(value: Json) -> str:
    try:
        if isinstance(value, str) and value:
            _zone(value)
            return ""
    except (ValueError, OSError, KeyError):
        pass
    return "expected a time zone, such as UTC or Europe/Berlin"


def _format_fault(value: Json) -> str:
    if not isinstance(value, str) or not value:
        return "expected a format, such as %Y-%m-%d"
    unknown = next((found for found in _DIRECTIVE.finditer(value) if found[1] not in _WRITERS), None)
    known = " ".join(f"%{name}" for name in _WRITERS)
    return f"a format knows no {unknown[0]}; it knows {known}" if unknown else ""


FUNCTIONS: Mapping[str, Function] = {
    "date": Function(
        signature="date(value, format, zone)", run=_date, least=1, checks=(None, _format_fault, _zone_fault)
    ),
    "unix": Function(signature="unix(value)", run=_unix, least=1, checks=(None,)),
}
