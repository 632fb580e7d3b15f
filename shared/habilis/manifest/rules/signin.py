"""Rules of keys, of what they can be, and of how they are proved."""

from habilis.errors import BadInput
from habilis.manifest.faults import Part, shown, suggestion
from habilis.manifest.rules.answers import check_condition, check_place, check_pointer
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import Fillable, check_template, said
from habilis.manifest.rules.reach import Whole
from habilis.manifest.rules.requests import check_request
from habilis.manifest.rules.writes import minted_keys
from habilis.manifest.written import is_template
from habilis.templating import compile_text, whole_value


def check_keys(whole: Whole) -> None:
    """Note what is wrong with the keys of `auth` and with where their values can be read."""
    auth, faults = whole.root.at("auth"), whole.faults
    check_once(auth.texts("env"), "key", faults)
    minted = minted_keys(whole.root)
    for key in auth.entries():
        if key.at("env").text() in minted and key.at("optional").value is not True:
            faults.add(key.path, "this token is never stored, but made anew; say `optional: true`, or leave it out")
        _check_pattern(key.at("pattern"), whole)
        _check_choices(key, whole)


def check_proofs(whole: Whole) -> None:
    """Note what is wrong with how keys are proved, and with where it is said whose they are."""
    fillable = Fillable(keys=whole.keys, arguments=frozenset())
    for name in ("verify", "identity"):
        check_request(whole.root.at(name, "request"), whole, fillable, is_read=True)
    for name in ("id", "label"):
        check_place(whole.root.at("identity", name), whole.faults)


def _check_pattern(written: Part, whole: Whole) -> None:
    if written.text() is None:
        return
    try:
        whole_value(written.text() or "")
    except BadInput as error:
        whole.faults.add(written.path, said(error))


def _check_choices(key: Part, whole: Whole) -> None:
    choices, faults = key.at("choices"), whole.faults
    check_request(choices.at("request"), whole, Fillable(keys=whole.keys, arguments=frozenset()), is_read=True)
    for name in ("list", "value"):
        check_pointer(choices.at(name), faults)
    # What fills them are the fields of an entry, which nobody knows before there is one.
    entry, label = Fillable(keys=whole.keys, arguments=None), choices.at("label")
    if is_template(label.text()):
        check_template(compile_text, label, entry, faults)
    else:
        check_pointer(label, faults)
    check_condition(choices.at("where"), entry, faults)
    for other in choices.at("depends").texts():
        name = str(other.value)
        if whole.keys is not None and name not in whole.keys:
            faults.add(other.path, f"{shown(name)} is not declared in auth{suggestion(name, whole.keys)}")
        if other.value == key.at("env").value:
            faults.add(other.path, "a key cannot depend on itself")
