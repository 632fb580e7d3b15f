"""Rules of `sign`: what each scheme needs, and what it knows."""

from habilis.manifest.faults import Faults, Part, listing
from habilis.manifest.rules.placeholders import NUMBER, Fillable, check_template, check_value
from habilis.templating import compile_text

_NEEDED = {
    "hmac": ("key",),
    "oauth1": ("consumer_key", "consumer_secret"),
    "jwt": ("key",),
}
_KNOWN = {
    "hmac": ("key", "header", "query", "key_encoding", "alg", "text", "encoding", "value"),
    "oauth1": ("consumer_key", "consumer_secret", "token", "token_secret", "alg", "key", "realm"),
    "jwt": ("key", "key_encoding", "alg", "kid", "claims", "lifetime_s", "header", "query", "value"),
}
_ALGORITHMS = {
    "hmac": frozenset({"sha256", "sha1", "sha384", "sha512"}),
    "oauth1": frozenset({"HMAC-SHA1", "HMAC-SHA256", "PLAINTEXT", "RSA-SHA1"}),
    "jwt": frozenset({"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "PS256", "EdDSA"}),
}
_TEMPLATES = ("key", "kid", "consumer_key", "consumer_secret", "token", "token_secret", "realm")
_OF_REQUEST = dict.fromkeys(("body", "method", "url", "host", "path", "query"), NUMBER)
_MADE = {"hmac": "signature", "jwt": "token"}


def check_sign(sign: Part, headers: Part, fillable: Fillable, faults: Faults) -> None:
    """Note what is wrong with a request's signature."""
    scheme = sign.at("scheme").text() or ""
    if scheme not in _NEEDED:
        return
    for name in _NEEDED[scheme]:
        if sign.at(name).value is None:
            faults.add(sign.at(name).path, f"`scheme: {scheme}` needs `{name}`")
    for name, value in sign.fields().items():
        if value.value is not None and name not in {"scheme", *_KNOWN[scheme]}:
            message = f"`scheme: {scheme}` takes no `{name}`; it takes {', '.join(_KNOWN[scheme])}"
            faults.add(value.path, message, at_name=True)
    alg = sign.at("alg")
    if alg.text() is not None and alg.text() not in _ALGORITHMS[scheme]:
        faults.add(alg.path, f"expected one of {listing(_ALGORITHMS[scheme])}")
    if alg.text() == "RSA-SHA1" and sign.at("key").value is None:
        faults.add(sign.at("key").path, "`alg: RSA-SHA1` needs `key`, a private key as PEM")
    _check_texts(sign, scheme, fillable, faults)
    _check_carrier(sign, scheme, headers, faults)


def _check_carrier(sign: Part, scheme: str, headers: Part, faults: Faults) -> None:
    """Note what is wrong with where the signature stands."""
    header, query = sign.at("header"), sign.at("query")
    if header.value is not None and query.value is not None:
        faults.add(query.path, "`header` is there too; write one of the two", at_name=True)
    if scheme == "hmac" and header.value is None and query.value is None:
        faults.add(header.path, "`scheme: hmac` needs `header`, or `query`")
    name = header.text() or ("" if scheme == "hmac" or query.value is not None else "Authorization")
    given = headers.fields().items()
    clash = next((one for other, one in given if name and other.lower() == name.lower()), None)
    if clash is not None and clash.value is not None:
        faults.add(clash.path, "`sign` sets this header; leave it out here", at_name=True)


def _check_texts(sign: Part, scheme: str, fillable: Fillable, faults: Faults) -> None:
    for name in _TEMPLATES:
        check_template(compile_text, sign.at(name), fillable, faults)
    check_value(sign.at("claims"), fillable, faults)
    check_template(compile_text, sign.at("text"), fillable.with_names(_OF_REQUEST), faults)
    made = _MADE.get(scheme)
    value = sign.at("value")
    if made:
        check_template(compile_text, value, fillable.with_names({made: NUMBER}), faults)
        if value.text() is not None and f"{{{{{made}" not in (value.text() or ""):
            faults.add(value.path, f"expected {{{{{made}}}}} somewhere in it")
