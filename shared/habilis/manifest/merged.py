"""A request as it is meant: what it says itself, and where it is silent, what `defaults` say."""

from typing import Any

from habilis.manifest import shape
from habilis.manifest.written import is_given, is_relative, joined
from habilis.messages import Json

_TIMEOUT_S = 60.0
_EVERY_S = 2.0


def request_of(request: shape.RequestShape, defaults: shape.DefaultsShape) -> dict[str, Any]:
    """A request in the plain form, whole.

    An address that an earlier answer gave takes no header, query and sign-in of the defaults: it carries its own
    permission, and the keys are not meant for it.
    """
    shared = shape.DefaultsShape() if is_given(request.url) else defaults
    return {
        "method": request.method,
        "url": joined(defaults.base or "", request.url) if is_relative(request.url) else request.url,
        "query": list(_there({**shared.query, **request.query}).items()),
        "headers": _headers(request, shared),
        "basic_auth": _basic_auth(request, shared),
        "json": request.body,
        "form": request.form,
        "multipart": [part.model_dump() for part in request.multipart or ()],
        "body_file": request.body_file,
        "timeout_s": float(request.timeout_s or defaults.timeout_s or _TIMEOUT_S),
        "decode": request.decode or "",
        "ok": _ok(request.ok or defaults.ok or shape.OkShape()),
        "errors": [{"when": rule.when, "say": rule.say} for rule in request.errors],
        "retry": _retry(request.retry or defaults.retry),
        "idempotency": request.idempotency and request.idempotency.model_dump(),
        "pages": _pages(request.pages),
        "until": _until(request.until),
        "sign": _sign(request.sign),
    }


def _there(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _headers(request: shape.RequestShape, shared: shape.SharedShape) -> list[tuple[str, str]]:
    own = {name.lower() for name in request.headers}
    if request.basic_auth or _signs_in(request.sign):
        own.add("authorization")
    if request.form is not None or request.multipart or request.body_file:
        own.add("content-type")
    taken = {name: value for name, value in shared.headers.items() if name.lower() not in own}
    return list(_there({**taken, **request.headers}).items())


def _basic_auth(request: shape.RequestShape, shared: shape.SharedShape) -> list[str] | None:
    has_own = "basic_auth" in request.model_fields_set or _signs_in(request.sign)
    if has_own or any(name.lower() == "authorization" for name in request.headers):
        return request.basic_auth
    return shared.basic_auth


def _signs_in(sign: shape.SignShape | None) -> bool:
    """Whether a signature takes the Authorization header."""
    if sign is None:
        return False
    otherwise = "" if sign.scheme == "hmac" or sign.query else "Authorization"
    return (sign.header or otherwise).lower() == "authorization"


def _ok(ok: shape.OkShape) -> dict[str, Json]:
    return {"statuses": list(ok.status), "fail_when": ok.fail_when, "message": ok.message}


def _retry(retry: shape.RetryShape | None) -> dict[str, Json] | None:
    if retry is None:
        return None
    return {
        "tries": retry.tries,
        "statuses": [one for one in retry.on if one != "network"],
        "on_network": "network" in retry.on,
        "wait_s": None if retry.wait == "exponential" else float(retry.wait),
        "reset": retry.reset,
        "unit": retry.unit or "",
    }


def _pages(pages: shape.PagesShape | None) -> dict[str, Json] | None:
    if pages is None:
        return None
    return {
        "by": pages.by,
        "into": pages.into or "",
        "items": pages.items,
        "size": pages.size or 0,
        "start": (0 if pages.by == "offset" else 1) if pages.start is None else pages.start,
        "next": pages.next,
        "stop": pages.stop,
        "most": pages.most,
        "total": pages.total,
    }


def _until(until: shape.UntilShape | None) -> dict[str, Json] | None:
    if until is None:
        return None
    return {
        "when": until.when,
        "fail": until.fail,
        "every_s": float(until.every_s or _EVERY_S),
        "every": until.every,
        "most_s": float(until.most_s),
    }


def _sign(sign: shape.SignShape | None) -> dict[str, Any] | None:
    if sign is None:
        return None
    return {"scheme": sign.scheme, "values": _there(sign.model_dump(exclude={"scheme"}))}
