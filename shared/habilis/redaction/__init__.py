"""The one sink that masks keys: whatever leaves the engine passes `clean`.

Each request keeps a ledger of the secrets it has read. A secret is masked as `[redacted NAME]` in every form in which
an upstream echoes one: as it is, in base64 (also within `user:password`), percent-encoded, escaped for JSON or HTML,
and line by line where it has several.

Source: docs/security.md "Keys".
"""

from habilis.redaction.forms import SHORTEST_SECRET
from habilis.redaction.ledger import Ledger, clean, current, recording

__all__ = ["SHORTEST_SECRET", "Ledger", "clean", "current", "recording"]
