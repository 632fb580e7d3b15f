"""What an `extension.yaml` says, checked, as data.

`manifest.load` makes these from text; everything further reads them and trusts them.
"""

from habilis.manifest.model.calls import (
    Decoding,
    ErrorRule,
    Idempotency,
    Loop,
    OkRule,
    PagesRule,
    PageWay,
    PartTemplate,
    RequestTemplate,
    ResultTemplate,
    RetryRule,
    Role,
    SignRule,
    SignScheme,
    Step,
    Tool,
    UntilRule,
)
from habilis.manifest.model.connection import (
    AuthKey,
    ChannelKind,
    DerivedMetric,
    DestinationField,
    Manifest,
    RedirectFlow,
    SmtpTemplate,
    Source,
    SourceRequest,
)

__all__ = [
    "AuthKey",
    "ChannelKind",
    "Decoding",
    "DerivedMetric",
    "DestinationField",
    "ErrorRule",
    "Idempotency",
    "Loop",
    "Manifest",
    "OkRule",
    "PageWay",
    "PagesRule",
    "PartTemplate",
    "RedirectFlow",
    "RequestTemplate",
    "ResultTemplate",
    "RetryRule",
    "Role",
    "SignRule",
    "SignScheme",
    "SmtpTemplate",
    "Source",
    "SourceRequest",
    "Step",
    "Tool",
    "UntilRule",
]
