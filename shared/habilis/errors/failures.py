"""What went wrong while an order was carried out: there, or here."""

from habilis.errors.base import HabilisError


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


class TlsRequired(UpstreamFailed):
    """The service would be spoken to without encryption; nothing was sent."""

    code = "tls_required"
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
