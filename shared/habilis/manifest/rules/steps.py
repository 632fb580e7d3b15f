"""Rules of a call: one request or several steps, each filled from the arguments and from the steps before it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from habilis.manifest.faults import Faults, Part, suggestion
from habilis.manifest.later import is_called_otherwise
from habilis.manifest.rules.answers import check_condition, check_place, check_pointer
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import (
    ANYTHING,
    FILE,
    FILES,
    NUMBER,
    Fillable,
    Inside,
    check_placeholders,
    check_template,
    compiled,
)
from habilis.manifest.rules.reach import Whole
from habilis.manifest.rules.requests import check_request
from habilis.manifest.schemas import check_as_written
from habilis.manifest.written import expression, is_template
from habilis.templating import compile_json, compile_text

_IN_FILES = "{{file}} is one of `for_each: files`"
_IN_LOOP = "it is one of a `for_each`"
_OUTSIDE = {"file": _IN_FILES, "item": _IN_LOOP, "index": _IN_LOOP}
_RESERVED = frozenset({"files", *_OUTSIDE})
_MIME = re.compile(r"[a-z]+/[a-z0-9.+-]+")
_ITEM = frozenset({"item"})
_FILE_LISTS = frozenset({"files", "file"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """A step that is over, as those after it see it.

    Attributes:
        inside: What stands behind its name.
        has_files: Whether it ran over files, so that a loop over it has a `{{file}}` too.
    """

    inside: Inside
    has_files: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """What each run of a step has of its own.

    Attributes:
        saved: Those of the names whose values earlier answers gave.
    """

    names: Mapping[str, Inside] = field(default_factory=dict)
    saved: frozenset[str] = frozenset()


def check_call(call: Part, whole: Whole, fillable: Fillable, *, is_read: bool) -> None:
    """Note what is wrong with what tools and provided contracts have in common."""
    if is_called_otherwise(call):
        return
    request, steps, faults = call.at("request"), call.at("steps"), whole.faults
    fillable = replace(fillable.with_names({"files": FILES}), absent=_OUTSIDE)
    if request.value is not None and steps.value is not None:
        faults.add(steps.path, "a call is one `request` or several `steps`; write one of the two", at_name=True)
    if request.value is None and steps.value is None:
        faults.add(request.path, "missing; say what is sent: a `request`, or `steps`")
    check_request(request, whole, fillable, is_read=is_read)
    after = _check_steps(steps.entries(), whole, fillable, is_read=is_read)
    _check_result(call.at("result"), after, faults)
    for argument, replacements in call.at("map").fields().items():
        if fillable.arguments is not None and argument not in fillable.arguments:
            message = f"no argument has this name{suggestion(argument, fillable.arguments)}"
            faults.add(replacements.path, message)
        check_as_written(replacements, faults)


def _check_steps(steps: Sequence[Part], whole: Whole, fillable: Fillable, *, is_read: bool) -> Fillable:
    """Note what is wrong with the steps, and return what may be filled after the last."""
    check_once((step.at("name") for step in steps), "step", whole.faults)
    names = [step.at("name").text() or "" for step in steps]
    done: dict[str, _Done] = {}
    for number, step in enumerate(steps):
        later = {name: f"step '{name}' comes later" for name in names[number + 1 :]}
        own = {names[number]: "a step does not know its own answer"}
        before = replace(_with_steps(fillable, done), absent={**_OUTSIDE, **later, **own})
        for name in (step.at("name"), step.at("save_error")):
            _check_name(name, fillable, whole.faults)
        loop = _check_loop(step.at("for_each"), before, done, whole.faults)
        inner = replace(before.with_names(loop.names), saved=before.saved | loop.saved)
        check_condition(step.at("when"), inner, whole.faults, has_answer=False)
        check_request(step.at("request"), whole, inner, is_read=is_read)
        done |= _saved(step, names, has_files="file" in loop.names, faults=whole.faults)
    return _with_steps(fillable, done)


def _with_steps(fillable: Fillable, done: Mapping[str, _Done]) -> Fillable:
    inside = {name: step.inside for name, step in done.items() if name}
    return replace(fillable.with_names(inside), saved=frozenset(inside))


def _check_name(name: Part, fillable: Fillable, faults: Faults) -> None:
    if name.text() in _RESERVED:
        faults.add(name.path, f"Habilis fills {{{{{name.text()}}}}} itself; choose another name")
    elif fillable.arguments is not None and name.text() in fillable.arguments:
        faults.add(name.path, "an argument is called that too; choose another name")


def _check_loop(over: Part, before: Fillable, done: Mapping[str, _Done], faults: Faults) -> _Loop:
    """Note what is wrong with what a step runs over, and return what each run has of its own."""
    text = over.text()
    if text is None:
        return _Loop()
    if text == "files":
        return _Loop(names={"item": FILE, "file": FILE, "index": NUMBER})
    if text in done:
        step = done[text]
        if not step.inside.is_list and step.inside.names is not None:
            faults.add(over.path, f"step '{text}' runs once; name the list that it saves, as {{{{{text}.ids}}}}")
        files = {"file": FILE} if step.has_files else {}
        return _Loop(names={"item": Inside(names=step.inside.names), "index": NUMBER, **files}, saved=_ITEM)
    template = compiled(lambda text: compile_json(expression(text)), over, faults)
    if template is None:
        return _Loop(names={"item": ANYTHING, "index": NUMBER})
    check_placeholders(template, over, before, faults)
    files = {"file": ANYTHING} if template.arguments & _FILE_LISTS else {}
    is_saved = template.arguments <= before.saved and not template.keys
    return _Loop(names={"item": ANYTHING, "index": NUMBER, **files}, saved=_ITEM if is_saved else frozenset())


def _saved(step: Part, names: Sequence[str], *, has_files: bool, faults: Faults) -> dict[str, _Done]:
    """Note what is wrong with what a step saves, and return what stands behind its names afterwards."""
    name, save, error = step.at("name").text() or "", step.at("save").fields(), step.at("save_error")
    for place in save.values():
        check_place(place, faults)
    is_list = step.at("for_each").value is not None
    done = {name: _Done(inside=Inside(names=frozenset(save) or None, is_list=is_list), has_files=has_files)}
    text = error.text()
    if text is None:
        return done
    if text in names:
        faults.add(error.path, "a step is called that; choose another name")
    if step.at("on_error").text() != "skip":
        faults.add(error.path, "the call ends when the step fails; say `on_error: skip` to go on")
    return {**done, text: _Done(inside=Inside(is_list=is_list), has_files=False)}


def _check_result(result: Part, after: Fillable, faults: Faults) -> None:
    text, mime = result.at("text"), result.at("mime")
    if is_template(text.value):
        check_template(compile_text, text, after, faults)
    else:
        check_pointer(text, faults)
    for name in ("file_url", "file_b64"):
        check_place(result.at(name), faults)
    if result.at("file_url").value is not None and result.at("file_b64").value is not None:
        faults.add(result.at("file_b64").path, "`file_url` is there too; write one of the two", at_name=True)
    if (mime.text() or "").startswith("/"):
        check_pointer(mime, faults)
    elif mime.text() is not None and not _MIME.fullmatch(mime.text() or ""):
        faults.add(mime.path, "expected a type, as image/png, or a pointer to it")
    check_template(compile_text, result.at("name"), after, faults)
