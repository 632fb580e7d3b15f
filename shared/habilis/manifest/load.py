"""Reading an `extension.yaml`: every fault at once, each with its line and column, or the manifest."""

import hashlib

from habilis.manifest.faults import Faults, Part
from habilis.manifest.later import other_transport
from habilis.manifest.model import Manifest
from habilis.manifest.plain import from_plain
from habilis.manifest.rules import check
from habilis.manifest.settled import settled
from habilis.manifest.wording import shaped
from habilis.reading import parse_yaml


def load_manifest(text: bytes, *, folder: str, file: str = "extension.yaml") -> Manifest:
    """The manifest that a text says.

    Args:
        text: The file as it is on disk.
        folder: Name of the ability's folder: its id when the document names none.
        file: The file's name as the person knows it, for messages.

    Raises:
        ManifestInvalid: The text is no manifest; `problems` holds every fault in the order of the file, or the
            first hundred that were met.
    """
    document, problems = parse_yaml(text, file)
    faults = Faults(document=document, found=problems)
    root = Part(value=document.data)
    if not other_transport(root, faults):
        written = shaped(document.data, faults)
        check(root, folder, faults)
        if written is not None and not faults.found:
            content_hash = hashlib.sha256(text).hexdigest()
            return from_plain(settled(written, folder=folder, content_hash=content_hash))
    raise faults.all()
