"""Reading an `extension.yaml`: every fault at once, each with its line and column, or the manifest."""

import hashlib

from habilis.manifest.check import check
from habilis.manifest.faults import Faults, Part
from habilis.manifest.later import other_flows, other_transport
from habilis.manifest.model import Manifest
from habilis.manifest.plain import from_plain
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
    data = document.data
    root = Part(value=data)
    if not other_transport(root, faults):
        if other_flows(root, faults):
            data = {name: value for name, value in data.items() if name != "connect"}
        written = shaped(data, faults)
        check(Part(value=data), folder, faults)
        if written is not None and not faults.found:
            content_hash = hashlib.sha256(text).hexdigest()
            return from_plain(settled(written, folder=folder, content_hash=content_hash))
    raise faults.all()
