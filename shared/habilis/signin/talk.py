"""What the conversations of signing in have in common."""

from collections.abc import Generator
from typing import TypeVar

from habilis.messages import Answer, Pause, Request, StepDone

_T = TypeVar("_T")

Talk = Generator[Request | Pause | StepDone, Answer | None, _T]
"""A conversation with a service, driven as a call is; its end is what the service gave."""
