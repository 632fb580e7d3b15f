"""Files that a request carries: where their bytes are, what they are called and of what type they are."""

import re

from habilis.errors import ArgsInvalid
from habilis.exchange.filetypes import ENDINGS
from habilis.messages import FileSlice, Json, Streamed
from habilis.templating import MISSING, FileValue, JsonTemplate, Missing, Scope

ANY_TYPE = "application/octet-stream"

_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?:\s*;[\x20-\x7e]*)?", re.ASCII)
_SEPARATORS = re.compile(r"[/\\]")


def file_body(template: JsonTemplate, scope: Scope) -> tuple[Streamed, str]:
    """The bytes of one file as a body, read when they are sent, and their type.

    Raises:
        ArgsInvalid: The template does not lead to a file.
    """
    file = as_file(template.fill(scope), "the body")
    return Streamed(pieces=(slice_of(file),)), type_of(file)


def as_file(value: Json | Missing, what: str) -> FileValue:
    """The value as the file that it has to be; ArgsInvalid, naming `what`, where it is none."""
    if isinstance(value, FileValue):
        return value
    if value is MISSING or value is None:
        raise ArgsInvalid(f"{what} is a file, and the call has none", hint="give the call an asset with a file")
    raise ArgsInvalid(f"{what} is a file, and what fills it is none", hint="lead to one, as {{files.0}} does")


def slice_of(file: FileValue) -> FileSlice:
    """Where the file's bytes are."""
    return FileSlice(path=file.path, size=file.size, offset=file.offset)


def type_of(file: FileValue) -> str:
    """The file's own type, that of any bytes where it has none that a header may name."""
    mime = file.get("mime")
    return mime if isinstance(mime, str) and _TYPE.fullmatch(mime) else ANY_TYPE


def checked_type(mime: str, what: str) -> str:
    """The media type as a header may name it, "" for none; ArgsInvalid, naming `what`, where it is something else."""
    if mime and not _TYPE.fullmatch(mime):
        raise ArgsInvalid(f"{what}: its type is no media type such as image/png")
    return mime


def upload_name(name: Json, mime: str) -> str:
    """The name that a file is sent under: its own without any folder, else `file` with its type's ending."""
    text = _SEPARATORS.sub("_", name).strip() if isinstance(name, str) else ""
    return text or f"file{ENDINGS.get(mime.partition(';')[0].strip().lower(), '.bin')}"
