"""Rules that need two fields, over the document as written: each looks only at what is well-formed.

So one answer holds every fault, those of shape and these, and a rule is never upset by a fault elsewhere.
"""

from habilis.manifest.rules.whole import check

__all__ = ["check"]
