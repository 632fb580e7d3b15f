"""Limits of an account: actions per UTC day, and never the same twice on one target."""

from datetime import UTC, datetime, time, timedelta

from habilis.errors import CapReached, DuplicateTarget, OutcomeUnknown
from habilis.manifest.model import Role


def check_cap(used: int, *, cap: int | None, now: datetime) -> None:
    """Refuse an action beyond the account's daily cap.

    Args:
        used: Actions that count on the UTC day of `now`.
        cap: Most actions in one UTC day; None for no cap.
        now: Time of the call, with a zone.

    Raises:
        CapReached: Says when the next day begins.
    """
    if cap is None or used < cap:
        return
    reset = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    raise CapReached(
        f"{used} of {cap} actions are used today", hint=f"the next day begins at {reset:%Y-%m-%dT%H:%M:%SZ}"
    )


def check_target(outcome: str | None, *, role: Role, target: str) -> None:
    """Refuse the same role on the same target through one account.

    Args:
        outcome: What became of the latest such action that counts; None when there is none.

    Raises:
        DuplicateTarget: It was done.
        OutcomeUnknown: It may have been done; a person has to look.
    """
    if outcome is None:
        return
    if outcome == "unknown":
        raise OutcomeUnknown(
            f"an earlier {role} on {target!r} may have been carried out",
            hint="look at the service whether it is there before doing it again",
        )
    raise DuplicateTarget(f"{role} on {target!r} was done before through this account", hint="choose another target")
