"""A request as a person reads it before it goes out."""

import json
from collections.abc import Mapping

from habilis.cli.desk import Desk
from habilis.cli.text import lines_of
from habilis.engine.approvals import request_as_data
from habilis.messages import Json, Request


def show_request(desk: Desk, request: Request) -> None:
    """Print a request that was not sent, keys masked."""
    shown = request_as_data(request)
    desk.show({"request": shown}, [*request_lines(shown), "", "A dry run: nothing was sent."])


def request_lines(request: Mapping[str, Json]) -> list[str]:
    """Method and address, headers, and the body as indented JSON; `request` as `request_as_data` returns it."""
    headers = request["headers"]
    lines = [f"{request['method']} {request['url']}"]
    lines += [f"{name}: {value}" for name, value in (headers.items() if isinstance(headers, Mapping) else ())]
    if request["body"] is not None:
        lines += ["", *lines_of(json.dumps(request["body"], ensure_ascii=False, indent=2))]
    return lines
