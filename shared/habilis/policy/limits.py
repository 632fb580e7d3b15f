"""What an account's log of actions allows: the daily cap, and nothing twice to the same target."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from habilis.errors import CapReached, DuplicateTarget, OutcomeUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The action that stands in the way of another one with the same role on the same target.

    Attributes:
        outcome: `unknown` when nobody saw how it ended: it may have happened.
        at: When it began, with a time zone.
        link: The address of what it made; "" when there is none.
    """

    outcome: Literal["done", "unknown"]
    at: datetime
    link: str = ""


def check_cap(used: int, cap: int | None, *, now: datetime) -> None:
    """Refuse an action beyond the account's daily cap.

    Args:
        used: Actions of the account that count for the UTC day of `now`.
        cap: Most actions in one UTC day, the lowest that the service's abilities declare; None for no cap.
        now: Time of the call, with a time zone.

    Raises:
        CapReached: `used` is as much as `cap` or more.
    """
    if cap is None or used < cap:
        return
    reset = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    raise CapReached(
        f"the account has used {used} of {cap} actions today",
        hint=f"it may act again from {reset:%Y-%m-%d %H:%M} UTC",
    )


def check_target(standing: Standing | None, *, role: str, target: str) -> None:
    """Refuse to do the same to the same target through the same account a second time.

    Args:
        standing: What the account's log says of this role and target; None when nothing stands in the way.
        role: What the call does outside.
        target: What it acts on.

    Raises:
        DuplicateTarget: It was done.
        OutcomeUnknown: It was begun, and nobody saw how it ended.
    """
    if standing is None:
        return
    when = f"{standing.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if standing.outcome == "unknown":
        raise OutcomeUnknown(
            f"a {role} on {_short(target)} began on {when} and may have happened; nobody saw its end",
            hint="look at the service, then mark the action as done or not done",
        )
    raise DuplicateTarget(
        f"this account did a {role} on {_short(target)} on {when} already",
        hint=f"see {_short(standing.link)}" if standing.link else "choose another target",
    )


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"
