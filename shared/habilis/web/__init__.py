"""The HTTP edge of every function: who calls, what it asks, the reply, and any error as one JSON shape."""

import base64
import hashlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

import flask
from werkzeug.exceptions import HTTPException

from habilis.engine.outside import Outside, Traced
from habilis.engine.rendering import as_json, error_data, error_id, json_bytes, trace_data
from habilis.engine.settings import Settings, current_settings, live_outside, open_home
from habilis.engine.tokens import Principal, TokenRole, find_principal
from habilis.errors import (
    ArgsInvalid,
    BadInput,
    EngineFailed,
    Forbidden,
    HabilisError,
    NotFound,
    Refused,
    TooLarge,
    Unexpected,
    WrongType,
)
from habilis.home.store import Home
from habilis.messages import Json
from habilis.names import project_slug
from habilis.reading import read_json
from habilis.redaction import clean, current, recording

LARGEST_BODY_BYTES = 1024 * 1024

_PROJECTS = "/api/projects/"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_FORGET_QUERY = "history.replaceState(null,'',location.pathname)"
_FORGET_QUERY_HASH = base64.b64encode(hashlib.sha256(_FORGET_QUERY.encode()).digest()).decode()
_PAGE_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_FORGET_QUERY_HASH}'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a function answers where plain data does not say it all: data that becomes JSON, and the status.

    Attributes:
        holds_keys: Whether it hands the caller keys of its own, which are then not masked.
    """

    data: object
    status: int
    holds_keys: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a function works with: the caller, the order and the world.

    Attributes:
        order: The JSON body; {} for none.
        method: Upper case.
        path: The parts of the address after `/api/projects/`, the slug first; () for an address without one.
    """

    caller: Principal
    order: Mapping[str, Json]
    method: str
    path: tuple[str, ...]
    home: Home
    outside: Outside
    settings: Settings

    @property
    def actor(self) -> str:
        """Who the records name."""
        return self.caller.role

    @property
    def origins(self) -> frozenset[str]:
        """The caller's own https origins: an engine's as its token says, this deployment's for every other."""
        own = self.settings.public_url
        if self.caller.role == "engine" or not own.startswith("https://"):
            return self.caller.origins
        return frozenset({own})

    @property
    def route(self) -> tuple[str, ...]:
        """The method, and what follows the project's slug in the address."""
        return (self.method, *self.path[1:])

    def require_route(self, *route: str) -> None:
        """Refuse another method or address than this one, or the method at an address without a project; NotFound."""
        if self.route not in {route, route[:1]} or (len(self.path) == 1):
            raise self.no_address()

    def no_address(self) -> NotFound:
        """What a method or address that the function does not serve is answered with."""
        return NotFound(f"nothing answers to {self.method} at this address", hint="docs/http.md lists the routes")

    def project(self, role: TokenRole) -> str:
        """The slug of the project that the address or the order names, which the caller may act in with this role.

        Raises:
            ArgsInvalid: None is named.
            Forbidden: Address and order name two, or the caller's role does not cover it.
            NotFound: It is not one of the caller's; said as of one that does not exist.
        """
        named = self.text("project", "")
        slug = self.path[0] if self.path else named
        if not slug:
            raise ArgsInvalid("the order names no project", hint="add the field 'project'")
        if named and named != slug:
            raise Forbidden("the order names another project than the address")
        self.caller.require(role, project_slug(slug))
        return slug

    def project_or_all(self, role: TokenRole) -> str:
        """As `project`, or "" where none is named and the caller may act in all of them."""
        if self.path or self.text("project", ""):
            return self.project(role)
        self.caller.require_all_projects(role)
        return ""

    def only(self, *names: str) -> None:
        """Refuse fields that the order does not take; ArgsInvalid names them."""
        unknown = sorted(set(self.order) - {*names, "project"})
        if unknown:
            shown = ", ".join(repr(name[:40]) for name in unknown[:5])
            raise ArgsInvalid(f"the order takes no {shown}", hint=f"it takes {', '.join(names) or 'no fields'}")

    def text(self, name: str, default: str | None = None) -> str:
        """A text of the order; ArgsInvalid when it is missing or something else."""
        value = self.order.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise _mistyped(name, "text", value)
        return value

    def sole(self, name: str) -> str:
        """The one text that the order takes; ArgsInvalid as `only` and `text`."""
        self.only(name)
        return self.text(name)

    def given(self, *names: str, beside: tuple[str, ...] = ()) -> dict[str, str]:
        """These texts, "" for those that the order has not; it takes no others but the ones `beside`."""
        self.only(*names, *beside)
        return {name: self.text(name, "") for name in names}

    def fields(self, name: str) -> dict[str, Json]:
        """Named fields of the order, {} when it has none; ArgsInvalid when it is something else."""
        value = self.order.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _mistyped(name, "fields", value)
        return value

    def texts(self, name: str) -> dict[str, str]:
        """As `fields`, where each must be a text."""
        found = {}
        for field, value in self.fields(name).items():
            if not isinstance(value, str):
                raise _mistyped(f"{name}.{field[:64]}", "text", value)
            found[field] = value
        return found

    def flag(self, name: str) -> bool:
        """A yes or no of the order, no when it has none; ArgsInvalid when it is something else."""
        value = self.order.get(name)
        if value is not None and not isinstance(value, bool):
            raise _mistyped(name, "true or false", value)
        return value is True


def serve(request: flask.Request, verb: Callable[[Desk], object]) -> flask.Response:
    """Carry out an order of a caller with a token, and answer in JSON whatever happens."""
    order: Mapping[str, Json] = {}
    traced: list[Traced] | None = None
    with recording():
        try:
            settings = _settings()
            # Nobody without a token makes the function read a body or open the home.
            caller = _caller(settings, request)
            order = _read_order(request)
            home, outside = _world(settings)
            desk = Desk(
                caller=caller,
                order=order,
                method=request.method,
                path=_path_in_projects(request.path),
                home=home,
                outside=outside,
                settings=settings,
            )
            if desk.flag("trace"):
                traced = []
                desk = replace(desk, outside=replace(outside, trace=traced.append))
            answer = verb(desk)
            reply = answer if isinstance(answer, Reply) else Reply(answer, 200)
            return _json_reply(as_json(reply.data), reply.status, traced, masks=not reply.holds_keys)
        except HabilisError as error:
            _hide(request, order)
            return _error_reply(report(error), traced)
        except Exception as error:  # noqa: BLE001 - the edge: nobody may see a traceback
            _hide(request, order)
            return _error_reply(report(_unexpected(), reason=_trace(error)), traced)


def serve_public(request: flask.Request, verb: Callable[[Home, Outside], flask.Response]) -> flask.Response:
    """Answer a browser that has no token, at the end of a sign-in; only to GET, for nothing else follows a link."""
    with recording():
        try:
            _require_get(request)
            return verb(*_world(_settings()))
        except HabilisError as error:
            return error_page(report(error))
        except Exception as error:  # noqa: BLE001 - the edge: nobody may see a traceback
            for values in request.args.listvalues():
                for value in values:
                    current().add("QUERY", value)
            return error_page(report(_unexpected(), reason=_trace(error)))


def page(title: str, text: str, *, status: int = 200) -> flask.Response:
    """A small page for a person in the middle of a sign-in."""
    title, text = (escape(clean(part)) for part in (title, text))
    # What a service sent along may be a key: it stays neither in the address bar nor in the history.
    html = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        "<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1rem}</style>"
        f"<script>{_FORGET_QUERY}</script><h1>{title}</h1><p>{text}</p></html>\n"
    )
    return _reply(html.encode(), status, "text/html; charset=utf-8", {"Content-Security-Policy": _PAGE_POLICY})


def error_page(error: HabilisError, *, status: int | None = None) -> flask.Response:
    """An error as a page; `status` where the error's own is not the one."""
    return page(*error_words(error), status=status or error.status)


def error_words(error: HabilisError) -> tuple[str, str]:
    """An error as a title and a sentence for a person."""
    message = error.message[:1].upper() + error.message[1:]
    hint = error.hint and error.hint[:1].upper() + error.hint[1:] + "."
    return message, hint or f"The log has it under {error_id(error)}."


def redirect(target: str) -> flask.Response:
    """Send a browser on with a GET, with nothing kept of where it came from."""
    return _reply(b"", 303, "text/plain", {"Location": target})


def report(error: HabilisError, *, reason: str = "") -> HabilisError:
    """Write an error to the log, one masked line under its id, and return it; only the log may say the `reason`."""
    line = {
        "severity": "ERROR" if error.status >= 500 else "INFO",
        "code": error.code,
        "error_id": error_id(error),
        "message": clean(reason or str(error)),
    }
    sys.stderr.write(json.dumps(line) + "\n")
    return error


def _require_get(request: flask.Request) -> None:
    if request.method != "GET":
        raise NotFound("nothing is here")


def _settings() -> Settings:
    try:
        return current_settings(os.environ)
    except BadInput as error:
        raise _not_set_up(error) from None


def _caller(settings: Settings, request: flask.Request) -> Principal:
    try:
        return find_principal(settings.tokens, request.headers.get("Authorization", ""))
    except BadInput as error:
        raise _not_set_up(error) from None


def _world(settings: Settings) -> tuple[Home, Outside]:
    try:
        return open_home(settings), live_outside(settings)
    except (BadInput, NotFound, Refused) as error:
        raise _not_set_up(error) from None


def _not_set_up(error: HabilisError) -> EngineFailed:
    """What a caller is told of a wrong setting: it is not theirs, and the words of it are for the log."""
    hidden = EngineFailed(
        "this function is not set up", hint="its operators find the reason in the log by the error id"
    )
    report(hidden, reason=str(error))
    return hidden


def _read_order(request: flask.Request) -> Mapping[str, Json]:
    """The JSON body, read no further than the limit."""
    body = _read_body(request)
    if not body:
        return {}
    if request.mimetype != "application/json":
        raise WrongType("the body must be JSON", hint="send Content-Type: application/json")
    order = read_json(body, what="the body", largest=LARGEST_BODY_BYTES)
    if not isinstance(order, dict):
        raise ArgsInvalid("the body must be a JSON object")
    return order


def _read_body(request: flask.Request) -> bytes:
    too_large = TooLarge(f"the body is larger than {LARGEST_BODY_BYTES >> 20} MiB")
    if (request.content_length or 0) > LARGEST_BODY_BYTES:
        raise too_large
    # One byte more than the limit: a chunked body is cut in silence exactly at this number.
    request.max_content_length = LARGEST_BODY_BYTES + 1
    body = bytearray()
    try:
        while len(body) <= LARGEST_BODY_BYTES and (piece := request.stream.read(LARGEST_BODY_BYTES + 1 - len(body))):
            body += piece
    except (HTTPException, OSError):
        raise BadInput("the body could not be read to its end") from None
    if len(body) > LARGEST_BODY_BYTES:
        raise too_large
    return bytes(body)


def _path_in_projects(path: str) -> tuple[str, ...]:
    _, found, rest = path.partition(_PROJECTS)
    if not found:
        return ()
    parts = tuple(rest.split("/"))
    if any(part in {"", ".", ".."} for part in parts):
        raise NotFound("there is no such address", hint="docs/http.md lists the routes")
    return parts


def _hide(request: flask.Request, order: Mapping[str, Json]) -> None:
    """Mask what the caller sent of secrets in an error and its log line, also where they were not looked at yet."""
    ledger = current()
    ledger.add("TOKEN", request.headers.get("Authorization", "").partition(" ")[2].strip())
    keys = order.get("keys")
    signed_in = {name.upper(): order.get(name) for name in ("code", "code_verifier", "refresh_token")}
    typed = {"VALUE": order.get("value"), **signed_in, **(keys if isinstance(keys, dict) else {})}
    for name, value in typed.items():
        if isinstance(value, str):
            ledger.add(name, value)


def _json_reply(
    data: Json,
    status: int,
    traced: Sequence[Traced] | None,
    headers: Mapping[str, str] | None = None,
    *,
    masks: bool = True,
) -> flask.Response:
    """Data as the reply; beside it how each request went, where the order asked for that."""
    data = clean(data) if masks else data
    if traced is not None and isinstance(data, dict):
        data = {**data, "trace": clean([trace_data(entry) for entry in traced])}  # type: ignore[dict-item]  # it is Json
    return _reply(json_bytes(data), status, "application/json", headers)


def _error_reply(error: HabilisError, traced: Sequence[Traced] | None) -> flask.Response:
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return _json_reply({"error": error_data(error)}, error.status, traced, headers)


def _reply(body: bytes, status: int, kind: str, headers: Mapping[str, str] | None = None) -> flask.Response:
    # As a stream: for any other reply the functions framework reads the whole request first, however large.
    reply = flask.Response(iter((body,)), status=status, content_type=kind, headers={**_HEADERS, **(headers or {})})
    reply.content_length = len(body)
    return reply


def _mistyped(name: str, expected: str, value: Json) -> ArgsInvalid:
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "fields", int: "a number", float: "a number"}
    return ArgsInvalid(f"{name}: expected {expected}, got {kinds.get(type(value), 'nothing')}")


def _unexpected() -> Unexpected:
    return Unexpected("something went wrong inside Habilis", hint="tell its operators the error id")


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
