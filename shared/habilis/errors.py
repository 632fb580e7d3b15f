"""Every error Habilis raises on purpose, in one tree.

    HabilisError
    ├── BadInput            what was handed in is wrong                       400
    │   ├── ManifestInvalid, ArgsInvalid, TooLarge (413), SecretMalformed
    │   └── UnsafePath, UnsafeArchive
    ├── Unauthenticated                                                       401
    ├── Refused             the order is understood and not carried out       403
    │   ├── Forbidden, FeatureDisabled, ConsentRequired, ApprovalRequired
    │   ├── HostNotAllowed, AddressNotAllowed, PlainHttpRefused
    │   └── CapReached (429), DuplicateTarget (409), SecretMissing (409)
    ├── NotFound                                                              404
    ├── Conflicting         someone or something else holds or changed it     409
    │   ├── Collision, Busy, OutcomeUnknown, SecretTracked
    │   └── HomeLocked, HomeConflict, HomeCorrupt, HomeReadonly, RemoteDiverged
    ├── SignInFailed        a sign-in did not come to its end                 400
    │   ├── SignInStateInvalid, SignInExpired, SignInDenied
    │   └── NeedsReconnect (409)
    ├── UpstreamFailed      the other side did not answer well                502
    │   ├── RedirectRefused, ResponseTooLarge, UpstreamTimeout, UpstreamProtocol
    │   ├── UpstreamUnavailable, UpstreamError, TlsVerifyFailed, RowsInvalid
    │   └── RemoteUnreachable
    └── EngineFailed        this side could not do its part                   500
        └── SecretStoreError, DiskFull (507), Unexpected

A class owns its code; the place that raises it says what happened, where, and what to do next. A message never holds a
key's value. Families decide the HTTP status (`web`) and the exit code (`cli`): nothing here prints, logs or exits.

Source: the error contract, docs/http.md "Errors".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

Outcome = Literal["refused", "not_sent", "done", "partial", "unknown"]
"""What became of the order: `refused` means nothing left the engine, `unknown` that it may have happened."""

_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of a file a person wrote.

    Attributes:
        file: The file's name as the person knows it.
        line: Line, from 1.
        column: Column, from 1.
        path: Where in the document, as `tools[0].request.url`; "" for the whole of it.
        message: What is there and what is expected.
    """

    file: str
    line: int
    column: int
    path: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place} {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class HabilisError(Exception):
    """Base of every error raised on purpose.

    Attributes:
        code: For programs; one per class.
        status: The HTTP status of its family.
        where: A file, field, step or host; "" when the message says it all.
        hint: What to do next; "" when there is nothing to add.
        retryable: Whether the same order may work later, unchanged.
        outcome: What became of the order.
        error_id: Names this one error in a reply and in the log; "" until it is shown.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: bool = False
    outcome: Outcome = "refused"

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        hint: str = "",
        retryable: bool | None = None,
        outcome: Outcome | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
        self.where = where
        self.hint = hint
        self.error_id = ""
        if retryable is not None:
            self.retryable = retryable
        if outcome is not None:
            self.outcome = outcome

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class BadInput(HabilisError):
    """What was handed in is wrong."""

    code = "bad_input"
    status = 400


class ManifestInvalid(BadInput):
    """A file of an ability, or a record of the home, does not say what it must; every fault at once."""

    code = "manifest_invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(
            f"{first.path}: {first.message}{more}" if first.path else f"{first.message}{more}",
            where=f"{first.file}:{first.line}:{first.column}",
        )
        self.problems = tuple(problems)


class ArgsInvalid(BadInput):
    """An argument of an order is missing, too many, or of the wrong type."""

    code = "args_invalid"


class TooLarge(BadInput):
    """What was handed in is bigger than the limit."""

    code = "too_large"
    status = 413


class SecretMalformed(BadInput):
    """A key holds characters that its place cannot carry."""

    code = "secret_malformed"


class UnsafePath(BadInput):
    """A path leaves its folder, is a link, or has a name that is never used."""

    code = "unsafe_path"


class UnsafeArchive(BadInput):
    """An ability's folder or archive holds something that is never installed."""

    code = "unsafe_archive"


class Unauthenticated(HabilisError):
    """The caller did not say who it is, or said it wrongly."""

    code = "unauthenticated"
    status = 401


class Refused(HabilisError):
    """The order is understood and not carried out."""

    code = "refused"
    status = 403


class Forbidden(Refused):
    """The caller's role or projects do not cover the order."""

    code = "forbidden"


class FeatureDisabled(Refused):
    """The ability or feature is switched off here."""

    code = "feature_disabled"


class ConsentRequired(Refused):
    """A person has to agree first to what this brings with it."""

    code = "consent_required"


class ApprovalRequired(Refused):
    """The order needs a person's yes, or the yes it has is for another order."""

    code = "approval_required"


class HostNotAllowed(Refused):
    """The address is malformed, or its host is not one the ability may call."""

    code = "host_not_allowed"


class AddressNotAllowed(Refused):
    """The host leads to a private, local or otherwise reserved address."""

    code = "address_not_allowed"


class PlainHttpRefused(Refused):
    """The request would go out unencrypted."""

    code = "plain_http_refused"


class CapReached(Refused):
    """The account has used up its actions of this UTC day."""

    code = "cap_reached"
    status = 429
    retryable = True


class DuplicateTarget(Refused):
    """The same was already done to the same target through this account."""

    code = "duplicate_target"
    status = 409


class SecretMissing(Refused):
    """A key that the call needs is not set on the account."""

    code = "secret_missing"
    status = 409


class NotFound(HabilisError):
    """It does not exist, or is not the caller's."""

    code = "not_found"
    status = 404


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


class UpstreamFailed(HabilisError):
    """The other side did not answer well."""

    code = "upstream_failed"
    status = 502


class RedirectRefused(UpstreamFailed):
    """The service answered with a redirect; they are not followed."""

    code = "redirect_refused"
    outcome = "unknown"


class ResponseTooLarge(UpstreamFailed):
    """The answer is bigger than the limit."""

    code = "response_too_large"
    outcome = "unknown"


class UpstreamTimeout(UpstreamFailed):
    """No whole answer came in time."""

    code = "upstream_timeout"
    status = 504
    retryable = True
    outcome = "unknown"


class UpstreamProtocol(UpstreamFailed):
    """The answer broke off or is no valid HTTP."""

    code = "upstream_protocol"
    outcome = "unknown"


class UpstreamUnavailable(UpstreamFailed):
    """The service could not be reached; nothing was sent."""

    code = "upstream_unavailable"
    status = 503
    retryable = True
    outcome = "not_sent"


class UpstreamError(UpstreamFailed):
    """The service answered with an error of its own."""

    code = "upstream_error"


class TlsVerifyFailed(UpstreamFailed):
    """The service's certificate is not good; nothing was sent."""

    code = "tls_verify_failed"
    outcome = "not_sent"


class RowsInvalid(UpstreamFailed):
    """The answer holds no rows where the source says they are."""

    code = "rows_invalid"


class RemoteUnreachable(UpstreamFailed):
    """The home's remote could not be reached."""

    code = "remote_unreachable"
    status = 503
    retryable = True
    outcome = "not_sent"


class EngineFailed(HabilisError):
    """This side could not do its part."""

    code = "engine_failed"


class SecretStoreError(EngineFailed):
    """The keys of an account could not be read or written."""

    code = "secret_store_error"


class DiskFull(EngineFailed):
    """There is no room left; what was there before is intact."""

    code = "disk_full"
    status = 507
    retryable = True


class Unexpected(EngineFailed):
    """A fault of Habilis itself; the log has the rest under the error id."""

    code = "unexpected"
    outcome = "unknown"
