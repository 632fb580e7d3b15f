"""What the conversations of signing in have in common."""

from collections.abc import Generator
from typing import TypeVar

from habilis.messages import Answer, Asked

_T = TypeVar("_T")

Talk = Generator[Asked, Answer | None, _T]
"""A conversation with a service, driven as a call is; its end is what the service gave."""
