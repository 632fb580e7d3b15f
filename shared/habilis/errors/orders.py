"""What is wrong with an order: its input, its caller, what it asks for."""

from collections.abc import Sequence

from habilis.errors.base import HabilisError, Problem


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


class MailInvalid(BadInput):
    """An address, subject or file of a mail cannot be sent as it is."""

    code = "mail_invalid"


class TooLarge(BadInput):
    """What was handed in is bigger than the limit."""

    code = "too_large"
    status = 413


class WrongType(BadInput):
    """What was handed in is of another kind than the one that is read here."""

    code = "wrong_type"
    status = 415


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
