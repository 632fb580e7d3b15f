"""The HTTP edge of every function: who calls, what it asks, the reply, and any error as one JSON shape."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import flask

from habilis.engine.outside import Outside
from habilis.engine.rendering import as_json, error_data, error_id
from habilis.engine.settings import live_outside, open_home, read_settings
from habilis.engine.tokens import Principal, find_principal
from habilis.errors import ArgsInvalid, BadInput, HabilisError, NotFound, TooLarge, Unexpected
from habilis.home.store import Home
from habilis.messages import Json
from habilis.names import project_slug
from habilis.reading import read_json
from habilis.redaction import clean, recording

LARGEST_BODY_BYTES = 1024 * 1024

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a function answers: data that becomes JSON, or a page or redirect as it is."""

    data: object
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a function works with: the caller, the order and the world.

    Attributes:
        order: The JSON body; {} for none.
        path: The parts of the path after `/api/projects/`, or [] for a plain path.
        method: Upper case.
    """

    caller: Principal
    order: Mapping[str, Json]
    path: tuple[str, ...]
    method: str
    home: Home
    outside: Outside

    @property
    def actor(self) -> str:
        """Who the records name."""
        return self.caller.role

    def text(self, name: str, default: str | None = None) -> str:
        """A text of the order; ArgsInvalid when it is missing or something else."""
        value = self.order.get(name, default)
        if not isinstance(value, str):
            raise ArgsInvalid(f"{name}: expected text, got {'nothing' if value is None else type(value).__name__}")
        return value

    def fields(self, name: str) -> dict[str, Json]:
        """Named fields of the order, {} when it has none; ArgsInvalid when it is something else."""
        value = self.order.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ArgsInvalid(f"{name}: expected fields, got {type(value).__name__}")
        return value

    def project(self) -> str:
        """The project's slug, from the path or the order; they may not differ."""
        named = str(self.order.get("project", ""))
        slug = self.path[0] if self.path else named
        if named and named != slug:
            raise ArgsInvalid("the order names another project than the address")
        if not slug:
            raise ArgsInvalid("the argument 'project' is missing")
        return project_slug(slug)

    def only(self, *names: str) -> None:
        """Refuse fields that the order does not take; ArgsInvalid."""
        unknown = [name for name in self.order if name not in {*names, "project"}]
        if unknown:
            raise ArgsInvalid(f"there is no field {unknown[0]!r}", hint=f"it takes {', '.join(names) or 'no fields'}")


def serve(request: flask.Request, verb: Callable[[Desk], object]) -> flask.Response:
    """Carry out an order of a caller with a token, and answer in JSON whatever happens."""
    with recording():
        try:
            settings = read_settings(os.environ)
            caller = find_principal(os.environ.get("HABILIS_TOKENS", ""), request.headers.get("Authorization", ""))
            desk = Desk(
                caller=caller,
                order=_read_order(request),
                path=_path_after_projects(request.path),
                method=request.method,
                home=open_home(settings),
                outside=live_outside(settings),
            )
            answer = verb(desk)
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            return json_reply(reply.data, reply.status)
        except HabilisError as error:
            return error_reply(error)
        except Exception as error:  # noqa: BLE001 - the edge: nobody may see a traceback
            return error_reply(_unexpected(error))


def serve_public(request: flask.Request, verb: Callable[[Home, Outside], flask.Response]) -> flask.Response:
    """Carry out an order of a browser that has no token: the sign-in callback and the relay."""
    with recording():
        try:
            settings = read_settings(os.environ)
            return verb(open_home(settings), live_outside(settings))
        except HabilisError as error:
            return page(error.message.capitalize(), error.hint, status=error.status)
        except Exception as error:  # noqa: BLE001 - the edge: nobody may see a traceback
            fault = _unexpected(error)
            return page("Something went wrong", f"The log has it under {error_id(fault)}.", status=fault.status)


def json_reply(data: object, status: int = 200) -> flask.Response:
    """Data as JSON, every key masked."""
    text = json.dumps(clean(as_json(data)), ensure_ascii=False)
    return flask.Response(text + "\n", status=status, mimetype="application/json", headers=_HEADERS)


def error_reply(error: HabilisError) -> flask.Response:
    """An error in the one shape that every face uses."""
    return json_reply({"error": error_data(error)}, error.status)


def page(title: str, text: str, *, status: int = 200) -> flask.Response:
    """A small page for a person in the middle of a sign-in."""
    from html import escape

    title, text = (escape(str(clean(part))) for part in (title, text))
    html = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        "<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1rem}</style>"
        f"<h1>{title}</h1><p>{text}</p></html>"
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return flask.Response(
        html, status=status, mimetype="text/html", headers={**_HEADERS, "Content-Security-Policy": policy}
    )


def redirect(target: str) -> flask.Response:
    """Send a browser on, with nothing kept of where it came from."""
    return flask.Response("", status=302, headers={**_HEADERS, "Location": target})


def _read_order(request: flask.Request) -> Mapping[str, Json]:
    """The JSON body, read no further than the limit."""
    if request.content_length is not None and request.content_length > LARGEST_BODY_BYTES:
        raise TooLarge(f"the body is larger than {LARGEST_BODY_BYTES >> 20} MiB")
    # One byte more than the limit: a chunked body is cut in silence exactly at this number.
    request.max_content_length = LARGEST_BODY_BYTES + 1
    body = request.stream.read(LARGEST_BODY_BYTES + 1)
    if len(body) > LARGEST_BODY_BYTES:
        raise TooLarge(f"the body is larger than {LARGEST_BODY_BYTES >> 20} MiB")
    if not body:
        return dict(request.args.items()) if request.method in {"GET", "DELETE"} else {}
    if request.mimetype != "application/json":
        raise BadInput("the body must be JSON", hint="send Content-Type: application/json")
    order = read_json(body, what="the body", largest=LARGEST_BODY_BYTES)
    if not isinstance(order, dict):
        raise ArgsInvalid("the body must be a JSON object")
    return order


def _path_after_projects(path: str) -> tuple[str, ...]:
    marker = "/api/projects/"
    if marker not in path:
        return ()
    parts = path.split(marker, 1)[1].split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise NotFound("there is no such address")
    return tuple(parts)


def _unexpected(error: Exception) -> Unexpected:
    """A fault of our own: the log gets the whole of it, masked; the caller gets an id."""
    fault = Unexpected("something went wrong inside Habilis", hint="tell its operators the error id")
    lines = "".join(traceback.format_exception(error))
    sys.stderr.write(json.dumps({"severity": "ERROR", "error_id": error_id(fault), "message": clean(lines)}) + "\n")
    return fault
