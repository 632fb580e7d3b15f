"""Functions of files: which of them, and parts of one. They look at facts and never read a byte."""

import re
from collections.abc import Mapping

from habilis.errors import ArgsInvalid
from habilis.reading import Json
from habilis.templating.files import FileValue
from habilis.templating.functions.function import Function, is_whole, kind_of, list_in

_MIME = re.compile(r"\*(?:/\*)?|[a-z0-9.+-]+/(?:\*|[a-z0-9.+-]+)", re.IGNORECASE)
_MOST_CHUNKS = 10_000
# A fact of the whole file that is none of its parts.
_OF_THE_WHOLE = ("sha256", "base64")


def _pick(value: Json, mime: str, most: Json = None) -> list[Json]:
    wanted = [one.strip().lower() for one in mime.split(",")]
    found = [entry for entry in list_in(value, "pick") if _is_of(entry, wanted)]
    return found if most is None else found[: int(most)]  # type: ignore[arg-type] # its check leaves whole numbers


def _is_of(entry: Json, wanted: list[str]) -> bool:
    mime = entry.get("mime") if isinstance(entry, dict) else None
    if not isinstance(mime, str):
        return False
    mime = mime.partition(";")[0].strip().lower()
    return any(one in {"*", "*/*", mime} or (one.endswith("/*") and mime.startswith(one[:-1])) for one in wanted)


def _chunks(value: Json, size: Json) -> list[Json]:
    if not isinstance(value, FileValue):
        raise ArgsInvalid(f"chunks(): expected a file, found {kind_of(value)}")
    each, total = int(size), value.size  # type: ignore[arg-type] # its check leaves whole numbers
    if total > each * _MOST_CHUNKS:
        raise ArgsInvalid(f"chunks(): the file would be sent in more than {_MOST_CHUNKS:,} parts")
    facts = {name: fact for name, fact in value.items() if name not in _OF_THE_WHOLE}
    parts: list[Json] = []
    for start in range(0, max(total, 1), each):
        length = min(each, total - start)
        place = {"size": length, "start": start, "end": start + length - 1, "total": total}
        parts.append(FileValue({**facts, **place}, path=value.path, offset=value.offset + start))
    return parts


def _mime_fault(value: Json) -> str:
    is_good = isinstance(value, str) and all(_MIME.fullmatch(one.strip()) for one in value.split(","))
    return "" if is_good else "expected types parted by commas, such as image/* or image/png, image/jpeg"


def _most_fault(value: Json) -> str:
    return "" if is_whole(value) and value >= 0 else "expected a number of files"  # type: ignore[operator]


def _bytes_fault(value: Json) -> str:
    return "" if is_whole(value) and value > 0 else "expected a number of bytes"  # type: ignore[operator]


FUNCTIONS: Mapping[str, Function] = {
    "pick": Function(signature="pick(files, mime, max)", run=_pick, least=2, checks=(None, _mime_fault, _most_fault)),
    "chunks": Function(signature="chunks(file, bytes)", run=_chunks, least=2, checks=(None, _bytes_fault)),
}
