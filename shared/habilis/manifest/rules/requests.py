"""Rules of one request: where it goes, what its headers may be, what fills it, and how often it is sent."""

from collections.abc import Iterable
from dataclasses import replace

from habilis.errors import BadInput
from habilis.manifest.faults import Faults, Part
from habilis.manifest.rules.answers import check_good, check_more
from habilis.manifest.rules.bodies import check_body
from habilis.manifest.rules.placeholders import Fillable, check_template, check_value
from habilis.manifest.rules.reach import Whole, check_url
from habilis.manifest.rules.signs import check_sign
from habilis.manifest.schemas import check_as_written
from habilis.manifest.written import is_relative, joined
from habilis.reading.document import Path
from habilis.templating import compile_header, compile_text, header_value

_SET_BY_ENGINE = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
})  # fmt: skip


def with_defaults(whole: Whole) -> Whole:
    """Note what is wrong with what all requests have in common, and return the whole with its base."""
    defaults, fillable = whole.root.at("defaults"), Fillable(keys=whole.keys, arguments=frozenset())
    base, before = defaults.at("base"), len(whole.faults.found)
    check_url(base, whole, fillable)
    is_right = len(whole.faults.found) == before
    _check_shared(defaults, fillable, whole.faults)
    return replace(whole, base=base.text() or "" if is_right else "")


def check_request(request: Part, whole: Whole, fillable: Fillable, *, is_read: bool) -> None:
    """Note what is wrong across the fields of a request.

    Args:
        is_read: Whether the call that it belongs to changes nothing outside.
    """
    check_url(_absolute(request.at("url"), whole), whole, fillable)
    _check_shared(request, fillable, whole.faults)
    check_body(request, fillable, whole.faults)
    check_more(request, fillable, whole.faults, is_read=is_read)
    check_sign(request.at("sign"), request.at("headers"), fillable, whole.faults)
    known = request.at("idempotency")
    check_template(compile_text, known.at("value"), fillable, whole.faults)
    _check_carriers(request, whole.faults)
    for name, header in request.at("headers").fields().items():
        if header.value is not None and name.lower() == str(known.at("header").value).lower():
            whole.faults.add(header.path, "`idempotency` sets this header; leave it out here", at_name=True)
        if name.lower() == "content-type" and request.at("multipart").value is not None:
            message = "the body brings its own, with the boundary between its parts; leave it out"
            whole.faults.add(header.path, message, at_name=True)


def _absolute(url: Part, whole: Whole) -> Part:
    """The url behind the base that it is relative to; noted when there is none."""
    text = url.text()
    if text is None or not is_relative(text):
        return url
    if whole.root.at("defaults", "base").value is None:
        message = "only absolute https URLs, or a key at the start; `/…` is put behind the `base` of `defaults`"
        whole.faults.add(url.path, message)
    return Part(value=joined(whole.base, text) if whole.base else None, path=url.path)


def _check_shared(request: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with the fields that a request and the defaults have in common."""
    headers = request.at("headers").fields()
    _check_header_names(headers.values(), request.at("basic_auth"), faults)
    for header in headers.values():
        check_template(compile_header, header, fillable, faults)
        _check_header_value(header, faults)
    for text in request.at("basic_auth").texts():
        check_template(compile_text, text, fillable, faults)
    query = request.at("query")
    if not check_as_written(query, faults):
        for value in query.fields().values():
            check_value(value, fillable, faults)
    check_good(request, fillable, faults)


def _check_carriers(request: Part, faults: Faults) -> None:
    """Note a header of the engine's own where a key, a signature or a page would be carried."""
    for carrier in (request.at("idempotency", "header"), request.at("sign", "header"), request.at("pages", "into")):
        text = carrier.text() or ""
        if carrier.path[-1] == "into":
            kind, _, text = text.partition(":")
            text = text if kind == "header" else ""
        if _is_set_by_engine(text):
            faults.add(carrier.path, f"Habilis sets the header {text} itself; name another one")


def _is_set_by_engine(name: str) -> bool:
    return name.lower() in _SET_BY_ENGINE or name.lower().startswith("proxy-")


def _check_header_value(header: Part, faults: Faults) -> None:
    try:
        header_value(header.text() or "", name="the value")
    except BadInput as error:
        faults.add(header.path, error.message)


def _check_header_names(headers: Iterable[Part], basic_auth: Part, faults: Faults) -> None:
    first: dict[str, Path] = {}
    for header in headers:
        name = str(header.path[-1]).lower()
        if _is_set_by_engine(name):
            faults.add(header.path, "Habilis sets this header itself; leave it out", at_name=True)
        elif name == "authorization" and header.value is not None and basic_auth.value is not None:
            faults.add(header.path, "`basic_auth` sets this header; write one of the two", at_name=True)
        elif name in first:
            message = f"the header is named twice; first in line {faults.line(first[name])}"
            faults.add(header.path, message, at_name=True)
        first.setdefault(name, header.path)
