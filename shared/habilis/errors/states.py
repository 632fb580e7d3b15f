"""What stands in the way of an order: someone else's hold, the state of the home, a sign-in."""

from habilis.errors.base import HabilisError


class Conflicting(HabilisError):
    """Someone or something else holds it, or changed it."""

    code = "conflicting"
    status = 409


class Collision(Conflicting):
    """The name is taken."""

    code = "collision"


class Busy(Conflicting):
    """Another call holds it for now."""

    code = "busy"
    retryable = True


class OutcomeUnknown(Conflicting):
    """It may have happened; nobody saw the answer."""

    code = "outcome_unknown"
    outcome = "unknown"


class SecretTracked(Conflicting):
    """A file of keys is under version control."""

    code = "secret_tracked"


class HomeLocked(Conflicting):
    """Another program is writing to the home."""

    code = "home_locked"
    status = 503
    retryable = True


class HomeConflict(Conflicting):
    """The home moved on elsewhere and the change could not be placed on top; nothing was applied."""

    code = "home_conflict"
    retryable = True


class HomeCorrupt(Conflicting):
    """The home's repository is damaged; nothing was written."""

    code = "home_corrupt"
    status = 500


class HomeReadonly(Conflicting):
    """The home, or its remote, may be read but not written."""

    code = "home_readonly"


class RemoteDiverged(Conflicting):
    """The remote holds another history than this home."""

    code = "remote_diverged"


class SignInFailed(HabilisError):
    """A sign-in did not come to its end; nothing was stored."""

    code = "signin_failed"
    status = 400


class SignInStateInvalid(SignInFailed):
    """The answer belongs to no sign-in that is waiting."""

    code = "signin_state_invalid"


class SignInExpired(SignInFailed):
    """The sign-in waited too long."""

    code = "signin_expired"


class SignInDenied(SignInFailed):
    """The person, or the service, said no."""

    code = "signin_denied"


class NeedsReconnect(SignInFailed):
    """The account has to be signed in again."""

    code = "needs_reconnect"
    status = 409
