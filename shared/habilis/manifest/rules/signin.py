"""Rules of keys."""

from habilis.manifest.rules.answers import check_pointer
from habilis.manifest.rules.named import check_once
from habilis.manifest.rules.placeholders import Fillable
from habilis.manifest.rules.reach import Whole
from habilis.manifest.rules.requests import check_request
from habilis.manifest.rules.writes import minted_keys


def check_keys(whole: Whole) -> None:
    """Note what is wrong with the keys of `auth` and with where their values can be read."""
    auth, faults = whole.root.at("auth"), whole.faults
    check_once(auth.texts("env"), "key", faults)
    minted = minted_keys(whole.root)
    for key in auth.entries():
        if key.at("env").text() in minted and key.at("optional").value is not True:
            faults.add(key.path, "this token is never stored, but made anew; say `optional: true`, or leave it out")
        choices = key.at("choices")
        fillable = Fillable(keys=whole.keys, arguments=frozenset())
        check_request(choices.at("request"), whole, fillable, is_read=True)
        for name in ("list", "value", "label"):
            check_pointer(choices.at(name), faults)
