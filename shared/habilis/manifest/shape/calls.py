"""What may be written of calls: tools, their steps, provided contracts, and what an agent is told."""

from typing import Annotated, Any, Literal

from pydantic import Field

from habilis.manifest.model import Role
from habilis.manifest.shape.requests import RequestShape
from habilis.manifest.shape.words import Condition, Description, MaybeLine, Replacements, Shape, ToolText, Underscored

MOST_STEPS = 10


class StepShape(Shape):
    """One request of a call that takes several."""

    name: Underscored
    """What later steps call it: what it saved is `{{name.…}}`."""
    for_each: str | None = None
    """What it runs over: `files`, an earlier step, or an expression that leads to a list."""
    when: Condition = None
    """It is passed over where this does not hold."""
    request: RequestShape
    """The request."""
    save: dict[Underscored, str] = {}
    """Name to a place in the answer: a pointer, `header:NAME` or `status`; the whole answer when left out."""
    on_error: Literal["stop", "skip"] = "stop"
    """Whether the call ends when the step fails, or goes on."""
    save_error: Underscored | None = None
    """Name under which the body of a failed answer is saved."""


class ResultShape(Shape):
    """What the agent is told, and what is kept."""

    text: str | None = None
    """JSON pointer (RFC 6901; `*` steps into every entry of a list) into the last answer, or a template."""
    file_url: str | None = None
    """Where the last answer has the address of a file, or of several."""
    file_b64: str | None = None
    """Where it has the bytes of a file, as base64 or a data: URI."""
    mime: str | None = None
    """Type of the files, or a pointer to it; the bytes tell when left out."""
    name: str | None = None
    """A name for the files."""


class LimitsShape(Shape):
    """Bounds of a call."""

    runs: Annotated[int, Field(ge=1, le=200)] = 20
    """Most runs of one step."""


class CallShape(Shape):
    """What tools and provided contracts have in common."""

    request: RequestShape | None = None
    """The request that a call sends; or write `steps`."""
    steps: Annotated[list[StepShape], Field(min_length=1, max_length=MOST_STEPS)] | None = None
    """The requests that a call sends, in order."""
    result: ResultShape = ResultShape()
    """What the agent is told; the whole answer when left out."""
    map: Replacements = {}
    """Argument to {value: replacement}; `"*"` stands for any other value."""
    limits: LimitsShape = LimitsShape()
    """How far a call may go."""
    cost: MaybeLine | None = None
    """What a call costs, in words."""


class ToolShape(CallShape):
    """Something an agent may call."""

    name: ToolText
    """Name the agent calls it by."""
    label: MaybeLine | None = None
    """What it does, as a progress line; the name when left out."""
    description: Description | None = None
    """What the agent reads before calling; the label when left out."""
    input: dict[str, Any] | None = None
    """JSON Schema of the arguments, of type object; no arguments when left out."""
    role: Role | None = None
    """What a call does outside; `publish` for a kind's publish tool, else `read`, when left out."""
    target: str | None = None
    """Template of the thing acted on: the same role on the same target is refused the second time."""


class ProvidedShape(CallShape):
    """A contract that the ability provides; its request takes the contract's own arguments."""


class ProvidesShape(Shape):
    """Contracts that the ability provides."""

    image: ProvidedShape | None = None
    """Makes a picture."""
    video: ProvidedShape | None = None
    """Makes a video."""
    music: ProvidedShape | None = None
    """Makes music."""
    email: ProvidedShape | None = None
    """Sends mail."""
