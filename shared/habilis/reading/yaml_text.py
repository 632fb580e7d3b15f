"""YAML that someone else wrote, read strictly, with places for messages.

It is read as version 1.1 reads it, because editors and other tools show it so, and nothing of it that can surprise is
taken: no aliases, tags, merge keys, duplicate keys or second documents. `Document.raw` says how a scalar was written,
so that a message can say "YAML read it as 1.1; quote it".
"""

import re
from typing import NoReturn

from habilis.errors import ManifestInvalid, Problem
from habilis.reading.document import Document

LARGEST_YAML = 256 * 1024
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_yaml(
    text: bytes, file: str, *, largest: int = LARGEST_YAML, list_as: str = "", with_bytes: bool = False
) -> Document:
    """Read one mapping from strict YAML.

    Args:
        text: UTF-8, with or without a byte order mark.
        file: The file's name as the person knows it.
        largest: Most bytes of `text`.
        list_as: The field that a bare list stands for, and that is empty when the file says nothing; "" where both are
            faults.
        with_bytes: Whether a value may be `!!binary`; it is then its base64 text, and `Document.is_binary` tells.

    Raises:
        ManifestInvalid: The text is no such mapping; `problems` has every fault that could be found.
    """
    document, problems = parse_yaml(text, file, largest=largest, list_as=list_as, with_bytes=with_bytes)
    if problems:
        raise ManifestInvalid(problems)
    return document


def parse_yaml(
    text: bytes, file: str, *, largest: int = LARGEST_YAML, list_as: str = "", with_bytes: bool = False
) -> tuple[Document, list[Problem]]:
    """Read as `read_yaml` does, and return the faults that one can read past beside the document.

    A field given twice keeps its first value, and an unquoted `{{placeholder}}` is taken as its text, so that the
    caller can tell these faults together with its own.

    Raises:
        ManifestInvalid: There is a fault that one cannot read past.
    """
    decoded = _decoded(text, file, largest)
    # The YAML library takes longer to load than a warm call takes to run.
    from habilis.reading.yaml_nodes import Reading

    return Reading(decoded, file, with_bytes=with_bytes).document(list_as)


def _decoded(text: bytes, file: str, largest: int) -> str:
    if len(text) > largest:
        _refuse(file, f"the file is larger than {largest // 1024} KiB")
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(file, "the file is not UTF-8; save it as UTF-8")
    line = 0
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
    if line:
        _refuse(file, "the file is not UTF-8; save it as UTF-8", line=line)
    if odd := _UNPRINTABLE.search(decoded):
        before = decoded[: odd.start()]
        column = len(before) - (before.rfind("\n") + 1) + 1
        message = f"the character U+{ord(odd[0]):04X} is not allowed; remove it"
        _refuse(file, message, line=before.count("\n") + 1, column=column)
    return decoded


def _refuse(file: str, message: str, *, line: int = 1, column: int = 1) -> NoReturn:
    raise ManifestInvalid([Problem(file=file, line=line, column=column, path="", message=message)])
