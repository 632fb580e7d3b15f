"""Which way to sign in an account uses, and what each way needs."""

from collections.abc import Iterable, Mapping

from habilis.manifest.model import (
    ClientCredentialsFlow,
    Manifest,
    OAuth2Flow,
    RedirectFlow,
    RequestTemplate,
    ServiceAccountFlow,
    SessionFlow,
    Way,
)
from habilis.names import KeyName
from habilis.templating import TextTemplate


def way_in_use(manifest: Manifest, keys: Mapping[str, str]) -> Way | None:
    """The first way that the account's keys are enough for; None where there is none."""
    return next((way for way in manifest.ways if is_set_up(way, manifest, keys)), None)


def is_set_up(way: Way, manifest: Manifest, keys: Mapping[str, str]) -> bool:
    """Whether the account's keys are enough for this way."""
    return all(keys.get(name) for name in _proof(way, manifest))


def is_ready(manifest: Manifest, keys: Mapping[str, str]) -> bool:
    """Whether an account can be used: its required keys are set, and one of the ways to sign in, if there are any."""
    if not all(keys.get(name) for name in manifest.required_keys):
        return False
    return not manifest.ways or way_in_use(manifest, keys) is not None


def asked_keys(way: Way) -> tuple[KeyName, ...]:
    """The keys that a person gives before the way can be gone, in the order in which they are asked for."""
    match way:
        case ServiceAccountFlow():
            return (way.key_file,)
        case ClientCredentialsFlow():
            names = _needed(way.token_url.keys, *_keys_of(way.client_id, way.client_secret, *way.token_params.values()))
        case SessionFlow():
            names = _needed(*_parts(way.request))
        case OAuth2Flow(register=None):
            names = [*way.needs, *_needed(way.authorize_url.keys, way.token_url.keys, way.client_id.keys)]
        case _:
            names = list(way.needs)
    return tuple(dict.fromkeys(KeyName(name) for name in names if name not in way.kept_keys))


def _proof(way: Way, manifest: Manifest) -> Iterable[str]:
    """The keys that are all set where the way was gone."""
    match way:
        case RedirectFlow():
            # Typed keys do as well as those that came back, and what is optional need not be typed.
            return [name for name in way.returns if name in manifest.required_keys] or way.returns
        case ServiceAccountFlow() | ClientCredentialsFlow() | SessionFlow():
            return asked_keys(way)
    return (way.token_env,)


def _parts(request: RequestTemplate) -> Iterable[Mapping[str, bool]]:
    """The keys of each template of a request."""
    yield request.url.keys
    for template in (request.json, request.form, *(value for _, value in request.query)):
        if template is not None:
            yield template.keys
    yield from _keys_of(*(value for _, value in request.headers), *(request.basic_auth or ()))


def _keys_of(*templates: TextTemplate) -> Iterable[Mapping[str, bool]]:
    return (template.keys for template in templates)


def _needed(*parts: Mapping[str, bool]) -> list[str]:
    """The keys without a default."""
    return [name for keys in parts for name, has_default in keys.items() if not has_default]
