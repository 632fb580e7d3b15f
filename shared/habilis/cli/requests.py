"""Requests as a person reads them before they go out, and what came of them."""

import json
from collections.abc import Iterable, Mapping

from habilis.cli.desk import Desk
from habilis.cli.text import lines_of, one_line
from habilis.engine.downloads import CallResult, KeptFile
from habilis.engine.showing import FORM_TYPE, MULTIPART_TYPE, content_type
from habilis.home.store import Home
from habilis.messages import Json


def show_unsent(desk: Desk, requests: list[dict[str, Json]]) -> None:
    """Print requests that were not sent, as `show_requests` returns them."""
    told = "A dry run: nothing was sent." if requests else "A dry run: nothing would be sent."
    desk.show({"requests": requests}, [*request_lines(requests), told])


def result_lines(home: Home, result: CallResult) -> list[str]:
    """What came of a call: its text, where each file lies, and what to know beside it."""
    return [*lines_of(result.text), *file_lines(home, result.files), *result.notes]


def file_lines(home: Home, files: Iterable[KeptFile]) -> list[str]:
    """Where each file lies: on this machine, or in the home where that has no working directory."""
    return [str(home.private / file.path if file.path.startswith(".state/") else file.path) for file in files]


def request_lines(requests: Iterable[Mapping[str, Json]]) -> list[str]:
    """Each request's method and address, headers and body, with an empty line behind it."""
    return [line for request in requests for line in [*_lines(request), ""]]


def _lines(request: Mapping[str, Json]) -> list[str]:
    headers = request["headers"]
    headers = headers if isinstance(headers, Mapping) else {}
    where = [f"# {request['where']}"] if "where" in request else []
    notes = request.get("notes")
    where += [f"# {note}" for note in (notes if isinstance(notes, list) else [])]
    lines = [*where, f"{request['method']} {request['url']}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if request["body"] is not None:
        lines += ["", *_body_lines(request["body"], content_type(headers))]
    return lines


def _body_lines(body: Json, kind: str) -> list[str]:
    if kind == MULTIPART_TYPE and isinstance(body, list):
        return [_part_line(part) for part in body if isinstance(part, Mapping)]
    if kind == FORM_TYPE and isinstance(body, Mapping):
        return [
            one_line(f"{name} = {entry}")
            for name, value in body.items()
            for entry in (value if isinstance(value, list) else [value])
        ]
    return lines_of(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2))


def _part_line(part: Mapping[str, Json]) -> str:
    """`name = content`, and behind it what else the part says of itself."""
    further = [str(part[name]) for name in ("filename", "type") if name in part]
    return one_line(f"{part.get('name')} = {part.get('content')}" + (f"  ({', '.join(further)})" if further else ""))
