"""Rules of one request: where it goes, what its headers may be, and what fills it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from habilis.errors import BadInput, HabilisError
from habilis.hosts import AllowedHosts, checked_url, host_entry_problem
from habilis.hosts.typed import looks_private
from habilis.hosts.urls import UrlError, split_url
from habilis.manifest.faults import Faults, Part, suggestion
from habilis.manifest.placeholders import Fillable, check_placeholders, compiled, leaves, said
from habilis.manifest.schemas import check_as_written
from habilis.reading.document import Path
from habilis.templating import JsonTemplate, compile_header, compile_json, compile_text, compile_url, header_value

_KEY_ENTRY = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,63})\}")
_PLAIN_HTTP = re.compile(r"http://", re.IGNORECASE)
_SET_BY_ENGINE = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The hosts of a manifest, as far as they are well-formed.

    Attributes:
        names: Entries that are names.
        keys: Keys whose value is a host.
        is_known: False when the list could not be read; then nothing is said about hosts.
    """

    names: tuple[str, ...]
    keys: frozenset[str]
    is_known: bool

    def refusal(self, scheme: str, host: str) -> str | None:
        """Why a literal host may not be called; None when it may.

        Args:
            scheme: "https" or "http".
            host: `host` or `host:port`, as written.
        """
        url = f"{scheme}://{host}/"
        try:
            parts = split_url(url)
            # A manifest may name a private host; the operator of the account opens it, or does not.
            opened = frozenset({parts.place}) if looks_private(parts.host) else frozenset[str]()
            checked_url(url, AllowedHosts.of(self.names, {}), where="", private_hosts=opened)
        except UrlError as error:
            return str(error)
        except HabilisError as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
        return None


def check_hosts(hosts: Part, declared: frozenset[str] | None, faults: Faults) -> Reach:
    """Note what is wrong with `hosts`, and return the rest of it."""
    names, keys, is_known = [], set(), isinstance(hosts.value, list)
    for entry in hosts.texts():
        text = entry.text() or ""
        key = _KEY_ENTRY.fullmatch(text)
        problem = host_entry_problem(text)
        if key and declared is not None and key[1] not in declared:
            problem = f"{text} is not declared in auth{suggestion(key[1], declared)}"
        if problem:
            faults.add(entry.path, problem)
            is_known = False
        elif key:
            keys.add(key[1])
        else:
            names.append(text)
    return Reach(names=tuple(names), keys=frozenset(keys), is_known=is_known)


def check_request(request: Part, reach: Reach, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong across the fields of a request."""
    check_url(request.at("url"), reach, fillable, faults)
    headers = request.at("headers").fields()
    _check_header_names(headers.values(), request.at("basic_auth"), faults)
    for make, texts in ((compile_header, headers.values()), (compile_text, request.at("basic_auth").texts())):
        for text in texts:
            template = compiled(make, text, faults)
            if template:
                check_placeholders(template, text, fillable, faults)
    for header in headers.values():
        _check_header_value(header, faults)
    _check_body(request.at("json"), fillable, faults)


def check_url(url: Part, reach: Reach, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with a url: its placeholders, its scheme, its host."""
    template = compiled(compile_url, url, faults)
    if template is None:
        return
    check_placeholders(template, url, fillable, faults)
    if not reach.is_known:
        return
    key = template.host_key
    if key is not None:
        is_declared = fillable.keys is None or key in fillable.keys
        if is_declared and key not in reach.keys:
            faults.add(url.path, f'the host comes from ${{{key}}}; list "${{{key}}}" under hosts')
    elif template.host is not None:
        _check_literal_host(url, template.host, reach, faults)


def _check_literal_host(url: Part, host: str, reach: Reach, faults: Faults) -> None:
    scheme = "http" if _PLAIN_HTTP.match(url.text() or "") else "https"
    if "${" in host:
        # A key may stand for labels in front of a listed host, or behind a label when the host is the key's own.
        before, _, behind = host.rpartition("}")
        last_key = before.rpartition("${")[2].partition("|")[0]
        if not behind and last_key in reach.keys:
            return
        if not behind.startswith("."):
            faults.add(url.path, "a key in a host stands for whole labels in front of a listed host")
            return
        host = behind[1:]
    refusal = reach.refusal(scheme, host)
    if refusal:
        faults.add(url.path, refusal)


def _check_body(body: Part, fillable: Fillable, faults: Faults) -> None:
    if check_as_written(body, faults):
        return
    before = len(faults.found)
    for leaf in leaves(body):
        template = _compiled_json(leaf, faults)
        if template:
            check_placeholders(template, leaf, fillable, faults)
    if len(faults.found) == before:
        _compiled_json(body, faults)  # for placeholders in names


def _compiled_json(part: Part, faults: Faults) -> JsonTemplate | None:
    try:
        return compile_json(part.value)
    except BadInput as error:
        faults.add(part.path, said(error))
        return None


def _check_header_value(header: Part, faults: Faults) -> None:
    try:
        header_value(header.text() or "", name="the value")
    except BadInput as error:
        faults.add(header.path, error.message)


def _check_header_names(headers: Iterable[Part], basic_auth: Part, faults: Faults) -> None:
    first: dict[str, Path] = {}
    for header in headers:
        name = str(header.path[-1]).lower()
        if name in _SET_BY_ENGINE or name.startswith("proxy-"):
            faults.add(header.path, "Habilis sets this header itself; leave it out", at_name=True)
        elif name == "authorization" and basic_auth.value is not None:
            faults.add(header.path, "`basic_auth` sets this header; write one of the two", at_name=True)
        elif name in first:
            message = f"the header is named twice; first in line {faults.line(first[name])}"
            faults.add(header.path, message, at_name=True)
        first.setdefault(name, header.path)
