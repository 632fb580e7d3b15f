"""Files that a call brings back: fetched, decoded or the body itself; their type told from their bytes."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from habilis.errors import HabilisError, HostNotAllowed, ResponseTooLarge, UpstreamError
from habilis.exchange.bodies import content_type
from habilis.exchange.embedded import decoded
from habilis.exchange.filenames import name_in_url, numbered, safe_name
from habilis.exchange.filetypes import TOLD_BY_BYTES, is_binary, type_of
from habilis.exchange.fill import Bounds
from habilis.exchange.gzipped import is_gzip
from habilis.hosts import AllowedHosts, checked_url
from habilis.manifest.model import Tool
from habilis.messages import Answer, Asked, Json, Request, ResultFile
from habilis.templating import MISSING, Missing, Place, Pointer, Scope, Seen

Fetch = Callable[[Request], Generator[Asked, Answer | None, tuple[Answer, Seen]]]
"""Sends a request of a call and returns its good answer."""

_FAMILIES = {"image": "image", "video": "video", "music": "audio"}
_MEANT = {"image": "an image", "video": "a video", "audio": "music"}
_AUDIO = {"video/mp4": "audio/mp4", "video/webm": "audio/webm", "video/ogg": "audio/ogg"}
"""Containers of both, as they are called where they hold sound alone."""

_ANYTHING = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_FETCH_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a call brought back.

    Attributes:
        notes: Files that did not come, and why.
    """

    files: tuple[ResultFile, ...] = ()
    notes: tuple[str, ...] = ()


_NOTHING = Brought()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Where one file is: at an address, in a text of the answer, or the answer itself."""

    where: str
    url: str = ""
    text: str = ""
    answer: Answer | None = None
    mime: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bytes:
    """A file that is here.

    Attributes:
        told: Types that it is said to be of, the most trusted first.
        name: A name that it is known by.
    """

    head: bytes
    size: int
    path: str = ""
    data: bytes | None = None
    told: tuple[str, ...] = ()
    name: str = ""


def brings_files(tool: Tool) -> bool:
    """Whether files are what the tool is called for."""
    return tool.result.is_file or tool.contract in _FAMILIES


def bring_files(
    tool: Tool, seen: Seen, answer: Answer, scope: Scope, bounds: Bounds, fetch: Fetch
) -> Generator[Asked, Answer | None, Brought]:
    """Bring the files of a call's last answer.

    Args:
        tool: Whose `result` says where they are. Where it does not, and where nothing lies there, a body that is no
            JSON is the file; of a tool that is not called for files only one that is of a known type.
        seen: What was read of the answer.
        answer: The last one of the call, good.
        scope: Fills the files' name.
        bounds: What may be reached: their addresses too.
        fetch: Sends the requests for those that lie at an address.

    Returns:
        The files. Where some did not come, the others, and notes on those.

    Raises:
        HabilisError: None came; the outcome says that the service did its part.
    """
    found = _found(tool, seen, answer)
    if not found and not brings_files(tool):
        return _NOTHING
    fault: HabilisError | None = None
    files, notes = [], []
    for source in found[: tool.most_runs]:
        try:
            here = yield from _here(source, bounds, fetch)
            files.append(_kept(here, tool, scope, bounds))
        except HabilisError as error:
            error.where = error.where or source.where
            fault = fault or error
            notes.append(f"{source.where}: {error.message}")
    if not found and brings_files(tool):
        fault = UpstreamError("the answer holds no file where it should", where=f"tool '{tool.name}'")
    if fault is not None and not files:
        if not bounds.is_read:
            fault.outcome, fault.retryable = "done", False
            fault.hint = fault.hint or "the service did its part; another call makes another file"
        raise fault
    if len(found) > tool.most_runs:
        notes.append(f"{len(found) - tool.most_runs} more files were not fetched")
    names = numbered([file.name for file in files])
    return Brought(
        files=tuple(replace(file, name=name) for file, name in zip(files, names, strict=True)), notes=tuple(notes)
    )


def _found(tool: Tool, seen: Seen, answer: Answer) -> list[_Found]:
    urls, texts = _texts_at(tool.result.file_url, seen), _texts_at(tool.result.file_b64, seen)
    mimes = _mimes(tool.result.mime, seen)
    values = [*urls, *texts]
    found = []
    for number, value in enumerate(values):
        is_url = number < len(urls) and value[:5].lower() != "data:"
        found.append(
            _Found(
                where=f"tool '{tool.name}' (file {number + 1})" if len(values) > 1 else f"tool '{tool.name}' (file)",
                url=value if is_url else "",
                text="" if is_url else value,
                mime=mimes[0] if len(mimes) == 1 else next(iter(mimes[number:]), ""),
            )
        )
    if not found and _is_file(tool, seen, answer):
        found.append(_Found(where=f"tool '{tool.name}' (file)", answer=answer, mime=next(iter(mimes), "")))
    return found


def _is_file(tool: Tool, seen: Seen, answer: Answer) -> bool:
    """Whether the body itself is a file that the call brings."""
    if answer.body[:64].strip() in {b"", b"null"}:
        return False
    is_json = seen.body is not None and not isinstance(seen.body, str)
    is_binary_body = is_binary(answer.body) and not (is_gzip(answer.body) and _unpacks(tool, seen))
    return bool(answer.file) or is_binary_body or (brings_files(tool) and not is_json)


def _unpacks(tool: Tool, seen: Seen) -> bool:
    """Whether what was read is what a gzip file held, and not the file itself."""
    return seen.body is not None and all(step.request.decode != "bytes" for step in tool.steps)


def _texts_at(place: Place | None, seen: Seen) -> list[str]:
    picked: Json | Missing = MISSING if place is None else place.pick(seen)
    entries = picked if isinstance(picked, list) else [picked]
    return [entry.strip() for entry in entries if isinstance(entry, str) and entry.strip()]


def _mimes(written: str, seen: Seen) -> list[str]:
    """The types that the manifest says, or that lie where it says: one for all files, or one each."""
    if not written.startswith("/"):
        return [written] if written else []
    picked = Pointer(written).pick(seen.body)
    entries = picked if isinstance(picked, list) else [picked]
    return [entry.partition(";")[0].strip().lower() if isinstance(entry, str) else "" for entry in entries]


def _here(source: _Found, bounds: Bounds, fetch: Fetch) -> Generator[Asked, Answer | None, _Bytes]:
    if source.text:
        data, mime = decoded(source.text, where=source.where)
        return _Bytes(head=data, size=len(data), data=data, told=(source.mime, mime))
    answer = source.answer
    if answer is None:
        answer, _ = yield from fetch(_request(source, bounds))
    return _Bytes(
        head=answer.body,
        size=answer.size if answer.file else len(answer.body),
        path=answer.file,
        data=None if answer.file else answer.body,
        told=(source.mime, content_type(answer.headers)),
        name=name_in_url(source.url),
    )


def _request(source: _Found, bounds: Bounds) -> Request:
    """A request for a file, without any key: its address is from an answer, and says all."""
    hosts = AllowedHosts(
        places=bounds.hosts.places | bounds.result_hosts.places, listed=bounds.hosts.listed + bounds.result_hosts.listed
    )
    try:
        url = checked_url(source.url, hosts, where=source.where, private_hosts=bounds.private_hosts)
    except HostNotAllowed as error:
        if not error.hint and source.url[:4].lower() == "http":
            error.hint = "list the host under result_hosts"
        raise
    return Request(
        where=source.where,
        method="GET",
        url=url,
        timeout_s=_FETCH_S,
        private_hosts=bounds.private_hosts,
        download_to=bounds.download_to,
        largest_file_bytes=bounds.largest_file_bytes,
    )


def _kept(here: _Bytes, tool: Tool, scope: Scope, bounds: Bounds) -> ResultFile:
    if here.size > bounds.largest_file_bytes:
        raise ResponseTooLarge(f"the file is larger than {bounds.largest_file_bytes:,} bytes")
    mime = _type(here, _FAMILIES.get(tool.contract, ""))
    name = _suggested(tool, scope) or here.name or tool.name
    return ResultFile(name=safe_name(name, mime), mime=mime, size=here.size, path=here.path, data=here.data)


def _suggested(tool: Tool, scope: Scope) -> str:
    """What the manifest or the call wants the file to be called; "" when they do not say."""
    filled = MISSING if tool.result.name is None else tool.result.name.fill(scope)
    wanted = [filled, scope.arguments.get("name"), scope.arguments.get("title")]
    return next((text for text in wanted if isinstance(text, str) and text.strip()), "")


def _type(here: _Bytes, family: str) -> str:
    """The type of a file, from its bytes; where they have no sign of any, what it is said to be.

    Raises:
        UpstreamError: It is empty, a web page, or not of the family (image, video, audio) that it should be.
    """
    if not here.size:
        raise UpstreamError("the file is empty")
    mime = type_of(here.head)
    if mime == "text/html" and here.told[:1] != ("text/html",):
        raise UpstreamError("a web page came in place of the file")
    if not mime:
        told = (name for name in here.told if name not in _ANYTHING and name not in TOLD_BY_BYTES)
        mime = next(told, "application/octet-stream")
        if family and mime.startswith(f"{family}/") and _is_text(here.head):
            mime = "text/plain"
    if family == "audio" or here.told[0].startswith("audio/"):
        mime = _AUDIO.get(mime, mime)
    if family and not mime.startswith(f"{family}/") and (family, mime) != ("video", "image/gif"):
        raise UpstreamError(f"{mime} came in place of {_MEANT[family]}")
    return mime


def _is_text(head: bytes) -> bool:
    try:
        return b"\0" not in head and getincrementaldecoder("utf-8")().decode(head) != ""
    except UnicodeDecodeError:
        return False
