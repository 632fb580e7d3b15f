"""Rules of `transport: smtp`: a mail server, and nothing that another transport carries."""

from habilis.manifest.faults import Faults, Part
from habilis.manifest.rules.placeholders import Fillable, check_template
from habilis.templating import compile_text

_OF_HTTP = ("hosts", "result_hosts", "defaults", "tools", "sources", "connect")
_OF_CALLS = frozenset({"request", "steps", "result", "map", "limits"})
_SECURITY = ("starttls", "tls", "none")


def check_mail(root: Part, keys: frozenset[str] | None, faults: Faults) -> None:
    """Note what is wrong with the mail server, and with what stands beside it."""
    smtp = root.at("smtp")
    if root.at("transport").text() != "smtp":
        if smtp.value is not None:
            faults.add(smtp.path, "a mail server goes with `transport: smtp`", at_name=True)
        return
    if smtp.value is None:
        faults.add(smtp.path, "missing; `transport: smtp` needs a mail server")
    for name in _OF_HTTP:
        if root.at(name).value is not None:
            faults.add(root.at(name).path, "a mail server has no part in this; leave it out", at_name=True)
    _check_provides(root.at("provides"), faults)
    for value in smtp.fields().values():
        check_template(compile_text, value, Fillable(keys=keys, arguments=frozenset()), faults)
    security = smtp.at("security").text()
    if security is not None and "${" not in security and security not in _SECURITY:
        faults.add(smtp.at("security").path, "expected starttls, tls or none")


def _check_provides(provides: Part, faults: Faults) -> None:
    if provides.value is None:
        faults.add(provides.path, "missing; a mail server provides mail: `provides: { email: {} }`")
    for contract, provided in provides.fields().items():
        if contract != "email":
            faults.add(provided.path, "a mail server provides `email` alone", at_name=True)
        for name in _OF_CALLS & provided.fields().keys():
            faults.add(provided.at(name).path, "the mail server carries it out; leave this out", at_name=True)
