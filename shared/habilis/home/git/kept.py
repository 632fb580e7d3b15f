"""A bounded memory of what was read."""

import threading
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by name, the oldest dropped when they weigh too much together; safe from several threads."""

    def __init__(self, most: int, *, heaviest: int | None = None) -> None:
        """Keep at most `most` of weight, and no value above `heaviest`; the weight's unit is the caller's."""
        self._most = most
        self._heaviest = heaviest if heaviest is not None else most // 8
        self._values: dict[str, tuple[Value, int]] = {}
        self._weight = 0
        self._guard = threading.Lock()

    def get(self, name: str) -> Value | None:
        """Return what is kept under a name, None where nothing is."""
        found = self._values.get(name)
        return None if found is None else found[0]

    def put(self, name: str, value: Value, weight: int) -> None:
        """Keep a value; one that is too heavy only drops what was kept under its name."""
        with self._guard:
            old = self._values.pop(name, None)
            self._weight -= old[1] if old else 0
            if weight > self._heaviest:
                return
            self._values[name] = (value, weight)
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._values.pop(next(iter(self._values)))[1]
