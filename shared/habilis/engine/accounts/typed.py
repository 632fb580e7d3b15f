"""Keys as people type them: checked, and as they are stored."""

from collections.abc import Mapping

from habilis.engine.accounts.formats import misfit
from habilis.errors import ArgsInvalid, SecretMalformed
from habilis.hosts import site_address
from habilis.manifest.model import AuthKey, Manifest
from habilis.redaction import SHORTEST_SECRET


def check_keys(manifest: Manifest, keys: Mapping[str, str]) -> dict[str, str]:
    """Check typed keys and return them as they are stored: a site's address normalised, a trailing line break off.

    Raises:
        ArgsInvalid: The ability declares no such key, or the value is none of its options, or of another kind.
        SecretMalformed: A value holds a NUL, or is not what a mail server's entry is.
        BadInput: A value that gives a host is no address.
    """
    declared: dict[str, AuthKey] = {key.env: key for key in manifest.auth}
    checked = {}
    for name, value in keys.items():
        if name not in declared:
            raise ArgsInvalid(f"{manifest.id!r} declares no key {name!r}", hint=known(declared))
        if "\0" in value:
            raise SecretMalformed(f"{name} holds a NUL character", hint="paste it again")
        trimmed = value.rstrip("\r\n")
        options = declared[name].options
        if options and trimmed and trimmed not in options:
            raise ArgsInvalid(f"{name} is none of its options", hint=f"choose {', '.join(options)}")
        if manifest.smtp is not None:
            from habilis.exchange.mailserver import check_mail_key  # most abilities send no mail

            check_mail_key(manifest.smtp, name, trimmed)
        is_host = f"${{{name}}}" in manifest.hosts
        checked[name] = site_address(trimmed) if is_host and trimmed else trimmed
        expected = misfit(declared[name], checked[name]) if trimmed else ""
        if expected:
            raise ArgsInvalid(f"{name} does not look right", hint=f"expected {expected}")
    return checked


def key_notices(manifest: Manifest, keys: Mapping[str, str]) -> list[str]:
    """What a person should know of the values being saved; never the values."""
    notices = []
    for name, value in keys.items():
        trimmed = value.rstrip("\r\n")
        if trimmed != value:
            notices.append(f"{name} ended with a line break, which was left off")
        if trimmed and name not in manifest.public_keys and len(trimmed) < SHORTEST_SECRET:
            notices.append(f"{name} is so short that it cannot be masked where a service echoes it")
    return notices


def known(names: Mapping[str, object]) -> str:
    """The names of the keys that there are, for a hint."""
    return f"it has {', '.join(names)}" if names else "it has no keys"
