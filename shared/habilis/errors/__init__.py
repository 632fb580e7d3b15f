"""Every error Habilis raises on purpose, in one tree.

    HabilisError
    ├── BadInput            what was handed in is wrong                       400
    │   ├── ManifestInvalid, ArgsInvalid, TooLarge (413), WrongType (415), SecretMalformed
    │   └── MailInvalid, UnsafePath, UnsafeArchive
    ├── Unauthenticated                                                       401
    ├── Refused             the order is understood and not carried out       403
    │   ├── Forbidden, FeatureDisabled, ConsentRequired, ApprovalRequired
    │   ├── HostNotAllowed, AddressNotAllowed, PlainHttpRefused
    │   └── CapReached (429), DuplicateTarget (409), SecretMissing (409)
    ├── NotFound                                                              404
    ├── Conflicting         someone or something else holds or changed it     409
    │   ├── Collision, Busy, OutcomeUnknown, SecretTracked
    │   └── HomeLocked (503), HomeConflict, HomeCorrupt (500), HomeReadonly, RemoteDiverged
    ├── SignInFailed        a sign-in did not come to its end                 400
    │   ├── SignInStateInvalid, SignInExpired, SignInDenied
    │   └── NeedsReconnect (409)
    ├── UpstreamFailed      the other side did not answer well                502
    │   ├── RedirectRefused, ResponseTooLarge, UpstreamTimeout (504), UpstreamProtocol
    │   ├── UpstreamUnavailable (503), UpstreamError, TlsRequired, TlsVerifyFailed, RowsInvalid
    │   └── RemoteUnreachable (503)
    └── EngineFailed        this side could not do its part                   500
        └── SecretStoreError, DiskFull (507), Unexpected

A class owns its code; the place that raises it says what happened, where, and what to do next. A message never holds a
key's value. Families decide the HTTP status (`web`) and the exit code (`cli`): nothing here prints, logs or exits.

Source: the error contract, docs/http.md "Errors".
"""

from habilis.errors.base import (
    HabilisError,
    Outcome,
    Problem,
)
from habilis.errors.failures import (
    DiskFull,
    EngineFailed,
    RedirectRefused,
    RemoteUnreachable,
    ResponseTooLarge,
    RowsInvalid,
    SecretStoreError,
    TlsRequired,
    TlsVerifyFailed,
    Unexpected,
    UpstreamError,
    UpstreamFailed,
    UpstreamProtocol,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from habilis.errors.orders import (
    AddressNotAllowed,
    ApprovalRequired,
    ArgsInvalid,
    BadInput,
    CapReached,
    ConsentRequired,
    DuplicateTarget,
    FeatureDisabled,
    Forbidden,
    HostNotAllowed,
    MailInvalid,
    ManifestInvalid,
    NotFound,
    PlainHttpRefused,
    Refused,
    SecretMalformed,
    SecretMissing,
    TooLarge,
    Unauthenticated,
    UnsafeArchive,
    UnsafePath,
    WrongType,
)
from habilis.errors.states import (
    Busy,
    Collision,
    Conflicting,
    HomeConflict,
    HomeCorrupt,
    HomeLocked,
    HomeReadonly,
    NeedsReconnect,
    OutcomeUnknown,
    RemoteDiverged,
    SecretTracked,
    SignInDenied,
    SignInExpired,
    SignInFailed,
    SignInStateInvalid,
)

__all__ = [
    "AddressNotAllowed",
    "ApprovalRequired",
    "ArgsInvalid",
    "BadInput",
    "Busy",
    "CapReached",
    "Collision",
    "Conflicting",
    "ConsentRequired",
    "DiskFull",
    "DuplicateTarget",
    "EngineFailed",
    "FeatureDisabled",
    "Forbidden",
    "HabilisError",
    "HomeConflict",
    "HomeCorrupt",
    "HomeLocked",
    "HomeReadonly",
    "HostNotAllowed",
    "MailInvalid",
    "ManifestInvalid",
    "NeedsReconnect",
    "NotFound",
    "Outcome",
    "OutcomeUnknown",
    "PlainHttpRefused",
    "Problem",
    "RedirectRefused",
    "Refused",
    "RemoteDiverged",
    "RemoteUnreachable",
    "ResponseTooLarge",
    "RowsInvalid",
    "SecretMalformed",
    "SecretMissing",
    "SecretStoreError",
    "SecretTracked",
    "SignInDenied",
    "SignInExpired",
    "SignInFailed",
    "SignInStateInvalid",
    "TlsRequired",
    "TlsVerifyFailed",
    "TooLarge",
    "Unauthenticated",
    "Unexpected",
    "UnsafeArchive",
    "UnsafePath",
    "UpstreamError",
    "UpstreamFailed",
    "UpstreamProtocol",
    "UpstreamTimeout",
    "UpstreamUnavailable",
    "WrongType",
]
