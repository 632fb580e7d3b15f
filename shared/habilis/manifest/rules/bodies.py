"""Rules of a request's body: one of its kinds, and files where files are meant."""

import re

from habilis.manifest.faults import Faults, Part
from habilis.manifest.rules.placeholders import (
    Fillable,
    check_placeholders,
    check_template,
    check_value,
    compiled,
)
from habilis.manifest.schemas import check_as_written
from habilis.templating import compile_json, compile_text

_KINDS = ("json", "form", "multipart", "body_file")
_ONE_PLACEHOLDER = re.compile(r"\{\{(?!.*\{\{).*\}\}", re.DOTALL)
_A_CALL = re.compile(r"\{\{\s*\w+\s*\(")
_FILES = frozenset({"files", "file", "item"})


def check_body(request: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with the body of a request."""
    given = [request.at(kind) for kind in _KINDS if request.at(kind).value is not None]
    for other in given[1:]:
        faults.add(other.path, f"a request has one body, and `{given[0].path[-1]}` is there too", at_name=True)
    method = request.at("method").text()
    if given and method in {"GET", "HEAD"}:
        faults.add(given[0].path, f"{method} carries no body; write `query`, or another method", at_name=True)
    for body in (request.at("json"), request.at("form")):
        if not check_as_written(body, faults):
            check_value(body, fillable, faults)
    for part in request.at("multipart").entries():
        _check_part(part, fillable, faults)
    _check_file(request.at("body_file"), fillable, faults, one=True)


def _check_part(part: Part, fillable: Fillable, faults: Faults) -> None:
    value, file = part.at("value"), part.at("file")
    if (value.value is None) == (file.value is None):
        faults.add(part.path, "expected either `value` or `file`")
    if value.value is not None and part.at("filename").value is not None:
        faults.add(part.at("filename").path, "a name is for a file; leave it out beside `value`", at_name=True)
    if not check_as_written(value, faults):
        check_value(value, fillable, faults)
    _check_file(file, fillable, faults, one=False)
    for name in ("filename", "mime"):
        check_template(compile_text, part.at(name), fillable, faults)


def _check_file(file: Part, fillable: Fillable, faults: Faults, *, one: bool) -> None:
    """Note what is wrong with the placeholder that leads to a file, or to `one` alone."""
    text = file.text()
    if text is None:
        return
    template = compiled(compile_json, file, faults)
    if template is None:
        return
    before = len(faults.found)
    check_placeholders(template, file, fillable, faults)
    if len(faults.found) > before:
        return
    if not _ONE_PLACEHOLDER.fullmatch(text.strip()) or not template.paths:
        faults.add(file.path, "expected one placeholder that leads to a file, as {{files.0}}")
        return
    if not template.arguments & _FILES:
        faults.add(file.path, "leads to no file; files are {{files.0}}, and {{file}} inside `for_each: files`")
    elif not _A_CALL.match(text):
        _check_plain_path(min(template.paths), file, faults, one=one)


def _check_plain_path(path: tuple[str, ...], file: Part, faults: Faults, *, one: bool) -> None:
    if path[0] == "files" and one and (len(path) == 1 or path[1] == "*"):
        faults.add(file.path, "{{files}} are several; write {{files.0}} for the first")
    elif len(path) > {"file": 1, "files": 2}.get(path[0], len(path)):
        faults.add(file.path, "leads to a fact of a file; write {{file}} or {{files.0}} for its bytes")
