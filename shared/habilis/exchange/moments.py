"""Moments as services write them in headers and answers."""

from datetime import UTC, datetime


def read_moment(text: str) -> datetime | None:
    """The moment that a text names, with a time zone; None when it names none.

    Args:
        text: An HTTP date, or one of ISO 8601, which is UTC where it names no zone.

    Source: RFC 9110 section 5.6.7; RFC 3339.
    """
    from email.utils import parsedate_to_datetime  # few answers name a moment

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text.strip())
        except (ValueError, TypeError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
