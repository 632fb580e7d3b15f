"""The providers that a relay signs in at for other engines: configuration, with the secrets kept apart from it.

Source: docs/http.md, "The broker".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from habilis.errors import BadInput, EngineFailed, NotFound, Refused
from habilis.hosts import AllowedHosts, checked_url, opt_in_host, origin_of
from habilis.manifest.model import ClientAuth
from habilis.messages import Json
from habilis.reading import read_json, read_yaml
from habilis.records.reading import Record

_VARIABLE = "HABILIS_PROVIDERS"
_LARGEST_BYTES = 256 * 1024
_AUTHS: Mapping[str, ClientAuth] = {"post": "post", "basic": "basic"}
_RESERVED = frozenset({
    "client_id", "client_secret", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "request",
    "request_uri", "response_mode", "response_type", "scope", "state",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An application at a provider, held here.

    Attributes:
        authorize_url: Its page, without a query.
        issuer: The `iss` of its returns, to the letter; "" where it sends none.
        client_auth: Where the secret goes: `post`, into the body, or `basic`, into the header.
        scopes: What engines may ask for.
        params: Sent along to its page.
        private_hosts: `host:port` of its addresses that are private.
    """

    name: str
    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    issuer: str
    client_auth: ClientAuth
    scopes: frozenset[str]
    params: Mapping[str, str]
    private_hosts: frozenset[str]


def find_provider(configured: str, name: str, environ: Mapping[str, str]) -> Provider:
    """One of the providers, with its secret.

    Args:
        configured: What `HABILIS_PROVIDERS` says: JSON, or the path of a YAML or JSON file.
        name: As engines name it.
        environ: Holds the secret, under the name that the provider's `client_secret_env` gives.

    Raises:
        NotFound: No provider has this name.
        EngineFailed: What is configured cannot be read, or the secret is not set.
    """
    try:
        found, file = _configured(configured)
        if name not in found:
            raise NotFound(f"no provider is called {name[:40]!r} at the relay", hint="ask who runs the relay for it")
        return _provider(name, Record(found[name], f"{file}, {name}"), environ)
    except (BadInput, Refused, OSError) as error:
        reason = str(error) if isinstance(error, BadInput | Refused) else str(error.strerror)
    raise EngineFailed(f"the relay's providers are not set up: {reason}", where=_VARIABLE)


def _configured(text: str) -> tuple[Mapping[str, Json], str]:
    """The providers by name, not read yet, and where they stand."""
    file, content = _VARIABLE, text.strip().encode()
    if content and not content.startswith(b"{"):
        path = Path(text.strip()).expanduser()
        file, content = path.name, path.read_bytes()
    if not content.lstrip().startswith(b"{"):
        return read_yaml(content, file).data if content else {}, file
    data = read_json(content, what=file, largest=_LARGEST_BYTES)
    return data if isinstance(data, dict) else {}, file


def _provider(name: str, record: Record, environ: Mapping[str, str]) -> Provider:
    variable = record.text("client_secret_env")
    secret = environ.get(variable, "")
    if not secret:
        raise BadInput(f"{variable} is not set", where=name)
    private = frozenset(record.each("private_hosts", opt_in_host))

    def address(url: str) -> str:
        # The list of hosts is this very configuration: each address vouches for itself.
        _, host, port = origin_of(url)
        hosts = AllowedHosts.of([f"{host}:{port}"], {})
        return checked_url(url, hosts, where=name, private_hosts=private)

    params = {key: _param(key, value, record) for key, value in record.mapping("params").items()}
    auth = record.text("client_auth", default="post")
    if auth not in _AUTHS:
        raise record.wrong(f"expected {' or '.join(_AUTHS)}", "client_auth")
    provider = Provider(
        name=name,
        authorize_url=record.checked("authorize_url", address),
        token_url=record.checked("token_url", address),
        client_id=record.text("client_id"),
        client_secret=secret,
        issuer=record.text("issuer", default=""),
        client_auth=_AUTHS[auth],
        scopes=frozenset(record.texts("scopes")),
        params=params,
        private_hosts=private,
    )
    if unknown := record.rest():
        raise record.wrong("there is no such field", next(iter(unknown)))
    if "?" in provider.authorize_url:
        raise record.wrong("put what follows the ? under params", "authorize_url")
    return provider


def _param(name: str, value: Json, record: Record) -> str:
    if name in _RESERVED:
        raise record.wrong("is set by the relay itself", "params", name)
    if not isinstance(value, str):
        raise record.wrong("expected text; quote it", "params", name)
    return value
