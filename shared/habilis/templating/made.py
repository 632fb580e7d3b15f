"""What a call makes by itself: its time, its id and further ids."""

from datetime import datetime
from hashlib import sha256
from itertools import count


class Made:
    """What a call makes, fixed when it starts, so that the same call made again fills its templates alike.

    Attributes:
        now: Time of the call, with a time zone.
        call_id: Names this one call.
    """

    __slots__ = ("_counter", "call_id", "now")

    def __init__(self, *, now: datetime, call_id: str) -> None:
        self.now = now
        self.call_id = call_id
        self._counter = count()

    def uuid(self) -> str:
        """A further id, shaped as a random UUID; the first, second, … of one call id are always the same.

        Source: RFC 9562 section 5.4, for its shape.
        """
        from uuid import UUID

        digest = sha256(f"{self.call_id}:{next(self._counter)}".encode()).digest()
        return str(UUID(bytes=digest[:16], version=4))
