"""Rules of what is read of an answer: places in it, conditions on it, when it is good, and when more is asked for."""

import re

from habilis.errors import BadInput
from habilis.manifest.faults import Faults, Part
from habilis.manifest.rules.placeholders import Fillable, check_placeholders, check_template, said
from habilis.templating import Pointer, compile_condition, compile_place, compile_text

_INTO = re.compile(r"(query|query:[!-z|~]{1,128}|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})")
_NEEDS = {
    "page": ("into",),
    "offset": ("into",),
    "cursor": ("into", "from"),
    "next_url": ("from",),
    "link_header": (),
}
_WITHOUT = {
    "page": ("from",),
    "offset": ("from",),
    "cursor": ("start",),
    "next_url": ("into", "start"),
    "link_header": ("into", "from", "start"),
}
_READS = frozenset({"GET", "HEAD"})


def check_pointer(pointer: Part, faults: Faults) -> None:
    """Note a JSON pointer that can never be followed."""
    text = pointer.text()
    if text is None:
        return
    if "{{" in text or "${" in text:
        faults.add(pointer.path, "expected a JSON pointer into the answer, as /link, without placeholders")
        return
    try:
        Pointer(text)
    except BadInput as error:
        faults.add(pointer.path, said(error))


def check_place(place: Part, faults: Faults) -> None:
    """Note a place in an answer that can never be found: no pointer, no `header:NAME` and not `status`."""
    text = place.text()
    if text is None:
        return
    if "{{" in text or "${" in text:
        faults.add(place.path, "expected a place in the answer, as /id or header:ETag, without placeholders")
        return
    try:
        compile_place(text)
    except BadInput as error:
        faults.add(place.path, said(error))


def check_condition(condition: Part, fillable: Fillable, faults: Faults, *, has_answer: bool = True) -> None:
    """Note what is wrong with a condition, each fault at its own comparison.

    Args:
        has_answer: Whether there is an answer to look into: not before a step is sent.
    """
    if condition.value is None:
        return
    joined = next((condition.at(name) for name in ("all", "any") if condition.at(name).entries()), None)
    parts = joined.entries() if joined else [condition.at("not")] if condition.at("not").value is not None else []
    before = len(faults.found)
    for part in parts:
        check_condition(part, fillable, faults, has_answer=has_answer)
    if len(faults.found) > before:
        return
    try:
        compiled = compile_condition(condition.value)
    except BadInput as error:
        faults.add(condition.path, said(error))
        return
    if not parts and compiled.asks_answer and not has_answer:
        faults.add(condition.path, "there is no answer yet to look into; name an argument or an earlier step")
    if not parts:
        check_placeholders(compiled, condition, fillable, faults)


def check_good(request: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with `ok`, `errors` and `retry` of a request, or of the defaults."""
    check_condition(request.at("ok", "fail_when"), fillable, faults)
    check_place(request.at("ok", "message"), faults)
    for rule in request.at("errors").entries():
        check_condition(rule.at("when"), fillable, faults)
        check_template(compile_text, rule.at("say"), fillable, faults)
    retry = request.at("retry")
    check_place(retry.at("reset"), faults)
    if retry.at("unit").value is not None and retry.at("reset").value is None:
        faults.add(retry.at("unit").path, "`unit` says how `reset` is read; name the place with `reset`")


def check_more(request: Part, fillable: Fillable, faults: Faults, *, is_read: bool) -> None:
    """Note what is wrong with `pages` and `until`: the ways in which a request is sent more than once."""
    pages, until = request.at("pages"), request.at("until")
    if pages.value is not None and until.value is not None:
        faults.add(until.path, "`pages` reads on and `until` waits; a request does one of the two")
    _check_pages(pages, request, fillable, faults)
    for name in ("when", "fail"):
        check_condition(until.at(name), fillable, faults)
    check_place(until.at("every"), faults)
    if until.at("every").value is not None and until.at("every_s").value is not None:
        faults.add(until.at("every").path, "`every_s` is there too; write one of the two")
    for repeats in (pages, until):
        if repeats.value is not None and not is_read and request.at("method").text() not in {None, *_READS}:
            what = f"sends it again and again, and {request.at('method').text()} may act each time; use GET"
            faults.add(repeats.path, f"`{repeats.path[-1]}` {what}", at_name=True)


def _check_pages(pages: Part, request: Part, fillable: Fillable, faults: Faults) -> None:
    by, into = pages.at("by").text(), pages.at("into")
    for name in _NEEDS.get(by or "", ()):
        if pages.at(name).value is None:
            faults.add(pages.at(name).path, f"`by: {by}` needs `{name}`")
    for name in _WITHOUT.get(by or "", ()):
        if pages.at(name).value is not None:
            faults.add(pages.at(name).path, f"`by: {by}` takes no `{name}`; leave it out", at_name=True)
    text = into.text()
    if text is not None and text.startswith("/"):
        check_pointer(into, faults)
        if request.at("json").value is None and request.at("form").value is None:
            faults.add(into.path, "the request has no body to put it into; write `json` or `form`, or query:NAME")
    elif text == "query" and by != "cursor":
        faults.add(into.path, "`query` alone takes the fields of a cursor; write query:NAME")
    elif text is not None and not _INTO.fullmatch(text):
        faults.add(into.path, "expected query:NAME, query, header:NAME or a pointer into the body, as /page")
    check_pointer(pages.at("items"), faults)
    for name in ("from", "total"):
        check_place(pages.at(name), faults)
    check_condition(pages.at("stop"), fillable, faults)
