"""The beginning of a sign-in in a browser: the page to open, and what its end will need."""

import json
from functools import partial

from habilis.engine.connecting.pending import WAITS_FOR, Pending
from habilis.engine.connecting.subject import Subject, find_subject
from habilis.engine.outside import Outside, Relay
from habilis.errors import FeatureDisabled, UpstreamError
from habilis.home.store import Home
from habilis.manifest.model import CloudFlow, OAuth2Flow, RedirectFlow
from habilis.messages import Json
from habilis.records import stamp
from habilis.signin import cloud, oauth2, redirect

CALLBACK_PATH = "/api/connect/callback"
APP_ID = "5b0a3a5e-8f0c-4f0e-9d5b-6d1f7a0c2b11"
"""Names this application to services that ask for a UUID; the same for every installation."""

_NOWHERE = "http://127.0.0.1"
"""What a provider sends the browser to where nothing listens: the address is pasted (RFC 8252 section 7.3)."""


def begin(home: Home, project: str, account: str, outside: Outside, *, flow: str = "") -> Pending:
    """Begin a sign-in of an account in a browser.

    Args:
        home: Where the account is.
        project: The project's slug.
        account: The account's id.
        outside: Its `public_url` is where the browser comes back to; "" for a return that is pasted.
        flow: As `find_subject`.

    Raises:
        NotFound: No such account, or its ability offers no such sign-in.
        SecretMissing: Something that the page's address needs is not set yet.
        FeatureDisabled: The way takes no browser, or a relay that this engine has not.
        SignInFailed: The application could not be registered.
        HabilisError: Whatever a request on the way failed with.
    """
    subject = find_subject(home, project, account, flow=flow)
    state, now = outside.token(), outside.now()
    make = partial(
        Pending,
        project=project,
        account=account,
        since=stamp(subject.account.created_at),
        ability=subject.manifest.id,
        flow=subject.way.flow,
        state=state,
        expires_at=now + WAITS_FOR,
    )
    match subject.way:
        case RedirectFlow() as way:
            callback = _callback(way, state, outside)
            return make(page=_redirect_page(subject, way, callback, outside), redirect_uri=callback)
        case OAuth2Flow() as way:
            return _begin_oauth2(make, subject, way, state, outside)
        case CloudFlow() as way:
            return _begin_cloud(make, way, state, outside)
        case way:
            raise FeatureDisabled(
                f"{subject.manifest.id!r} signs in by {way.flow}, which no page is opened for",
                hint=f"sign it in from a terminal: habilis accounts connect {project} {account}",
            )


def app_name(subject: Subject, outside: Outside) -> str:
    """What this application calls itself at the service, new for each sign-in.

    Some services take a name once per person; people find it again in their lists there. Its end tells apart two that
    begin within one second.
    """
    account = subject.account
    return f"Habilis: {account.project}/{account.id}, {outside.now():%Y-%m-%d %H:%M:%S} {outside.token()[:6]}"


def _redirect_page(subject: Subject, way: RedirectFlow, callback: str, outside: Outside) -> str:
    application: dict[str, Json] = {"app_id": APP_ID, "app_name": app_name(subject, outside)}
    return redirect.page_address(
        way,
        subject.manifest,
        subject.keys,
        application=application,
        callback=callback,
        private_hosts=subject.account.private_hosts,
    )


def _begin_oauth2(make: partial[Pending], subject: Subject, way: OAuth2Flow, state: str, outside: Outside) -> Pending:
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    redirect_uri = f"{outside.public_url or _NOWHERE}{CALLBACK_PATH}"
    registered = _registered(subject, way, redirect_uri, outside)
    verifier = outside.token() if way.pkce else ""
    order = oauth2.PageOrder(
        state=state, challenge=create_s256_code_challenge(verifier) if verifier else "", redirect_uri=redirect_uri
    )
    page = oauth2.page_address(way, order, scope=subject.scope(outside, learned=registered), bounds=subject.bounds())
    return make(page=page, redirect_uri=redirect_uri, verifier=verifier, issuer=way.issuer, registered=registered)


def _registered(subject: Subject, way: OAuth2Flow, redirect_uri: str, outside: Outside) -> dict[str, str]:
    """The keys of a new registration; {} where there is one for this callback, or a person's own."""
    rule, keys = way.register, subject.keys
    if rule is None or (keys.get(rule.client_id_env) and keys.get(rule.redirect_uri_env, redirect_uri) == redirect_uri):
        return {}
    scopes = way.scope_separator.join(way.scopes)
    scope = subject.scope(outside, redirect_uri=redirect_uri, scopes=scopes, app_name=app_name(subject, outside))
    found = outside.drive(oauth2.register(rule, scope=scope, bounds=subject.bounds()))
    return {str(name): value for name, value in found.items()}


def _begin_cloud(make: partial[Pending], way: CloudFlow, state: str, outside: Outside) -> Pending:
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    if outside.relay is None:
        raise FeatureDisabled(
            f"signing in at {way.provider} goes through a relay, and this engine knows none",
            hint="name one in HABILIS_RELAY_URL and HABILIS_RELAY_TOKEN",
        )
    verifier, target = outside.token(), f"{outside.public_url or _NOWHERE}{CALLBACK_PATH}"
    talk = cloud.open_page(
        way, outside.relay, state=state, challenge=create_s256_code_challenge(verifier), target=target
    )
    page = outside.drive(talk)
    return make(page=page.url, redirect_uri=target, verifier=verifier, issuer=page.issuer)


def _callback(flow: RedirectFlow, state: str, outside: Outside) -> str:
    """Where the service sends the browser: here, by a relay, or nowhere when it accepts neither."""
    if not outside.public_url:
        return ""
    own = f"{outside.public_url}{CALLBACK_PATH}?state={state}"
    if not flow.needs_https or own.startswith("https://"):
        return own
    return _register(outside.relay, own, outside) if outside.relay else ""


def _register(relay: Relay, target: str, outside: Outside) -> str:
    """Register a single-use address at the relay."""
    answer = outside.transport.send(cloud.relay_request(relay, "/r", {"target": target}))
    try:
        return str(json.loads(answer.body)["url"])
    except (ValueError, KeyError, TypeError):
        raise UpstreamError(f"answered {answer.status} without an address", where="the relay") from None
