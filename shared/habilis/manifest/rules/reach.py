"""Rules of hosts and addresses: where a request may go."""

import re
from dataclasses import dataclass
from functools import partial

from habilis.errors import HabilisError
from habilis.hosts import AllowedHosts, checked_url, host_entry_problem
from habilis.hosts.typed import looks_private
from habilis.hosts.urls import UrlError, split_url
from habilis.manifest.faults import Faults, Part, suggestion
from habilis.manifest.rules.placeholders import Fillable, check_placeholders, compiled
from habilis.templating import compile_url

_KEY_ENTRY = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,63})\}")
_PLAIN_HTTP = re.compile(r"http://", re.IGNORECASE)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What the rules of one part need to know of the others.

    Attributes:
        root: The whole document.
        keys: Names that `${…}` may hold; None when `auth` could not be read.
        base: What relative addresses are put behind; "" when there is none, or a wrong one.
    """

    root: Part
    reach: Reach
    keys: frozenset[str] | None
    faults: Faults
    base: str = ""


def check_hosts(hosts: Part, declared: frozenset[str] | None, faults: Faults) -> Reach:
    """Note what is wrong with a list of hosts, and return the rest of it."""
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


def check_url(url: Part, whole: Whole, fillable: Fillable) -> None:
    """Note what is wrong with a url: its placeholders, its scheme, its host."""
    template = compiled(partial(compile_url, saved=fillable.saved), url, whole.faults)
    if template is None:
        return
    check_placeholders(template, url, fillable, whole.faults)
    if not whole.reach.is_known:
        return
    key = template.host_key
    if key is not None:
        is_declared = fillable.keys is None or key in fillable.keys
        if is_declared and key not in whole.reach.keys:
            whole.faults.add(url.path, f'the host comes from ${{{key}}}; list "${{{key}}}" under hosts')
    elif template.host is not None:
        _check_literal_host(url, template.host, whole.reach, whole.faults)


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
